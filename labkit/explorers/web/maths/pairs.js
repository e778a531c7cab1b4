// Losses on pairs of the batch. Each gives loss, gradient (by the embeddings, flat), and slopes: dL/ds of each ordered
// pair (n × n, row = query), below 0 where the pair is pulled together.
import { matrix, products, throughSimilarities, throughUnit, unitRows } from "./matrix.js";
import { log1pSumExp } from "./smooth.js";

/** Distances of unit rows, flat; 0 where they coincide up to rounding. */
export function distances(unit) {
  const { n, d, values } = unit, found = new Float64Array(n * n), rounding = 4 * Math.sqrt(d) * Number.EPSILON;
  for (let i = 0; i < n; i++)
    for (let j = 0; j < i; j++) {
      let squared = 0;
      for (let k = 0; k < d; k++) squared += (values[i * d + k] - values[j * d + k]) ** 2;
      found[i * n + j] = found[j * n + i] = squared > rounding ? Math.sqrt(squared) : 0;
    }
  return found;
}

/** Slopes along D as slopes along s = 1 − D²/2; 0 for points that coincide, where a pull has no direction. */
function alongSimilarity(slopes, D) {
  return slopes.map((slope, at) => (D[at] > 0 ? -slope / D[at] : 0));
}

function check(labels) {
  const seen = new Set();
  for (const label of labels) if (seen.size === seen.add(label).size) return;
  throw new Error("labels: no query has a positive (every class has a single member in this batch)");
}

function ofDistances(embeddings, labels, rule) {
  check(labels);
  const unit = unitRows(matrix(embeddings)), D = distances(unit), byD = new Float64Array(D.length);
  const loss = rule(D, byD, unit.n), slopes = alongSimilarity(byD, D);
  return { loss, gradient: throughUnit(throughSimilarities(slopes, unit), unit), slopes };
}

/**
 * Contrastive: mean over all pairs of ½D² if the labels agree, else ½[m − D]₊². form "linear": the mean of D over the
 * positive pairs that are apart, plus the mean of m − D over the negative pairs inside the margin.
 */
export function contrastive(embeddings, labels, { margin = 0.5, form = "squared" } = {}) {
  return ofDistances(embeddings, labels, (D, byD, n) => {
    const apart = [], inside = [];
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        if (i === j) continue;
        if (labels[i] === labels[j]) D[i * n + j] > 0 && apart.push(i * n + j);
        else if (D[i * n + j] < margin) inside.push(i * n + j);
      }
    let loss = 0;
    const ordered = n * (n - 1), linear = form === "linear"; // each pair is there twice
    for (const at of apart) {
      loss += linear ? D[at] / apart.length : D[at] ** 2 / (2 * ordered);
      byD[at] = linear ? 1 / apart.length : D[at] / ordered;
    }
    for (const at of inside) {
      const gap = margin - D[at];
      loss += linear ? gap / inside.length : gap ** 2 / (2 * ordered);
      byD[at] = linear ? -1 / inside.length : -gap / ordered;
    }
    return loss;
  });
}

/** Triplet: mean over all triplets (a, p, n) of [D_ap − D_an + m]₊. */
export function triplet(embeddings, labels, { margin = 0.2 } = {}) {
  return ofDistances(embeddings, labels, (D, byD, n) => {
    let loss = 0, triplets = 0;
    for (let a = 0; a < n; a++)
      for (let p = 0; p < n; p++) {
        if (p === a || labels[p] !== labels[a]) continue;
        const own = D[a * n + p] + margin;
        for (let other = 0; other < n; other++) {
          if (labels[other] === labels[a]) continue;
          triplets++;
          const violation = own - D[a * n + other];
          if (violation < 0) continue;
          loss += violation;
          byD[a * n + p]++;
          byD[a * n + other]--;
        }
      }
    const by = Math.max(1, triplets);
    for (let at = 0; at < byD.length; at++) byD[at] /= by;
    return loss / by;
  });
}

/**
 * Multi-similarity: mean over anchors of log(1 + Σ_P e^{−α(s−λ)})/α + log(1 + Σ_N e^{β(s−λ)})/β, λ = base, on mined
 * pairs: negatives with s > min_P s − ε, positives with s < max_N s + ε; epsilon null: all pairs.
 */
export function multiSimilarity(embeddings, labels, { alpha = 2, beta = 50, base = 0.5, epsilon = 0.1 } = {}) {
  check(labels);
  const unit = unitRows(matrix(embeddings)), n = unit.n, S = products(unit, unit), slopes = new Float64Array(n * n);
  let loss = 0;
  for (let i = 0; i < n; i++) {
    let own = [], others = [];
    for (let j = 0; j < n; j++) if (j !== i) (labels[j] === labels[i] ? own : others).push(j);
    if (epsilon !== null) {
      const least = Math.min(...own.map((j) => S[i * n + j])), best = Math.max(...others.map((j) => S[i * n + j]));
      own = own.filter((j) => S[i * n + j] - best < epsilon);
      others = others.filter((j) => least - S[i * n + j] < epsilon);
    }
    const pull = log1pSumExp(own.map((j) => -alpha * (S[i * n + j] - base)));
    const push = log1pSumExp(others.map((j) => beta * (S[i * n + j] - base)));
    loss += (pull.value / alpha + push.value / beta) / n;
    own.forEach((j, at) => (slopes[i * n + j] = -pull.share[at] / n));
    others.forEach((j, at) => (slopes[i * n + j] = push.share[at] / n));
  }
  return { loss, gradient: throughUnit(throughSimilarities(slopes, unit), unit), slopes };
}
