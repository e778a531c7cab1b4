// Cosines of other classes on an axis, and where their soft maximum is: γ decides how soft it is.
import { choose, stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { barsHeight, drawBars } from "./bars.js";
import { softMaximum } from "../maths/smooth.js";
import { mark, shape } from "../shared/svg.js";

const SIDE = 34, LINE = 70, LOW = -1, HIGH = 3, GAMMAS = [1, 2, 5, 10, 20, 30, 60, 100];

export function maximum({ model, el }) {
  const cosines = [...model.get("cosines")];
  let gamma = model.get("gamma"), width = 640;
  const across = (c) => SIDE + ((c - LOW) / (HIGH - LOW)) * (width - 2 * SIDE);
  const put = (at, value) => {
    cosines[at] = Math.round(100 * Math.min(1, Math.max(-1, value))) / 100;
    view.redraw();
  };
  const find = (key) => ({
    moved: (x) => put(Number(key), LOW + ((x - SIDE) / (width - 2 * SIDE)) * (HIGH - LOW)),
    stepped: (right) => put(Number(key), cosines[key] + 0.01 * right),
  });
  function draw(svg, now) {
    width = now;
    const { value, share } = softMaximum(cosines, gamma), hard = Math.max(...cosines);
    shape(svg, "line", { x1: across(LOW), x2: across(HIGH), y1: LINE, y2: LINE, class: "axis" });
    for (let tick = LOW; tick <= HIGH; tick += 0.5)
      shape(svg, "text", { x: across(tick), y: LINE + 42, "text-anchor": "middle", class: "tick" }, String(tick));
    const label = { y: LINE + 60, "text-anchor": "end", class: "tick", x: across(HIGH) };
    shape(svg, "text", label, "cosine with the weight vector of a class →");
    shape(svg, "line", { x1: across(hard), x2: across(hard), y1: 30, y2: LINE, class: "ghost" });
    cosines.forEach((cosine, at) => {
      const drawn = mark(svg, across(cosine), LINE, "negative", String(at + 1));
      asHandle(drawn, at, `class ${at + 1}`, { low: -1, high: 1, value: cosine });
    });
    shape(svg, "path", { d: `M${across(value)},${LINE - 16} l-9,-16 l18,0 Z`, class: "smooth" });
    shape(svg, "text", { x: across(value), y: 22, "text-anchor": "middle" }, `soft maximum ${value.toFixed(2)}`);
    const bars = Array.from(share, (part, at) => [`share of class ${at + 1}`, part, undefined, "soft"]);
    drawBars(svg, bars, { top: LINE + 78, width });
    view.say(`It is ${(value - hard).toFixed(3)} above the largest cosine, ${hard}. Shares say whom the gradient pushes away.`);
  }
  const label = "Cosines of classes on an axis; each can be moved with the arrow keys";
  const view = stage(el, { height: LINE + 78 + barsHeight(cosines.length), label, draw, find });
  choose(view.controls, { label: "γ", values: GAMMAS, start: gamma, slider: true }, (chosen) => {
    gamma = chosen;
    view.redraw();
  });
}
