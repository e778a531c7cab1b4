// Learned surrogates: ê(z, y) = ‖h(z) − h(y)‖, with its gradient by z.
import { activations, backwards } from "./network.js";

const TINY = 1e-12; // keeps the derivative at 0 finite, as in labkit.surrogates

function distance(layers, z, y, length) {
  const first = activations(layers, z, length), second = activations(layers, y, length).at(-1);
  const apart = first.at(-1).map((one, i) => one - second[i]);
  const value = Math.sqrt(apart.reduce((sum, one) => sum + one * one, TINY));
  return { value, gradient: backwards(layers, first, apart.map((one) => one / value), length) };
}

const across = (rows) => Float64Array.from(rows[0].flatMap((_, symbol) => rows.map((slot) => slot[symbol])));

/** Of words: z and y are slots, each a distribution over symbols; the gradient is flat, slot by slot. */
export function wordSurrogate(layers, z, y) {
  const { value, gradient } = distance(layers, across(z), across(y), z.length), symbols = z[0].length;
  const bySlot = Float64Array.from(gradient, (_, at) => gradient[(at % symbols) * z.length + Math.floor(at / symbols)]);
  return { value, gradient: bySlot };
}

/** What h sees of a box cx, cy, w, h, angle: turned by π it is the same box. */
const features = ([x, y, w, h, angle]) => Float64Array.of(x, y, w, h, Math.cos(2 * angle), Math.sin(2 * angle));

/** Of boxes; the gradient is by cx, cy, w, h and angle of z. */
export function boxSurrogate(layers, z, y) {
  const { value, gradient: g } = distance(layers, features(z), features(y));
  const turn = 2 * (Math.cos(2 * z[4]) * g[5] - Math.sin(2 * z[4]) * g[4]);
  return { value, gradient: Float64Array.of(g[0], g[1], g[2], g[3], turn) };
}
