// Two images on the circle and their virtual child on the chord between them (SiMix): all three are dragged.
import { stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { barsHeight, drawBars } from "./bars.js";
import { mark, shape } from "../shared/svg.js";

const HIGH = 320, EDGE = 40;

export function mix({ model, el }) {
  const angles = { x: model.get("x"), z: model.get("z") }, radius = HIGH - 2 * EDGE;
  let a = model.get("a");
  const unit = (degrees) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const dot = (p, q) => p[0] * q[0] + p[1] * q[1];
  const spot = ([x, y]) => [EDGE + radius * x, HIGH - EDGE - radius * y];
  const child = () => unit(angles.x).map((one, at) => a * one + (1 - a) * unit(angles.z)[at]);
  const within = (value, low, high, digits) => Math.round(Math.min(high, Math.max(low, value)) * digits) / digits;
  const put = (key, value) => {
    if (key === "v") a = within(value, 0, 1, 100);
    else angles[key] = within(value, 0, 90, 1);
    view.redraw();
  };
  /** The weight at which the child is nearest to a point of the plane. */
  const weight = (point) => {
    const [x, z] = [unit(angles.x), unit(angles.z)], along = [x[0] - z[0], x[1] - z[1]];
    return dot([point[0] - z[0], point[1] - z[1]], along) / Math.max(1e-9, dot(along, along));
  };
  const find = (key) => ({
    moved: (px, py) => {
      const point = [(px - EDGE) / radius, (HIGH - EDGE - py) / radius];
      put(key, key === "v" ? weight(point) : (Math.atan2(point[1], point[0]) * 180) / Math.PI);
    },
    stepped: (right, up) => put(key, key === "v" ? a + 0.01 * (up - right) : angles[key] + up - right),
  });
  function draw(svg, width) {
    const points = { x: unit(angles.x), z: unit(angles.z), v: child() };
    const [start, end] = [spot([1, 0]), spot([0, 1])];
    shape(svg, "path", { d: `M${start} A${radius},${radius} 0 0 0 ${end}`, class: "axis curve" });
    const [x, z] = [spot(points.x), spot(points.z)];
    shape(svg, "line", { x1: x[0], y1: x[1], x2: z[0], y2: z[1], class: "ghost" });
    for (const [name, point] of Object.entries(points)) {
      const [px, py] = spot(point), [ox, oy] = spot([0, 0]);
      shape(svg, "line", { x1: ox, y1: oy, x2: px, y2: py, class: "axis" });
      const drawn = mark(svg, px, py, name === "v" ? "query" : "positive", name);
      const value = name === "v" ? a : angles[name];
      const text = name === "v" ? `weight ${a}` : `${value}°`;
      asHandle(drawn, name, name === "v" ? "virtual sample" : `image ${name}`, { low: 0, high: name === "v" ? 1 : 90, value, text });
    }
    const bars = [["s(v, x)", dot(points.v, points.x)], ["s(v, z)", dot(points.v, points.z)], ["s(v, v)", dot(points.v, points.v)]];
    drawBars(svg, [...bars, ["length of v", Math.sqrt(dot(points.v, points.v)), undefined, "soft"]], { top: HIGH + 10, width });
    const nearer = Math.max(bars[0][1], bars[1][1]) > bars[2][1] + 1e-9;
    const who = nearer ? "One parent is more similar to v than v is to itself." : "Both parents and v itself are equally similar to v.";
    view.say(`v = ${a} x + ${(1 - a).toFixed(2)} z. ${who}`);
  }
  const label = "Two images on the circle and their virtual sample; each can be moved with the arrow keys";
  const view = stage(el, { height: HIGH + 10 + barsHeight(4), label, draw, find });
}
