// The playground: choose or draw how hard a ranking loss pulls, move the data, watch networks learn. It reads worker
// (the text of worker.js), state, title and address from a model, and gives back state.
import { watchPage } from "../shared/page.js";
import { parseFormula } from "../maths/formula.js";
import { Curves } from "./curves.js";
import { draw, fault, LAYOUTS, MOST, OWN } from "./data.js";
import { startEngine } from "./engine.js";
import { buildPage, slider } from "./layout.js";
import { LOSSES, startOf } from "./losses.js";
import { Plane } from "./plane.js";
import { probeRows } from "./probe.js";
import { remote } from "./remote.js";
import { classOf, clustersOf, read, stateOf, TRIES, write } from "./state.js";
import { View } from "./view.js";

const CALM = 500; // milliseconds between two pictures where the reader wants little motion

class Playground {
  run = 0;
  report = { step: 0, rate: 0, playing: false, finished: false, networks: [] };
  measured = [];
  shadow = null;
  waiters = [];
  stopped = new AbortController();

  constructor(model, el) {
    const { signal } = this.stopped;
    this.model = model;
    this.alone = Boolean(model.get("address")); // the page is ours: the address holds the state, keys work everywhere
    this.page = buildPage(el, Boolean(model.get("title")));
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.state = read(this.alone ? location.hash.slice(1) : model.get("state") ?? "");
    this.engine = startEngine(model.get("worker"), (report) => this.hear(report));
    const { data, loss } = this.page;
    this.plane = new Plane(data.plane, {
      moved: (clusters, done) => this.change({ clusters }, { done, fresh: true }),
      added: (x, y) => this.add(x, y),
      query: (x, y) => this.choose(x, y),
    }, signal);
    const drawn = (values, done, quiet) => {
      this.change({ loss: "drawn", drawn: values, options: this.optionsFor("drawn") }, { done, quiet });
    };
    this.curves = new Curves(loss.stages, { drawn }, signal);
    this.view = new View(this.page, this.plane, this.curves, () => this.redraw());
    this.listen(signal);
    const resized = () => {
      this.view.resize();
      this.redraw();
    };
    watchPage(this.page.root, { resized, recolored: () => this.view.recolor(), signal });
    this.fill();
    this.restart(false);
  }

  listen(signal) {
    const on = (target, name, act) => target.addEventListener(name, act, { signal });
    const { bar, data, loss, root, tries } = this.page, numbers = ["speed", "steps", "networks"];
    on(bar.play, "click", () => (this.report.playing ? this.pause() : this.play()));
    on(bar.step, "click", () => this.advance(1));
    on(bar.restart, "click", () => this.restart(false));
    for (const name of numbers) on(bar[name], "change", () => this.change({ [name]: Number(bar[name].value) }));
    const seed = () => Math.min(9999, Math.max(0, Math.round(Number(bar.seed.value) || 0)));
    on(bar.seed, "change", () => this.change({ seed: seed() }, { fresh: true }));
    on(data.layout, "change", () => {
      if (data.layout.value !== OWN) this.change({ layout: data.layout.value, clusters: null }, { fresh: true });
    });
    on(data.add, "click", () => this.add());
    on(data.remove, "click", () => this.plane.remove(Math.max(0, this.plane.chosen)));
    on(loss.loss, "change", () => this.change({ loss: loss.loss.value, options: this.optionsFor(loss.loss.value) }));
    on(loss.typed, "input", () => this.type());
    tries.forEach((one, k) => on(one, "click", () => this.try(k)));
    on(this.alone ? document : root, "keydown", (event) => this.key(event));
    if (this.alone) on(globalThis, "hashchange", () => this.load(location.hash.slice(1)));
    this.heard = () => this.load(this.model.get("state") ?? "");
    this.model.on("change:state", this.heard);
  }

  stop() {
    this.stopped.abort();
    this.engine.stop();
    this.model.off("change:state", this.heard);
    cancelAnimationFrame(this.frame);
    clearTimeout(this.saving);
    this.page.root.remove();
  }

  // ---- what the reader sets

  optionsFor(loss) {
    const before = this.state.options, own = startOf(loss);
    return "tau" in own && "tau" in before ? { ...own, tau: before.tau } : own;
  }

  /** done: the change is complete, train with it; fresh: other data, so no run to compare with; quiet: only drawn. */
  change(changes, { done = true, fresh = false, quiet = false, play = null } = {}) {
    const before = this.state, again = this.report.finished && !this.calm.matches;
    const playing = play ?? (this.report.playing || again); // who paused stays paused
    this.state = { ...before, ...changes };
    if (fresh) this.shadow = null;
    this.fill();
    const only = Object.keys(changes);
    if (only.length === 1 && only[0] === "speed") this.engine.send({ kind: "speed", speed: this.state.speed });
    else if (done && !quiet && only[0] !== "query") this.restart(playing, fresh ? null : before);
    else this.redraw();
    if (done) this.save();
  }

  try(k) {
    this.change(stateOf({ ...TRIES[k][2], speed: this.state.speed }), { play: true });
  }

  type() {
    const { loss } = this.page;
    try {
      parseFormula(loss.typed.value);
      loss.message.textContent = "";
      this.change({ loss: "typed", typed: loss.typed.value, options: this.optionsFor("typed") });
    } catch (error) {
      loss.message.textContent = error.message;
    }
  }

  add(x = null, y = null) {
    const clusters = clustersOf(this.state), spot = () => +(3 * Math.random() - 1.5).toFixed(2);
    if (clusters.length >= MOST) return;
    const made = { x: x ?? spot(), y: y ?? spot(), ...classOf(this.page.data.kind.value) };
    this.change({ clusters: [...clusters, made] }, { fresh: true });
    this.plane.handles.at(-1).focus();
  }

  /** The sample of the probe batch that is nearest to a place becomes the query. */
  choose(x, y) {
    const far = this.rows.map((i) => Math.hypot(this.train.x[2 * i] - x, this.train.x[2 * i + 1] - y));
    this.change({ query: far.indexOf(Math.min(...far)) });
  }

  load(text) {
    if (text === write(this.state)) return;
    this.state = read(text);
    this.fill();
    this.restart(false);
  }

  save() {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => {
      const text = write(this.state);
      if (this.alone) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
      this.model.set("state", text);
      this.model.save_changes();
    }, 300);
  }

  key(event) {
    const { target } = event, field = target.closest?.("input, select, textarea, button:not(.handle), summary, a");
    const toggle = () => (this.report.playing ? this.pause() : this.play());
    const act = { " ": toggle, s: () => this.advance(1), r: () => this.restart(false) };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(act, event.key)) return;
    if (field && (event.key === " " || field.tagName !== "BUTTON")) return;
    event.preventDefault();
    act[event.key]();
  }

  /** Show the state in all controls. */
  fill() {
    const { bar, data, loss, tries } = this.page, { state } = this;
    for (const name of ["speed", "steps", "networks", "seed"]) bar[name].value = state[name];
    data.layout.value = state.clusters ? OWN : state.layout;
    data.layout.options[LAYOUTS.length].hidden = !state.clusters; // nothing to choose before there is one
    loss.loss.value = state.loss;
    loss.formula.hidden = state.loss !== "typed";
    if (state.loss !== "typed") loss.message.textContent = "";
    if (loss.typed.getRootNode().activeElement !== loss.typed) loss.typed.value = state.typed; // not while one types
    tries.forEach((one, k) => {
      const is = write(stateOf({ ...TRIES[k][2], speed: state.speed })) === write(state);
      one.setAttribute("aria-pressed", String(is));
    });
    this.plane.setClusters(clustersOf(state));
    this.train = draw(clustersOf(state), false, state.seed);
    this.test = draw(clustersOf(state), true, state.seed);
    this.rows = probeRows(this.train);
    if (state.query >= this.rows.length) state.query = 0;
    if (loss.options.dataset.of === state.loss) return;
    loss.options.dataset.of = state.loss;
    const changed = (name, value, done) => this.change({ options: { ...this.state.options, [name]: value } }, { done });
    const specs = Object.entries(LOSSES[state.loss].options);
    loss.options.replaceChildren(...specs.map(([name, spec]) => slider(name, spec, state.options[name], changed)));
  }

  // ---- training

  restart(playing, before = null) {
    const { state, train, test } = this, wrong = fault(clustersOf(state));
    if (before && this.report.step >= 200 && before.loss !== state.loss)
      this.shadow = { name: LOSSES[before.loss].name, measured: this.measured };
    this.measured = [];
    this.page.loss.message.textContent = wrong;
    if (wrong) return this.pause();
    const data = { train, test }, { seed } = state;
    const networks = Array.from({ length: state.networks }, (_, k) => ({ data, seed: seed + k }));
    const { loss, options, drawn, typed, steps, speed } = state, choice = { loss, options, drawn, typed };
    this.engine.send({ kind: "setup", run: ++this.run, networks, choice, steps, speed, playing });
  }

  play() {
    if (this.report.finished) this.restart(true);
    else this.engine.send({ kind: "play" });
  }

  pause() {
    this.engine.send({ kind: "pause" });
  }

  /** Some single steps; the promise is kept when they are done and drawn. */
  advance(count = 1) {
    this.engine.send({ kind: "advance", count });
    return new Promise((done) => this.waiters.push(done));
  }

  hear(report) {
    if (report.run !== this.run) return this.engine.send({ kind: "seen" });
    this.report = report;
    this.measured.push(...report.measured);
    this.seen = false;
    this.redraw();
  }

  get recall() {
    return this.measured.at(-1)?.[1][0] ?? [NaN, NaN];
  }

  // ---- drawing

  redraw() {
    if (this.frame) return;
    const go = () => {
      this.frame = null;
      this.last = performance.now();
      if (this.view.ready && this.report.networks.length && this.train.n) this.view.draw(this);
      if (this.seen === false) this.engine.send({ kind: "seen" });
      this.seen = true;
      for (const done of this.waiters.splice(0)) done(this.report.step);
    };
    const since = performance.now() - (this.last ?? 0);
    const rest = this.calm.matches && this.report.playing ? CALM - since : 0;
    if (rest > 0) this.frame = setTimeout(() => (this.frame = requestAnimationFrame(go)), rest);
    else this.frame = requestAnimationFrame(go);
  }
}

/** Put a playground into an element; returns what takes it away. The newest one is window.labkitPlayground. */
export function render({ model, el }) {
  const playground = new Playground(model, el), own = remote(playground);
  globalThis.labkitPlayground = own;
  return () => {
    playground.stop();
    if (globalThis.labkitPlayground === own) delete globalThis.labkitPlayground;
  };
}
