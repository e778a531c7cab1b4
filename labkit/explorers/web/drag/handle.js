// A thing on the page that is dragged: by pointer or touch, or with the arrow keys when it has the focus.

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * moved(x, y): the pointer is there, in pixels of the drawing; stepped(right, up): an arrow key, ten times with Shift.
 * name: what a screen reader says. Elements are drawn anew while dragged, so the drawing itself listens.
 */
export function handles(svg, find, signal) {
  let held = null;
  const on = (kind, act) => svg.addEventListener(kind, act, { signal });
  const keyOf = (event) => event.target.closest?.("[data-handle]")?.dataset.handle;
  on("pointerdown", (event) => {
    held = keyOf(event) ?? null;
    if (held === null) return;
    event.preventDefault();
    svg.setPointerCapture(event.pointerId);
    svg.querySelector(`[data-handle="${held}"]`)?.focus({ preventScroll: true });
  });
  on("pointermove", (event) => {
    if (held === null) return;
    const box = svg.getBoundingClientRect();
    find(held).moved(event.clientX - box.left, event.clientY - box.top);
  });
  const release = () => {
    if (held !== null) find(held).dropped?.();
    held = null;
  };
  on("pointerup", release);
  on("pointercancel", release);
  on("keydown", (event) => {
    const key = keyOf(event), way = WAYS[event.key];
    if (key === undefined || !way) return;
    event.preventDefault();
    event.stopPropagation(); // JupyterLab would go to the next cell
    find(key).stepped(way[0] * (event.shiftKey ? 10 : 1), way[1] * (event.shiftKey ? 10 : 1));
    find(key).dropped?.();
  });
}

/** Make an element of the drawing a handle. */
export function asHandle(element, key, name, { low, high, value, text }) {
  const values = { "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": value, "aria-valuetext": text ?? value };
  const all = { "data-handle": key, tabindex: 0, role: "slider", "aria-label": name, ...values };
  for (const [attribute, content] of Object.entries(all)) element.setAttribute(attribute, content);
}
