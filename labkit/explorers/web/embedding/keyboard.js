// Keys on the plane: arrows go from point to point, Enter selects, + and − zoom, Escape clears.
import { nextPoint } from "./spatial_index.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** What a key does, or undefined. */
function actOf(explorer, { key, shiftKey }) {
  if (ARROWS[key]) return () => step(explorer, ...ARROWS[key]);
  const zoom = (factor) => () => explorer.zoom(factor);
  const acts = { "+": zoom(1.5), "=": zoom(1.5), "-": zoom(1 / 1.5), 0: () => explorer.fit() };
  const choose = () => pick(explorer, shiftKey);
  return { Enter: choose, " ": choose, Escape: () => clear(explorer), ...acts }[key];
}

export function handleKey(explorer, event) {
  const act = actOf(explorer, event);
  if (!act || !explorer.points || !explorer.view.ready || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

/** To the next point in a direction; the first step goes to the selection, or into the middle. */
function step(explorer, dx, dy) {
  const { points, view, grid, order, isKept, selectedRows } = explorer;
  const from = explorer.current >= 0 ? explorer.current : explorer.hover;
  if (from < 0) return explorer.setCurrent(selectedRows[0] ?? grid.nearest(view.x, view.y, 1e12, isKept));
  const next = nextPoint(points.xy, order, from, dx, dy);
  if (next >= 0) explorer.setCurrent(next);
}

/** Select the point under the keyboard's or the mouse's cursor; more: beside what is selected. */
function pick(explorer, more) {
  const i = explorer.current >= 0 ? explorer.current : explorer.hover;
  if (i < 0) return;
  if (more) explorer.toggle(i);
  else explorer.select([explorer.points.ids[i]]);
}

/** Nothing chosen, nothing selected. */
function clear(explorer) {
  explorer.pointer.letGo();
  explorer.choose(-1);
  explorer.setCurrent(-1);
  explorer.select([]);
}
