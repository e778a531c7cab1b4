// Classes that stand for themselves by proxies: every loss is a function of S(x, c), the similarity of x to class c.
// Proxies are a matrix of C·K rows, class c's K centres one after the other. Results: loss, gradient (by embeddings),
// proxyGradient (by proxies), similarity and slopes (S and dL/dS, flat n × C), regularizer.
import { matrix, products, throughUnit, unitRows } from "./matrix.js";
import { log1pSumExp, logSumExp, softplus, sigmoid } from "./smooth.js";

/** S = Σ_k p_k s_k with p = softmax(s/γ), MPA Eq. 1, and dS/ds_k = p_k (1 + (s_k − S)/γ). */
export function classSimilarity(s, gamma) {
  if (s.length === 1) return { value: s[0], slopes: [1] };
  const { share } = logSumExp(Array.from(s, (one) => one / gamma));
  const value = share.reduce((sum, p, k) => sum + p * s[k], 0);
  return { value, slopes: Array.from(share, (p, k) => p * (1 + (s[k] - value) / gamma)) };
}

/** Half the mean distance of a class's centres, MPA Eq. 3; adds weight × its gradient by the unit proxies. */
function regularizer(unit, centers, weight, gradient) {
  const { n, d, values } = unit, classes = n / centers;
  if (centers === 1) return 0;
  const by = classes * centers * (centers - 1);
  let total = 0;
  for (let c = 0; c < classes; c++)
    for (let t = c * centers; t < (c + 1) * centers; t++)
      for (let s = c * centers; s < t; s++) {
        let squared = 0;
        for (let k = 0; k < d; k++) squared += (values[t * d + k] - values[s * d + k]) ** 2;
        const far = Math.sqrt(squared);
        total += far / by;
        if (far > 0 && weight > 0)
          for (let k = 0; k < d; k++) {
            const by_t = (weight * (values[t * d + k] - values[s * d + k])) / (far * by);
            gradient[t * d + k] += by_t;
            gradient[s * d + k] -= by_t;
          }
      }
  return total;
}

/** rule(S, labels, n, C, slopes) returns the loss and fills dL/dS. */
function proxyLoss(embeddings, labels, proxies, { centers = 1, gamma = 1, tau = 0 }, rule) {
  const x = unitRows(matrix(embeddings)), w = unitRows(matrix(proxies)), { n, d } = x, classes = w.n / centers;
  if (!Number.isInteger(classes)) throw new Error(`proxies: ${w.n} rows are not a multiple of ${centers} centres`);
  if (![...labels].every((label) => label >= 0 && label < classes)) throw new Error("labels must be below the classes");
  const s = products(x, w), similarity = new Float64Array(n * classes), inner = new Float64Array(s.length);
  for (let at = 0; at < similarity.length; at++) {
    const { value, slopes } = classSimilarity(s.subarray(at * centers, (at + 1) * centers), gamma);
    similarity[at] = value;
    inner.set(slopes, at * centers);
  }
  const slopes = new Float64Array(n * classes), gradient = new Float64Array(n * d), byW = new Float64Array(w.n * d);
  let loss = rule(similarity, labels, n, classes, slopes);
  for (let i = 0; i < n; i++)
    for (let row = 0; row < w.n; row++) {
      const g = slopes[i * classes + Math.floor(row / centers)] * inner[i * w.n + row];
      if (g === 0) continue;
      for (let k = 0; k < d; k++) {
        gradient[i * d + k] += g * w.values[row * d + k];
        byW[row * d + k] += g * x.values[i * d + k];
      }
    }
  const reg = regularizer(w, centers, tau, byW);
  if (tau > 0) loss += tau * reg;
  const back = { gradient: throughUnit(gradient, x), proxyGradient: throughUnit(byW, w) };
  return { loss, ...back, similarity, slopes, regularizer: reg };
}

/** ProxyNCA: −log(e^{−scale·d²(x, p_y)} / Σ_{c≠y} e^{−scale·d²(x, p_c)}). */
export function proxyNca(embeddings, labels, proxies, { scale = 9 } = {}) {
  return proxyLoss(embeddings, labels, proxies, {}, (S, y, n, C, slopes) => {
    if (C < 2) throw new Error("proxies: ProxyNCA needs at least two classes, its denominator runs over the others");
    return eachSample(S, y, n, C, slopes, (row, own) => {
      const { value, share } = logSumExp(row.map((one, c) => (c === own ? -Infinity : 2 * scale * one)));
      return [value - 2 * scale * row[own], share.map((p, c) => 2 * scale * (c === own ? -1 : p))];
    });
  });
}

/** SoftTriple: cross-entropy of λ(S − δ for the own class) + τ·Reg, MPA Eqs 1–4. */
export function softTriple(embeddings, labels, proxies, options = {}) {
  const { lam = 20, delta = 0.01, gamma = 0.1, tau = 0.2, centers = 1 } = options;
  return proxyLoss(embeddings, labels, proxies, { centers, gamma, tau }, (S, y, n, C, slopes) =>
    eachSample(S, y, n, C, slopes, (row, own) => {
      const logits = row.map((one, c) => lam * (one - (c === own ? delta : 0))), { value, share } = logSumExp(logits);
      return [value - logits[own], share.map((p, c) => lam * (p - (c === own ? 1 : 0)))];
    }),
  );
}

/** ProxyAnchor: MPA with one proxy per class and no regulariser. */
export function proxyAnchor(embeddings, labels, proxies, { alpha = 32, delta = 0.1 } = {}) {
  return mpa(embeddings, labels, proxies, { alpha, delta, tau: 0 });
}

/** MPA: mean over the batch's classes of log(1 + Σ_own e^{−α(S−δ)}) + mean over all of log(1 + Σ_others e^{α(S+δ)}). */
export function mpa(embeddings, labels, proxies, options = {}) {
  const { alpha = 32, delta = 0.1, gamma = 0.1, tau = 0.2, centers = 1 } = options;
  return proxyLoss(embeddings, labels, proxies, { centers, gamma, tau }, (S, y, n, C, slopes) => {
    const present = new Set(y).size, samples = Array.from({ length: n }, (_, i) => i);
    let loss = 0;
    for (let c = 0; c < C; c++) {
      const own = samples.filter((i) => y[i] === c), others = samples.filter((i) => y[i] !== c);
      const pull = log1pSumExp(own.map((i) => -alpha * (S[i * C + c] - delta)));
      const push = log1pSumExp(others.map((i) => alpha * (S[i * C + c] + delta)));
      loss += pull.value / present + push.value / C;
      own.forEach((i, at) => (slopes[i * C + c] = (-alpha * pull.share[at]) / present));
      others.forEach((i, at) => (slopes[i * C + c] = (alpha * push.share[at]) / C));
    }
    return loss;
  });
}

/** MPA-DW: mean over samples of log(1 + e^{−α(S_y−δ)}) + log(1 + Σ_{c≠y} e^{α(S_c+δ)}), + τ·Reg; Eqs 12, 13. */
export function mpaDataWise(embeddings, labels, proxies, options = {}) {
  const { alpha = 32, delta = 0.1, gamma = 0.1, tau = 0.2, centers = 1 } = options;
  return proxyLoss(embeddings, labels, proxies, { centers, gamma, tau }, (S, y, n, C, slopes) =>
    eachSample(S, y, n, C, slopes, (row, own) => {
      const pull = -alpha * (row[own] - delta);
      const push = log1pSumExp(row.map((one, c) => (c === own ? -Infinity : alpha * (one + delta))));
      return [softplus(pull) + push.value, push.share.map((p, c) => alpha * (c === own ? -sigmoid(pull) : p))];
    }),
  );
}

/** MPA-AP: mean over samples of log(1 + Σ_c e^{αS'}), S' = δ − S for the own class, S + δ for the others; Eqs 15–17. */
export function mpaAllPairs(embeddings, labels, proxies, options = {}) {
  const { alpha = 32, delta = 0.1, gamma = 0.1, tau = 0.2, centers = 1 } = options;
  return proxyLoss(embeddings, labels, proxies, { centers, gamma, tau }, (S, y, n, C, slopes) =>
    eachSample(S, y, n, C, slopes, (row, own) => {
      const { value, share } = log1pSumExp(row.map((one, c) => alpha * ((c === own ? -one : one) + delta)));
      return [value, share.map((p, c) => alpha * (c === own ? -p : p))];
    }),
  );
}

/** The mean over samples of a loss of one row of S; of(row, own class) gives its value and slopes. */
function eachSample(S, y, n, C, slopes, of) {
  let loss = 0;
  for (let i = 0; i < n; i++) {
    const [value, row] = of(Array.from(S.subarray(i * C, (i + 1) * C)), y[i]);
    loss += value / n;
    for (let c = 0; c < C; c++) slopes[i * C + c] = row[c] / n;
  }
  return loss;
}
