// Inputs on a ring beside their embeddings on the circle, both in the colour of the embedding's direction: a colour that
// comes twice on the ring is a fold. A place on the ring and a direction on the circle are one thing; drag either.
import { choose, stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { colorOf } from "../playground/hue.js";
import { shape } from "../shared/svg.js";

const NEAR = 7; // degrees round the direction that count as the same
const EDGE = 2.75; // of the input plane
const NAMES = "ABCD1234"; // training classes, then unseen ones
const LANES = [0.5, 0.58, 0.66, 0.74, 0.88, 0.96, 1.04, 1.12]; // a lane a class, unseen ones outside the band
const BAND = 0.81;
const apart = (a, b) => Math.abs(((((a - b) % 360) + 540) % 360) - 180);
const radians = (degrees) => (degrees * Math.PI) / 180;

/** A disc, square, diamond or triangle, by class; unseen ones are larger. */
function dot(svg, x, y, label, more) {
  const r = label < 4 ? 3.4 : 5, kind = label % 4;
  const d = kind === 2 ? `M0,${-1.3 * r} L${1.3 * r},0 L0,${1.3 * r} L${-1.3 * r},0 Z` : `M0,${-1.3 * r} L${1.2 * r},${r} L${-1.2 * r},${r} Z`;
  const where = { transform: `translate(${x} ${y})`, ...more };
  if (kind === 0) return shape(svg, "circle", { r, ...where });
  if (kind === 1) return shape(svg, "rect", { x: -r, y: -r, width: 2 * r, height: 2 * r, ...where });
  return shape(svg, "path", { d, ...where });
}

export function fold({ model, el }) {
  const { inputs, labels, films } = { inputs: model.get("inputs"), labels: model.get("labels"), films: model.get("films") };
  const steps = model.get("steps"), names = Object.keys(films);
  let loss = model.get("loss"), frame = steps.length - 1, chosen = model.get("chosen"), direction = 0, side = 300, stacked = false;
  const turned = () => films[loss][frame];
  const around = inputs.map(([x, y]) => (Math.atan2(y, x) * 180) / Math.PI);
  const nearest = (values, wanted) => values.reduce((best, value, i) => (apart(value, wanted) < apart(values[best], wanted) ? i : best), 0);
  const take = (sample) => {
    [chosen, direction] = [sample, turned()[sample]];
    view.redraw();
  };
  const middle = (panel) => (stacked ? [side / 2, side / 2 + panel * (side + 26)] : [side / 2 + panel * (side + 24), side / 2]);
  const angleAt = (panel, x, y) => (Math.atan2(middle(panel)[1] - y, x - middle(panel)[0]) * 180) / Math.PI;
  const find = (key) => {
    const values = key === "place" ? around : turned(), panel = key === "place" ? 0 : 1;
    const now = () => (key === "place" ? around[chosen] : direction);
    return {
      moved: (x, y) => take(nearest(values, angleAt(panel, x, y))),
      stepped: (right, up) => take(next(values, now(), up - right)),
    };
  };
  /** The sample after this one, going round; way: how many, and where to. */
  function next(values, now, way) {
    const order = [...values.keys()].sort((a, b) => values[a] - values[b]), at = order.indexOf(chosen);
    return order[(((at < 0 ? nearest(values, now) : at) + 3 * way) % order.length + order.length) % order.length];
  }
  function draw(svg, width) {
    stacked = width < 560;
    side = Math.min(stacked ? width - 8 : (width - 24) / 2, 380);
    svg.setAttribute("height", stacked ? 2 * side + 26 : side + 4);
    const angles = turned(), far = side / 2 / 1.2;
    direction = angles[chosen];
    const same = angles.map((angle) => apart(angle, direction) <= NEAR);
    const spots = [
      (i) => [middle(0)[0] + (inputs[i][0] / EDGE) * (side / 2), middle(0)[1] - (inputs[i][1] / EDGE) * (side / 2)],
      (i) => {
        const part = far * LANES[labels[i]], turn = radians(angles[i]);
        return [middle(1)[0] + part * Math.cos(turn), middle(1)[1] - part * Math.sin(turn)];
      },
    ];
    frames(svg, far);
    for (const hit of [false, true])
      angles.forEach((angle, i) => {
        if (same[i] !== hit) return;
        const look = { fill: colorOf(radians(angle)), class: hit ? "sample hit" : "sample", "data-sample": i };
        for (const spot of spots) dot(svg, ...spot(i), labels[i], look);
      });
    handle(svg, "place", "place on the ring", 0, around[chosen], (2.4 / EDGE) * (side / 2));
    handle(svg, "direction", "direction of the embedding", 1, direction, far * 0.36);
    tell(same);
  }
  function frames(svg, far) {
    for (const [panel, title] of [[0, "inputs"], [1, "embeddings: A–D inside, unseen 1–4 outside"]]) {
      const [x, y] = middle(panel);
      shape(svg, "rect", { x: x - side / 2, y: y - side / 2, width: side, height: side, rx: 8, class: "frame" });
      shape(svg, "text", { x: x - side / 2 + 8, y: y - side / 2 + 18, class: "tick" }, title);
    }
    const [x, y] = middle(1), parts = 72;
    for (let k = 0; k < parts; k++) {
      const at = (turn) => [x + far * BAND * Math.cos(turn), y - far * BAND * Math.sin(turn)].join(",");
      const from = (2 * Math.PI * k) / parts, to = (2 * Math.PI * (k + 1.1)) / parts;
      shape(svg, "path", { d: `M${at(from)} L${at(to)}`, stroke: colorOf((from + to) / 2), "stroke-width": 6 });
    }
  }
  function handle(svg, key, name, panel, degrees, far) {
    const [x, y] = middle(panel), turn = radians(degrees);
    const group = shape(svg, "g", { class: "item query", transform: `translate(${x + far * Math.cos(turn)} ${y - far * Math.sin(turn)})` });
    shape(group, "circle", { r: 18, class: "reach" });
    shape(group, "circle", { r: 9 });
    const value = Math.round(degrees);
    asHandle(group, key, name, { low: -180, high: 180, value, text: `${value}°` });
  }
  function tell(same) {
    const found = [...new Set(labels.filter((_, i) => same[i]))].sort().map((label) => NAMES[label]);
    const unseen = found.filter((name) => name < "A"), own = NAMES[labels[chosen]];
    const places = separate(around.filter((_, i) => same[i]));
    const folded = places > 1 ? ` ${places} separate stretches of the ring go there: a fold.` : " One stretch of the ring goes there.";
    const mixed = unseen.length > 1 ? ` The unseen classes ${unseen.join(", ")} lie on each other.` : "";
    const [from, to] = [around[chosen], direction].map((angle) => `${(Math.round(angle) + 360) % 360}°`);
    view.say(`Class ${own} at ${from} is sent to ${to}; there are ${found.join(", ")}.${folded}${mixed}`);
  }
  const label = "A ring of inputs and their embeddings on the circle; arrow keys go round either";
  const view = stage(el, { height: 384, label, draw, find });
  choose(view.controls, { label: "loss", values: names, start: loss }, (value) => ((loss = value), view.redraw()));
  const slider = { label: "step", values: [...steps.keys()], names: steps.map(String), start: frame, slider: true };
  choose(view.controls, slider, (value) => ((frame = value), view.redraw()));
  for (const name of ["pointerover", "click"])
    el.addEventListener(name, ({ target, buttons }) => {
      const sample = target.dataset?.sample;
      if (sample !== undefined && (name === "click" || !buttons)) take(Number(sample));
    });
}

/** Groups of angles with more than 20° between them. */
function separate(angles) {
  const sorted = [...angles].sort((a, b) => a - b);
  if (sorted.length < 2) return sorted.length;
  const gaps = sorted.filter((angle, k) => (((angle - sorted.at(k - 1)) % 360) + 360) % 360 > 20);
  return Math.max(1, gaps.length);
}
