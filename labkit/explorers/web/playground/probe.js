// What the loss does now, looked at on one fixed batch: which positives get the gradient, and how one query is pulled.
import { pnpHead } from "../maths/heads.js";
import { rankingLoss } from "../maths/ranking.js";
import { LARGEST, LOSSES, lossOf } from "./losses.js";
import { embed } from "./network.js";
import { IN_BATCH } from "./trainer.js";

export const BINS = 12; // of R, evenly in log(1 + R)

const binOf = (R) => Math.min(BINS - 1, Math.floor((BINS * Math.log1p(R)) / Math.log1p(LARGEST)));

/** The first 16 samples of every class, as rows of the training data; they take turns through its clusters. */
export function probeRows(train) {
  const seen = new Map();
  return Array.from(train.labels.keys()).filter((i) => {
    const count = (seen.get(train.labels[i]) ?? 0) + 1;
    seen.set(train.labels[i], count);
    return count <= IN_BATCH;
  });
}

/**
 * Shares by R: of all positives, and of the gradient that they get; pulls: of the query's positives, row in the batch
 * and strength, below 0 for a push. Proxy losses act on no positive: null for the gradient, and no pulls.
 */
export function look(choice, parameters, train, rows, query) {
  const n = rows.length, x = Float64Array.from(rows.flatMap((i) => [train.x[2 * i], train.x[2 * i + 1]]));
  const labels = rows.map((i) => train.labels[i]), values = embed(parameters, x, n);
  const batch = { n, d: 2, values }, isPair = LOSSES[choice.loss].family === "pair";
  const positives = new Float64Array(BINS);
  if (LOSSES[choice.loss].family === "proxy") {
    for (const one of rankingLoss(batch, labels, pnpHead("O")).queries) one.rNeg.forEach((R) => positives[binOf(R)]++);
    return { positives: shares(positives), gradient: null, pulls: [] };
  }
  const found = lossOf(choice)(batch, labels), gradient = new Float64Array(BINS);
  const counted = isPair ? rankingLoss(batch, labels, pnpHead("O")).queries : found.queries;
  counted.forEach((one, q) => {
    one?.positives.forEach((j, p) => {
      positives[binOf(one.rNeg[p])]++;
      gradient[binOf(one.rNeg[p])] += Math.abs(isPair ? found.slopes[q * n + j] : one.slope[p]);
    });
  });
  const pulls = (counted[query]?.positives ?? []).map((j) => ({ row: j, strength: -found.slopes[query * n + j] }));
  return { positives: shares(positives), gradient: shares(gradient), pulls };
}

function shares(counts) {
  const total = counts.reduce((sum, one) => sum + one, 0);
  return counts.map((one) => (total > 0 ? one / total : 0));
}
