// A run's samples while it learned: directions on a sphere, which a drag turns, on circles, or points in the plane.
// A slider and a button go through the training; menus change the run. It reads films, height, group, start (what the
// menus begin with), step, turn and tilt from a model, and gives back step, turn and tilt.
import { paintRoot, readableOn } from "../shared/colors.js";
import { cleared, innerSize, make, sharpen } from "../shared/elements.js";
import { drawMarker, legendEntry } from "../shared/markers.js";
import { BUS, watchPage } from "../shared/page.js";
import { buildPage, fillMenus } from "./layout.js";
import { paintCircles, paintPlane } from "./plane.js";
import { frameAt, openReel, pointsAt, stepAt } from "./reel.js";
import { paintSphere } from "./sphere.js";

const SECONDS = 8; // of the whole film
const NAMED = 24; // classes in the legend
const HEIGHT = 520; // pixels
const ROOM = 34; // pixels round the sphere
const PAINT = { sphere: paintSphere, circles: paintCircles, plane: paintPlane };
const ARROWS = { ArrowLeft: [5, 0], ArrowRight: [-5, 0], ArrowUp: [0, 5], ArrowDown: [0, -5] }; // degrees

class Film {
  film = null; // the one that is shown, as reel.js unpacks it
  chosen = -1; // class
  playing = false;
  drag = null;
  colors = null; // of the page
  stopped = new AbortController();

  constructor(model, el) {
    this.model = model;
    this.now = model.get("step"); // null: the last
    this.turn = model.get("turn") ?? 45;
    this.tilt = model.get("tilt") ?? 35;
    this.page = buildPage(el);
    this.listen();
    this.load();
  }

  listen() {
    const { signal } = this.stopped, { stage, slider, button } = this.page;
    const on = (element, name, act) => element.addEventListener(name, act, { signal });
    on(stage, "pointerdown", (event) => this.down(event));
    on(stage, "pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) on(stage, end, () => this.up());
    on(stage, "keydown", (event) => this.key(event));
    on(stage, "keyup", (event) => event.key in ARROWS && this.turns && this.say());
    on(slider, "input", () => {
      this.pause();
      this.goTo(this.film.steps[slider.value]);
    });
    on(slider, "change", () => this.say());
    on(button, "click", () => (this.playing ? this.pause(true) : this.play()));
    on(BUS, "film", ({ detail }) => this.follow(detail));
    watchPage(stage, { resized: () => this.resize(), recolored: () => this.recolor(), signal });
    this.changes = { "change:films": () => this.load(), "change:height": () => this.resize() };
    for (const [name, act] of Object.entries(this.changes)) this.model.on(name, act);
  }

  stop() {
    this.playing = false;
    this.stopped.abort();
    for (const [name, act] of Object.entries(this.changes)) this.model.off(name, act);
    cancelAnimationFrame(this.frame);
    this.page.root.remove();
  }

  load() {
    const bytes = this.model.get("films");
    if (!bytes?.byteLength) return;
    this.reel = openReel(bytes);
    const { menus } = this.reel, start = this.model.get("start") ?? menus.map((menu) => menu.start);
    this.page.menus.replaceChildren();
    fillMenus(this.page.menus, menus, start, (choice) => this.choose(choice));
    this.choose(start);
  }

  /** Show the film of a choice, at the same step; who was at the end stays at the end, as a film may grow. */
  choose(choice) {
    const { wait, title, root, slider, time } = this.page, ended = this.film && this.now >= this.film.steps.at(-1);
    this.film = this.reel.film(choice);
    const { steps, d } = this.film, last = steps.at(-1);
    this.now = ended ? last : Math.min(this.now ?? last, last);
    wait.hidden = true;
    title.textContent = this.film.title;
    root.classList.toggle("turns", d === 3);
    root.dataset.frames = String(steps.length);
    slider.max = steps.length - 1;
    time.hidden = steps.length < 2;
    this.chosen = -1;
    this.colors = null;
    this.resize();
  }

  get turns() {
    return this.film?.d === 3;
  }

  // ---- time: a step of the training, between two frames while it plays

  goTo(step) {
    this.now = step;
    this.draw();
    this.tell();
  }

  play() {
    const last = this.film.steps.length - 1, [k, part] = frameAt(this.film, this.now);
    const from = k >= last ? 0 : k + part, began = performance.now();
    this.playing = true;
    this.page.button.textContent = "❚❚ Pause";
    const go = (time) => {
      if (!this.playing) return;
      const place = Math.min(last, from + ((time - began) / (1000 * SECONDS)) * last);
      this.goTo(stepAt(this.film, place));
      if (place < last) requestAnimationFrame(go);
      else this.pause(true);
    };
    requestAnimationFrame(go);
  }

  pause(say = false) {
    if (!this.playing) return;
    this.playing = false;
    this.page.button.textContent = "▶ Play";
    this.goTo(this.film.steps[frameAt(this.film, this.now)[0]]);
    if (say) this.say();
  }

  // ---- what is shared: films of a group go and turn together; Python may want to know

  tell() {
    const { now, turn, tilt } = this, group = this.model.get("group"), name = this.film.classes[this.chosen];
    if (group) BUS.dispatchEvent(new CustomEvent("film", { detail: { group, from: this, now, turn, tilt, name } }));
  }

  follow({ group, from, now, turn, tilt, name }) {
    if (from === this || group !== this.model.get("group") || !this.film) return;
    if (this.playing) this.pause();
    const chosen = this.film.classes.indexOf(name), other = chosen !== this.chosen;
    Object.assign(this, { now, turn, tilt, chosen });
    if (other && this.colors) this.fillLegend();
    this.draw();
  }

  say() {
    const step = this.film.steps[frameAt(this.film, this.now)[0]], { turn, tilt } = this;
    const values = { step, turn: Math.round(turn), tilt: Math.round(tilt) };
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    this.model.save_changes();
  }

  // ---- turning

  down(event) {
    if (event.button !== 0 || !this.turns) return;
    const { stage } = this.page;
    event.preventDefault();
    stage.focus({ preventScroll: true });
    stage.setPointerCapture(event.pointerId);
    this.drag = { x: event.clientX, y: event.clientY, turn: this.turn, tilt: this.tilt };
  }

  move(event) {
    if (!this.drag) return;
    const { x, y, turn, tilt } = this.drag;
    this.turnTo(turn - 0.4 * (event.clientX - x), tilt + 0.4 * (event.clientY - y));
  }

  up() {
    if (!this.drag) return;
    this.drag = null;
    this.say();
  }

  turnTo(turn, tilt) {
    this.turn = ((((turn + 180) % 360) + 360) % 360) - 180;
    this.tilt = Math.max(-90, Math.min(90, tilt));
    this.draw();
    this.tell();
  }

  key(event) {
    const by = ARROWS[event.key];
    if (!by || !this.turns) return;
    event.preventDefault();
    event.stopPropagation();
    this.turnTo(this.turn + by[0], this.tilt + by[1]);
  }

  // ---- looks

  recolor() {
    if (!this.page.root.isConnected || !this.film) return;
    const colors = paintRoot(this.page.root, this.colors);
    if (this.colors === colors) return;
    this.colors = colors;
    this.fillLegend();
    this.draw();
  }

  colorOf(label) {
    return readableOn(this.colors.dark, this.film.colors[label]);
  }

  fillLegend() {
    const { classes, shapes } = this.film, { legend } = this.page, more = classes.length - NAMED;
    const entries = classes.slice(0, NAMED).map((name, k) => {
      const click = () => {
        this.chosen = k === this.chosen ? -1 : k;
        this.fillLegend();
        this.draw();
        this.tell();
      };
      return legendEntry({ name, shape: shapes[k], color: this.colorOf(k), pressed: k === this.chosen, click });
    });
    const said = [...(more > 0 ? [`and ${more} more classes`] : []), ...(this.turns ? ["pale: on the far side"] : [])];
    legend.replaceChildren(...entries, ...said.map((text) => make("span", "soft", text)));
  }

  resize() {
    const { stage, canvas } = this.page, wide = stage.getBoundingClientRect().width;
    stage.style.height = `${Math.min(this.model.get("height") || HEIGHT, Math.max(240, wide))}px`; // it is round
    [this.width, this.height] = innerSize(stage);
    if (!(this.width > 0)) return;
    sharpen(canvas, this.width, this.height);
    this.recolor();
    this.draw();
  }

  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.film && this.colors && this.width > 0) this.paint();
    });
  }

  paint() {
    const [k] = frameAt(this.film, this.now), { words, steps, title, kind, shapes } = this.film;
    const { slider, stage, root, canvas } = this.page, { width, height, turn, tilt, colors } = this;
    slider.value = k;
    slider.setAttribute("aria-valuetext", `step ${steps[k]}`);
    this.page.words.textContent = words[k];
    stage.setAttribute("aria-label", `${title}, ${words[k]}`);
    Object.assign(root.dataset, { step: steps[k], turn: Math.round(turn), tilt: Math.round(tilt) });
    const ctx = cleared(canvas, width, height), far = Math.min(width, height) / 2 - ROOM;
    ctx.font = `13px ${getComputedStyle(root).fontFamily}`;
    const dot = (label, x, y, r, alpha) => {
      ctx.globalAlpha = alpha * (this.chosen >= 0 && label !== this.chosen ? 0.15 : 1);
      drawMarker(ctx, shapes[label], x, y, r, this.colorOf(label));
    };
    /** A text with the page's colour behind it. */
    const write = (text, x, y, alpha = 1) => {
      ctx.globalAlpha = alpha;
      [ctx.textAlign, ctx.textBaseline, ctx.lineJoin, ctx.lineWidth] = ["center", "middle", "round", 4];
      [ctx.strokeStyle, ctx.fillStyle] = [colors.page, colors.text];
      ctx.strokeText(text, x, y);
      ctx.fillText(text, x, y);
    };
    PAINT[kind]({ ctx, width, height, far, turn, tilt, dot, write, page: colors.page }, this.film, pointsAt(this.film, this.now));
    ctx.globalAlpha = 1;
  }
}

/** Put the films of a model into an element; returns what takes them away. */
export function render({ model, el }) {
  const film = new Film(model, el);
  return () => film.stop();
}
