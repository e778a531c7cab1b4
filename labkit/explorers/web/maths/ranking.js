// Ranking losses of a batch: every item is a query against all others. Mean over the queries that have a positive.
import { functionHead, pnpHead, recallHead, smoothApHead } from "./heads.js";
import { matrix, products, throughSimilarities, throughUnit, unitRows } from "./matrix.js";
import { ABSENT, listLoss, NEGATIVE, POSITIVE } from "./softcount.js";

/** What every item is to query q. */
export function rolesOf(labels, q) {
  const roles = new Uint8Array(labels.length), own = labels[q];
  for (let j = 0; j < roles.length; j++) roles[j] = labels[j] === own ? POSITIVE : NEGATIVE;
  roles[q] = ABSENT;
  return roles;
}

/**
 * Loss of a head on the soft counts of cosine similarities. Returns loss, gradient (by the embeddings, flat), slopes
 * (by the similarities, n × n, row = query), perQuery, skipped, and queries: of each the list of its positives with
 * R_neg, R_pos and dL/dR_neg of its own loss, null for a query without positives.
 */
export function rankingLoss(embeddings, labels, head, tau = 0.01) {
  const unit = unitRows(matrix(embeddings)), n = unit.n, s = products(unit, unit);
  const queries = Array.from({ length: n }, (_, q) => {
    const found = listLoss(s.subarray(q * n, (q + 1) * n), rolesOf(labels, q), tau, head);
    return found.positives.length ? found : null;
  });
  const counted = queries.filter(Boolean).length;
  if (!counted) throw new Error("labels: no query has a positive (every class has a single member in this batch)");
  const slopes = new Float64Array(n * n);
  let loss = 0;
  queries.forEach((found, q) => {
    if (!found) return;
    loss += found.loss / counted;
    for (let j = 0; j < n; j++) slopes[q * n + j] = found.gradient[j] / counted;
  });
  const gradient = throughUnit(throughSimilarities(slopes, unit), unit);
  const perQuery = Float64Array.from(queries, (found) => found?.loss ?? 0);
  return { loss, gradient, slopes, perQuery, skipped: n - counted, queries };
}

export function pnp(embeddings, labels, { variant = "Dq", alpha = 1, b = 4, tau = 0.01 } = {}) {
  return rankingLoss(embeddings, labels, pnpHead(variant, alpha, b), tau);
}

export function smoothAp(embeddings, labels, { tau = 0.01 } = {}) {
  return rankingLoss(embeddings, labels, smoothApHead(), tau);
}

export function recallAtKLoss(embeddings, labels, { ks = [1, 2, 4, 8, 16], tauRank = 1, tauSim = 0.01 } = {}) {
  return rankingLoss(embeddings, labels, recallHead(ks, tauRank), tauSim);
}

/** The loss with a given dL/dR; curve: { value, derivative }, as derivative.js makes it of points or of a function. */
export function fromDerivative(embeddings, labels, curve, { tau = 0.01 } = {}) {
  return rankingLoss(embeddings, labels, functionHead(curve.value, curve.derivative), tau);
}
