// Shapes of points, and the legend's entries that explain them.
import { make } from "./elements.js";

/** One marker: filled, or an outline if its name ends in "-open". */
export function drawMarker(ctx, shape, x, y, r, color) {
  const corners = (count, turn, inner = 1) => {
    for (let k = 0; k < count; k++) {
      const angle = turn + (2 * Math.PI * k) / count, far = k % 2 ? r * inner : r;
      ctx.lineTo(x + far * Math.cos(angle), y + far * Math.sin(angle));
    }
    ctx.closePath();
  };
  const cross = (turn) => {
    for (let k = 0; k < 2; k++) {
      const angle = turn + (Math.PI * k) / 2;
      ctx.moveTo(x - r * Math.cos(angle), y - r * Math.sin(angle));
      ctx.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
    }
  };
  const up = -Math.PI / 2, kind = shape.replace("-open", "");
  ctx.beginPath();
  if (kind === "square") ctx.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r);
  else if (kind === "diamond") corners(4, up);
  else if (kind === "triangle-up") corners(3, up);
  else if (kind === "triangle-down") corners(3, -up);
  else if (kind === "star") corners(10, up, 0.45);
  else if (kind === "cross") cross(0);
  else if (kind === "x") cross(Math.PI / 4);
  else ctx.arc(x, y, 0.95 * r, 0, 2 * Math.PI);
  ctx.lineWidth = Math.max(1.4, 0.5 * r);
  ctx.strokeStyle = ctx.fillStyle = color;
  if (shape.endsWith("-open") || kind === "cross" || kind === "x") ctx.stroke();
  else ctx.fill();
}

/** A button of the legend: marker, name, and how many there are if that is known. */
export function legendEntry({ name, shape, color, count, pressed, click }) {
  const entry = make("button", "", "", { type: "button", "aria-pressed": String(pressed), title: `Show only ${name}` });
  const icon = entry.appendChild(make("canvas", "", "", { width: 28, height: 28, "aria-hidden": "true" }));
  drawMarker(icon.getContext("2d"), shape, 14, 14, 10, color);
  entry.append(make("span", "", name));
  if (count !== undefined) entry.append(make("span", "soft", String(count)));
  entry.addEventListener("click", click);
  return entry;
}
