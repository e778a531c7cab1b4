// The embedding explorer: one module for JupyterLab (anywidget), Streamlit (streamlit.js) and the book (book.js).
// It reads points, sheet, selected, near, kept, below, group and height from a model, and gives back stable ids
// (selected) and the lasso's corners in data coordinates (lasso), never rows of a table or pixels. Neighbours and counts
// are about classes (labels); colours, shapes and the legend about groups: the classes, if Python names no others.
const REACH = 14; // pixels from a point within which it is under the cursor
const MARGIN = 26; // pixels left free round the points
const THUMB = 40; // pixels of a picture in the strip
const PICTURE = 32; // in the plane, when pictures are switched on
const MOST_THUMBS = 24;
const MOST_RINGS = 60; // more would hide the points they stand for
const GREY = "#8a8a8a";
const SAME = "#0072B2";
const OTHER = "#D55E00";
// Anywidget imports this module once for every model, so what explorers of a page share hangs on the page.
const BUS = (globalThis.labkitExplorers ??= new EventTarget());
// Streamlit mounts anew when something above has changed: what the reader set up waits here, by the model's "place".
const KEPT = (globalThis.labkitViews ??= new Map());

const STYLE = `
.labkit-embedding { font-size: 14px; line-height: 1.45; color: var(--text);
  padding: 5px; /* room for the focus ring where the host cuts off */ }
.labkit-embedding * { box-sizing: border-box; }
.labkit-embedding .bar { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; margin-bottom: 6px; }
.labkit-embedding .title { flex: 1 1 20em; min-width: 0; overflow-wrap: anywhere; }
.labkit-embedding .title strong { font-size: 15px; margin-right: 8px; }
.labkit-embedding .soft { color: var(--soft); }
.labkit-embedding .tools { display: flex; flex-wrap: wrap; gap: 4px; }
.labkit-embedding button, .labkit-embedding select { font: inherit; color: inherit; background: var(--page);
  border: 1px solid var(--line); border-radius: 6px; padding: 3px 9px; min-height: 30px; cursor: pointer; }
.labkit-embedding button:hover { border-color: var(--text); }
.labkit-embedding button[aria-pressed="true"] { background: var(--accent); border-color: var(--accent);
  color: var(--page); }
.labkit-embedding :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.labkit-embedding .legend { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; margin-bottom: 6px; }
.labkit-embedding .legend button { display: inline-flex; gap: 6px; align-items: center; padding: 1px 8px;
  min-height: 26px; font-size: 13px; }
.labkit-embedding .legend button[aria-pressed="true"] { background: var(--tint); color: inherit; }
.labkit-embedding .legend canvas { width: 14px; height: 14px; }
.labkit-embedding .legend select { max-width: 22em; }
.labkit-embedding .legend span { max-width: 20em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.labkit-embedding .stage { position: relative; overflow: hidden; border: 1px solid var(--line); border-radius: 8px;
  touch-action: none; cursor: grab; user-select: none; }
.labkit-embedding .stage.lassoing { cursor: crosshair; }
.labkit-embedding .stage.pointing { cursor: pointer; }
.labkit-embedding .stage > canvas { position: absolute; inset: 0; width: 100%; height: 100%; }
.labkit-embedding .wait { position: absolute; inset: 0; display: grid; place-content: center; }
.labkit-embedding .card { position: absolute; left: 0; top: 0; display: flex; gap: 10px; align-items: center;
  max-width: 280px; padding: 8px 10px; border: 1px solid var(--line); border-radius: 8px; background: var(--page);
  box-shadow: 0 3px 12px rgb(0 0 0 / 30%); pointer-events: none; overflow-wrap: anywhere; }
.labkit-embedding .card canvas { width: 80px; height: 80px; flex: none; border-radius: 4px; }
.labkit-embedding .card small { display: block; color: var(--soft); }
.labkit-embedding .strip { display: flex; flex-wrap: wrap; gap: 6px; align-content: flex-start; min-height: 56px;
  max-height: 164px; overflow-y: auto; padding: 4px 3px; }
.labkit-embedding .line { display: flex; gap: 12px; justify-content: space-between; margin: 6px 0 0; }
.labkit-embedding .said { margin: 0; min-height: 2.9em; overflow-wrap: anywhere; }
.labkit-embedding .line span { flex: none; font-size: 13px; }
.labkit-embedding .strip button { position: relative; padding: 2px; border: 2px solid var(--line); line-height: 1.2; }
.labkit-embedding .strip button.same { border: 2px solid var(--same); }
.labkit-embedding .strip button.other { border: 2px dashed var(--other); }
.labkit-embedding .strip canvas { display: block; width: ${THUMB}px; height: ${THUMB}px; border-radius: 3px; }
.labkit-embedding .strip span { padding: 0 4px; }
.labkit-embedding .strip b { font-size: 12px; padding: 0 4px; }
.labkit-embedding .strip canvas + b { position: absolute; right: -2px; top: ${THUMB - 12}px; background: var(--page);
  border-radius: 5px 0 3px 0; }
.labkit-embedding .strip small { display: block; font-size: 11px; }
.labkit-embedding .help { margin: 4px 0 0; font-size: 13px; }
.labkit-embedding .heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.labkit-embedding [hidden] { display: none !important; }
`;

/** An element of a class with a text; text goes in as text, never as HTML. */
function make(tag, className = "", text = "", attributes = {}) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** A copy of bytes that come as DataView, typed array or buffer: they may lie unaligned in a larger buffer. */
function copied(bytes) {
  if (!ArrayBuffer.isView(bytes)) return bytes.slice(0);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i2: Int16Array, f4: Float32Array };

/** Bytes as packed.py joins them: length of a JSON head, the head, then the arrays that it lists. */
function takeApart(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))), arrays = {};
  let at = 4 + length;
  for (const [name, kind, count] of head.arrays) {
    const bytes = count * KINDS[kind].BYTES_PER_ELEMENT;
    arrays[name] = new KINDS[kind](buffer.slice(at, at + bytes)); // a copy, for it may begin at any byte
    at += bytes;
  }
  return { head, arrays };
}

/** The points, with what the explorer looks up in them. */
function unpack(buffer) {
  const { head, arrays } = takeApart(buffer), { n, grid } = head;
  const { labels, near, similarity, shared } = arrays;
  const xy = grid ? Float64Array.from(arrays.xy, (q, k) => grid.low[k % 2] + q * grid.step[k % 2]) : arrays.xy;
  const cells = Int32Array.from(arrays.cells, (cell) => cell - 1); // -1: no picture
  let before = "";
  const ids = head.ids.map((rest, i) => (before = before.slice(0, shared[i]) + rest));
  const groups = head.grouped ? arrays.groups : labels, names = head.grouped?.names ?? head.classes;
  const sorted = (numbers, count) => {
    const rows = Array.from({ length: count }, () => []);
    numbers.forEach((number, i) => rows[number].push(i));
    return rows;
  };
  const peers = sorted(labels, head.classes.length), members = head.grouped ? sorted(groups, names.length) : peers;
  const by = head.grouped?.by ?? "class", row = new Map(ids.map((id, i) => [id, i]));
  return { ...head, ids, xy, labels, cells, near, similarity, groups, names, by, peers, members, row };
}

/** Points sorted into square cells, so that the nearest one is found without looking at all. */
function makeGrid({ n, xy }) {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < n; i++) {
    left = Math.min(left, xy[2 * i]);
    right = Math.max(right, xy[2 * i]);
    bottom = Math.min(bottom, xy[2 * i + 1]);
    top = Math.max(top, xy[2 * i + 1]);
  }
  const size = Math.max(right - left, top - bottom) / Math.ceil(Math.sqrt(n / 2)) || 1;
  const columns = Math.floor((right - left) / size) + 1, rows = Math.floor((top - bottom) / size) + 1;
  const column = (x) => Math.min(columns - 1, Math.max(0, Math.floor((x - left) / size)));
  const row = (y) => Math.min(rows - 1, Math.max(0, Math.floor((y - bottom) / size)));
  const cell = (i) => row(xy[2 * i + 1]) * columns + column(xy[2 * i]);
  const starts = new Uint32Array(columns * rows + 1), order = new Uint32Array(n);
  for (let i = 0; i < n; i++) starts[cell(i) + 1]++;
  for (let c = 0; c < columns * rows; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  for (let i = 0; i < n; i++) order[next[cell(i)]++] = i;
  /** The nearest point within reach, the one drawn last of several at one place; -1 if there is none. */
  const nearest = (x, y, reach, wanted) => {
    let best = -1, least = reach * reach;
    for (let r = row(y - reach); r <= row(y + reach); r++) {
      const first = starts[r * columns + column(x - reach)], last = starts[r * columns + column(x + reach) + 1];
      for (let at = first; at < last; at++) {
        const i = order[at], dx = xy[2 * i] - x, dy = xy[2 * i + 1] - y, distance = dx * dx + dy * dy;
        if (!wanted(i)) continue;
        if (distance < least || (distance === least && i > best)) [best, least] = [i, distance];
      }
    }
    return best;
  };
  return { left, bottom, right, top, nearest };
}

/** Whether a point lies within a polygon, by the number of edges to its right. */
function inside(polygon, x, y) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}

/** One marker: filled, or an outline if its name ends in "-open". */
function drawMarker(ctx, shape, x, y, r, color) {
  const corners = (count, turn, inner = 1) => {
    for (let k = 0; k < count; k++) {
      const angle = turn + (2 * Math.PI * k) / count, far = k % 2 ? r * inner : r;
      ctx.lineTo(x + far * Math.cos(angle), y + far * Math.sin(angle));
    }
    ctx.closePath();
  };
  const cross = (turn) => {
    for (let k = 0; k < 2; k++) {
      const angle = turn + (Math.PI * k) / 2;
      ctx.moveTo(x - r * Math.cos(angle), y - r * Math.sin(angle));
      ctx.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
    }
  };
  const up = -Math.PI / 2, kind = shape.replace("-open", "");
  ctx.beginPath();
  if (kind === "square") ctx.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r);
  else if (kind === "diamond") corners(4, up);
  else if (kind === "triangle-up") corners(3, up);
  else if (kind === "triangle-down") corners(3, -up);
  else if (kind === "star") corners(10, up, 0.45);
  else if (kind === "cross") cross(0);
  else if (kind === "x") cross(Math.PI / 4);
  else ctx.arc(x, y, 0.95 * r, 0, 2 * Math.PI);
  ctx.lineWidth = Math.max(1.4, 0.5 * r);
  ctx.strokeStyle = ctx.fillStyle = color;
  if (shape.endsWith("-open") || kind === "cross" || kind === "x") ctx.stroke();
  else ctx.fill();
}

/** Red, green, blue and opacity of a computed colour, or of #rrggbb. */
function channels(color) {
  if (color.startsWith("#")) return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)).concat(1);
  const found = color.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
  const scale = color.startsWith("color(") ? 255 : 1; // color(srgb 0.1 0.2 0.3)
  return [found[0] * scale, found[1] * scale, found[2] * scale, found[3] ?? 1];
}

const luminance = ([r, g, b]) => (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;

/** Colours of the page round an element: the first background that is not see-through, and text that reads on it. */
function pageColors(el) {
  let background = null;
  for (let at = el; at && !background; at = at.parentNode ?? at.host) {
    if (!(at instanceof Element)) continue;
    const color = getComputedStyle(at).backgroundColor;
    if (channels(color)[3] > 0.5) background = color;
  }
  background ??= matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
  const dark = luminance(channels(background)) < 0.4;
  const own = getComputedStyle(el).color;
  const reads = Math.abs(luminance(channels(own)) - luminance(channels(background))) > 0.5;
  return { background, dark, text: reads ? own : dark ? "rgb(235, 235, 235)" : "rgb(30, 30, 30)" };
}

/** A colour as it reads on this page: the two darkest of the set are lifted on black. */
function readableOn(dark, color) {
  return dark ? { "#0072B2": "#3d9be0", "#D55E00": "#f0803c" }[color] ?? color : color;
}

/** Hand the page's colours to the style sheet; returns the accent. */
function paintRoot(root, { text, background, dark }) {
  const accent = dark ? "#6cb4ff" : "#0059b3", mixed = (share) => `color-mix(in srgb, ${text} ${share}%, ${background})`;
  const colors = { text, page: background, soft: mixed(72), line: mixed(30), tint: mixed(16), accent };
  Object.assign(colors, { same: readableOn(dark, SAME), other: readableOn(dark, OTHER) });
  for (const [name, color] of Object.entries(colors)) root.style.setProperty(`--${name}`, color);
  root.dataset.theme = dark ? "dark" : "light";
  return accent;
}

class Explorer {
  constructor(model, el) {
    this.model = model;
    this.stopped = new AbortController();
    this.points = null;
    this.sheet = null; // decoded pictures
    this.selected = []; // ids, also those that are not among our points
    this.selectedRows = []; // rows of those that are
    this.chosen = -1; // group
    this.keptClass = null; // for each class whether the filter keeps it; null: all. What it leaves out is background
    this.isKept = (i) => !this.keptClass || this.keptClass[this.points.labels[i]] === 1;
    this.hover = this.linked = this.current = -1; // rows: under the cursor, under it in a linked explorer, keyboard's
    this.view = null; // { x, y, scale }: data coordinates in the middle, pixels a unit
    this.touched = false; // whether the view is the reader's own
    this.tool = "move";
    this.pictures = false;
    this.drag = this.lasso = null;
    this.pageWheel = -Infinity; // when the page was last scrolled
    this.build(el);
    this.listen();
    this.load();
  }

  build(el) {
    this.root = make("div", "labkit-embedding", "", { role: "group", "data-lm-suppress-shortcuts": "true" });
    const bar = make("div", "bar"), title = make("div", "title"), tools = make("div", "tools");
    this.title = title.appendChild(make("strong"));
    this.subtitle = title.appendChild(make("span", "soft"));
    const button = (text, label, act) => {
      const made = tools.appendChild(make("button", "", text, { type: "button", title: label, "aria-label": label }));
      made.addEventListener("click", act);
      return made;
    };
    this.moveButton = button("Move", "Move: drag moves the view", () => this.setTool("move"));
    this.lassoButton = button("Lasso", "Lasso: drag round points to select them", () => this.setTool("lasso"));
    const swap = () => this.setPictures(!this.pictures);
    this.picturesButton = button("Pictures", "Pictures in place of points, as many as fit", swap);
    button("+", "Zoom in", () => this.zoom(1.5));
    button("−", "Zoom out", () => this.zoom(1 / 1.5));
    button("Reset", "Reset the view", () => this.fit());
    bar.append(title, tools);
    this.legend = make("div", "legend", "", { role: "group", "aria-label": "Colours" });
    const role = { tabindex: "0", role: "application", "aria-roledescription": "scatter plot" };
    this.stage = make("div", "stage", "", role);
    this.base = this.stage.appendChild(make("canvas"));
    this.over = this.stage.appendChild(make("canvas"));
    this.wait = this.stage.appendChild(make("div", "wait soft", "Waiting for points …"));
    this.card = this.stage.appendChild(make("div", "card"));
    this.cardPicture = this.card.appendChild(make("canvas", "", "", { width: 160, height: 160 }));
    const words = this.card.appendChild(make("div"));
    this.cardClass = words.appendChild(make("strong"));
    this.cardGroup = words.appendChild(make("small"));
    this.cardId = words.appendChild(make("small"));
    this.card.hidden = true;
    const line = make("div", "line");
    this.said = line.appendChild(make("p", "said", "", { role: "status" }));
    this.note = line.appendChild(make("span", "soft"));
    this.strip = make("div", "strip");
    const mouse = "Drag to move, wheel to zoom, click a point for its nearest neighbours, Shift + drag for a lasso. ";
    const keys = "Keys: arrows go from point to point, Enter selects, Shift + Enter adds, Escape clears, ";
    const help = make("p", "help soft", `${mouse}${keys}+ and − zoom, 0 resets.`);
    this.heard = make("div", "heard", "", { "aria-live": "polite" });
    const style = make("style", "", STYLE);
    this.root.append(style, bar, this.legend, this.stage, line, this.strip, help, this.heard);
    el.append(this.root);
    this.setTool("move");
  }

  listen() {
    const options = { signal: this.stopped.signal };
    const stage = this.stage;
    stage.addEventListener("pointerdown", (event) => this.down(event), options);
    stage.addEventListener("pointermove", (event) => this.move(event), options);
    stage.addEventListener("pointerup", (event) => this.up(event), options);
    stage.addEventListener("pointercancel", () => this.letGo(), options);
    stage.addEventListener("pointerleave", () => this.drag || this.setHover(-1), options);
    stage.addEventListener("pointerenter", () => this.recolor(), options);
    stage.addEventListener("wheel", (event) => this.wheel(event), { ...options, passive: false });
    stage.addEventListener("keydown", (event) => this.key(event), options);
    stage.addEventListener("blur", () => this.setCurrent(-1), options);
    // a wheel that began elsewhere scrolls the page on, though it now passes over the plane
    const scrolled = (event) => {
      if (!event.composedPath().includes(stage)) this.pageWheel = event.timeStamp;
    };
    window.addEventListener("wheel", scrolled, { ...options, passive: true });
    BUS.addEventListener("select", (event) => this.heardSelect(event.detail), options);
    BUS.addEventListener("hover", (event) => this.heardHover(event.detail), options);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolor(), options);
    this.resized = new ResizeObserver(() => this.resize());
    this.resized.observe(stage);
    this.themed = new MutationObserver(() => this.recolor()); // JupyterLab and Streamlit mark their theme there
    for (const at of [document.documentElement, document.body]) this.themed.observe(at, { attributes: true });
    this.changes = {
      "change:points": () => this.load(),
      "change:sheet": () => this.loadSheet(),
      "change:selected": () => this.show(this.model.get("selected")),
      "change:near": () => this.show(this.selected, true),
      "change:kept": () => this.filter(),
      "change:height": () => this.resize(),
    };
    for (const [name, act] of Object.entries(this.changes)) this.model.on(name, act);
  }

  stop() {
    this.stopped.abort();
    this.resized.disconnect();
    this.themed.disconnect();
    for (const [name, act] of Object.entries(this.changes)) this.model.off(name, act);
    cancelAnimationFrame(this.frame);
    this.sheet?.close();
    this.sheet = null;
    this.root.remove();
  }

  load() {
    const bytes = this.model.get("points");
    this.points = bytes?.byteLength ? unpack(copied(bytes)) : null;
    this.wait.hidden = Boolean(this.points);
    this.chosen = this.hover = this.linked = this.current = -1;
    this.card.hidden = true;
    this.touched = false;
    if (this.points) {
      this.grid = makeGrid(this.points);
      this.stamps = new Map();
      this.title.textContent = this.points.title;
      this.subtitle.textContent = this.points.subtitle;
      const label = `${this.points.title}, ${this.points.subtitle}. Arrow keys go from point to point.`;
      this.stage.setAttribute("aria-label", label);
      this.root.setAttribute("aria-label", `Embedding explorer: ${this.points.title}`);
    }
    this.filter();
    this.restore();
    this.resize();
    this.show(this.model.get("selected") ?? [], true);
    this.loadSheet();
  }

  /** The classes that the page has searched for: only their points can be pointed at and caught. */
  filter() {
    if (!this.points) return;
    const kept = this.model.get("kept"), { n, classes } = this.points;
    this.keptClass = kept ? Uint8Array.from(classes, () => 0) : null;
    for (const label of kept ?? []) this.keptClass[label] = 1;
    const all = Uint32Array.from({ length: n }, (_, i) => i);
    this.order = kept ? all.filter(this.isKept) : all;
    this.rest = kept ? all.filter((i) => !this.isKept(i)) : [];
    this.places = null;
    this.setCurrent(-1);
    this.setHover(-1);
    this.draw(true);
  }

  /** Remember what the reader set up, for the same points in the same place. */
  keep() {
    const place = this.model.get("place");
    if (!place || !this.points) return;
    const { view, scale0, touched, tool, pictures, chosen } = this, { title, subtitle, by } = this.points;
    KEPT.set(place, { title, subtitle, by, view: { ...view }, scale0, touched, tool, pictures, chosen });
  }

  restore() {
    const kept = KEPT.get(this.model.get("place"));
    if (!this.points || kept?.title !== this.points.title || kept.subtitle !== this.points.subtitle) return;
    if (kept.touched) [this.view, this.scale0, this.touched] = [kept.view, kept.scale0, true];
    this.setTool(kept.tool);
    this.setPictures(kept.pictures);
    if (kept.by === this.points.by) this.choose(kept.chosen);
  }

  async loadSheet() {
    const bytes = this.model.get("sheet");
    let sheet = null;
    try {
      if (bytes?.byteLength && this.points?.size) sheet = await createImageBitmap(new Blob([copied(bytes)]));
    } catch {
      sheet = null; // a damaged picture: the points still have their words
    }
    if (this.stopped.signal.aborted) return sheet?.close();
    this.sheet?.close();
    this.sheet = sheet;
    this.picturesButton.hidden = !sheet;
    this.root.dataset.pictures = sheet ? "shown" : "none";
    this.show(this.selected, true);
  }

  // ---- looks

  recolor() {
    if (!this.root.isConnected) return; // JupyterLab renders first and attaches later; the new size calls again
    const { background, dark, text } = pageColors(this.root.parentElement ?? this.root);
    const key = background + text;
    if (this.painted === key && this.legendOf === this.points) return;
    [this.painted, this.legendOf, this.dark, this.text, this.page] = [key, this.points, dark, text, background];
    this.accent = paintRoot(this.root, { text, background, dark });
    this.stamps = new Map();
    this.fillLegend();
    this.draw(true);
  }

  readable(color) {
    return readableOn(this.dark, color);
  }

  colorOf(group) {
    return this.readable(this.points.colors ? this.points.colors[group] : SAME);
  }

  shapeOf(group) {
    return this.points.shapes ? this.points.shapes[group] : "circle";
  }

  fillLegend() {
    this.legend.replaceChildren();
    if (!this.points) return;
    const { grouped, names, members, colors } = this.points;
    if (!colors) {
      const words = grouped ? `${names.length} values of ${grouped.by}: ` : `${names.length} classes: `;
      const label = make("label", "soft", words);
      const menu = label.appendChild(make("select"));
      menu.append(new Option("all grey: point at one, or choose", "-1"));
      names.forEach((name, k) => menu.append(new Option(`${name} (${members[k].length})`, String(k))));
      menu.value = String(this.chosen);
      menu.addEventListener("change", () => this.choose(Number(menu.value)));
      return this.legend.append(label);
    }
    names.forEach((name, k) => {
      const entry = make("button", "", "", { type: "button", "aria-pressed": String(k === this.chosen) });
      const icon = entry.appendChild(make("canvas", "", "", { width: 28, height: 28, "aria-hidden": "true" }));
      drawMarker(icon.getContext("2d"), this.shapeOf(k), 14, 14, 10, this.colorOf(k));
      entry.append(make("span", "", name), make("span", "soft", String(members[k].length)));
      entry.title = `Show only ${name}`;
      entry.addEventListener("click", () => this.choose(k === this.chosen ? -1 : k));
      this.legend.append(entry);
    });
  }

  choose(group) {
    this.chosen = group;
    [...this.legend.querySelectorAll("button")].forEach((b, k) => b.setAttribute("aria-pressed", String(k === group)));
    const menu = this.legend.querySelector("select");
    if (menu) menu.value = String(group);
    this.draw(true);
  }

  setTool(tool) {
    this.tool = tool;
    this.moveButton.setAttribute("aria-pressed", String(tool === "move"));
    this.lassoButton.setAttribute("aria-pressed", String(tool === "lasso"));
    this.stage.classList.toggle("lassoing", tool === "lasso");
  }

  setPictures(on) {
    this.pictures = on;
    this.picturesButton.setAttribute("aria-pressed", String(on));
    this.draw(true);
  }

  // ---- view

  resize() {
    this.stage.style.height = `${this.model.get("height") || 460}px`;
    // clientWidth rounds, which puts every lasso of a stage 619.31 pixels wide in the wrong place
    const box = this.stage.getBoundingClientRect(), border = 2 * this.stage.clientLeft;
    [this.width, this.height] = [box.width - border, box.height - border];
    if (!(this.width > 0 && this.height > 0)) return;
    this.recolor();
    const ratio = globalThis.devicePixelRatio || 1;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
    }
    this.stamps = new Map();
    if (this.touched) this.draw(true);
    else this.fit();
  }

  fit() {
    if (!this.points || !(this.width > 0)) return;
    const { left, right, bottom, top } = this.grid;
    const across = (this.width - 2 * MARGIN) / (right - left || 1e-9);
    const down = (this.height - 2 * MARGIN) / (top - bottom || 1e-9);
    const scale = Math.min(across, down);
    this.view = { x: (left + right) / 2, y: (bottom + top) / 2, scale: Math.min(scale, 1e9) };
    this.scale0 = this.view.scale;
    this.touched = false;
    this.draw(true);
  }

  toScreen(i) {
    const { x, y, scale } = this.view, xy = this.points.xy;
    return [this.width / 2 + (xy[2 * i] - x) * scale, this.height / 2 - (xy[2 * i + 1] - y) * scale];
  }

  toData(px, py) {
    const { x, y, scale } = this.view;
    return [x + (px - this.width / 2) / scale, y - (py - this.height / 2) / scale];
  }

  /** Zoom, with one place of the screen staying where it is. */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    if (!this.view) return;
    const [x, y] = this.toData(px, py);
    const most = this.points.grid ? 200 : 1e4; // beyond that one would see the grid
    this.view.scale = Math.min(this.scale0 * most, Math.max(this.scale0 / 4, this.view.scale * factor));
    const [nx, ny] = this.toData(px, py);
    this.view.x += x - nx;
    this.view.y += y - ny;
    this.touched = true;
    this.draw(true);
  }

  // ---- drawing: all points below, what changes with the cursor above

  draw(all = false) {
    this.all ||= all;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (!this.points || !this.view || !(this.width > 0)) return;
      if (this.all) this.drawBase();
      this.all = false;
      this.drawOver();
      this.keep();
    });
  }

  context(canvas) {
    const ctx = canvas.getContext("2d", { willReadFrequently: canvas === this.base }); // that one is written by hand
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.setTransform(canvas.width / this.width, 0, 0, canvas.height / this.height, 0, 0);
    return ctx;
  }

  radius() {
    const { n } = this.points, small = n < 400 ? 5 : n < 2500 ? 4.2 : n < 15000 ? 3 : 2;
    return Math.min(8, Math.round(2 * small * Math.sqrt(Math.max(1, this.view.scale / this.scale0)) ** 0.6) / 2);
  }

  /** Every marker drawn once, to be stamped: as a canvas, and as the pixels it covers. */
  makeStamps(r) {
    const ratio = this.base.width / this.width, half = Math.ceil(r + 2), pixels = Math.ceil(2 * half * ratio);
    const stamp = (shape, color) => {
      const canvas = make("canvas", "", "", { width: pixels, height: pixels });
      const ctx = canvas.getContext("2d", { willReadFrequently: true });
      ctx.scale(ratio, ratio);
      drawMarker(ctx, shape, half, half, r, color);
      const found = ctx.getImageData(0, 0, pixels, pixels).data, covered = [];
      for (let k = 0; k < pixels * pixels; k++) {
        const share = found[4 * k + 3];
        if (share > 8) covered.push(k % pixels, Math.floor(k / pixels), share);
      }
      const [red, green, blue] = channels(color);
      return { canvas, half, side: pixels / ratio, covered: Int16Array.from(covered), red, green, blue };
    };
    const grey = stamp("circle", GREY);
    const { names, colors } = this.points;
    const own = names.map((_, k) => (colors ? stamp(this.shapeOf(k), this.colorOf(k)) : null));
    const chosen = stamp("circle", this.readable(SAME)), other = stamp("circle", this.readable(OTHER));
    return { r, grey, of: (k) => own[k] ?? chosen, stranger: (k) => own[k] ?? other, base: (k) => own[k] ?? grey };
  }

  stampsNow() {
    const r = this.radius();
    if (!this.stamps.has(r)) this.stamps.set(r, this.makeStamps(r));
    return this.stamps.get(r);
  }

  visible(x, y) {
    return x > -10 && y > -10 && x < this.width + 10 && y < this.height + 10;
  }

  /** Rows drawn in full colour while the rest fades: the selection, and the chosen group or a single point's class. */
  strong() {
    const rows = this.selectedRows, { labels, members, peers } = this.points;
    const lit = this.chosen >= 0 ? members[this.chosen] : rows.length === 1 ? peers[labels[rows[0]]] : [];
    return lit.length ? [...lit.filter(this.isKept), ...rows] : rows;
  }

  drawBase() {
    const ctx = this.context(this.base), { n, groups } = this.points, stamps = this.stampsNow(), { order } = this;
    const faded = this.selectedRows.length > 0 || this.chosen >= 0, strong = this.strong();
    const pictured = this.pictures && this.sheet ? this.pictured() : new Set();
    const [, seen] = this.blend(ctx, [
      [this.rest, () => stamps.grey, 0.16],
      [order, faded ? () => stamps.grey : stamps.base, faded ? 0.28 : this.points.colors ? 0.85 : 0.6],
      [strong, stamps.of, 1],
    ]);
    let shown = 0;
    ctx.globalAlpha = faded ? 0.45 : 1;
    for (const i of pictured) {
      const [x, y] = this.toScreen(i), half = PICTURE / 2;
      if (!this.visible(x, y)) continue;
      shown++;
      this.drawPicture(ctx, i, x - half, y - half, PICTURE);
      ctx.strokeStyle = this.points.colors ? this.colorOf(groups[i]) : GREY;
      ctx.lineWidth = 2;
      ctx.strokeRect(x - half, y - half, PICTURE, PICTURE);
    }
    ctx.globalAlpha = 1;
    if (pictured.size) for (const i of strong) this.stamp(ctx, i, stamps.of(groups[i]));
    const most = order.length, of = (part, whole) => `${part.toLocaleString("en")} of ${whole.toLocaleString("en")}`;
    const counts = this.keptClass ? [`${of(most, n)} points match`] : [];
    if (seen < most) counts.push(`${of(seen, most)} in view`);
    if (pictured.size) counts.push(`${shown.toLocaleString("en")} as pictures`);
    this.note.textContent = counts.join(", ");
  }

  /** Stamp points pixel by pixel, far faster than drawImage without a graphics card; counts what is in view. */
  blend(ctx, layers) {
    const { width, height } = this.base, across = width / this.width, down = height / this.height;
    const { view } = this, { groups, xy } = this.points;
    if (this.image?.width !== width || this.image.height !== height) this.image = ctx.createImageData(width, height);
    const { data } = this.image, [r, g, b] = channels(this.page);
    new Uint32Array(data.buffer).fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
    const seen = layers.map(() => 0);
    layers.forEach(([rows, stampOf, alpha], layer) => {
      for (const i of rows) {
        const x = this.width / 2 + (xy[2 * i] - view.x) * view.scale; // toScreen, without making an array
        const y = this.height / 2 - (xy[2 * i + 1] - view.y) * view.scale;
        if (!this.visible(x, y)) continue;
        seen[layer]++;
        const { covered, half, red, green, blue } = stampOf(groups[i]);
        const left = Math.round((x - half) * across), top = Math.round((y - half) * down);
        for (let k = 0; k < covered.length; k += 3) {
          const px = left + covered[k], py = top + covered[k + 1];
          if (px < 0 || py < 0 || px >= width || py >= height) continue;
          const at = 4 * (py * width + px), share = (covered[k + 2] * alpha) / 255;
          data[at] += (red - data[at]) * share;
          data[at + 1] += (green - data[at + 1]) * share;
          data[at + 2] += (blue - data[at + 2]) * share;
        }
      }
    });
    ctx.putImageData(this.image, 0, 0);
    return seen;
  }

  stamp(ctx, i, { canvas, half, side }) {
    const [x, y] = this.toScreen(i);
    if (this.visible(x, y)) ctx.drawImage(canvas, x - half, y - half, side, side);
  }

  /** Points whose pictures do not overlap; they depend on the zoom only, so that none flickers while the view moves. */
  pictured() {
    const { scale } = this.view, { n, xy, cells } = this.points, step = PICTURE + 3;
    if (this.places?.scale === scale && this.places.points === this.points) return this.places.rows;
    const taken = new Map(), rows = new Set();
    for (let i = 0; i < n; i++) {
      if (cells[i] < 0 || !this.isKept(i)) continue;
      const x = xy[2 * i] * scale, y = xy[2 * i + 1] * scale, column = Math.floor(x / step), row = Math.floor(y / step);
      let free = true;
      for (let place = 0; place < 9 && free; place++) {
        const other = taken.get(`${column - 1 + (place % 3)},${row - 1 + Math.floor(place / 3)}`);
        free = !other || Math.abs(other[0] - x) >= step || Math.abs(other[1] - y) >= step;
      }
      if (!free) continue;
      taken.set(`${column},${row}`, [x, y]);
      rows.add(i);
    }
    this.places = { scale, points: this.points, rows };
    return rows;
  }

  drawPicture(ctx, i, x, y, side) {
    const { size, columns, cells } = this.points, cell = cells[i];
    ctx.drawImage(this.sheet, (cell % columns) * size, Math.floor(cell / columns) * size, size, size, x, y, side, side);
  }

  drawOver() {
    const ctx = this.context(this.over), { groups, members, colors } = this.points;
    const stamps = this.stampsNow(), { r } = stamps, rows = this.selectedRows;
    const only = rows.length === 1 ? rows[0] : -1, mark = this.current >= 0 ? this.current : this.hover;
    const ring = (i, radius, color, width, dash = []) => {
      const [x, y] = this.toScreen(i);
      for (const [style, thick] of [[this.page, width + 2], [color, width]]) {
        ctx.beginPath();
        ctx.setLineDash(style === color ? dash : []);
        ctx.strokeStyle = style;
        ctx.lineWidth = thick;
        ctx.arc(x, y, radius, 0, 2 * Math.PI);
        ctx.stroke();
      }
      ctx.setLineDash([]);
    };
    const pointed = !colors && this.chosen < 0 && only < 0 && mark >= 0 ? members[groups[mark]] : [];
    for (const i of pointed) if (this.isKept(i)) this.stamp(ctx, i, stamps.of(groups[i]));
    if (only >= 0) this.drawNeighbours(ctx, only, ring);
    else if (rows.length <= MOST_RINGS) for (const i of rows) ring(i, r + 1.5, this.text, 1.2);
    if (only >= 0) ring(only, r + 5, this.text, 2.5);
    if (this.linked >= 0) ring(this.linked, r + 7, this.accent, 3, [5, 3]);
    if (mark >= 0) ring(mark, r + 4, this.accent, 2.5);
    if (this.lasso?.length > 1) this.drawLasso(ctx);
  }

  /** Lines to the nearest points in the embedding space: solid within the class, dashed and orange to others. */
  drawNeighbours(ctx, only, ring) {
    const [x, y] = this.toScreen(only), { labels, groups } = this.points, { r, of, stranger } = this.stampsNow();
    for (const { row } of this.neighbours(only)) {
      if (row < 0) continue;
      const same = labels[row] === labels[only], color = this.readable(same ? SAME : OTHER);
      const [nx, ny] = this.toScreen(row);
      ctx.beginPath();
      ctx.setLineDash(same ? [] : [6, 4]);
      ctx.strokeStyle = color;
      ctx.lineWidth = 1.6;
      ctx.moveTo(x, y);
      ctx.lineTo(nx, ny);
      ctx.stroke();
      this.stamp(ctx, row, (same ? of : stranger)(groups[row]));
      ring(row, r + 3, color, 2, same ? [] : [4, 3]);
    }
    ctx.setLineDash([]);
    this.stamp(ctx, only, of(groups[only]));
  }

  drawLasso(ctx) {
    ctx.beginPath();
    for (const [px, py] of this.lasso) ctx.lineTo(px, py);
    ctx.closePath();
    ctx.globalAlpha = 0.15;
    ctx.fillStyle = ctx.strokeStyle = this.accent;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.lineWidth = 2;
    ctx.stroke();
  }

  // ---- pointing

  at(event) {
    const box = this.stage.getBoundingClientRect();
    return [event.clientX - box.left - this.stage.clientLeft, event.clientY - box.top - this.stage.clientTop];
  }

  under(px, py) {
    if (!this.points || !this.view) return -1;
    return this.grid.nearest(...this.toData(px, py), REACH / this.view.scale, this.isKept);
  }

  down(event) {
    if (event.button !== 0 || !this.view) return;
    event.preventDefault(); // else the page selects text while the reader drags
    this.stage.focus({ preventScroll: true });
    this.stage.setPointerCapture(event.pointerId);
    const [px, py] = this.at(event);
    const lassoing = this.tool === "lasso" || event.shiftKey;
    this.drag = { px, py, x: this.view.x, y: this.view.y, far: false, lassoing };
    this.lasso = lassoing ? [[px, py]] : null;
    this.setCurrent(-1);
  }

  move(event) {
    const [px, py] = this.at(event);
    if (!this.drag) return this.setHover(event.pointerType === "touch" ? -1 : this.under(px, py));
    const { drag } = this;
    drag.far ||= Math.hypot(px - drag.px, py - drag.py) > 4;
    if (drag.lassoing) {
      const last = this.lasso.at(-1); // corners count from the start, also while it may still become a click
      if (Math.hypot(px - last[0], py - last[1]) >= 1) this.lasso.push([px, py]);
    }
    if (!drag.far) return;
    this.setHover(-1);
    if (drag.lassoing) return this.draw();
    this.view.x = drag.x - (px - drag.px) / this.view.scale;
    this.view.y = drag.y + (py - drag.py) / this.view.scale;
    this.touched = true;
    this.draw(true);
  }

  up(event) {
    const { drag, lasso } = this;
    if (!drag) return;
    this.letGo();
    const [px, py] = this.at(event);
    if (!drag.far) {
      const i = this.under(px, py);
      if (event.ctrlKey || event.metaKey) i >= 0 && this.toggle(i);
      else this.select(i < 0 ? [] : [this.points.ids[i]]);
    } else if (drag.lassoing && lasso.length > 2) {
      const polygon = lasso.map(([x, y]) => this.toData(x, y)), { ids, xy } = this.points;
      this.select(ids.filter((_, i) => this.isKept(i) && inside(polygon, xy[2 * i], xy[2 * i + 1])), polygon);
    }
  }

  letGo() {
    this.drag = this.lasso = null;
    this.draw();
  }

  wheel(event) {
    if (event.timeStamp - this.pageWheel < 350) {
      this.pageWheel = event.timeStamp;
      return;
    }
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 20 : 1);
    this.zoom(Math.exp(-0.002 * Math.max(-200, Math.min(200, pixels))), ...this.at(event));
  }

  setHover(i) {
    if (i === this.hover) return;
    this.hover = i;
    this.stage.classList.toggle("pointing", i >= 0 && this.tool === "move");
    this.showCard(i);
    this.draw();
    this.tell("hover", { id: i < 0 ? null : this.points.ids[i] });
  }

  showCard(i) {
    this.card.hidden = i < 0;
    if (i < 0) return;
    const { ids, classes, labels, cells, grouped, names, groups } = this.points;
    const picture = this.sheet && cells[i] >= 0;
    this.cardPicture.hidden = !picture;
    if (picture) {
      const ctx = this.cardPicture.getContext("2d");
      ctx.fillStyle = "white";
      ctx.fillRect(0, 0, 160, 160);
      this.drawPicture(ctx, i, 0, 0, 160);
    }
    this.cardClass.textContent = classes[labels[i]];
    this.cardGroup.textContent = grouped ? `${grouped.by}: ${names[groups[i]]}` : "";
    this.cardId.textContent = ids[i];
    this.card.dataset.id = ids[i];
    const [x, y] = this.toScreen(i), { offsetWidth, offsetHeight } = this.card;
    const left = x + 18 + offsetWidth < this.width ? x + 18 : x - 18 - offsetWidth;
    const top = Math.min(this.height - offsetHeight - 6, Math.max(6, y - offsetHeight / 2));
    this.card.style.transform = `translate(${Math.max(6, left)}px, ${top}px)`;
  }

  // ---- keyboard

  key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const acts = {
      Enter: () => this.pick(event.shiftKey), " ": () => this.pick(event.shiftKey), Escape: () => this.clear(),
      "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), 0: () => this.fit(),
    };
    const act = arrows[event.key] ? () => this.step(...arrows[event.key]) : acts[event.key];
    if (!act || !this.view || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** To the next point in a direction: the nearest within 45 degrees of it. */
  step(dx, dy) {
    const { xy } = this.points;
    let from = this.current >= 0 ? this.current : this.hover;
    if (from < 0) {
      const rows = this.selectedRows;
      if (rows.length) return this.setCurrent(rows[0]);
      return this.setCurrent(this.grid.nearest(this.view.x, this.view.y, 1e12, this.isKept));
    }
    let best = -1, least = Infinity;
    for (const i of this.order) {
      const x = xy[2 * i] - xy[2 * from], y = xy[2 * i + 1] - xy[2 * from + 1];
      const along = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
      if (along <= 0 || aside > along) continue;
      const distance = Math.hypot(along, 2 * aside); // rather straight on than near
      if (distance < least) [best, least] = [i, distance];
    }
    if (best >= 0) this.setCurrent(best);
  }

  setCurrent(i) {
    if (i === this.current) return;
    this.current = i;
    if (i >= 0) {
      this.hover = -1;
      const [x, y] = this.toScreen(i);
      if (x < MARGIN || y < MARGIN || x > this.width - MARGIN || y > this.height - MARGIN) {
        this.view.x = this.points.xy[2 * i];
        this.view.y = this.points.xy[2 * i + 1];
        this.touched = true;
      }
      this.heard.textContent = `${this.points.classes[this.points.labels[i]]}, ${this.points.ids[i]}`;
    }
    this.showCard(i);
    this.draw(i >= 0);
    this.tell("hover", { id: i < 0 ? null : this.points.ids[i] });
  }

  pick(more) {
    const i = this.current >= 0 ? this.current : this.hover;
    if (i < 0) return;
    if (more) this.toggle(i);
    else this.select([this.points.ids[i]]);
  }

  clear() {
    this.letGo();
    this.choose(-1);
    this.setCurrent(-1);
    this.select([]);
  }

  // ---- selection

  toggle(i) {
    const id = this.points.ids[i];
    this.select(this.selected.includes(id) ? this.selected.filter((other) => other !== id) : [...this.selected, id]);
  }

  /** The reader selects: drawn at once, told to Python and to linked explorers. */
  select(ids, polygon = []) {
    if (ids.length === 0 && this.selected.length === 0) return;
    this.card.hidden = true; // else it hides the neighbours
    this.show(ids);
    this.model.set("selected", ids);
    this.model.set("lasso", polygon);
    this.model.save_changes();
    this.tell("select", { ids });
  }

  /** A selection from anywhere is only drawn: nothing is sent, so that no echo can come back. */
  show(ids, anyway = false) {
    if (!anyway && ids.length === this.selected.length && ids.every((id, k) => id === this.selected[k])) return;
    this.selected = [...ids];
    this.selectedRows = this.points ? ids.map((id) => this.points.row.get(id) ?? -1).filter((i) => i >= 0) : [];
    this.root.dataset.selected = String(this.selectedRows.length);
    this.fillStrip();
    this.draw(true);
  }

  /** Nearest points in the embedding space: from the table that came with the points, else as Python answered. */
  neighbours(i) {
    const { k, near, similarity, ids, row } = this.points;
    if (k) return Array.from({ length: k }, (_, j) => ({ row: near[i * k + j], similarity: similarity[i * k + j] }));
    const answer = this.model.get("near");
    if (answer?.id !== ids[i]) return [];
    return answer.ids.map((id, j) => ({ row: row.get(id) ?? -1, similarity: answer.similarities[j] }));
  }

  fillStrip() {
    this.strip.replaceChildren();
    if (!this.points) return;
    const rows = this.selectedRows, { classes, labels, ids } = this.points;
    this.strip.hidden = Boolean(this.model.get("below")) && rows.length !== 1;
    if (rows.length === 0) this.said.textContent = "Nothing selected.";
    else if (rows.length === 1) {
      const found = this.neighbours(rows[0]).filter(({ row }) => row >= 0);
      const same = found.filter(({ row }) => labels[row] === labels[rows[0]]).length;
      const name = `${classes[labels[rows[0]]]} (${ids[rows[0]]})`, are = same === 1 ? "is" : "are";
      this.said.textContent = found.length
        ? `${name}: of its ${found.length} nearest in the embedding, ${same} ${are} of its class (✓).`
        : `${name} selected.`;
      for (const { row, similarity } of found) this.addThumb(row, labels[row] === labels[rows[0]], similarity);
    } else {
      const counts = new Map();
      for (const i of rows) counts.set(labels[i], (counts.get(labels[i]) ?? 0) + 1);
      const largest = [...counts].sort((a, b) => b[1] - a[1]);
      const text = largest.slice(0, 4).map(([label, count]) => `${count} × ${classes[label]}`).join(", ");
      const most = this.model.get("below") ? 0 : MOST_THUMBS; // the page itself shows what a lasso holds
      const cut = most && rows.length > most ? ` Showing ${most} of ${rows.length.toLocaleString("en")}.` : "";
      const more = largest.length > 4 ? `, and ${largest.length - 4} more classes` : "";
      this.said.textContent = `${rows.length.toLocaleString("en")} selected: ${text}${more}.${cut}`;
      for (const i of rows.slice(0, most)) this.addThumb(i, null);
    }
  }

  addThumb(i, same, similarity) {
    const { classes, labels, ids, cells } = this.points, name = classes[labels[i]];
    const label = `${name}, ${ids[i]}${similarity === undefined ? "" : `, cosine ${similarity.toFixed(3)}`}`;
    const thumb = make("button", same === null ? "" : same ? "same" : "other", "", { type: "button", title: label });
    thumb.setAttribute("aria-label", same === null ? label : `${same ? "same class" : "other class"}: ${label}`);
    if (this.sheet && cells[i] >= 0) {
      const canvas = thumb.appendChild(make("canvas", "", "", { width: 2 * THUMB, height: 2 * THUMB }));
      this.drawPicture(canvas.getContext("2d"), i, 0, 0, 2 * THUMB);
    } else thumb.append(make("span", "", name));
    if (same !== null) thumb.append(make("b", "", same ? "✓" : "✗"), make("small", "", similarity.toFixed(3)));
    thumb.addEventListener("click", () => this.select([ids[i]]));
    thumb.addEventListener("pointerenter", () => this.setHover(i));
    thumb.addEventListener("pointerleave", () => this.setHover(-1));
    this.strip.append(thumb);
  }

  // ---- explorers of one group on a page follow each other by ids

  tell(what, detail) {
    const group = this.model.get("group");
    if (group) BUS.dispatchEvent(new CustomEvent(what, { detail: { ...detail, group, from: this } }));
  }

  heardSelect({ group, from, ids }) {
    if (from === this || group !== this.model.get("group")) return;
    this.model.set("selected", ids); // not saved: Python keeps the models of a group in step itself
    this.show(ids);
  }

  heardHover({ group, from, id }) {
    if (from === this || group !== this.model.get("group") || !this.points) return;
    this.linked = this.points.row.get(id) ?? -1;
    this.root.dataset.linked = this.linked >= 0 ? id : "";
    this.draw();
  }
}

function render({ model, el }) {
  const explorer = new Explorer(model, el);
  return () => explorer.stop();
}

export default { render };
