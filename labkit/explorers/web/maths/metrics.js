// Metrics of ranked lists, read off the relevance of each position (non-zero: relevant), and of a whole batch.
// total: how many relevant items the gallery holds, found or not.
import { matrix, products, unitRows } from "./matrix.js";

const DIGITS = 1e13; // cosines that differ by rounding alone are ties, which the order of the rows decides

const hits = (relevance, k) => relevance.slice(0, k).reduce((sum, one) => sum + (one > 0 ? 1 : 0), 0);

/** Recall@k: "any" hit (0 or 1), "fraction" hits/total, or "capped" hits/min(k, total). */
export function recallAtK(relevance, k, total, mode = "any") {
  const found = hits(relevance, k);
  if (mode === "any") return found > 0 ? 1 : 0;
  if (mode === "fraction") return found / total;
  if (mode === "capped") return found / Math.min(k, total);
  throw new Error(`mode must be any, fraction or capped; got ${mode}`);
}

/** Σ_{i≤k} rel_i · precision@i. */
function summedPrecision(relevance, k) {
  let seen = 0, sum = 0;
  for (let i = 0; i < Math.min(k, relevance.length); i++) if (relevance[i] > 0) sum += ++seen / (i + 1);
  return sum;
}

/** AP@k over "k", "relevant" (total), the "min" of both, or the "hits" in the top k. */
export function averagePrecisionAtK(relevance, k, total, denominator = "k") {
  const by = { k, relevant: total, min: Math.min(k, total), hits: Math.max(1, hits(relevance, k)) }[denominator];
  if (by === undefined) throw new Error(`denominator must be k, relevant, min or hits; got ${denominator}`);
  return summedPrecision(relevance, k) / by;
}

export function mapAtR(relevance, total) {
  return summedPrecision(relevance, total) / total;
}

export function rPrecision(relevance, total) {
  return hits(relevance, total) / total;
}

export function precisionAtK(relevance, k) {
  return hits(relevance, k) / k;
}

export function reciprocalRank(relevance) {
  const first = relevance.findIndex((one) => one > 0);
  return first < 0 ? 0 : 1 / (first + 1);
}

export function dcgAtK(relevance, k, gain = "exponential") {
  const worth = (one) => (gain === "linear" ? one : 2 ** one - 1);
  return relevance.slice(0, k).reduce((sum, one, i) => sum + worth(one) / Math.log2(i + 2), 0);
}

/** nDCG@k. Binary: give total. Graded: ideal, the relevances of the whole gallery, by default the list itself. */
export function ndcgAtK(relevance, k, { total, ideal, gain = "exponential" } = {}) {
  const pool = total === undefined ? Array.from(ideal ?? relevance) : new Array(total).fill(1);
  const best = dcgAtK(pool.sort((a, b) => b - a), k, gain);
  if (!(best > 0)) throw new Error("ideal: a list without any relevant item has no nDCG");
  return dcgAtK(relevance, k, gain) / best;
}

/** Items by falling similarity; of equals the earlier one. */
export function ranked(similarity) {
  const value = Float64Array.from(similarity, (one) => Math.round(one * DIGITS) / DIGITS);
  return Array.from(value, (_, j) => j).sort((a, b) => value[b] - value[a] || a - b);
}

/** Every metric of one list, under the names that `labkit.metrics.evaluate` gives them. */
export function metricsOf(relevance, total, ks) {
  const found = { "MAP@R": mapAtR(relevance, total), "R-precision": rPrecision(relevance, total) };
  found.MRR = reciprocalRank(relevance);
  for (const k of ks) {
    found[`R@${k}`] = recallAtK(relevance, k, total);
    for (const mode of ["fraction", "capped"]) found[`recall-${mode}@${k}`] = recallAtK(relevance, k, total, mode);
    found[`P@${k}`] = precisionAtK(relevance, k);
    for (const by of ["k", "relevant", "min", "hits"])
      found[`MAP@${k}/${by}`] = averagePrecisionAtK(relevance, k, total, by);
    found[`nDCG@${k}`] = ndcgAtK(relevance, k, { total });
  }
  return found;
}

/** Means over the queries that have a positive of every metric, each row against all others by cosine. */
export function evaluate(embeddings, labels, ks = [1, 10, 100, 1000]) {
  const unit = unitRows(matrix(embeddings)), n = unit.n, s = products(unit, unit), sums = {};
  let queries = 0;
  for (let q = 0; q < n; q++) {
    const order = ranked(s.subarray(q * n, (q + 1) * n)).filter((j) => j !== q);
    const relevance = order.map((j) => (labels[j] === labels[q] ? 1 : 0)), total = hits(relevance, n);
    if (!total) continue;
    queries++;
    for (const [name, value] of Object.entries(metricsOf(relevance, total, ks))) sums[name] = (sums[name] ?? 0) + value;
  }
  if (!queries) throw new Error("labels: no query has a positive in the gallery");
  const means = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / queries]));
  return { ...means, queries, skipped: n - queries };
}

/** R@1 alone, 0 … 1, NaN without a pair: the share of points whose nearest other point has their label. */
export function recallAt1(embeddings, labels) {
  const { n, d, values } = unitRows(matrix(embeddings)), sizes = new Map();
  for (const label of labels) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  let right = 0, queries = 0;
  for (let q = 0; q < n; q++) {
    if (sizes.get(labels[q]) < 2) continue;
    let best = -Infinity, nearest = -1;
    for (let j = 0; j < n; j++) {
      if (j === q) continue;
      let s = 0;
      for (let k = 0; k < d; k++) s += values[q * d + k] * values[j * d + k];
      if (s <= best) continue;
      s = Math.round(s * DIGITS) / DIGITS;
      if (s > best) [best, nearest] = [s, j];
    }
    queries++;
    if (labels[nearest] === labels[q]) right++;
  }
  return queries ? right / queries : NaN;
}
