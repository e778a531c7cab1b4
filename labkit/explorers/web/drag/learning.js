// A surrogate while it learns: ê against e of pairs it never sees, frame by frame; the time is dragged or played.
import { choose, stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { takeApart } from "../shared/bytes.js";
import { make } from "../shared/elements.js";
import { mark, shape } from "../shared/svg.js";

const HIGH = 300, LEFT = 46, RIGHT = 18, TOP = 14, MOST = 10, TIME = HIGH + 84, TALL = 96, SECONDS = 6;

export function learning({ model, el }) {
  const { head, arrays } = takeApart(model.get("film")), { lams, steps, pairs } = head, { exact, estimates, norms } = arrays;
  let lam = 0, frame = steps.length - 1, width = 640, playing = 0;
  const largest = Math.max(...exact);
  const of = (table, at, film = lam) => table.subarray((film * steps.length + at) * pairs, (film * steps.length + at + 1) * pairs);
  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const error = (at, film) => mean(Array.from(of(estimates, at, film), (one, i) => Math.abs(one - exact[i])));
  const across = (e) => LEFT + ((e + 0.5) / (largest + 1)) * (width - LEFT - RIGHT);
  const up = (value) => TOP + (1 - Math.min(MOST, value) / MOST) * (HIGH - TOP);
  const when = (at) => LEFT + (at / (steps.length - 1)) * (width - LEFT - RIGHT);
  const put = (at) => {
    frame = Math.min(steps.length - 1, Math.max(0, Math.round(at)));
    view.redraw();
  };
  const find = () => ({
    moved: (x) => (pause(), put(((x - LEFT) / (width - LEFT - RIGHT)) * (steps.length - 1))),
    stepped: (right, upwards) => (pause(), put(frame + right + upwards)),
  });
  function points(svg) {
    for (let tick = 0; tick <= MOST; tick += 2) {
      shape(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: up(tick), y2: up(tick), class: "grid" });
      shape(svg, "text", { x: LEFT - 8, y: up(tick) + 4, "text-anchor": "end", class: "tick" }, String(tick));
    }
    shape(svg, "text", { x: 11, y: HIGH / 2, transform: `rotate(-90 11 ${HIGH / 2})`, "text-anchor": "middle", class: "tick" }, "ê, the surrogate");
    shape(svg, "line", { x1: across(0), x2: across(largest), y1: up(0), y2: up(largest), class: "cutoff" });
    const values = of(estimates, frame), d = [];
    values.forEach((value, i) => {
      const aside = (((i * 37) % 61) / 61 - 0.5) * 0.6; // equal distances side by side
      const x = across(exact[i] + aside), y = up(value);
      d.push(`M${(x - 3).toFixed(1)},${y.toFixed(1)} a3,3 0 1 0 6,0 a3,3 0 1 0 -6,0`);
    });
    shape(svg, "path", { d: d.join(""), class: "smooth far" });
    for (let e = 0; e <= largest; e++) {
      const own = Array.from(values).filter((_, i) => exact[i] === e), y = up(mean(own));
      shape(svg, "line", { x1: across(e - 0.36), x2: across(e + 0.36), y1: y, y2: y, class: "axis middle" });
      shape(svg, "text", { x: across(e), y: HIGH + 18, "text-anchor": "middle", class: "tick" }, String(e));
    }
    shape(svg, "text", { x: width - RIGHT, y: HIGH + 36, "text-anchor": "end", class: "tick" }, "e, true edit distance →");
  }
  function times(svg) {
    const end = Math.max(...steps.map((_, at) => Math.max(error(at), mean(of(norms, at))))), level = (v) => TIME + TALL * (1 - v / end);
    shape(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: TIME + TALL, y2: TIME + TALL, class: "axis" });
    shape(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: level(1), y2: level(1), class: "cutoff" });
    shape(svg, "text", { x: LEFT - 8, y: level(1) + 4, "text-anchor": "end", class: "tick" }, "1");
    shape(svg, "text", { x: LEFT - 8, y: level(end) + 4, "text-anchor": "end", class: "tick" }, end.toFixed(0));
    for (const [kind, value, y] of [["smooth", (at) => error(at)], ["hard dashed", (at) => mean(of(norms, at))]]) {
      const d = steps.map((_, at) => `${at ? "L" : "M"}${when(at).toFixed(1)},${level(value(at)).toFixed(1)}`).join("");
      shape(svg, "path", { d, class: `curve ${kind}` });
    }
    shape(svg, "text", { x: LEFT, y: TIME - 10, class: "tick" }, "solid: mean |ê − e|; dashed: mean ‖∂ê/∂z‖");
    const shown = [0, Math.round((steps.length - 1) / 3), Math.round((2 * (steps.length - 1)) / 3), steps.length - 1];
    for (const at of shown) shape(svg, "text", { x: when(at), y: TIME + TALL + 34, "text-anchor": at ? (at === steps.length - 1 ? "end" : "middle") : "start", class: "tick" }, `step ${steps[at]}`);
    const drawn = mark(svg, when(frame), TIME + TALL, "positive", "⟷");
    asHandle(drawn, "time", "time", { low: 0, high: steps.length - 1, value: frame, text: `step ${steps[frame]}` });
  }
  function draw(svg, now) {
    width = now;
    points(svg);
    times(svg);
    view.say(`Step ${steps[frame]}, λ = ${lams[lam]}: mean |ê − e| ${error(frame).toFixed(2)}, mean ‖∂ê/∂z‖ ${mean(of(norms, frame)).toFixed(2)}, on ${pairs} held-out pairs.`);
  }
  function pause() {
    playing = 0;
    button.textContent = "▶ Play";
  }
  function play() {
    const mine = (playing = performance.now()), from = frame === steps.length - 1 ? 0 : frame;
    button.textContent = "❚❚ Pause";
    const go = (time) => {
      if (playing !== mine) return;
      put(from + (Math.max(0, time - mine) / (1000 * SECONDS)) * (steps.length - 1));
      if (frame < steps.length - 1) requestAnimationFrame(go);
      else pause();
    };
    requestAnimationFrame(go);
  }
  const view = stage(el, { height: TIME + TALL + 44, label: "Predicted against true distance; the time can be moved with the arrow keys", draw, find });
  choose(view.controls, { label: "λ", values: lams.map((_, at) => at), names: lams.map(String), start: 0 }, (chosen) => {
    lam = chosen;
    view.redraw();
  });
  const button = view.controls.appendChild(make("button", "", "▶ Play", { type: "button" }));
  button.addEventListener("click", () => (playing ? pause() : play()));
}
