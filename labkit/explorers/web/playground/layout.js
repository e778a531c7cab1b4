// The elements of the playground, from top to bottom.
import { make } from "../shared/elements.js";
import { LAYOUTS, OWN } from "./data.js";
import { FAMILIES, LOSSES } from "./losses.js";
import { NAMES, NETWORKS, SPEEDS, STEPS, TRIES } from "./state.js";

const button = (className, text, more = {}) => make("button", className, text, { type: "button", ...more });

function menu(label, entries) {
  const holder = make("label", "field"), select = make("select", "", "", { "aria-label": label });
  for (const [value, text] of entries) select.append(new Option(text, value));
  holder.append(make("span", "soft", label), select);
  return { holder, select };
}

function section(title, hint) {
  const box = make("section", "panel"), head = box.appendChild(make("div", "head"));
  head.append(make("h3", "", title), make("span", "soft", hint));
  return box;
}

/** A chart with its title and the meaning of its colours: [class of the swatch, text]. */
function chart(name, title, marks = [], more = {}) {
  const figure = make("figure", `chart ${name}`), head = figure.appendChild(make("figcaption"));
  head.append(make("strong", "", title));
  for (const [kind, text] of marks) {
    const mark = head.appendChild(make("span", "mark soft"));
    mark.append(make("i", `swatch ${kind}`, "", { "aria-hidden": "true" }), text);
  }
  const stage = figure.appendChild(make("div", `stage ${name}`, "", more));
  return { figure, stage };
}

function dataPanel() {
  const box = section("Data", "drag a letter; double-click adds a cluster");
  const plane = box.appendChild(make("div", "stage plane", "", { role: "group", "aria-label": "Input plane" }));
  const row = box.appendChild(make("div", "row")), layout = menu("Layout", [...LAYOUTS, OWN].map((name) => [name, name]));
  const kinds = NAMES.map((name) => [name, name < "A" ? `${name}, unseen` : name]);
  const kind = menu("Class", kinds), add = button("", "Add"), remove = button("", "Remove");
  row.append(layout.holder, kind.holder, add, remove);
  const words = "Letters: training classes. Numbers: classes that training never sees. Colour: the direction that " +
    "the network gives a place. Arrows: how the loss pulls the positives of the ringed query; click to choose another.";
  box.append(make("p", "note soft", words));
  return { box, plane, layout: layout.select, kind: kind.select, add, remove };
}

function lossPanel() {
  const box = section("Loss", "draw on the derivative");
  const holder = make("label", "field wide"), loss = make("select", "", "", { "aria-label": "Loss" });
  for (const [family, title] of Object.entries(FAMILIES)) {
    const group = loss.appendChild(make("optgroup", "", "", { label: title }));
    for (const [id, one] of Object.entries(LOSSES)) if (one.family === family) group.append(new Option(one.name, id));
  }
  holder.append(loss);
  const formula = make("label", "field wide formula");
  const typed = make("input", "", "", { type: "text", spellcheck: "false", maxlength: 200 });
  formula.append(make("span", "soft", "∂L/∂R ="), typed);
  const message = make("p", "message", "", { role: "alert" }), options = make("div", "options");
  const keys = "Derivative. Draw with the pointer; left and right arrows choose a point, up and down move it.";
  const derivative = chart("derivative", "∂L/∂R, the pull", [], { tabindex: "0", role: "img", "aria-label": keys });
  const picture = (words) => ({ role: "img", "aria-label": words });
  const value = chart("loss", "L(R), its integral", [], picture("The loss, the integral of the derivative"));
  const marks = [["grey", "positives"], ["accent", "gradient"]];
  const share = chart("share", "Who is pulled now?", marks, picture("Shares of positives and of the gradient by R"));
  box.append(holder, formula, message, options, derivative.figure, value.figure, share.figure);
  const stages = { derivative: derivative.stage, loss: value.stage, share: share.stage };
  return { box, loss, formula, typed, message, options, stages };
}

function embeddingPanel() {
  const box = section("Embedding", "outside: unseen classes, a lane each");
  const circle = box.appendChild(make("div", "stage circle", "", { role: "img" }));
  const canvas = circle.appendChild(make("canvas"));
  const marks = [["accent", "unseen"], ["dashed", "training"], ["dotted", "untrained"]];
  const history = chart("history", "R@1", marks, { role: "img", "aria-label": "Recall at 1 over the training steps" });
  const shadow = history.figure.querySelector("figcaption").appendChild(make("span", "mark soft"));
  shadow.append(make("i", "swatch grey", "", { "aria-hidden": "true" }), make("span", "shadow", ""));
  box.append(history.figure);
  const historyCanvas = history.stage.appendChild(make("canvas"));
  return { box, circle, canvas, history: history.stage, historyCanvas, shadow };
}

function transport() {
  const box = make("div", "bar", "", { role: "toolbar", "aria-label": "Training" });
  const play = button("play", "▶ Play"), step = button("", "Step", { title: "One step (s)" });
  const restart = button("", "Restart", { title: "The untrained network again (r)" });
  const clock = make("div", "clock"), count = make("span", "count", "step 0");
  const bar = make("progress", "", "", { value: 0, "aria-label": "Training done" });
  clock.append(count, bar);
  const speed = menu("Speed", Object.entries(SPEEDS));
  const steps = menu("Steps", STEPS.map((n) => [n, n.toLocaleString("en")]));
  const networks = menu("Networks", NETWORKS.map((n) => [n, n === 1 ? "1" : `${n} seeds`]));
  const holder = make("label", "field"), seed = make("input", "", "", { type: "number", min: 0, max: 9999, step: 1 });
  holder.append(make("span", "soft", "Seed"), seed);
  box.append(play, step, restart, clock, speed.holder, steps.holder, networks.holder, holder);
  const menus = { speed: speed.select, steps: steps.select, networks: networks.select };
  return { box, play, step, restart, count, bar, ...menus, seed };
}

export function buildPage(el, titled) {
  const more = { role: "group", "aria-label": "Playground", tabindex: "-1", "data-lm-suppress-shortcuts": "true" };
  const root = make("div", "labkit-embedding playground", "", more);
  if (titled) {
    const head = root.appendChild(make("header"));
    head.append(make("h1", "", "Draw a derivative, train a network"));
    const lead = "A ranking loss decides how hard a positive is pulled when R negatives stand before it. Decide it " +
      "yourself: a small network learns with your loss, here in the page, and you see what becomes of classes that " +
      "it never met.";
    head.append(make("p", "lead soft", lead));
  }
  const tries = root.appendChild(make("div", "tries", "", { role: "group", "aria-label": "Three things to try" }));
  const buttons = TRIES.map(([title, words], k) => {
    const one = tries.appendChild(button("try", ""));
    one.append(make("b", "", `${k + 1}  ${title}`), make("span", "soft", words));
    return one;
  });
  const bar = transport(), data = dataPanel(), loss = lossPanel(), embedding = embeddingPanel();
  const status = make("p", "status", "", { role: "status" }), panels = make("div", "panels");
  panels.append(data.box, loss.box, embedding.box);
  const multiples = make("div", "multiples");
  const words = "Keys: space plays and pauses, s steps, r restarts; Tab reaches a cluster, arrows move it, Delete " +
    "removes it. The address holds what you have set. Every change starts again from the same untrained network.";
  const keys = make("p", "note soft", words);
  root.append(bar.box, status, panels, multiples, keys);
  el.append(root);
  return { root, tries: buttons, bar, data, loss, embedding, status, multiples };
}

/** A slider of an option; changed(value, done). */
export function slider(name, { symbol, least, most, words, byFactors, whole }, value, changed) {
  const holder = make("label", "field option", "", { title: words }), shown = make("output");
  const step = whole ? 1 / (most - least) : 0.01, label = `${symbol}, ${words}`;
  const input = make("input", "", "", { type: "range", min: 0, max: 1, step, "aria-label": label });
  const of = (part) => (byFactors ? least * (most / least) ** part : least + (most - least) * part);
  const part = byFactors ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
  const read = () => (whole ? Math.round(of(Number(input.value))) : +of(Number(input.value)).toPrecision(2));
  const show = (now) => {
    shown.textContent = String(+now.toPrecision(3));
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  input.value = part;
  show(value);
  input.addEventListener("input", () => (show(read()), changed(name, read(), false)));
  input.addEventListener("change", () => changed(name, read(), true));
  holder.append(make("span", "soft symbol", symbol), input, shown);
  return holder;
}
