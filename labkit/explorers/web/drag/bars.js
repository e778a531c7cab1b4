// Values between 0 and 1, or another most, as bars on an axis of their own, with a tick where each was before.
import { shape } from "../shared/svg.js";

const ROW = 24;

export const barsHeight = (count) => count * ROW + 26;

/** bars: [name, value, before, class]; drawn from `top` on, over the whole width. */
export function drawBars(svg, bars, { top, width, most = 1 }) {
  const left = Math.min(170, 0.36 * width), right = width - 56, across = (v) => left + (v / most) * (right - left);
  const end = top + bars.length * ROW;
  for (const tick of [0, 0.25, 0.5, 0.75, 1].map((share) => share * most)) {
    shape(svg, "line", { x1: across(tick), x2: across(tick), y1: top, y2: end, class: "grid" });
    shape(svg, "text", { x: across(tick), y: end + 15, "text-anchor": "middle", class: "tick" }, String(tick));
  }
  bars.forEach(([name, value, before, kind = ""], row) => {
    const y = top + row * ROW + 4, length = Math.max(0, Math.min(most, value)) / most * (right - left);
    shape(svg, "text", { x: left - 8, y: y + 12, "text-anchor": "end" }, name);
    shape(svg, "rect", { x: left, y, width: length, height: ROW - 8, class: `bar ${kind}` });
    if (before !== undefined && Math.abs(before - value) > 1e-9)
      shape(svg, "line", { x1: across(before), x2: across(before), y1: y - 3, y2: y + ROW - 5, class: "ghost" });
    shape(svg, "text", { x: right + 8, y: y + 12 }, value.toFixed(3));
  });
}

export const signedBarsHeight = (count) => barsHeight(count) + 18;

/** Signed values as bars that leave zero in their direction. bars: [name, value, class]; the axis ends at ±most. */
export function drawSignedBars(svg, bars, { top, width, most, low, high }) {
  const left = Math.min(140, 0.3 * width), right = width - 64, end = top + bars.length * ROW;
  const across = (v) => left + ((Math.max(-most, Math.min(most, v)) + most) / (2 * most)) * (right - left);
  for (const tick of [-most, 0, most]) {
    shape(svg, "line", { x1: across(tick), x2: across(tick), y1: top, y2: end, class: tick ? "grid" : "axis" });
    shape(svg, "text", { x: across(tick), y: end + 15, "text-anchor": "middle", class: "tick" }, String(tick).replace("-", "−"));
  }
  shape(svg, "text", { x: left, y: end + 33, class: "tick" }, low);
  shape(svg, "text", { x: right, y: end + 33, "text-anchor": "end", class: "tick" }, high);
  bars.forEach(([name, value, kind], row) => {
    const y = top + row * ROW + 4, from = Math.min(across(0), across(value)), wide = Math.abs(across(value) - across(0));
    shape(svg, "text", { x: left - 8, y: y + 12, "text-anchor": "end" }, name);
    shape(svg, "rect", { x: from, y, width: wide, height: ROW - 8, class: `bar ${kind}` });
    const said = value.toFixed(3).replace(/^-(0\.0+)$/, "$1").replace("-", "−");
    shape(svg, "text", { x: right + 8, y: y + 12 }, said);
  });
}
