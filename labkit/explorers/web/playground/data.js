// The toy's data: clusters in the plane, some of training classes, some of classes that training never sees. The
// layouts are those of labkit.data.toy; the random numbers are the page's own.
import { generator, normal, permutation } from "./random.js";

export const LAYOUTS = ["ring", "grid", "random"];
export const OWN = "my own"; // clusters that the reader has moved, added or removed
export const CLASSES = 4;
export const PER_CLASS = 150; // samples
export const NOISE = 0.12; // standard deviation of a cluster
export const EDGE = 2.75; // of the plane that is shown
export const MOST = 40; // clusters
const RADIUS = 2;
const SEPARATION = 0.6; // of random clusters

const cluster = (x, y, label, unseen) => ({ x, y, label, unseen });

function ring() {
  const at = (position) => [RADIUS * Math.cos((Math.PI * position) / 8), RADIUS * Math.sin((Math.PI * position) / 8)];
  const train = Array.from({ length: 16 }, (_, k) => cluster(...at(k), k % CLASSES, false));
  return [...train, ...[0.5, 4.5, 8.5, 12.5].map((position, k) => cluster(...at(position), k, true))];
}

/** On a 4 × 4 grid: all eight neighbours of a cluster are of other classes; unseen classes in the middle of four. */
function grid() {
  const side = [0, 1, 2, 3].map((k) => RADIUS * ((2 * k) / 3 - 1)), middle = (RADIUS * 2) / 3, found = [];
  for (let row = 0; row < 4; row++)
    for (let k = 0; k < CLASSES; k++) found.push(cluster(side[(k - 2 * row + 8) % 4], side[row], k, false));
  const corners = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
  return [...found, ...corners.map(([x, y], k) => cluster(middle * x, middle * y, k, true))];
}

function scattered(seed) {
  const random = generator(seed, 3), centres = [];
  while (centres.length < 4 * CLASSES) {
    const point = [0, 0].map(() => RADIUS * (2 * random() - 1));
    if (centres.every(([x, y]) => Math.hypot(x - point[0], y - point[1]) >= SEPARATION)) centres.push(point);
  }
  return centres.map(([x, y], k) => cluster(x, y, k % CLASSES, k >= 3 * CLASSES));
}

/** The clusters that a layout starts with. */
export function layout(name, seed) {
  const made = { ring, grid, random: () => scattered(seed) }[name]();
  return made.map((one) => ({ ...one, x: +one.x.toFixed(2), y: +one.y.toFixed(2) }));
}

/** Samples of the training clusters, or of the unseen ones: places, labels, and the number of each one's cluster. */
export function draw(clusters, unseen, seed) {
  const random = generator(seed, unseen ? 2 : 0), x = [], labels = [], from = [];
  for (let label = 0; label < CLASSES; label++) {
    const own = clusters.flatMap((one, k) => (one.unseen === unseen && one.label === label ? [k] : []));
    for (let sample = 0; sample < PER_CLASS; sample++) {
      const away = [normal(random), normal(random)]; // drawn in any case: other classes keep their noise
      if (!own.length) continue;
      const k = own[sample % own.length];
      x.push(clusters[k].x + NOISE * away[0], clusters[k].y + NOISE * away[1]);
      labels.push(label);
      from.push(k);
    }
  }
  return { n: labels.length, x: Float64Array.from(x), labels: Uint8Array.from(labels), from: Uint8Array.from(from) };
}

/** What is wrong with clusters that cannot be trained on, or "". */
export function fault(clusters) {
  const trained = new Set(clusters.filter((one) => !one.unseen).map((one) => one.label));
  return trained.size < 2 ? "Training needs clusters of two classes or more. Add a cluster, or choose a layout." : "";
}

/** Batches of 4 classes × 16 without end: an epoch shuffles every class and deals it out. */
export function batches(labels, perClass, seed) {
  return dealt(labels, perClass, seed); // a generator itself cannot be exported: see modules.py
}

function* dealt(labels, perClass, seed) {
  const classes = [...new Set(labels)].sort(), random = generator(seed, 5);
  const members = classes.map((label) => Array.from(labels.keys()).filter((i) => labels[i] === label));
  for (;;) {
    const orders = members.map((own) => permutation(own.length, random).map((k) => own[k]));
    for (let at = 0; at + perClass <= PER_CLASS; at += perClass)
      yield Uint16Array.from(orders.flatMap((order) => order.slice(at, at + perClass)));
  }
}
