// A box is dragged and turned out of another: the exact IoU's gradient vanishes, the surrogate's still points home.
import { stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { layersOf } from "./layers.js";
import { barsHeight, drawBars } from "./bars.js";
import { corners, rotatedIou } from "../maths/boxes.js";
import { boxSurrogate } from "../maths/surrogate.js";
import { make } from "../shared/elements.js";
import { arrow, mark, shape } from "../shared/svg.js";

const HIGH = 340, SPAN = 1.3, ACROSS = 1.5; // units of the plane that are seen at least; 0.5 is in the middle
const ARM = 0.12, ARROW = 0.22, LONGEST = 0.4, RATE = 0.02, STEPS = 150, ROOM = 15;

export function boxes({ model, el }) {
  const layers = layersOf(model.get("layers")), target = model.get("target"), start = model.get("box");
  let box = [...start], width = 640, running = 0;
  const scale = () => Math.min(HIGH / SPAN, width / ACROSS);
  const spot = ([x, y]) => [width / 2 + (x - 0.5) * scale(), HIGH / 2 - (y - 0.5) * scale()];
  const place = (px, py) => [0.5 + (px - width / 2) / scale(), 0.5 - (py - HIGH / 2) / scale()];
  const knob = () => [box[0] + (box[2] / 2 + ARM) * Math.cos(box[4]), box[1] + (box[2] / 2 + ARM) * Math.sin(box[4])];
  const clamped = (value, far) => Math.min(0.5 + far, Math.max(0.5 - far, value));
  const across = () => Math.max(0.4, width / scale() / 2 - 0.1);
  const put = (x, y) => {
    [box[0], box[1]] = [clamped(x, across()), clamped(y, SPAN / 2 - 0.1)];
    view.redraw();
  };
  const turn = (angle) => {
    box[4] = Math.atan2(Math.sin(angle), Math.cos(angle));
    view.redraw();
  };
  const find = (key) => {
    running = 0;
    if (key === "box") return { moved: (px, py) => put(...place(px, py)), stepped: (r, u) => put(box[0] + 0.01 * r, box[1] + 0.01 * u) };
    const angle = (px, py, [x, y] = place(px, py)) => Math.atan2(y - box[1], x - box[0]);
    return { moved: (px, py) => turn(angle(px, py)), stepped: (r, u) => turn(box[4] + ((u - r) * Math.PI) / 90) };
  };
  const exact = (at) => {
    const { value, gradient } = rotatedIou(at, target);
    return { value: 1 - value, gradient: gradient.map((g) => -g) };
  };
  const learned = (at) => boxSurrogate(layers, at, target);
  const outline = (svg, one, kind) => shape(svg, "polygon", { points: corners(one).map((p) => spot(p).join(",")).join(" "), class: kind });
  function pull(svg, { gradient: [gx, gy] }, kind, aside) {
    const steep = Math.hypot(gx, gy), far = Math.min(LONGEST, ARROW * steep) * scale(), [x, y] = spot(box);
    if (far < 2) return;
    const [ux, uy] = [-gx / steep, gy / steep], from = [x + ROOM * ux - aside * uy, y + ROOM * uy + aside * ux];
    arrow(svg, from, [from[0] + far * ux, from[1] + far * uy], `pull ${kind}`);
  }
  function draw(svg, now) {
    width = now;
    const e = exact(box), guess = learned(box), [x, y] = spot(box), [kx, ky] = spot(knob());
    outline(svg, target, "outline target");
    outline(svg, box, "outline own");
    shape(svg, "line", { x1: x, y1: y, x2: kx, y2: ky, class: "ghost" });
    pull(svg, e, "", -4);
    pull(svg, guess, "negative", 4);
    const at = `at ${box[0].toFixed(2)}, ${box[1].toFixed(2)}`;
    asHandle(mark(svg, x, y, "query", "✥"), "box", "box", { low: -1, high: 2, value: box[0].toFixed(2), text: at });
    const degrees = Math.round((box[4] * 180) / Math.PI);
    asHandle(mark(svg, kx, ky, "query", "↻"), "turn", "angle of the box", { low: -180, high: 180, value: degrees, text: `${degrees}°` });
    const steep = ({ gradient }) => Math.hypot(gradient[0], gradient[1]);
    const bars = [["e = 1 − IoU", e.value, undefined, "positive"], ["ê, surrogate", guess.value, undefined, "negative"]];
    drawBars(svg, bars, { top: HIGH + 14, width, most: 2 });
    view.say(told(e, guess, steep));
  }
  function told(e, guess, steep) {
    const home = [target[0] - box[0], target[1] - box[1]], far = Math.hypot(...home), length = steep(guess);
    const turned = -(guess.gradient[0] * home[0] + guess.gradient[1] * home[1]) / (far * length || 1);
    const off = Math.round((Math.acos(Math.min(1, Math.max(-1, turned))) * 180) / Math.PI);
    const own = e.value < 1 ? `1 − IoU pulls with ${steep(e).toFixed(2)} (blue)` : "The boxes share nothing: the gradient of IoU is exactly 0, no blue arrow";
    const way = far < 0.01 ? "" : `, ${off}° off the way home`;
    return `${own}. The surrogate pulls with ${length.toFixed(2)} (orange)${way}.`;
  }
  /** Plain gradient descent on all five numbers of the box. */
  function descend(measure) {
    const mine = (running = performance.now());
    let left = STEPS;
    const go = () => {
      if (running !== mine || !left--) return;
      const { gradient } = measure(box);
      box = box.map((value, i) => value - RATE * gradient[i]);
      [box[2], box[3]] = [Math.max(0.02, box[2]), Math.max(0.02, box[3])];
      view.redraw();
      requestAnimationFrame(go);
    };
    go();
  }
  const label = "A box to drag and to turn, beside its target; both can be done with the arrow keys";
  const view = stage(el, { height: HIGH + 14 + barsHeight(2), label, draw, find });
  const press = (text, act) => view.controls.appendChild(make("button", "", text, { type: "button" })).addEventListener("click", act);
  press("▶ Descend on IoU", () => descend(exact));
  press("▶ Descend on ê", () => descend(learned));
  press("As at the start", () => {
    running = 0;
    box = [...start];
    view.redraw();
  });
}
