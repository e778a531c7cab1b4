// A curve drawn by hand: with the pointer, by touch, or column by column with the arrow keys; then the truth over it.
import { make } from "../shared/elements.js";
import { shape as add } from "../shared/svg.js";

const COLUMNS = 41, HEIGHT = 230, LEFT = 52, RIGHT = 12, TOP = 14, BOTTOM = 42;

const shape = (tag, attributes, parent, text) => add(parent, tag, attributes, text);

export function curveForm({ question, x, y }, ready) {
  const box = make("div", "curve");
  const svg = shape("svg", { height: HEIGHT, tabindex: 0, role: "application" }, box);
  svg.setAttribute("aria-label", `${question} Draw with the pointer; or left and right choose a place, up and down set it.`);
  const drawn = new Array(COLUMNS).fill(null);
  let truth = null, column = 0, settled = false, last = null;
  const size = () => svg.getBoundingClientRect().width || 480;
  const across = (c) => LEFT + (c / (COLUMNS - 1)) * (size() - LEFT - RIGHT);
  const up = (value) => HEIGHT - BOTTOM - ((value - y.low) / (y.high - y.low)) * (HEIGHT - TOP - BOTTOM);
  const path = (values) =>
    values.map((v, c) => (v === null ? "" : `${c && values[c - 1] !== null ? "L" : "M"}${across(c)},${up(v)}`)).join("");

  function draw() {
    svg.replaceChildren();
    for (let t = 0; t <= 4; t++) {
      const value = y.low + (t / 4) * (y.high - y.low), at = x.low + (t / 4) * (x.high - x.low);
      shape("line", { x1: LEFT, x2: size() - RIGHT, y1: up(value), y2: up(value), class: "grid" }, svg);
      shape("text", { x: LEFT - 6, y: up(value) + 4, "text-anchor": "end" }, svg, String(+value.toPrecision(3)));
      const place = across((t / 4) * (COLUMNS - 1));
      shape("text", { x: place, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, svg, String(+at.toPrecision(3)));
    }
    shape("text", { x: (LEFT + size()) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, svg, x.label);
    const middle = (HEIGHT - BOTTOM) / 2;
    const turned = { x: 12, y: middle, transform: `rotate(-90 12 ${middle})`, "text-anchor": "middle" };
    shape("text", turned, svg, y.label);
    if (drawn.every((v) => v === null) && !settled)
      shape("text", { x: (LEFT + size()) / 2, y: middle, "text-anchor": "middle", class: "invite" }, svg, "draw here");
    shape("path", { d: path(drawn), class: "yours" }, svg);
    if (truth) {
      shape("path", { d: path(truth), class: "truth" }, svg);
      shape("text", { x: across(30), y: up(truth[30]) - 8, class: "truth" }, svg, "as it is");
    } else if (document.activeElement === svg)
      shape("line", { x1: across(column), x2: across(column), y1: TOP, y2: HEIGHT - BOTTOM, class: "cursor" }, svg);
  }
  const set = (c, value) => (drawn[c] = Math.min(y.high, Math.max(y.low, value)));
  const done = () => {
    ready(drawn.filter((v) => v !== null).length > COLUMNS / 2);
    draw();
  };
  function pointed(event) {
    const at = svg.getBoundingClientRect();
    const c = Math.round(((event.clientX - at.left - LEFT) / (size() - LEFT - RIGHT)) * (COLUMNS - 1));
    const value = y.low + ((HEIGHT - BOTTOM - (event.clientY - at.top)) / (HEIGHT - TOP - BOTTOM)) * (y.high - y.low);
    const here = Math.min(COLUMNS - 1, Math.max(0, c)), [from, old] = last ?? [here, value];
    const steps = Math.max(1, Math.abs(here - from)); // a quick stroke skips columns
    for (let s = 0; s <= steps; s++) set(Math.round(from + ((here - from) * s) / steps), old + ((value - old) * s) / steps);
    last = [here, value];
    done();
  }
  svg.addEventListener("pointerdown", (event) => {
    if (settled) return;
    svg.setPointerCapture(event.pointerId);
    last = null;
    pointed(event);
  });
  svg.addEventListener("pointermove", (event) => !settled && svg.hasPointerCapture(event.pointerId) && pointed(event));
  svg.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way || settled) return;
    event.preventDefault();
    event.stopPropagation(); // JupyterLab would go to the next cell
    const before = drawn[column] ?? (y.low + y.high) / 2;
    column = Math.min(COLUMNS - 1, Math.max(0, column + way[0]));
    set(column, (way[0] ? drawn[column] ?? before : before) + (way[1] * (y.high - y.low)) / 20);
    done();
  });
  for (const kind of ["focus", "blur"]) svg.addEventListener(kind, draw);
  return {
    box,
    draw,
    guess: () => drawn,
    settle: (guess, { answer, close }) => {
      if (guess) guess.forEach((v, c) => (drawn[c] = v));
      [truth, settled] = [answer, true];
      const both = answer.map((v, c) => [v, drawn[c]]).filter(([, v]) => v !== null);
      const off = both.reduce((sum, [a, b]) => sum + Math.abs(a - b), 0) / Math.max(1, both.length);
      draw();
      return [off <= close, guess ? `on average your curve is ${off.toPrecision(2)} away.` : "the dashed curve."];
    },
  };
}
