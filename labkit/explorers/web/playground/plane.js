// The input plane: every place in the colour of the direction that the network gives it, the samples on it, and a
// handle on every cluster, which is dragged, moved with the arrow keys, and removed with Delete.
import { make, sharpen, cleared } from "../shared/elements.js";
import { drawMarker } from "../shared/markers.js";
import { arrow } from "./chart.js";
import { EDGE, PER_CLASS } from "./data.js";
import { colorOf, rgbOf } from "./hue.js";
import { angles } from "./network.js";
import { nameOf } from "./state.js";

const GRID = 52; // colours across the plane
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
export const SHAPES = ["circle", "square", "diamond", "triangle-up"];

const round = (value) => +Math.min(EDGE, Math.max(-EDGE, value)).toFixed(2);
const grid = Float64Array.from({ length: 2 * GRID * GRID }, (_, k) => {
  const cell = k >> 1, at = k % 2 ? GRID - 1 - Math.floor(cell / GRID) : cell % GRID;
  return EDGE * ((2 * (at + 0.5)) / GRID - 1);
});

export class Plane {
  handles = [];
  chosen = -1; // handle

  /** on: moved(clusters, done), added(x, y), query(x, y). */
  constructor(stage, on, signal) {
    Object.assign(this, { stage, on, signal });
    this.canvas = stage.appendChild(make("canvas"));
    this.field = document.createElement("canvas");
    this.field.width = this.field.height = GRID;
    this.canvas.addEventListener("dblclick", (event) => on.added(...this.placeOf(event)), { signal });
    this.canvas.addEventListener("click", (event) => on.query(...this.placeOf(event)), { signal });
  }

  resize() {
    this.side = this.stage.getBoundingClientRect().width - 2 * this.stage.clientLeft;
    if (this.side > 0) sharpen(this.canvas, this.side, this.side);
    this.placeHandles();
  }

  px(x, y) {
    return [((x / EDGE + 1) * this.side) / 2, ((1 - y / EDGE) * this.side) / 2];
  }

  placeOf({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
    return [round(EDGE * (2 * x - 1)), round(EDGE * (1 - 2 * y))];
  }

  // ---- handles

  setClusters(clusters) {
    this.clusters = clusters;
    while (this.handles.length > clusters.length) this.handles.pop().remove();
    while (this.handles.length < clusters.length) this.handles.push(this.makeHandle(this.handles.length));
    clusters.forEach((one, k) => {
      const name = nameOf(one), handle = this.handles[k], kind = one.unseen ? "unseen class" : "training class";
      handle.textContent = name;
      handle.classList.toggle("unseen", one.unseen);
      const words = `Cluster of ${kind} ${name} at ${one.x}, ${one.y}; arrows move, Delete removes`;
      handle.setAttribute("aria-label", words);
    });
    this.placeHandles();
  }

  placeHandles() {
    if (!(this.side > 0)) return;
    this.handles.forEach((handle, k) => {
      const [x, y] = this.px(this.clusters[k].x, this.clusters[k].y);
      handle.style.translate = `${x}px ${y}px`;
    });
  }

  makeHandle(k) {
    const { signal } = this, handle = make("button", "handle", "", { type: "button" });
    let drag = null;
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      handle.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
      this.chosen = k;
      drag = { moved: false };
      event.preventDefault();
    }, { signal });
    handle.addEventListener("pointermove", (event) => {
      if (!drag) return;
      drag.moved = true;
      this.move(k, ...this.placeOf(event), false);
    }, { signal });
    for (const end of ["pointerup", "pointercancel"])
      handle.addEventListener(end, () => {
        if (drag?.moved) this.on.moved(this.clusters, true);
        else if (drag) this.on.query(this.clusters[k].x, this.clusters[k].y);
        drag = null;
      }, { signal });
    handle.addEventListener("focus", () => (this.chosen = k), { signal });
    handle.addEventListener("keydown", (event) => this.key(event, k), { signal });
    return this.stage.appendChild(handle);
  }

  key(event, k) {
    const by = ARROWS[event.key], far = event.shiftKey ? 0.5 : 0.1, { x, y } = this.clusters[k];
    if (by) this.move(k, round(x + far * by[0]), round(y + far * by[1]), true);
    else if (event.key === "Delete" || event.key === "Backspace") this.remove(k);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  move(k, x, y, done) {
    this.on.moved(this.clusters.map((one, at) => (at === k ? { ...one, x, y } : one)), done);
  }

  remove(k) {
    this.on.moved(this.clusters.filter((_, at) => at !== k), true);
    this.handles[Math.min(k, this.handles.length - 1)]?.focus();
  }

  // ---- the picture

  draw({ parameters, train, test, found, probe, query, colors }) {
    const ctx = cleared(this.canvas, this.side, this.side);
    this.drawField(ctx, parameters, colors);
    this.drawSamples(ctx, train, found.train, 2, 2.1, null);
    this.drawSamples(ctx, test, found.test, 3, 3.4, colors.page);
    [ctx.strokeStyle, ctx.fillStyle] = [colors.text, colors.text];
    const strongest = Math.max(...probe.pulls.map(({ strength }) => Math.abs(strength)), 1e-12);
    const at = (row) => this.px(train.x[2 * probe.rows[row]], train.x[2 * probe.rows[row] + 1]), to = at(query);
    for (const { row, strength } of probe.pulls) {
      const share = strength / strongest, from = at(row);
      if (Math.abs(share) < 0.03) continue;
      ctx.globalAlpha = 0.25 + 0.7 * Math.abs(share);
      const far = 0.85; // a pull points at the query, a push away from it
      const end = [0, 1].map((axis) => from[axis] + far * (to[axis] - from[axis]));
      if (share > 0) arrow(ctx, from, end, 0.6 + 2.2 * share);
      else arrow(ctx, from, [0, 1].map((axis) => from[axis] - 0.2 * (to[axis] - from[axis])), 0.6 - 2.2 * share);
    }
    ctx.globalAlpha = 1;
    ring(ctx, to, colors);
  }

  drawField(ctx, parameters, colors) {
    const pixels = this.field.getContext("2d"), image = pixels.createImageData(GRID, GRID);
    angles(parameters, grid, GRID * GRID).forEach((angle, k) => image.data.set([...rgbOf(angle), 255], 4 * k));
    pixels.putImageData(image, 0, 0);
    ctx.globalAlpha = colors.dark ? 0.42 : 0.5;
    ctx.drawImage(this.field, 0, 0, this.side, this.side);
    ctx.globalAlpha = 1;
  }

  drawSamples(ctx, { n, x, labels }, turned, part, size, edge) {
    for (let i = 0; i < n; i++) {
      if (i % PER_CLASS >= PER_CLASS / part) continue; // the first of each class: all its clusters are among them
      const [left, top] = this.px(x[2 * i], x[2 * i + 1]);
      if (edge) drawMarker(ctx, SHAPES[labels[i]], left, top, size + 1.3, edge);
      drawMarker(ctx, SHAPES[labels[i]], left, top, size, colorOf(turned[i]));
    }
  }
}

/** A ring round the query. */
export function ring(ctx, [x, y], colors) {
  for (const [width, color] of [[5, colors.page], [2.5, colors.text]]) {
    [ctx.lineWidth, ctx.strokeStyle] = [width, color];
    ctx.beginPath();
    ctx.arc(x, y, 8, 0, 2 * Math.PI);
    ctx.stroke();
  }
}
