// The embedding explorer: points of a run in the plane, in JupyterLab, in Streamlit and in the book.
// It reads points, sheet, selected, near, kept, below, pictures (whether some points are shown as theirs at first),
// group, height and place from a model, and gives back stable ids
// (selected) and the lasso's corners in data coordinates (lasso), never rows of a table or pixels.
import { paintRoot } from "../shared/colors.js";
import { innerSize } from "../shared/elements.js";
import { watchPage } from "../shared/page.js";
import { Card } from "./card.js";
import { Drawing } from "./drawing.js";
import { joinGroup, tell } from "./group.js";
import { handleKey } from "./keyboard.js";
import { buildPage, countsText } from "./layout.js";
import { fillLegend, markChosen } from "./legend.js";
import { keep, restore } from "./memory.js";
import { unpack } from "./points.js";
import { Pointer } from "./pointer.js";
import { openSheet } from "./sheet.js";
import { makeGrid } from "./spatial_index.js";
import { fillStrip } from "./strip.js";
import { Viewport } from "./viewport.js";

const HEIGHT = 460; // pixels

class Explorer {
  points = null; // as points.js unpacks them
  sheet = null; // its pictures, as sheet.js opens them
  selected = []; // ids, also those that are not among our points
  selectedRows = []; // rows of those that are
  chosen = -1; // group
  keptClass = null; // for each class whether the filter keeps it; null: all. What it leaves out is background
  order = []; // rows that are kept
  rest = []; // rows that are not
  hover = -1; // rows: under the cursor, under it in a linked explorer, the keyboard's
  linked = -1;
  current = -1;
  lasso = null; // corners on the screen while it is drawn
  tool = "move";
  pictures = false;
  colors = null; // of the page
  view = new Viewport();
  stopped = new AbortController();

  constructor(model, el) {
    this.model = model;
    this.isKept = (i) => !this.keptClass || this.keptClass[this.points.labels[i]] === 1;
    this.page = buildPage(el, {
      move: () => this.setTool("move"),
      lasso: () => this.setTool("lasso"),
      pictures: () => this.setPictures(!this.pictures),
      zoomIn: () => this.zoom(1.5),
      zoomOut: () => this.zoom(1 / 1.5),
      reset: () => this.fit(),
    });
    this.card = new Card(this.page.stage);
    this.drawing = new Drawing(this, this.page.base, this.page.over);
    this.setTool("move");
    this.listen();
    this.load();
  }

  listen() {
    const { signal } = this.stopped, { stage } = this.page;
    this.pointer = new Pointer(this, stage, signal);
    stage.addEventListener("keydown", (event) => handleKey(this, event), { signal });
    stage.addEventListener("blur", () => this.setCurrent(-1), { signal });
    joinGroup(this, signal);
    watchPage(stage, { resized: () => this.resize(), recolored: () => this.recolor(), signal });
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
    for (const [name, act] of Object.entries(this.changes)) this.model.off(name, act);
    cancelAnimationFrame(this.frame);
    this.sheet?.close();
    this.sheet = null;
    this.page.root.remove();
  }

  // ---- what Python sends

  load() {
    const bytes = this.model.get("points"), { root, stage, title, subtitle, wait } = this.page;
    this.points = bytes?.byteLength ? unpack(bytes) : null;
    wait.hidden = Boolean(this.points);
    this.chosen = this.hover = this.linked = this.current = -1;
    this.card.hide();
    this.view.touched = false;
    this.legendOf = null;
    if (this.points) {
      this.grid = makeGrid(this.points);
      this.drawing.forget();
      title.textContent = this.points.title;
      subtitle.textContent = this.points.subtitle;
      const name = `${this.points.title}, ${this.points.subtitle}`;
      stage.setAttribute("aria-label", `${name}. Arrow keys go from point to point.`);
      root.setAttribute("aria-label", `Embedding explorer: ${this.points.title}`);
    }
    this.filter();
    if (!restore(this)) this.setPictures(Boolean(this.model.get("pictures")));
    this.resize();
    this.show(this.model.get("selected") ?? [], true);
    this.loadSheet();
  }

  async loadSheet() {
    const sheet = this.points?.size ? await openSheet(this.model.get("sheet"), () => this.points) : null;
    if (this.stopped.signal.aborted) return sheet?.close();
    this.sheet?.close();
    this.sheet = sheet;
    this.page.buttons.pictures.hidden = !sheet;
    this.page.root.dataset.pictures = sheet ? "shown" : "none";
    this.show(this.selected, true);
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
    this.setCurrent(-1);
    this.setHover(-1);
    this.draw(true);
  }

  // ---- looks

  recolor() {
    if (!this.page.root.isConnected) return; // JupyterLab renders first and attaches later; the new size calls again
    const colors = paintRoot(this.page.root, this.colors);
    if (this.colors === colors && this.legendOf === this.points) return;
    [this.colors, this.legendOf] = [colors, this.points];
    this.drawing.forget();
    if (this.points) {
      fillLegend(this.page.legend, this.points, this.chosen, colors.dark, (group) => this.choose(group));
    } else this.page.legend.replaceChildren();
    this.draw(true);
  }

  choose(group) {
    this.chosen = group;
    markChosen(this.page.legend, group);
    this.draw(true);
  }

  setTool(tool) {
    this.tool = tool;
    for (const name of ["move", "lasso"]) this.page.buttons[name].setAttribute("aria-pressed", String(tool === name));
    this.page.stage.classList.toggle("lassoing", tool === "lasso");
  }

  setPictures(on) {
    this.pictures = on;
    this.page.buttons.pictures.setAttribute("aria-pressed", String(on));
    this.draw(true);
  }

  // ---- view

  resize() {
    const { stage } = this.page;
    stage.style.height = `${this.model.get("height") || HEIGHT}px`;
    [this.view.width, this.view.height] = innerSize(stage);
    if (!(this.view.width > 0 && this.view.height > 0)) return;
    this.recolor();
    this.drawing.resize();
    if (this.view.touched) this.draw(true);
    else this.fit();
  }

  fit() {
    if (!this.points || !(this.view.width > 0)) return;
    this.view.fit(this.grid);
    this.draw(true);
  }

  zoom(factor, px = this.view.width / 2, py = this.view.height / 2) {
    if (!this.points || !this.view.ready) return;
    this.view.zoom(factor, px, py, Boolean(this.points.grid));
    this.draw(true);
  }

  /** Where a point is on the screen. */
  place(i) {
    return this.view.toScreen(this.points.xy[2 * i], this.points.xy[2 * i + 1]);
  }

  /** Draw with the next frame: what changes with the cursor, or all. */
  draw(all = false) {
    this.all ||= all;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (!this.points || !this.colors || !this.view.ready) return;
      if (this.all) this.page.note.textContent = countsText(this, this.drawing.drawBase());
      this.all = false;
      this.drawing.drawOver();
      keep(this);
    });
  }

  // ---- cursor

  setHover(i) {
    if (i === this.hover) return;
    this.hover = i;
    this.page.stage.classList.toggle("pointing", i >= 0 && this.tool === "move");
    this.card.show(this, i);
    this.draw();
    tell(this, "hover", { id: i < 0 ? null : this.points.ids[i] });
  }

  /** The point that the keyboard has come to; the view follows it. */
  setCurrent(i) {
    if (i === this.current) return;
    this.current = i;
    if (i >= 0) {
      const { xy, classes, labels, ids } = this.points;
      this.hover = -1;
      if (this.view.atBorder(...this.place(i))) this.view.center(xy[2 * i], xy[2 * i + 1]);
      this.page.heard.textContent = `${classes[labels[i]]}, ${ids[i]}`;
    }
    this.card.show(this, i);
    this.draw(i >= 0);
    tell(this, "hover", { id: i < 0 ? null : this.points.ids[i] });
  }

  // ---- selection

  toggle(i) {
    const id = this.points.ids[i];
    this.select(this.selected.includes(id) ? this.selected.filter((other) => other !== id) : [...this.selected, id]);
  }

  /** The reader selects: drawn at once, told to Python and to linked explorers. */
  select(ids, polygon = []) {
    if (ids.length === 0 && this.selected.length === 0) return;
    this.card.hide(); // else it hides the neighbours
    this.show(ids);
    this.model.set("selected", ids);
    this.model.set("lasso", polygon);
    this.model.save_changes();
    tell(this, "select", { ids });
  }

  /** A selection from anywhere is only drawn: nothing is sent, so that no echo can come back. */
  show(ids, anyway = false) {
    if (!anyway && ids.length === this.selected.length && ids.every((id, k) => id === this.selected[k])) return;
    this.selected = [...ids];
    this.selectedRows = this.points ? ids.map((id) => this.points.row.get(id) ?? -1).filter((i) => i >= 0) : [];
    this.page.root.dataset.selected = String(this.selectedRows.length);
    fillStrip(this);
    this.draw(true);
  }
}

/** Put an explorer of a model into an element; returns what takes it away. */
export function render({ model, el }) {
  const explorer = new Explorer(model, el);
  return () => explorer.stop();
}
