// Classification losses: softmax, softmax on cosines, SGSL and its gate. Results: loss, gradient (by the embeddings),
// weightGradient (by the class vectors, rows of `weight`).
import { matrix, products, throughUnit, unitRows } from "./matrix.js";
import { logSumExp, sigmoid, softMaximum, softplus } from "./smooth.js";

/** Cross-entropy with target 1−ε and ε/(C−1) for each other class; the mean, and its slopes by the logits. */
function crossEntropy(logits, labels, classes, smoothing) {
  const n = labels.length, slopes = new Float64Array(n * classes), rest = classes > 1 ? smoothing / (classes - 1) : 0;
  let loss = 0;
  for (let i = 0; i < n; i++) {
    const row = logits.subarray(i * classes, (i + 1) * classes), { value, share } = logSumExp(row);
    for (let c = 0; c < classes; c++) {
      const target = c === labels[i] ? (classes > 1 ? 1 - smoothing : 1) : rest;
      loss += (target * (value - row[c])) / n;
      slopes[i * classes + c] = (share[c] - target) / n;
    }
  }
  return { loss, slopes };
}

/** Gradients of slopes by x_i · w_c, for both sides. */
function throughProducts(slopes, x, w) {
  const { n, d } = x, byX = new Float64Array(n * d), byW = new Float64Array(w.n * d);
  for (let i = 0; i < n; i++)
    for (let c = 0; c < w.n; c++)
      for (let k = 0; k < d; k++) {
        byX[i * d + k] += slopes[i * w.n + c] * w.values[c * d + k];
        byW[c * d + k] += slopes[i * w.n + c] * x.values[i * d + k];
      }
  return { byX, byW };
}

/** Softmax without bias, −log e^{W_y·f} / Σ_j e^{W_j·f}; features are not normalised. */
export function softmax(embeddings, labels, weight, { labelSmoothing = 0 } = {}) {
  const f = matrix(embeddings), w = matrix(weight);
  const { loss, slopes } = crossEntropy(products(f, w), labels, w.n, labelSmoothing);
  const { byX, byW } = throughProducts(slopes, f, w);
  return { loss, gradient: byX, weightGradient: byW };
}

/** Softmax on scale·cos(W_j, f). */
export function normSoftmax(embeddings, labels, weight, { scale = 16, labelSmoothing = 0 } = {}) {
  const f = unitRows(matrix(embeddings)), w = unitRows(matrix(weight));
  const logits = products(f, w).map((cosine) => scale * cosine);
  const { loss, slopes } = crossEntropy(logits, labels, w.n, labelSmoothing);
  const { byX, byW } = throughProducts(slopes.map((slope) => scale * slope), f, w);
  return { loss, gradient: throughUnit(byX, f), weightGradient: throughUnit(byW, w) };
}

/** SGSL alone: mean Softplus(soft maximum of the other cosines − own cosine); nothing reaches the class vectors. */
export function sgsl(embeddings, labels, weight, { gamma = 30 } = {}) {
  const f = unitRows(matrix(embeddings)), w = unitRows(matrix(weight)), cosine = products(f, w), C = w.n;
  const slopes = new Float64Array(cosine.length);
  let loss = 0;
  for (let i = 0; i < f.n && C > 1; i++) {
    const row = Array.from(cosine.subarray(i * C, (i + 1) * C)), own = labels[i];
    const { value, share } = softMaximum(row.map((one, c) => (c === own ? -Infinity : one)), gamma);
    loss += softplus(value - row[own]) / f.n;
    const pull = sigmoid(value - row[own]) / f.n;
    for (let c = 0; c < C; c++) slopes[i * C + c] = pull * (c === own ? -1 : share[c]);
  }
  const gradient = throughUnit(throughProducts(slopes, f, w).byX, f);
  return { loss, gradient, weightGradient: new Float64Array(w.n * w.d), cosine, slopes };
}

/**
 * Softmax + β·SGSL, SGSL joining once the softmax loss is below the gate; gateOpen: whether it was opened before (it
 * stays open). Adds softmax, sgsl (the two terms) and gateOpen to the result.
 */
export function softmaxSgsl(embeddings, labels, weight, options = {}) {
  const { gamma = 30, beta = 1, gate = 3, gateOpen = false, labelSmoothing = 0.1 } = options;
  const base = softmax(embeddings, labels, weight, { labelSmoothing });
  const extra = sgsl(embeddings, labels, weight, { gamma });
  const open = gateOpen || base.loss < gate, share = open ? beta : 0;
  const gradient = base.gradient.map((one, at) => one + share * extra.gradient[at]);
  const parts = { softmax: base.loss, sgsl: extra.loss, gateOpen: open };
  return { loss: base.loss + share * extra.loss, gradient, weightGradient: base.weightGradient, ...parts };
}
