// One network in training, as labkit.training.toy does it: batches of 4 classes × 16, Adam, the rate down to 0 along a
// cosine; proxies have a rate of their own.
import { matrix } from "../maths/matrix.js";
import { recallAt1 } from "../maths/metrics.js";
import { batches, CLASSES } from "./data.js";
import { centersOf, lossOf } from "./losses.js";
import { Adam, backward, embed, forward, untrained } from "./network.js";
import { generator, normal } from "./random.js";

export const IN_BATCH = 16; // samples of a class
export const RATE = 5e-3;
const PROXY_RATE = 3e-2;

export class Trainer {
  step = 0;

  /** data: { train, test }, as data.js draws them; given: parameters and batches from elsewhere, for comparison. */
  constructor({ data, choice, steps, seed, rate = RATE, given = {} }) {
    Object.assign(this, { data, steps, rate });
    this.parameters = given.parameters ?? untrained(generator(seed, 7));
    this.adam = new Adam(this.parameters);
    this.batches = given.batches ?? batches(data.train.labels, IN_BATCH, seed);
    this.loss = lossOf(choice);
    const rows = CLASSES * centersOf(choice), random = generator(seed, 9);
    this.proxies = rows ? matrix(Array.from({ length: rows }, () => [normal(random), normal(random)])) : null;
    this.proxyAdam = rows ? new Adam(this.proxies.values) : null;
  }

  get finished() {
    return this.step >= this.steps;
  }

  /** One batch; returns its loss. */
  advance() {
    const chosen = this.batches.next().value, n = chosen.length, x = new Float64Array(2 * n);
    const { train } = this.data, labels = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      [x[2 * i], x[2 * i + 1]] = [train.x[2 * chosen[i]], train.x[2 * chosen[i] + 1]];
      labels[i] = train.labels[chosen[i]];
    }
    const outputs = forward(this.parameters, x, n), embeddings = { n, d: 2, values: outputs.at(-1) };
    const found = this.loss(embeddings, labels, this.proxies);
    const part = (1 + Math.cos((Math.PI * this.step) / this.steps)) / 2;
    this.adam.step(backward(this.parameters, outputs, n, found.gradient), this.rate * part);
    this.proxyAdam?.step(found.proxyGradient, PROXY_RATE * part);
    this.step++;
    return found.loss;
  }

  /** R@1 of training and of unseen samples, 0 … 1; NaN where there are none. */
  recall() {
    const of = ({ n, x, labels }) => recallAt1({ n, d: 2, values: embed(this.parameters, x, n) }, labels);
    return [of(this.data.train), of(this.data.test)];
  }
}
