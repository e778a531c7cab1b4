// A network of two hidden layers of ReLU units on points in the plane, and Adam; all numbers in one Float64Array.

export const SIZES = [2, 30, 30, 2];

/** Where each layer's weights (out × in, as in torch) and biases begin. */
const LAYERS = [];
let end = 0;
for (let k = 0; k + 1 < SIZES.length; k++) {
  const [wide, out] = [SIZES[k], SIZES[k + 1]];
  LAYERS.push({ wide, out, weight: end, bias: end + wide * out });
  end += wide * out + out;
}

export const COUNT = end; // of parameters

/** Parameters as torch draws them: uniform within 1/√in. */
export function untrained(random) {
  const parameters = new Float64Array(COUNT);
  for (const { wide, out, weight } of LAYERS)
    for (let k = weight; k < weight + wide * out + out; k++) parameters[k] = (2 * random() - 1) / Math.sqrt(wide);
  return parameters;
}

/** The outputs of every layer for n points; the last are the embeddings, not normalised. */
export function forward(parameters, x, n) {
  const outputs = [x];
  LAYERS.forEach(({ wide, out, weight, bias }, layer) => {
    const given = outputs[layer], found = new Float64Array(n * out), last = layer === LAYERS.length - 1;
    for (let i = 0; i < n; i++)
      for (let o = 0; o < out; o++) {
        const row = weight + o * wide, at = i * wide;
        let sum = parameters[bias + o];
        for (let k = 0; k < wide; k++) sum += parameters[row + k] * given[at + k];
        found[i * out + o] = last || sum > 0 ? sum : 0;
      }
    outputs.push(found);
  });
  return outputs;
}

export function embed(parameters, x, n) {
  return forward(parameters, x, n).at(-1);
}

/** Angles of the embeddings on the circle. */
export function angles(parameters, x, n) {
  const e = embed(parameters, x, n);
  return Float64Array.from({ length: n }, (_, i) => Math.atan2(e[2 * i + 1], e[2 * i]));
}

/** Gradient by all parameters, given the gradient by the embeddings. */
export function backward(parameters, outputs, n, byEmbedding) {
  const gradient = new Float64Array(COUNT);
  let upper = byEmbedding;
  for (let layer = LAYERS.length - 1; layer >= 0; layer--) {
    const { wide, out, weight, bias } = LAYERS[layer], given = outputs[layer], lower = new Float64Array(n * wide);
    for (let i = 0; i < n; i++)
      for (let o = 0; o < out; o++) {
        const g = upper[i * out + o], row = weight + o * wide, at = i * wide;
        if (g === 0) continue;
        gradient[bias + o] += g;
        for (let k = 0; k < wide; k++) {
          gradient[row + k] += g * given[at + k];
          lower[at + k] += g * parameters[row + k];
        }
      }
    if (layer > 0) for (let k = 0; k < lower.length; k++) if (!(given[k] > 0)) lower[k] = 0; // ReLU
    upper = lower;
  }
  return gradient;
}

/** Adam with torch's defaults. */
export class Adam {
  steps = 0;

  constructor(values) {
    this.values = values;
    this.mean = new Float64Array(values.length);
    this.square = new Float64Array(values.length);
  }

  step(gradient, rate) {
    const { values, mean, square } = this, t = ++this.steps;
    const size = rate / (1 - 0.9 ** t), scale = Math.sqrt(1 - 0.999 ** t);
    for (let k = 0; k < values.length; k++) {
      mean[k] += 0.1 * (gradient[k] - mean[k]);
      square[k] = 0.999 * square[k] + 0.001 * gradient[k] * gradient[k];
      values[k] -= (size * mean[k]) / (Math.sqrt(square[k]) / scale + 1e-8);
    }
  }
}
