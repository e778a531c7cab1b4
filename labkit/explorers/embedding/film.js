// A run's samples while it learned, as a component of Streamlit: directions on a sphere, which a drag turns, or on
// circles, one for each split. A slider and a button go through the training. Appended to explorer.js.
const SECONDS = 8; // of the whole film
const FAR = 0.3; // opacity on the far side of the sphere
const NAMED = 24; // classes in the legend
const BLOBS = (globalThis.labkitBlobs ??= new Map());
const films = new WeakMap();

const FILM_STYLE = `${STYLE}
.labkit-embedding.film .stage { cursor: default; }
.labkit-embedding.film.turns .stage { cursor: grab; }
.labkit-embedding .time { display: flex; gap: 10px; align-items: center; margin: 8px 0 6px; }
.labkit-embedding .time input { flex: 1; min-width: 0; accent-color: var(--accent); }
.labkit-embedding .time button { flex: none; min-width: 5.5em; }
.labkit-embedding .words { min-height: 1.5em; margin: 0 0 4px; }
`;

class Film {
  constructor(parent, data, send) {
    Object.assign(this, { data, send, film: null, now: data.step, turn: data.turn, tilt: data.tilt });
    this.chosen = -1;
    this.playing = false;
    this.stopped = new AbortController();
    this.build(parent);
    this.listen();
    this.load();
  }

  build(parent) {
    this.root = make("div", "labkit-embedding film", "", { role: "group" });
    this.title = make("strong");
    this.words = make("p", "words soft", "", { role: "status" });
    this.stage = make("div", "stage", "", { role: "img", tabindex: "0" });
    this.canvas = this.stage.appendChild(make("canvas"));
    this.wait = this.stage.appendChild(make("div", "wait soft", "Waiting for the frames …"));
    this.time = make("div", "time");
    this.button = this.time.appendChild(make("button", "", "▶ Play", { type: "button" }));
    this.slider = this.time.appendChild(make("input", "", "", { type: "range", "aria-label": "Training step", min: 0 }));
    this.legend = make("div", "legend", "", { role: "group", "aria-label": "Classes" });
    this.root.append(make("style", "", FILM_STYLE), this.title, this.words, this.stage, this.time, this.legend);
    parent.append(this.root);
  }

  listen() {
    const options = { signal: this.stopped.signal }, { stage, slider } = this;
    stage.addEventListener("pointerdown", (event) => this.down(event), options);
    stage.addEventListener("pointermove", (event) => this.move(event), options);
    for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => this.up(), options);
    stage.addEventListener("keydown", (event) => this.key(event), options);
    stage.addEventListener("keyup", (event) => event.key.startsWith("Arrow") && this.say(), options);
    slider.addEventListener("input", () => (this.pause(), this.goTo(this.film.steps[slider.value])), options);
    slider.addEventListener("change", () => this.say(), options);
    this.button.addEventListener("click", () => (this.playing ? this.pause(true) : this.play()), options);
    BUS.addEventListener("film", ({ detail }) => this.follow(detail), options);
    BUS.addEventListener("blob", ({ detail }) => detail === this.data.film && this.load(), options);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolor(), options);
    this.resized = new ResizeObserver(() => this.resize());
    this.resized.observe(stage);
    this.themed = new MutationObserver(() => this.recolor());
    for (const at of [document.documentElement, document.body]) this.themed.observe(at, { attributes: true });
  }

  stop() {
    this.playing = false;
    this.stopped.abort();
    this.resized.disconnect();
    this.themed.disconnect();
    cancelAnimationFrame(this.frame);
    this.root.remove();
  }

  load() {
    const bytes = BLOBS.get(this.data.film);
    if (!bytes) return;
    const { head, arrays } = takeApart(copied(bytes)), last = head.steps.at(-1);
    this.film = { ...head, ...arrays };
    this.wait.hidden = true;
    this.title.textContent = head.title;
    this.root.classList.toggle("turns", head.d === 3);
    this.slider.max = head.steps.length - 1;
    this.time.hidden = head.steps.length < 2;
    this.now = Math.min(this.now ?? last, last);
    this.chosen = -1;
    this.painted = "";
    this.resize();
    this.root.dataset.frames = String(head.steps.length);
  }

  // ---- time: a step of the training, between two frames while it plays

  /** The frame at or before now, and how far it is to the next. */
  place() {
    const { steps } = this.film, last = steps.length - 1;
    let k = steps.findLastIndex((step) => step <= this.now);
    if (k < 0) k = 0;
    return [k, k < last ? Math.max(0, (this.now - steps[k]) / (steps[k + 1] - steps[k])) : 0];
  }

  goTo(step, tell = true) {
    this.now = step;
    this.draw();
    if (tell) this.tell();
  }

  play() {
    const { steps } = this.film, last = steps.length - 1;
    const [k, part] = this.place();
    const from = k >= last ? 0 : k + part, began = performance.now();
    this.playing = true;
    this.button.textContent = "❚❚ Pause";
    const go = (time) => {
      if (!this.playing) return;
      const at = Math.min(last, from + ((time - began) / (1000 * SECONDS)) * last), low = Math.floor(at);
      const next = steps[Math.min(last, low + 1)];
      this.goTo(steps[low] + (at - low) * (next - steps[low]));
      if (at < last) requestAnimationFrame(go);
      else this.pause(true);
    };
    requestAnimationFrame(go);
  }

  pause(say = false) {
    if (!this.playing) return;
    this.playing = false;
    this.button.textContent = "▶ Play";
    this.goTo(this.film.steps[this.place()[0]]);
    if (say) this.say();
  }

  // ---- what is shared: films of a group go and turn together; Python puts all in the address

  tell() {
    const { now, turn, tilt, data } = this;
    BUS.dispatchEvent(new CustomEvent("film", { detail: { group: data.group, from: this, now, turn, tilt } }));
  }

  follow({ group, from, now, turn, tilt }) {
    if (from === this || group !== this.data.group || !this.film) return;
    if (this.playing) this.pause();
    Object.assign(this, { now, turn, tilt });
    this.draw();
  }

  say() {
    const step = this.film.steps[this.place()[0]], { turn, tilt } = this;
    this.send({ step, turn: Math.round(turn), tilt: Math.round(tilt) });
  }

  // ---- turning

  down(event) {
    if (event.button !== 0 || this.film?.d !== 3) return;
    event.preventDefault();
    this.stage.focus({ preventScroll: true });
    this.stage.setPointerCapture(event.pointerId);
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
    const by = { ArrowLeft: [5, 0], ArrowRight: [-5, 0], ArrowUp: [0, 5], ArrowDown: [0, -5] }[event.key];
    if (!by || this.film?.d !== 3) return;
    event.preventDefault();
    this.turnTo(this.turn + by[0], this.tilt + by[1]);
  }

  // ---- looks

  recolor() {
    if (!this.root.isConnected || !this.film) return;
    const { background, dark, text } = pageColors(this.root.parentElement ?? this.root), key = background + text;
    if (this.painted === key) return;
    [this.painted, this.dark, this.text, this.page] = [key, dark, text, background];
    paintRoot(this.root, { text, background, dark });
    this.fillLegend();
    this.draw();
  }

  colorOf(label) {
    return readableOn(this.dark, this.film.colors[label]);
  }

  fillLegend() {
    const { classes, shapes } = this.film;
    this.legend.replaceChildren();
    classes.slice(0, NAMED).forEach((name, k) => {
      const entry = make("button", "", "", { type: "button", "aria-pressed": String(k === this.chosen) });
      const icon = entry.appendChild(make("canvas", "", "", { width: 28, height: 28, "aria-hidden": "true" }));
      drawMarker(icon.getContext("2d"), shapes[k], 14, 14, 10, this.colorOf(k));
      entry.append(make("span", "", name));
      entry.title = `Show only ${name}`;
      entry.addEventListener("click", () => {
        this.chosen = k === this.chosen ? -1 : k;
        this.fillLegend();
        this.draw();
      });
      this.legend.append(entry);
    });
    if (classes.length > NAMED) this.legend.append(make("span", "soft", `and ${classes.length - NAMED} more classes`));
  }

  resize() {
    const wide = this.stage.getBoundingClientRect().width;
    this.stage.style.height = `${Math.min(this.data.height, Math.max(240, wide))}px`; // it is round
    const box = this.stage.getBoundingClientRect(), border = 2 * this.stage.clientLeft;
    [this.width, this.height] = [box.width - border, box.height - border];
    if (!(this.width > 0)) return;
    const ratio = globalThis.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [this.width * ratio, this.height * ratio].map(Math.round);
    this.recolor();
    this.draw();
  }

  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.film && this.width > 0) this.paint();
    });
  }

  paint() {
    const [k] = this.place(), { words, steps, d } = this.film, ctx = this.canvas.getContext("2d");
    this.slider.value = k;
    this.slider.setAttribute("aria-valuetext", `step ${steps[k]}`);
    this.words.textContent = words[k];
    this.stage.setAttribute("aria-label", `${this.film.title}, ${words[k]}`);
    Object.assign(this.root.dataset, { step: steps[k], turn: Math.round(this.turn), tilt: Math.round(this.tilt) });
    ctx.setTransform(this.canvas.width / this.width, 0, 0, this.canvas.height / this.height, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.font = `13px ${getComputedStyle(this.root).fontFamily}`;
    if (d === 3) this.paintSphere(ctx);
    else this.paintCircles(ctx);
    ctx.globalAlpha = 1;
  }

  /** All points now, each of length one: between two frames on the straight way, then out to the sphere. */
  points() {
    const { frames, n, d } = this.film, [k, part] = this.place(), out = new Float64Array(n * d);
    const next = part > 0 ? k + 1 : k;
    for (let i = 0; i < n; i++) {
      let length = 0;
      for (let c = 0; c < d; c++) {
        const from = frames[(k * n + i) * d + c], to = frames[(next * n + i) * d + c];
        out[i * d + c] = from + part * (to - from);
        length += out[i * d + c] ** 2;
      }
      for (let c = 0; c < d; c++) out[i * d + c] /= Math.sqrt(length) || 1;
    }
    return out;
  }

  paintSphere(ctx) {
    const { n, labels, shapes, classes } = this.film, at = this.points();
    const turn = (this.turn * Math.PI) / 180, tilt = (this.tilt * Math.PI) / 180;
    const [ct, st, ce, se] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)];
    const far = Math.min(this.width, this.height) / 2 - 34, middle = [this.width / 2, this.height / 2];
    /** Place on the screen and nearness, from -1 behind to 1 in front. */
    const see = (x, y, z) => [
      middle[0] + far * (y * ct - x * st), middle[1] - far * (z * ce - se * (x * ct + y * st)),
      ce * (x * ct + y * st) + se * z,
    ];
    const spots = Array.from({ length: n }, (_, i) => see(at[3 * i], at[3 * i + 1], at[3 * i + 2]));
    const dots = (front) => {
      for (let i = 0; i < n; i++) {
        if (spots[i][2] >= 0 !== front) continue;
        const label = labels[i], faint = this.chosen >= 0 && label !== this.chosen;
        ctx.globalAlpha = (front ? 0.9 : FAR) * (faint ? 0.15 : 1);
        drawMarker(ctx, shapes[label], spots[i][0], spots[i][1], 3.4 + 0.8 * spots[i][2], this.colorOf(label));
      }
    };
    dots(false);
    this.wires(ctx, see);
    dots(true);
    const sums = new Float64Array(4 * classes.length);
    for (let i = 0; i < n; i++) for (let c = 0; c < 3; c++) sums[4 * labels[i] + c] += at[3 * i + c];
    const placed = [], order = classes.map((_, k) => {
      const [x, y, z] = sums.subarray(4 * k, 4 * k + 3), length = Math.hypot(x, y, z) || 1;
      return [k, ...see((1.13 * x) / length, (1.13 * y) / length, (1.13 * z) / length)];
    });
    for (const [k, at, y, near] of order.sort((a, b) => b[3] - a[3])) {
      const wide = ctx.measureText(classes[k]).width / 2;
      const x = Math.max(wide + 4, Math.min(this.width - wide - 4, at));
      if (near < -0.1 || placed.some(([px, py, pw]) => Math.abs(px - x) < pw + wide + 4 && Math.abs(py - y) < 16)) continue;
      placed.push([x, y, wide]);
      this.write(ctx, classes[k], x, y, near < 0.15 ? 0.5 : 1);
    }
  }

  /** A text with the page's colour behind it. */
  write(ctx, text, x, y, alpha = 1) {
    ctx.globalAlpha = alpha;
    [ctx.textAlign, ctx.textBaseline, ctx.lineJoin, ctx.lineWidth] = ["center", "middle", "round", 4];
    [ctx.strokeStyle, ctx.fillStyle] = [this.page, this.text];
    ctx.strokeText(text, x, y);
    ctx.fillText(text, x, y);
  }

  /** Meridians and parallels, faint behind. */
  wires(ctx, see) {
    const line = (points) => {
      for (let k = 1; k < points.length; k++) {
        ctx.globalAlpha = points[k][2] < 0 ? 0.12 : 0.35;
        ctx.beginPath();
        ctx.moveTo(points[k - 1][0], points[k - 1][1]);
        ctx.lineTo(points[k][0], points[k][1]);
        ctx.stroke();
      }
    };
    [ctx.strokeStyle, ctx.lineWidth] = [GREY, 1];
    const round = Array.from({ length: 49 }, (_, k) => (2 * Math.PI * k) / 48);
    for (let m = 0; m < 6; m++) {
      const a = (Math.PI * m) / 6;
      line(round.map((t) => see(Math.cos(t) * Math.cos(a), Math.cos(t) * Math.sin(a), Math.sin(t))));
    }
    for (const high of [-0.75, -0.4, 0, 0.4, 0.75]) {
      const r = Math.sqrt(1 - high * high);
      line(round.map((t) => see(r * Math.cos(t), r * Math.sin(t), high)));
    }
  }

  paintCircles(ctx) {
    const { n, labels, part, shapes, splits } = this.film, at = this.points();
    const far = Math.min(this.width, this.height) / 2 - 34, middle = [this.width / 2, this.height / 2];
    const radius = (split) => (splits.length > 1 ? 0.6 + (0.4 * split) / (splits.length - 1) : 1);
    [ctx.strokeStyle, ctx.lineWidth, ctx.globalAlpha] = [GREY, 2, 0.35];
    splits.forEach((_, split) => {
      ctx.beginPath();
      ctx.arc(...middle, far * radius(split), 0, 2 * Math.PI);
      ctx.stroke();
    });
    for (let i = 0; i < n; i++) {
      const off = 0.06 * Math.cos(2.4 * i); // a little off the circle, as many coincide
      const r = far * (radius(part[i]) + off), label = labels[i];
      ctx.globalAlpha = this.chosen >= 0 && label !== this.chosen ? 0.12 : 0.8;
      drawMarker(ctx, shapes[label], middle[0] + r * at[2 * i], middle[1] - r * at[2 * i + 1], 4.5, this.colorOf(label));
    }
    if (splits.length === 2) {
      this.write(ctx, `inside: ${splits[0]}`, middle[0], middle[1] - 9);
      this.write(ctx, `outside: ${splits[1]}`, middle[0], middle[1] + 9);
    }
  }
}

/** As with the explorer: called again on the same element, and perhaps cleaned up too late. */
export default function ({ parentElement, data, setStateValue }) {
  const send = (view) => setStateValue("view", view);
  let it = films.get(parentElement);
  if (!it) films.set(parentElement, (it = { calls: 0, film: new Film(parentElement, data, send) }));
  const { film } = it, other = film.data.film !== data.film, call = ++it.calls;
  Object.assign(film, { data, send });
  if (other) film.load();
  film.recolor(); // a new theme comes as just another call
  return () => {
    if (call !== it.calls) return;
    film.stop();
    films.delete(parentElement);
  };
}
