// What the playground shows of a scene: state, data, the engine's last report, and what was measured so far.
import { channels, paintRoot } from "../shared/colors.js";
import { make, sharpen } from "../shared/elements.js";
import { drawCircle } from "./circle.js";
import { CLASSES } from "./data.js";
import { History } from "./history.js";
import { angles } from "./network.js";
import { look } from "./probe.js";

const AROUND = 256; // places on the input ring
const RING = Float64Array.from({ length: 2 * AROUND }, (_, k) => {
  const turn = (2 * Math.PI * (k >> 1)) / AROUND;
  return 2 * (k % 2 ? Math.sin(turn) : Math.cos(turn));
});
const percent = (value) => (Number.isFinite(value) ? `${Math.round(100 * value)} %` : "–");
const grouped = (value) => value.toLocaleString("en");

export class View {
  /** changed: called when the colours of the page have changed. */
  constructor(page, plane, curves, changed) {
    Object.assign(this, { page, plane, curves, changed });
    this.history = new History(page.embedding.history, page.embedding.historyCanvas);
  }

  get ready() {
    return this.colors && this.side > 0;
  }

  recolor() {
    if (!this.page.root.isConnected) return;
    const colors = paintRoot(this.page.root, this.paint);
    if (this.paint === colors) return;
    this.paint = colors;
    const [text, page] = [colors.text, colors.page].map(channels);
    const mixed = (part) => `rgb(${[0, 1, 2].map((k) => Math.round(part * text[k] + (1 - part) * page[k])).join(",")})`;
    const font = getComputedStyle(this.page.root).fontFamily;
    this.colors = { ...colors, soft: mixed(0.72), line: mixed(0.38), grid: mixed(0.14), font };
    this.changed();
  }

  resize() {
    const { circle, canvas } = this.page.embedding;
    this.recolor();
    for (const part of [this.plane, this.curves, this.history]) part.resize();
    this.side = circle.getBoundingClientRect().width - 2 * circle.clientLeft;
    if (this.side > 0) sharpen(canvas, this.side, this.side);
    this.page.multiples.replaceChildren();
  }

  draw(scene) {
    const { state, train, test, rows, report, measured, shadow } = scene, { colors } = this;
    const { parameters, proxies } = report.networks[0];
    const of = (one) => ({ train: angles(one, train.x, train.n), test: angles(one, test.x, test.n) });
    const found = of(parameters), probe = { rows, ...look(state, parameters, train, rows, state.query) };
    const shared = { parameters, train, test, found, probe, query: state.query, colors };
    this.plane.draw(shared);
    drawCircle(this.page.embedding.canvas, this.side, { ...shared, proxies });
    this.curves.draw(state, probe, colors);
    this.history.draw({ measured, steps: state.steps, shadow, colors });
    this.drawMultiples(scene, of, found);
    this.tell(scene, parameters);
  }

  drawMultiples({ state, train, test, report, measured }, of, first) {
    const { multiples } = this.page, shown = report.networks.length > 1 ? report.networks : [];
    if (multiples.children.length !== shown.length) multiples.replaceChildren(...shown.map(small));
    shown.forEach(({ parameters }, k) => {
      const [canvas, caption] = multiples.children[k].children, side = canvas.getBoundingClientRect().width;
      if (!(side > 0)) return;
      if (!canvas.dataset.sharp) {
        sharpen(canvas, side, side);
        canvas.dataset.sharp = "true";
      }
      drawCircle(canvas, side, { train, test, found: k ? of(parameters) : first, colors: this.colors, small: true });
      const [before, now] = [measured[0], measured.at(-1)].map((one) => one?.[1][k]?.[1]);
      caption.textContent = `seed ${state.seed + k}: ${percent(before)} → ${percent(now)}`;
    });
  }

  /** Words and numbers about where training is. */
  tell({ report, state, measured, shadow }, parameters) {
    const { bar, status, embedding, root } = this.page, { step, playing, finished } = report;
    bar.play.textContent = playing ? "❚❚ Pause" : finished ? "▶ Again" : "▶ Play";
    bar.count.textContent = `step ${grouped(step)} of ${grouped(state.steps)}`;
    bar.bar.value = step / state.steps;
    embedding.shadow.hidden = !shadow;
    if (shadow) embedding.shadow.lastChild.textContent = `before: ${shadow.name.split(",")[0]}`;
    const [train, test] = measured.at(-1)?.[1][0] ?? [NaN, NaN], before = measured[0]?.[1][0]?.[1];
    const isRing = state.layout === "ring" && !state.clusters;
    const words = [
      `Unseen classes: R@1 ${percent(test)}${step ? `, untrained ${percent(before)}` : " before any training"}.`,
      ...(step ? [`Training classes: ${percent(train)}.`] : []),
      ...(isRing ? [`Going once round the ring covers the circle ${cover(parameters).toFixed(1)} times.`] : []),
      ...(step ? [] : ["Press play."]),
    ].join(" ");
    status.setAttribute("aria-live", playing ? "off" : "polite");
    if (status.textContent !== words) status.textContent = words;
    embedding.circle.setAttribute("aria-label", `Embeddings of ${2 * CLASSES} classes on the circle. ${words}`);
    Object.assign(root.dataset, { step, playing, recall: Number.isFinite(test) ? test : "" });
  }
}

/** The picture of one of several networks. */
function small() {
  const figure = make("figure");
  figure.append(make("canvas"), make("figcaption"));
  return figure;
}

/** How often a walk once round the input ring passes each direction, on average: 1 is not folded. */
function cover(parameters) {
  const turned = angles(parameters, RING, AROUND);
  let total = 0;
  turned.forEach((angle, k) => {
    const away = turned[(k + 1) % AROUND] - angle;
    total += Math.abs(Math.atan2(Math.sin(away), Math.cos(away)));
  });
  return total / (2 * Math.PI);
}
