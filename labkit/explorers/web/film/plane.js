// Directions on circles, one circle for each split, and points in the plane.
import { GREY } from "../shared/colors.js";

const INNER = 0.6; // radius of the innermost of several circles

export function paintCircles(canvas, { n, labels, part, splits }, at) {
  const { ctx, width, height, far } = canvas, [x, y] = [width / 2, height / 2];
  const radius = (split) => (splits.length > 1 ? INNER + ((1 - INNER) * split) / (splits.length - 1) : 1);
  [ctx.strokeStyle, ctx.lineWidth, ctx.globalAlpha] = [GREY, 2, 0.35];
  splits.forEach((_, split) => {
    ctx.beginPath();
    ctx.arc(x, y, far * radius(split), 0, 2 * Math.PI);
    ctx.stroke();
  });
  for (let i = 0; i < n; i++) {
    const off = 0.06 * Math.cos(2.4 * i); // a little off the circle, as many coincide
    const r = far * (radius(part[i]) + off);
    canvas.dot(labels[i], x + r * at[2 * i], y - r * at[2 * i + 1], 4.5, 0.8);
  }
  if (splits.length !== 2) return;
  canvas.write(`inside: ${splits[0]}`, x, y - 9);
  canvas.write(`outside: ${splits[1]}`, x, y + 9);
}

export function paintPlane(canvas, { n, labels }, at) {
  const { width, height, far } = canvas;
  for (let i = 0; i < n; i++) {
    canvas.dot(labels[i], width / 2 + far * at[2 * i], height / 2 - far * at[2 * i + 1], 4, 0.8);
  }
}
