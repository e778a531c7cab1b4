// All that the reader can set, as a text for the address, and back; what cannot be read is taken as it starts.
import { CLASSES, EDGE, layout, LAYOUTS, MOST } from "./data.js";
import { knots, LOSSES, startOf } from "./losses.js";
import { parseFormula } from "../maths/formula.js";

export const STEPS = [600, 3000, 10000];
export const NETWORKS = [1, 4, 9];
export const SPEEDS = { 0: "full", 5: "5 a second", 30: "30 a second", 120: "120 a second" };

const hump = knots.map((R) => +(R * Math.exp(1 - R)).toFixed(2));

export const START = {
  layout: "ring", seed: 1, clusters: null, loss: "Ib", options: {}, drawn: hump, typed: "1/(1+R)", steps: 3000,
  networks: 1, speed: 0, query: 0,
};

/** Three things to try: what is different from the start. */
export const TRIES = [
  ["Fold the ring", "I_b pulls hardest on positives that are far away. Watch the unseen classes.", { loss: "Ib" }],
  ["Leave it open", "D_q pulls what is near already. Same network, same data.", { loss: "Dq" }],
  ["Draw your own", "Bend the hump with the pointer, and ask four networks.", { loss: "drawn", networks: 4 }],
];

/** A fresh state: the start with changes. */
export function stateOf(changes = {}) {
  const state = { ...START, ...changes };
  return { ...state, options: { ...startOf(state.loss), ...changes.options }, drawn: [...state.drawn] };
}

export const clustersOf = (state) => state.clusters ?? layout(state.layout, state.seed);

const whole = (text, least, most, other) => {
  const found = Number(text);
  return text !== null && Number.isInteger(found) && found >= least && found <= most ? found : other;
};
const oneOf = (text, list, other) => (list.map(String).includes(text) ? list[list.map(String).indexOf(text)] : other);

function readClusters(text) {
  const found = (text ?? "").split("_").slice(0, MOST).map((one) => {
    const [, name, x, y] = one.match(/^([A-D1-4])(-?\d*\.?\d+),(-?\d*\.?\d+)$/) ?? [];
    const inside = [x, y].every((at) => at !== undefined && Math.abs(at) <= EDGE);
    return inside ? { x: +x, y: +y, ...classOf(name) } : null;
  });
  return found.length && found.every(Boolean) ? found : null;
}

/** "A" … "D" are training classes, "1" … "4" unseen ones. */
export function classOf(name) {
  const label = "ABCD".indexOf(name);
  return label >= 0 ? { label, unseen: false } : { label: Number(name) - 1, unseen: true };
}

export const nameOf = ({ label, unseen }) => (unseen ? String(label + 1) : "ABCD"[label]);
export const NAMES = [..."ABCD".slice(0, CLASSES), ..."1234".slice(0, CLASSES)];

/** The text of a state, only of what differs from the start. */
export function write(state) {
  const text = new URLSearchParams(), plain = ["loss", "layout", "seed", "steps", "networks", "speed", "query"];
  for (const name of plain) if (state[name] !== START[name]) text.set(name, state[name]);
  const starts = startOf(state.loss);
  for (const [name, value] of Object.entries(state.options))
    if (value !== starts[name]) text.set(`o.${name}`, +value.toPrecision(4));
  if (state.loss === "drawn") text.set("drawn", state.drawn.map((one) => +one.toFixed(3)).join("_"));
  if (state.loss === "typed") text.set("typed", state.typed);
  if (state.clusters) text.set("points", state.clusters.map((one) => `${nameOf(one)}${one.x},${one.y}`).join("_"));
  return text.toString();
}

export function read(text) {
  const given = new URLSearchParams(text), get = (name) => given.get(name);
  const state = stateOf({ loss: oneOf(get("loss"), Object.keys(LOSSES), START.loss) });
  state.layout = oneOf(get("layout"), LAYOUTS, START.layout);
  state.seed = whole(get("seed"), 0, 9999, START.seed);
  state.steps = oneOf(get("steps"), STEPS, START.steps);
  state.networks = oneOf(get("networks"), NETWORKS, START.networks);
  state.speed = oneOf(get("speed"), Object.keys(SPEEDS).map(Number), START.speed);
  state.query = whole(get("query"), 0, 63, START.query);
  for (const [name, { least, most }] of Object.entries(LOSSES[state.loss].options)) {
    const value = Number(get(`o.${name}`) ?? NaN);
    if (value >= least && value <= most) state.options[name] = value;
  }
  const drawn = (get("drawn") ?? "").split("_").map(Number);
  if (drawn.length === knots.length && drawn.every((one) => Math.abs(one) <= 100)) state.drawn = drawn;
  try {
    parseFormula(get("typed") ?? "");
    state.typed = get("typed");
  } catch {
    // the formula stays that of the start
  }
  state.clusters = readClusters(get("points"));
  return state;
}
