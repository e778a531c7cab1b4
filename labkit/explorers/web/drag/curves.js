// The staircase and the sigmoid together: the rank that an item would have at each similarity, counted and smoothed.
import { sigmoid } from "../maths/smooth.js";
import { shape } from "../shared/svg.js";

const TOP = 12, BOTTOM = 150;
export const curvesHeight = BOTTOM + 12;

export function curves(svg, s, items, { tau }, { across, width }) {
  const moving = items.findIndex((item) => item.positive), rest = s.filter((_, at) => at !== moving), n = items.length;
  const up = (rank) => TOP + ((rank - 1) / (n - 1)) * (BOTTOM - TOP);
  for (let rank = 1; rank <= n; rank++) {
    shape(svg, "line", { x1: across(0), x2: across(1), y1: up(rank), y2: up(rank), class: "grid" });
    shape(svg, "text", { x: across(0) - 8, y: up(rank) + 4, "text-anchor": "end", class: "tick" }, String(rank));
  }
  shape(svg, "text", { x: 11, y: 84, transform: "rotate(-90 11 84)", "text-anchor": "middle", class: "tick" }, "rank of the first +");
  const places = Array.from({ length: Math.max(200, Math.round(width)) }, (_, at, all = Math.max(200, Math.round(width))) => at / (all - 1));
  const hard = (x) => 1 + rest.filter((one) => one > x).length;
  const soft = (x) => 1 + rest.reduce((sum, one) => sum + sigmoid((one - x) / tau), 0);
  for (const [rank, kind] of [[hard, "hard"], [soft, "smooth"]]) {
    const d = places.map((x, at) => `${at ? "L" : "M"}${across(x).toFixed(1)},${up(rank(x)).toFixed(1)}`).join("");
    shape(svg, "path", { d, class: `curve ${kind}` });
  }
  const x = s[moving];
  shape(svg, "circle", { cx: across(x), cy: up(hard(x)), r: 5, class: "hard" });
  shape(svg, "circle", { cx: across(x), cy: up(soft(x)), r: 5, class: "smooth" });
  shape(svg, "line", { x1: across(x), x2: across(x), y1: up(1), y2: BOTTOM + 40, class: "ghost" });
}
