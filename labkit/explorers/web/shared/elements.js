// Small helpers for elements of a page.

/** An element of a class with a text; text goes in as text, never as HTML. */
export function make(tag, className = "", text = "", attributes = {}) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Size of a stage within its border; clientWidth would round, which puts every lasso of a stage 619.31 pixels wide
 * in the wrong place. */
export function innerSize(stage) {
  const box = stage.getBoundingClientRect(), border = 2 * stage.clientLeft;
  return [box.width - border, box.height - border];
}

/** Give a canvas the pixels of the screen. */
export function sharpen(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width, height].map((side) => Math.round(side * ratio));
}

/** An empty canvas, to be drawn on in the page's pixels. */
export function cleared(canvas, width, height, settings) {
  const ctx = canvas.getContext("2d", settings);
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  ctx.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
  return ctx;
}
