// Step, maximum and hinge made smooth.

/** 1 / (1 + e^−x). */
export function sigmoid(x) {
  return 1 / (1 + Math.exp(-x));
}

/** log(1 + e^x) without overflow. */
export function softplus(x) {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

/** log Σ e^x of an array and the softmax, its gradient; −∞ counts for nothing, an array of them gives −∞. */
export function logSumExp(x) {
  const top = x.reduce((a, b) => Math.max(a, b), -Infinity), share = new Float64Array(x.length);
  if (top === -Infinity) return { value: -Infinity, share };
  let total = 0;
  for (let k = 0; k < x.length; k++) total += share[k] = Math.exp(x[k] - top);
  for (let k = 0; k < x.length; k++) share[k] /= total;
  return { value: top + Math.log(total), share };
}

/** log(1 + Σ e^x) and its gradient by each x; 0 for an empty array. */
export function log1pSumExp(x) {
  const { value, share } = logSumExp([...x, 0]);
  return { value, share: share.subarray(0, x.length) };
}

/** The soft maximum of SGSL, 1/γ log Σ e^{γx}: it tends to the maximum for large γ; with its gradient. */
export function softMaximum(x, gamma) {
  const { value, share } = logSumExp(Array.from(x, (one) => gamma * one));
  return { value: value / gamma, share };
}
