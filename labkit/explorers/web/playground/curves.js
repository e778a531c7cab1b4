// The derivative, which is drawn with the pointer, the loss, its integral, and who gets the gradient now: three charts
// over the same axis, R.
import { cleared, make, sharpen } from "../shared/elements.js";
import { axes, line, ticksTo, write } from "./chart.js";
import { curveOf, knots, LARGEST, LOSSES } from "./losses.js";
import { BINS } from "./probe.js";

const X = { ticks: [0, 1, 3, 10, 48], scale: (R) => Math.log1p(R) / Math.log1p(LARGEST) };
const R_NAME = "R: negatives before the positive";
const DENSE = Array.from({ length: 121 }, (_, k) => Math.expm1((Math.log1p(LARGEST) * k) / 120));
const LOWEST = 0.25; // below zero, in parts of the top

export class Curves {
  drag = null;

  /** stages: derivative, loss, share; on: drawn(values, done). */
  constructor(stages, on, signal) {
    Object.assign(this, { stages, on });
    this.canvases = {};
    for (const [name, stage] of Object.entries(stages)) this.canvases[name] = stage.appendChild(make("canvas"));
    const { derivative } = stages, listen = (name, act) => derivative.addEventListener(name, act, { signal });
    listen("pointerdown", (event) => this.down(event));
    listen("pointermove", (event) => this.drag && this.pull(event));
    for (const end of ["pointerup", "pointercancel"]) listen(end, () => this.up());
    listen("keydown", (event) => this.key(event));
  }

  resize() {
    this.sizes = {};
    for (const [name, stage] of Object.entries(this.stages)) {
      const box = stage.getBoundingClientRect(), border = 2 * stage.clientLeft;
      this.sizes[name] = { width: box.width - border, height: box.height - border };
      if (box.width > 0) sharpen(this.canvases[name], this.sizes[name].width, this.sizes[name].height);
    }
  }

  /** The derivative at the knots, whatever the loss: where drawing starts from. */
  values(choice) {
    const curve = curveOf(choice);
    return curve ? knots.map(curve.derivative) : null;
  }

  // ---- drawing with the pointer, or with the keys: left and right choose a knot, up and down move it

  down(event) {
    const values = this.choice && this.values(this.choice);
    if (event.button !== 0 || !values) return;
    event.preventDefault();
    this.stages.derivative.focus({ preventScroll: true });
    this.stages.derivative.setPointerCapture(event.pointerId);
    this.drag = { values, last: null };
    this.pull(event);
  }

  pull({ clientX, clientY }) {
    const box = this.canvases.derivative.getBoundingClientRect(), { px, py } = this.frame;
    const place = (clientX - box.left - px(0)) / (px(LARGEST) - px(0)), k = Math.round(place * (knots.length - 1));
    const at = Math.min(knots.length - 1, Math.max(0, k));
    const height = (py(0) - (clientY - box.top)) / (py(0) - py(1));
    const value = Math.min(this.top, Math.max(-LOWEST * this.top, height)), { last, values } = this.drag;
    const from = last ?? { at, value }, span = Math.abs(at - from.at) || 1;
    for (let step = 0; step <= span; step++) {
      const where = from.at + Math.round(((at - from.at) * step) / span);
      values[where] = +(from.value + ((value - from.value) * step) / span).toFixed(3);
    }
    this.drag.last = { at, value };
    this.on.drawn([...values], false);
  }

  up() {
    if (this.drag) this.on.drawn([...this.drag.values], true);
    this.drag = null;
  }

  knot = 0;

  key(event) {
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key], up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const values = this.choice && this.values(this.choice);
    if ((!along && !up) || !values) return;
    event.preventDefault();
    event.stopPropagation();
    if (along) this.knot = Math.min(knots.length - 1, Math.max(0, this.knot + along));
    const moved = values[this.knot] + (up ?? 0) * this.top * 0.05;
    values[this.knot] = +Math.min(this.top, Math.max(-LOWEST * this.top, moved)).toFixed(3);
    this.on.drawn(values.map((one) => +one.toFixed(3)), true, Boolean(along));
  }

  // ---- pictures

  draw(choice, probe, colors) {
    this.choice = choice;
    const curve = curveOf(choice);
    this.drawDerivative(curve, colors);
    this.drawLoss(curve, colors);
    this.drawShares(probe, colors);
  }

  start(name) {
    const { width, height } = this.sizes[name];
    return { ctx: cleared(this.canvases[name], width, height), width, height };
  }

  drawDerivative(curve, colors) {
    const { ctx, width, height } = this.start("derivative");
    if (!curve) return this.empty(ctx, width, height, colors);
    const values = DENSE.map(curve.derivative), highest = Math.max(...values.map(Math.abs), 1e-3);
    if (!this.drag) this.top = Math.max(highest * 1.25, 0.1); // while it is drawn the axis stays
    const least = Math.min(...values) < 0 || this.drag ? -LOWEST * this.top : -0.06 * this.top;
    const y = { least, most: this.top, ticks: ticksTo(this.top) };
    const frame = axes(ctx, { width, height, colors, x: X, y, bottom: 22 });
    this.frame = frame;
    this.plot(ctx, frame, values, colors.accent, colors);
    if (this.choice.loss !== "drawn") return;
    ctx.fillStyle = colors.accent;
    knots.forEach((R, k) => {
      ctx.beginPath();
      ctx.arc(frame.px(R), frame.py(this.choice.drawn[k]), k === this.knot ? 4.5 : 2.6, 0, 2 * Math.PI);
      ctx.fill();
    });
  }

  drawLoss(curve, colors) {
    const { ctx, width, height } = this.start("loss");
    if (!curve) return this.empty(ctx, width, height, colors, ["No loss of R to draw."]);
    const values = DENSE.map(curve.value), most = Math.max(...values, 1e-3), least = Math.min(0, ...values);
    const y = { least: least * 1.1 - 0.04 * most, most: 1.1 * most, ticks: ticksTo(most) };
    this.plot(ctx, axes(ctx, { width, height, colors, x: X, y, bottom: 22 }), values, colors.text, colors);
  }

  plot(ctx, frame, values, color, colors) {
    [ctx.strokeStyle, ctx.lineWidth] = [colors.soft, 1];
    line(ctx, [[frame.left, frame.py(0)], [frame.right, frame.py(0)]]);
    [ctx.strokeStyle, ctx.lineWidth, ctx.lineJoin] = [color, 2.5, "round"];
    line(ctx, DENSE.map((R, k) => [frame.px(R), frame.py(values[k])]));
  }

  drawShares({ positives, gradient }, colors) {
    const { ctx, width, height } = this.start("share");
    const percent = (value) => `${Math.round(100 * value)} %`;
    const y = { least: 0, most: 1, ticks: [0, 0.5, 1], text: percent };
    const { px, py, left, right } = axes(ctx, { width, height, colors, x: { ...X, name: R_NAME }, y });
    const wide = (right - left) / BINS;
    const bars = (shares, color, from, part) => {
      ctx.fillStyle = color;
      shares.forEach((share, k) => ctx.fillRect(left + wide * (k + from), py(share), wide * part, py(0) - py(share)));
    };
    bars(positives, colors.line, 0.08, 0.4);
    if (gradient) bars(gradient, colors.accent, 0.5, 0.4);
    else {
      ctx.fillStyle = colors.soft;
      write(ctx, "Proxies pull, not positives.", (left + right) / 2, py(0.75), "center", colors.page);
    }
  }

  empty(ctx, width, height, colors, words = null) {
    ctx.font = `14px ${colors.font}`;
    ctx.fillStyle = colors.soft;
    const lines = words ?? EMPTY[LOSSES[this.choice.loss].family], top = height / 2 - 10 * (lines.length - 1);
    lines.forEach((text, k) => write(ctx, text, width / 2, top + 20 * k, "center"));
  }
}

const EMPTY = {
  pair: ["This loss does not count negatives:", "it looks at similarities of pairs,", "its pull does not know R."],
  proxy: ["This loss does not count negatives:", "each class has vectors of its own (★)", "that attract its samples."],
};
