// Mouse, pen and finger on the plane: a drag moves the view or draws the lasso, a click selects, the wheel zooms.
import { inside } from "./spatial_index.js";

const REACH = 14; // pixels from a point within which it is under the cursor
const CLICK = 4; // pixels that a click may wander
const PAUSE = 350; // milliseconds after which a wheel over the plane is meant for the plane

export class Pointer {
  drag = null;
  pageWheel = -Infinity; // when the page was last scrolled

  constructor(explorer, stage, signal) {
    this.explorer = explorer;
    this.stage = stage;
    const on = (name, act, more = {}) => stage.addEventListener(name, act, { signal, ...more });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", () => this.letGo());
    on("pointerleave", () => this.drag || explorer.setHover(-1));
    on("pointerenter", () => explorer.recolor());
    on("wheel", (event) => this.wheel(event), { passive: false });
    // a wheel that began elsewhere scrolls the page on, though it now passes over the plane
    const scrolled = (event) => {
      if (!event.composedPath().includes(stage)) this.pageWheel = event.timeStamp;
    };
    window.addEventListener("wheel", scrolled, { signal, passive: true });
  }

  at(event) {
    const box = this.stage.getBoundingClientRect();
    return [event.clientX - box.left - this.stage.clientLeft, event.clientY - box.top - this.stage.clientTop];
  }

  under(px, py) {
    const { points, view, grid, isKept } = this.explorer;
    return points && view.ready ? grid.nearest(...view.toData(px, py), REACH / view.scale, isKept) : -1;
  }

  down(event) {
    const { explorer, stage } = this, { view } = explorer;
    if (event.button !== 0 || !explorer.points || !view.ready) return;
    event.preventDefault(); // else the page selects text while the reader drags
    stage.focus({ preventScroll: true });
    stage.setPointerCapture(event.pointerId);
    const [px, py] = this.at(event), lassoing = explorer.tool === "lasso" || event.shiftKey;
    this.drag = { px, py, x: view.x, y: view.y, far: false, lassoing };
    explorer.lasso = lassoing ? [[px, py]] : null;
    explorer.setCurrent(-1);
  }

  move(event) {
    const { explorer, drag } = this, [px, py] = this.at(event), { lasso, view } = explorer;
    if (!drag) return explorer.setHover(event.pointerType === "touch" ? -1 : this.under(px, py));
    drag.far ||= Math.hypot(px - drag.px, py - drag.py) > CLICK;
    if (drag.lassoing) {
      const last = lasso.at(-1); // corners count from the start, also while it may still become a click
      if (Math.hypot(px - last[0], py - last[1]) >= 1) lasso.push([px, py]);
    }
    if (!drag.far) return;
    explorer.setHover(-1);
    if (drag.lassoing) return explorer.draw();
    view.center(drag.x - (px - drag.px) / view.scale, drag.y + (py - drag.py) / view.scale);
    explorer.draw(true);
  }

  up(event) {
    const { explorer, drag } = this, { points, lasso, view, isKept } = explorer;
    if (!drag) return;
    this.letGo();
    if (!drag.far) {
      const i = this.under(...this.at(event));
      if (event.ctrlKey || event.metaKey) i >= 0 && explorer.toggle(i);
      else explorer.select(i < 0 ? [] : [points.ids[i]]);
    } else if (drag.lassoing && lasso.length > 2) {
      const polygon = lasso.map(([x, y]) => view.toData(x, y)), { ids, xy } = points;
      explorer.select(ids.filter((_, i) => isKept(i) && inside(polygon, xy[2 * i], xy[2 * i + 1])), polygon);
    }
  }

  letGo() {
    this.drag = this.explorer.lasso = null;
    this.explorer.draw();
  }

  wheel(event) {
    if (event.timeStamp - this.pageWheel < PAUSE) {
      this.pageWheel = event.timeStamp;
      return;
    }
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 20 : 1);
    this.explorer.zoom(Math.exp(-0.002 * Math.max(-200, Math.min(200, pixels))), ...this.at(event));
  }
}
