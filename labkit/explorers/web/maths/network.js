// Small networks as lists of layers, forwards and backwards: what the embeddings of labkit.surrogates are made of.
// A layer is { kind, outputs, leaky, weight, bias }, weight and bias flat as torch has them: "linear" (outputs × inputs),
// or "conv" (outputs × channels × 3) along a sequence that stays as long as it is.

const SLOPE = 0.01; // of torch's LeakyReLU below 0

/** The values after every layer, the input first; length: of the sequence that convolutions go along. */
export function activations(layers, input, length = 1) {
  const found = [input];
  for (const layer of layers) {
    const out = layer.kind === "conv" ? convolved(layer, found.at(-1), length) : multiplied(layer, found.at(-1));
    if (layer.leaky) for (let i = 0; i < out.length; i++) if (out[i] < 0) out[i] *= SLOPE;
    found.push(out);
  }
  return found;
}

/** From the gradient by the last values to that by the input. */
export function backwards(layers, found, gradient, length = 1) {
  let back = gradient;
  for (let at = layers.length - 1; at >= 0; at--) {
    const layer = layers[at], out = found[at + 1], inputs = found[at].length;
    const own = Float64Array.from(back, (g, i) => (layer.leaky && out[i] < 0 ? SLOPE * g : g));
    back = layer.kind === "conv" ? convolvedBack(layer, own, inputs, length) : multipliedBack(layer, own, inputs);
  }
  return back;
}

function multiplied({ weight, bias, outputs }, x) {
  const out = new Float64Array(outputs), n = x.length;
  for (let o = 0; o < outputs; o++) {
    let sum = bias[o];
    for (let i = 0; i < n; i++) sum += weight[o * n + i] * x[i];
    out[o] = sum;
  }
  return out;
}

function multipliedBack({ weight, outputs }, gradient, n) {
  const back = new Float64Array(n);
  for (let o = 0; o < outputs; o++) for (let i = 0; i < n; i++) back[i] += weight[o * n + i] * gradient[o];
  return back;
}

/** Every use of a weight: its place, that of the input it takes, that of the output it adds to. */
function eachUse(outputs, channels, length, use) {
  for (let o = 0; o < outputs; o++)
    for (let c = 0; c < channels; c++)
      for (let k = 0; k < 3; k++)
        for (let t = Math.max(0, 1 - k); t < Math.min(length, length + 1 - k); t++)
          use((o * channels + c) * 3 + k, c * length + t + k - 1, o * length + t);
}

function convolved({ weight, bias, outputs }, x, length) {
  const out = Float64Array.from({ length: outputs * length }, (_, at) => bias[Math.floor(at / length)]);
  eachUse(outputs, x.length / length, length, (w, from, to) => (out[to] += weight[w] * x[from]));
  return out;
}

function convolvedBack({ weight, outputs }, gradient, inputs, length) {
  const back = new Float64Array(inputs);
  eachUse(outputs, inputs / length, length, (w, from, to) => (back[from] += weight[w] * gradient[to]));
  return back;
}
