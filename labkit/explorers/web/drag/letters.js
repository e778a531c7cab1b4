// Two words are typed, and each slot is dragged from the letter read to the true one: e jumps, ê slides, and bars say
// how hard the surrogate's gradient pulls at every slot, and towards which letter.
import { choose, stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { layersOf } from "./layers.js";
import { barsHeight, drawBars } from "./bars.js";
import { editDistance } from "../maths/strings.js";
import { wordSurrogate } from "../maths/surrogate.js";
import { make } from "../shared/elements.js";
import { shape } from "../shared/svg.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz", END = "·", SYMBOLS = END + LETTERS;
const TRACK = 110, TOP = 44, PULLS = TOP + TRACK + 48, TALL = 60, BARS = PULLS + TALL + 62, SURE = [0.5, 0.6, 0.7, 0.8, 0.9, 1];

export function letters({ model, el }) {
  const layers = layersOf(model.get("layers")), slots = model.get("slots"), start = model.get("words");
  const words = { ...start }, mixed = new Float64Array(slots);
  let sure = model.get("sure"), width = 640;
  const symbol = (word, at) => (at < word.length ? word[at] : END);
  /** One slot's distribution: `sure` of it on the letter read or the true one, the rest on all symbols alike. */
  const slot = (at) => {
    const found = new Array(SYMBOLS.length).fill((1 - sure) / SYMBOLS.length);
    found[SYMBOLS.indexOf(symbol(words.read, at))] += sure * (1 - mixed[at]);
    found[SYMBOLS.indexOf(symbol(words.truth, at))] += sure * mixed[at];
    return found;
  };
  const certain = (word) => Array.from({ length: slots }, (_, at) => Array.from(SYMBOLS, (one) => (one === symbol(word, at) ? 1 : 0)));
  /** The likeliest symbol of every slot, up to the first end. */
  const decoded = (z) => z.map((p) => SYMBOLS[p.indexOf(Math.max(...p))]).join("").split(END)[0];
  const put = (at, value) => {
    mixed[at] = Math.round(100 * Math.min(1, Math.max(0, value))) / 100;
    view.redraw();
  };
  const find = (key) => ({
    moved: (_, y) => put(Number(key), 1 - (y - TOP) / TRACK),
    stepped: (_, up) => put(Number(key), mixed[key] + 0.05 * up),
  });
  function measured() {
    const z = Array.from({ length: slots }, (_, at) => slot(at)), { value, gradient } = wordSurrogate(layers, z, certain(words.truth));
    const pulls = z.map((_, at) => {
      const own = Array.from(gradient.slice(at * SYMBOLS.length, (at + 1) * SYMBOLS.length));
      const mean = own.reduce((sum, g) => sum + g, 0) / own.length; // a part that all symbols share moves nothing
      return { far: Math.hypot(...own.map((g) => g - mean)), to: SYMBOLS[own.indexOf(Math.min(...own))] };
    });
    const read = decoded(z);
    return { read, exact: editDistance(read, words.truth), estimate: value, pulls };
  }
  function draw(svg, now) {
    width = now;
    const { read, exact, estimate, pulls } = measured(), side = Math.min(74, 0.17 * width);
    const wide = (width - side) / slots, middle = (at) => side + (at + 0.5) * wide, most = Math.max(1, ...pulls.map((p) => p.far));
    const say = (y, text) => shape(svg, "text", { x: 0, y, class: "tick" }, text);
    say(TOP - 22, "truth");
    say(TOP + TRACK + 26, "read");
    say(PULLS + TALL - 8, "pull");
    say(PULLS + TALL + 18, "towards");
    pulls.forEach(({ far, to }, at) => {
      const x = middle(at), [was, wanted] = [symbol(words.read, at), symbol(words.truth, at)], same = was === wanted;
      shape(svg, "text", { x, y: TOP - 20, "text-anchor": "middle" }, wanted);
      shape(svg, "text", { x, y: TOP + TRACK + 28, "text-anchor": "middle" }, was);
      shape(svg, "line", { x1: x, x2: x, y1: TOP, y2: TOP + TRACK, class: same ? "grid" : "axis" });
      if (!same) {
        shape(svg, "line", { x1: x - 8, x2: x + 8, y1: TOP + TRACK / 2, y2: TOP + TRACK / 2, class: "grid" });
        const drawn = shape(svg, "g", { class: "item positive", transform: `translate(${x} ${TOP + (1 - mixed[at]) * TRACK})` });
        shape(drawn, "circle", { r: 18, class: "reach" });
        shape(drawn, "circle", { r: 9 });
        const text = `${Math.round(100 * (1 - mixed[at]))} % ${was}, ${Math.round(100 * mixed[at])} % ${wanted}`;
        asHandle(drawn, at, `slot ${at + 1}`, { low: 0, high: 1, value: mixed[at], text });
      }
      const high = (far / most) * TALL, home = to === wanted;
      shape(svg, "rect", { x: x - wide / 4, y: PULLS + TALL - high, width: wide / 2, height: high, class: `bar ${home ? "positive" : "negative"}` });
      shape(svg, "text", { x, y: PULLS + TALL + 18, "text-anchor": "middle" }, to);
      shape(svg, "text", { x, y: PULLS + TALL + 34, "text-anchor": "middle", class: "tick" }, home ? "✓" : "✗");
    });
    drawBars(svg, [["e, edits", exact], ["ê, surrogate", estimate, undefined, "soft"]], { top: BARS, width, most: 10 });
    const right = pulls.filter(({ to }, at) => to === symbol(words.truth, at)).length;
    view.say(`Decoded: “${read}”. In ${right} of ${slots} slots the gradient pulls towards the true symbol (✓; ${END} is the end).`);
  }
  const view = stage(el, { height: BARS + barsHeight(2), label: "Slots of a word; each can be moved with the arrow keys", draw, find });
  for (const [name, says] of [["read", "read"], ["truth", "truth"]]) {
    const box = view.controls.appendChild(make("label", "", `${says} `));
    const input = box.appendChild(make("input", "", "", { type: "text", maxlength: slots, spellcheck: "false", "aria-label": says, title: `letters a to z, at most ${slots}` }));
    input.value = words[name];
    input.addEventListener("input", () => {
      words[name] = Array.from(input.value.toLowerCase()).filter((letter) => LETTERS.includes(letter)).join("").slice(0, slots);
      if (input.value !== words[name]) input.value = words[name]; // other letters are not read: the field says so
      mixed.fill(0);
      view.redraw();
    });
    input.addEventListener("keydown", (event) => event.stopPropagation()); // JupyterLab has shortcuts of one letter
  }
  choose(view.controls, { label: "sure", values: SURE, start: sure, slider: true, names: SURE.map((s) => `${100 * s} %`) }, (chosen) => {
    sure = chosen;
    view.redraw();
  });
}
