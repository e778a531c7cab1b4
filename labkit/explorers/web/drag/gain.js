// How converged the base is, against what tuning it on the metric gains: the base is dragged, every arm has its interval.
import { stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { mark, shape } from "../shared/svg.js";

const ROW = 46, LEFT = 12, RIGHT = 16, TALL = 190, GAP = 66, TOP = 26;
const signed = (value, digits) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(digits);

export function gain({ model, el }) {
  const bases = model.get("bases"), unit = model.get("unit"), curve = model.get("curve"), digits = model.get("digits");
  let chosen = model.get("start"), width = 640;
  const every = bases.flatMap(({ arms }) => arms.flatMap(({ low, high }) => [low, high]));
  const [least, most] = [Math.min(0, ...every), Math.max(0, ...every)], span = most - least || 1;
  const when = (at) => LEFT + 40 + (bases.length > 1 ? at / (bases.length - 1) : 0.5) * (width - LEFT - RIGHT - 80);
  const up = (value) => TOP + TALL * (1 - (value - least) / span);
  const put = (at) => {
    chosen = Math.min(bases.length - 1, Math.max(0, Math.round(at)));
    view.redraw();
  };
  const find = () => ({
    moved: (x) => put(((x - when(0)) / Math.max(1, when(bases.length - 1) - when(0))) * (bases.length - 1)),
    stepped: (right, upwards) => put(chosen + right + upwards),
  });
  function over(svg) {
    shape(svg, "line", { x1: when(0) - 20, x2: when(bases.length - 1) + 20, y1: up(0), y2: up(0), class: "axis" });
    shape(svg, "text", { x: LEFT, y: 12, class: "tick" }, `gain of ${curve}, ${unit}; above the line: better`);
    const points = bases.map(({ arms }, at) => [at, arms.find(({ name }) => name === curve)]).filter(([, arm]) => arm);
    for (const [at, { gain: value, low, high }] of points) {
      shape(svg, "line", { x1: when(at), x2: when(at), y1: up(low), y2: up(high), class: "interval" });
      shape(svg, "circle", { cx: when(at), cy: up(value), r: at === chosen ? 7 : 5, class: "smooth" });
      shape(svg, "text", { x: when(at) + 10, y: up(value) + 4, class: "tick" }, signed(value, digits));
    }
    shape(svg, "path", { d: points.map(([at, { gain: value }], i) => `${i ? "L" : "M"}${when(at)},${up(value)}`).join(""), class: "curve smooth far" });
    bases.forEach(({ name }, at) => shape(svg, "text", { x: when(at), y: TOP + TALL + 40, "text-anchor": "middle", class: "tick" }, name));
    const drawn = mark(svg, when(chosen), TOP + TALL + 14, "positive", "⟷");
    asHandle(drawn, "base", "how converged the base is", { low: 0, high: bases.length - 1, value: chosen, text: bases[chosen].name });
  }
  function rows(svg) {
    const { arms } = bases[chosen], top = TOP + TALL + GAP, left = LEFT + 8, right = width - 84;
    const ends = arms.flatMap(({ low, high }) => [low, high]), from = Math.min(0, ...ends), to = Math.max(0, ...ends);
    const along = (value) => left + ((value - from) / (to - from || 1)) * (right - left);
    shape(svg, "line", { x1: along(0), x2: along(0), y1: top, y2: top + arms.length * ROW, class: "axis" });
    arms.forEach(({ name, gain: value, low, high, control }, row) => {
      const y = top + row * ROW + 32; // the name stands above its interval: names are long, pages narrow
      shape(svg, "text", { x: LEFT, y: y - 14 }, name);
      shape(svg, "line", { x1: along(low), x2: along(high), y1: y, y2: y, class: `interval ${control ? "control" : ""}` });
      if (control) shape(svg, "rect", { x: along(value) - 5, y: y - 5, width: 10, height: 10, class: "hard" });
      else shape(svg, "circle", { cx: along(value), cy: y, r: 6, class: "smooth" });
      shape(svg, "text", { x: right + 14, y: y + 4 }, signed(value, digits));
    });
  }
  function draw(svg, now) {
    width = now;
    over(svg);
    rows(svg);
    view.say(bases[chosen].said);
  }
  const most_arms = Math.max(...bases.map(({ arms }) => arms.length));
  const label = "Gain over how converged the base is; the base can be chosen with the arrow keys";
  const view = stage(el, { height: TOP + TALL + GAP + most_arms * ROW + 10, label, draw, find });
}
