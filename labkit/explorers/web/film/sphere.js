// Directions on a sphere that can be turned: points behind are small and pale, as behind frosted glass; names stand at
// the class means.
import { GREY } from "../shared/colors.js";

const GLASS = 0.64; // of the page's colour before what lies behind
const AROUND = Array.from({ length: 49 }, (_, k) => (2 * Math.PI * k) / 48);

/** Place on the screen and nearness, from -1 behind to 1 in front, of a direction. */
function camera({ turn, tilt, width, height, far }) {
  const [t, e] = [turn, tilt].map((degrees) => (degrees * Math.PI) / 180);
  const [ct, st, ce, se] = [Math.cos(t), Math.sin(t), Math.cos(e), Math.sin(e)];
  return (x, y, z) => [
    width / 2 + far * (y * ct - x * st),
    height / 2 - far * (z * ce - se * (x * ct + y * st)),
    ce * (x * ct + y * st) + se * z,
  ];
}

export function paintSphere(canvas, film, at) {
  const { n, labels } = film, see = camera(canvas);
  const spots = Array.from({ length: n }, (_, i) => see(at[3 * i], at[3 * i + 1], at[3 * i + 2]));
  const dots = (front) => {
    for (let i = 0; i < n; i++) {
      const [x, y, near] = spots[i];
      if (near >= 0 === front) canvas.dot(labels[i], x, y, front ? 3.6 + 0.9 * near : 2.4, front ? 0.9 : 1);
    }
  };
  dots(false);
  paintGlass(canvas);
  paintWires(canvas.ctx, see);
  dots(true);
  paintNames(canvas, film, at, see);
}

/** The front of the ball, through which the far side is seen. */
function paintGlass({ ctx, width, height, far, page }) {
  ctx.beginPath();
  ctx.arc(width / 2, height / 2, far, 0, 2 * Math.PI);
  [ctx.globalAlpha, ctx.fillStyle] = [GLASS, page];
  ctx.fill();
  [ctx.globalAlpha, ctx.strokeStyle, ctx.lineWidth] = [0.6, GREY, 1.5];
  ctx.stroke();
}

/** Meridians and parallels, faint behind. */
function paintWires(ctx, see) {
  const line = (points) => {
    for (let k = 1; k < points.length; k++) {
      ctx.globalAlpha = points[k][2] < 0 ? 0.06 : 0.32;
      ctx.beginPath();
      ctx.moveTo(points[k - 1][0], points[k - 1][1]);
      ctx.lineTo(points[k][0], points[k][1]);
      ctx.stroke();
    }
  };
  [ctx.strokeStyle, ctx.lineWidth] = [GREY, 1];
  for (let m = 0; m < 6; m++) {
    const a = (Math.PI * m) / 6;
    line(AROUND.map((t) => see(Math.cos(t) * Math.cos(a), Math.cos(t) * Math.sin(a), Math.sin(t))));
  }
  for (const high of [-0.75, -0.4, 0, 0.4, 0.75]) {
    const r = Math.sqrt(1 - high * high);
    line(AROUND.map((t) => see(r * Math.cos(t), r * Math.sin(t), high)));
  }
}

/** Names of the classes in front, the nearest first; none over another. */
function paintNames(canvas, { n, labels, classes }, at, see) {
  const sums = classes.map(() => [0, 0, 0]), placed = [];
  for (let i = 0; i < n; i++) for (let c = 0; c < 3; c++) sums[labels[i]][c] += at[3 * i + c];
  const order = sums.map((sum, k) => {
    const outside = 1.13 / (Math.hypot(...sum) || 1);
    return [k, ...see(...sum.map((part) => part * outside))];
  });
  for (const [k, place, y, near] of order.sort((a, b) => b[3] - a[3])) {
    const wide = canvas.ctx.measureText(classes[k]).width / 2;
    const x = Math.max(wide + 4, Math.min(canvas.width - wide - 4, place));
    const over = placed.some(([px, py, pw]) => Math.abs(px - x) < pw + wide + 4 && Math.abs(py - y) < 16);
    if (near < -0.1 || over) continue;
    placed.push([x, y, wide]);
    canvas.write(classes[k], x, y, near < 0.15 ? 0.5 : 1);
  }
}
