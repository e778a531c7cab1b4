// Embeddings on the circle. The coloured band is the circle itself; inside, a lane for each training class, outside,
// one for each unseen class. Where lanes of unseen classes hold points side by side, retrieval confuses them.
import { cleared } from "../shared/elements.js";
import { drawMarker } from "../shared/markers.js";
import { arrow, write } from "./chart.js";
import { CLASSES, PER_CLASS } from "./data.js";
import { colorOf } from "./hue.js";
import { ring, SHAPES } from "./plane.js";

const INNER = [0.34, 0.56]; // first and last lane of the training classes, in parts of the radius
const BAND = 0.66;
const OUTER = [0.76, 0.98];
const lane = ([first, last], label) => first + ((last - first) * label) / (CLASSES - 1);

/** Draw all on a square canvas; small: without words, for one of several networks. */
export function drawCircle(canvas, side, { train, test, found, colors, probe, query, proxies, small = false }) {
  const ctx = cleared(canvas, side, side), middle = side / 2, far = middle - (small ? 3 : 8);
  const at = (angle, part) => [middle + far * part * Math.cos(angle), middle - far * part * Math.sin(angle)];
  ctx.strokeStyle = colors.grid;
  ctx.lineWidth = 1;
  for (const lanes of [INNER, OUTER])
    for (let label = 0; label < CLASSES; label++) circle(ctx, middle, far * lane(lanes, label));
  band(ctx, middle, far * BAND, small ? 4 : 8);
  const dots = (data, turned, lanes, every, size) => {
    for (let i = 0; i < data.n; i++) {
      if (i % PER_CLASS >= PER_CLASS / every) continue;
      const label = data.labels[i], [x, y] = at(turned[i], lane(lanes, label));
      drawMarker(ctx, SHAPES[label], x, y, size, colorOf(turned[i]));
    }
  };
  dots(train, found.train, INNER, small ? 6 : 2, small ? 1.3 : 2.6);
  dots(test, found.test, OUTER, small ? 4 : 2, small ? 1.6 : 3.4);
  if (small) return;
  ctx.font = `600 13px ${colors.font}`;
  ctx.fillStyle = colors.text;
  for (let label = 0; label < CLASSES; label++) {
    write(ctx, "ABCD"[label], ...at(-Math.PI / 2, lane(INNER, label)), "center", colors.page);
    write(ctx, String(label + 1), ...at(-Math.PI / 2, lane(OUTER, label)), "center", colors.page);
  }
  if (proxies) drawProxies(ctx, proxies, at, colors);
  drawPulls(ctx, { train, found, probe, query, at, colors });
}

function circle(ctx, middle, radius) {
  ctx.beginPath();
  ctx.arc(middle, middle, radius, 0, 2 * Math.PI);
  ctx.stroke();
}

/** The circle in the colours of its directions. */
function band(ctx, middle, radius, width) {
  ctx.lineWidth = width;
  const parts = 96;
  for (let k = 0; k < parts; k++) {
    const from = (2 * Math.PI * k) / parts, to = (2 * Math.PI * (k + 1.15)) / parts;
    ctx.strokeStyle = colorOf((from + to) / 2);
    ctx.beginPath();
    ctx.arc(middle, middle, radius, -to, -from);
    ctx.stroke();
  }
}

function drawProxies(ctx, proxies, at, colors) {
  const count = proxies.length / 2, centers = count / CLASSES;
  for (let k = 0; k < count; k++) {
    const label = Math.floor(k / centers), angle = Math.atan2(proxies[2 * k + 1], proxies[2 * k]);
    const [x, y] = at(angle, lane(INNER, label));
    drawMarker(ctx, "star", x, y, 9, colors.page);
    drawMarker(ctx, "star", x, y, 7, colors.text);
  }
}

/** Each positive of the query, with an arrow along its lane that way where the loss pulls it. */
function drawPulls(ctx, { train, found, probe, query, at, colors }) {
  const label = train.labels[probe.rows[query]], part = lane(INNER, label), own = found.train[probe.rows[query]];
  const strongest = Math.max(...probe.pulls.map(({ strength }) => Math.abs(strength)), 1e-12);
  [ctx.strokeStyle, ctx.fillStyle] = [colors.text, colors.text];
  for (const { row, strength } of probe.pulls) {
    const share = strength / strongest, from = found.train[probe.rows[row]];
    const way = Math.atan2(Math.sin(own - from), Math.cos(own - from)); // the short way round
    if (Math.abs(share) < 0.03 || Math.abs(way) < 0.02) continue;
    ctx.globalAlpha = 0.3 + 0.7 * Math.abs(share);
    const turn = Math.sign(way) * Math.sign(share) * Math.min(Math.abs(way), 0.12 + 0.35 * Math.abs(share));
    arrow(ctx, at(from, part), at(from + turn, part), 0.8 + 2 * Math.abs(share));
  }
  ctx.globalAlpha = 1;
  ring(ctx, at(own, part), colors);
}
