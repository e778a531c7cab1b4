// Small helpers for drawings of lines and marks.
const SVG = "http://www.w3.org/2000/svg";

/** An SVG element in a parent; text goes in as text. */
export function shape(parent, tag, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return parent.appendChild(made);
}

/** An arrow from one point to another; nothing if it would be shorter than two pixels. */
export function arrow(parent, [x1, y1], [x2, y2], className) {
  const far = Math.hypot(x2 - x1, y2 - y1);
  if (!(far >= 2)) return;
  const [ux, uy] = [(x2 - x1) / far, (y2 - y1) / far], head = Math.min(9, far);
  const [bx, by] = [x2 - head * ux, y2 - head * uy];
  const corners = [[x2, y2], [bx - 0.5 * head * uy, by + 0.5 * head * ux], [bx + 0.5 * head * uy, by - 0.5 * head * ux]];
  shape(parent, "line", { x1, y1, x2: bx, y2: by, class: className });
  shape(parent, "polygon", { points: corners.map((c) => c.join(",")).join(" "), class: `${className} tip` });
}

/** Positives are blue discs with a plus, negatives orange squares with a minus, others as they are called. */
export function mark(parent, x, y, kind, label) {
  const group = shape(parent, "g", { class: `item ${kind}`, transform: `translate(${x} ${y})` });
  shape(group, "circle", { r: 20, class: "reach" });
  if (kind === "negative") shape(group, "rect", { x: -12, y: -12, width: 24, height: 24, rx: 3 });
  else if (kind === "proxy") shape(group, "path", { d: "M0,-15 L13,8 L-13,8 Z" });
  else shape(group, "circle", { r: 13 });
  shape(group, "text", { "text-anchor": "middle", y: 4.5 }, label);
  return group;
}
