// One query and its gallery on the axis of similarity: drag an item, choose a loss, and see who is pulled where.
import { choose, stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { barsHeight, drawBars } from "./bars.js";
import { curves, curvesHeight } from "./curves.js";
import { GALLERY_LOSSES } from "./losses.js";
import { averagePrecisionAtK, ranked, recallAtK } from "../maths/metrics.js";
import { arrow, mark, shape } from "../shared/svg.js";

const KS = [1, 2, 4, 8], TAUS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2], RANKS = [0.1, 0.25, 0.5, 1, 2, 4];
const SIDE = 34, LONGEST = 60, SEEN = 0.005;
const NARROW = 560; // pixels, below which items are smaller, so that none hides its neighbour

const digits = (x) => (x === 0 ? "0" : Math.abs(x) < 1e-4 ? x.toExponential(1) : x.toPrecision(3));

export function strip({ model, el }) {
  const items = model.get("items").map((item) => ({ ...item })), start = items.map((item) => item.s);
  const set = { loss: model.get("loss"), k: 2, tau: 0.05, tauRank: 1, ...model.get("settings") };
  const menu = model.get("menu"), withCurves = model.get("curves");
  const losses = Object.fromEntries(menu.map((name) => [name, GALLERY_LOSSES[name]]));
  let width = 640, before = null;
  const line = withCurves ? curvesHeight + 62 : 92;
  const across = (s) => SIDE + s * (width - 2 * SIDE);
  const put = (at, s) => {
    items[at].s = Math.round(1000 * Math.min(1, Math.max(0, s))) / 1000;
    view.redraw();
  };
  const find = (key) => ({
    moved: (x) => put(Number(key), (x - SIDE) / (width - 2 * SIDE)),
    stepped: (right) => put(Number(key), items[key].s + 0.01 * right),
  });

  function measured() {
    const s = items.map((item) => item.s), order = ranked(s), total = items.filter((item) => item.positive).length;
    const relevance = order.map((at) => (items[at].positive ? 1 : 0));
    const found = losses[set.loss].of(s, items.map((item) => item.positive), set);
    const bars = [
      [`recall@${set.k}`, recallAtK(relevance, set.k, total, "fraction")],
      ["average precision", averagePrecisionAtK(relevance, s.length, total, "relevant")],
    ];
    if (found.goal) bars.push([found.goal[0], found.goal[1], undefined, "soft"]);
    return { s, order, found, bars };
  }

  function drawLine(svg, { order, found }) {
    shape(svg, "line", { x1: SIDE, x2: width - SIDE, y1: line, y2: line, class: "axis" });
    for (const tick of [0, 0.25, 0.5, 0.75, 1])
      shape(svg, "text", { x: across(tick), y: line + 48, "text-anchor": "middle", class: "tick" }, String(tick));
    const words = "similarity to the query →";
    shape(svg, "text", { x: width - SIDE, y: line + 66, "text-anchor": "end", class: "tick" }, words);
    const pulls = found.gradient ?? [], most = Math.max(1e-12, ...pulls.map(Math.abs));
    const scale = LONGEST / Math.max(most, found.unit ?? 0);
    const above = order.map((at, place) => [at, place]).reverse();
    for (const [at, place] of above) {
      const item = items[at], x = across(item.s), kind = item.positive ? "positive" : "negative";
      if (item.s !== start[at]) shape(svg, "circle", { cx: across(start[at]), cy: line, r: 5, class: "ghost" });
      const y = line - (item.positive ? 24 : 36); // two rows, so that opposite arrows do not cover each other
      arrow(svg, [x, y], [x - scale * (pulls[at] ?? 0), y], `pull ${kind}`);
      const drawn = mark(svg, x, line, kind, item.positive ? "+" : "−");
      if (width < NARROW) drawn.setAttribute("transform", `translate(${x} ${line}) scale(0.7)`);
      asHandle(drawn, at, `${kind} ${item.name}`, { low: 0, high: 1, value: item.s });
      shape(svg, "text", { x, y: line + 30, "text-anchor": "middle", class: "tick" }, String(place + 1));
    }
    for (const proxy of found.proxies ?? []) {
      const x = across(proxy.s), kind = proxy.own ? "positive" : "negative";
      const y = line - (proxy.own ? 34 : 64);
      arrow(svg, [x, y], [x + LONGEST * proxy.pull, y], `pull ${kind}`);
      mark(svg, x, y, "proxy", proxy.own ? "+" : "−").classList.add(kind);
    }
  }

  function draw(svg, now) {
    width = now;
    const state = measured();
    if (withCurves) curves(svg, state.s, items, set, { across, width });
    drawLine(svg, state);
    const bars = state.bars.map(([name, value, , kind], row) => [name, value, before?.[row]?.[1], kind]);
    before ??= state.bars;
    drawBars(svg, bars, { top: line + 84, width });
    const pulled = (state.found.gradient ?? []).filter((g) => Math.abs(g) > SEEN).length;
    const who = state.found.words ?? `${pulled} of ${items.length} items are pulled by more than ${SEEN}.`;
    const value = state.found.loss === undefined ? "" : `Loss ${digits(state.found.loss)}. `;
    view.say(`${value}${who} Numbers under the items are ranks.`);
  }

  const label = "A query's gallery on the axis of similarity; each item can be moved with the arrow keys";
  const view = stage(el, { height: line + 84 + barsHeight(3), label, draw, find });
  const dials = {};
  const changed = (name) => (value) => {
    set[name] = value;
    before = null;
    offer();
    view.redraw();
  };
  const offer = () => {
    for (const [name, box] of Object.entries(dials)) box.hidden = !losses[set.loss].dials.includes(name);
  };
  if (menu.length > 1)
    choose(view.controls, { label: "loss", values: menu, start: set.loss }, changed("loss"));
  choose(view.controls, { label: "k", values: KS, start: set.k }, changed("k"));
  const similar = { label: menu.includes("RS@k") ? "τ₂ (similarity)" : "τ", values: TAUS, start: set.tau, slider: true };
  dials.tau = choose(view.controls, similar, changed("tau"));
  if (menu.includes("RS@k"))
    dials.tauRank = choose(
      view.controls,
      { label: "τ₁ (ranks)", values: RANKS, start: set.tauRank, slider: true },
      changed("tauRank"),
    );
  offer();
  const reset = document.createElement("button");
  reset.textContent = "As at the start";
  reset.addEventListener("click", () => {
    items.forEach((item, at) => (item.s = start[at]));
    view.redraw();
  });
  view.controls.append(reset);
}
