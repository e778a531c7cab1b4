// The soft count of one query's list: how many items stand before a positive, the step function made a sigmoid.
// R(i, S) = Σ_{j∈S} G(s_j − s_i; τ), PNP Eqs 2, 3. Every ranking loss is a head on R_neg and R_pos.
import { sigmoid } from "./smooth.js";

// the role of an item in a query's list; the query itself is absent
export const NEGATIVE = 0;
export const POSITIVE = 1;
export const ABSENT = 2;

let scratch = new Float64Array(0); // sigmoids of one query, kept from query to query

/**
 * Loss of one query and its gradient. s: similarities of the items; roles: what each is; head: see heads.js.
 * Returns loss, gradient (by each s), and for each positive its index, R_neg, R_pos and dL/dR_neg (1/|P| included).
 * A query without positives has loss 0.
 */
export function listLoss(s, roles, tau, head) {
  const n = s.length, positives = [];
  for (let j = 0; j < n; j++) if (roles[j] === POSITIVE) positives.push(j);
  const count = positives.length, gradient = new Float64Array(n);
  const rNeg = new Float64Array(count), rPos = new Float64Array(count), slope = new Float64Array(count);
  if (scratch.length < count * n) scratch = new Float64Array(count * n);
  let loss = 0;
  for (let p = 0; p < count; p++) {
    const i = positives[p], at = p * n;
    for (let j = 0; j < n; j++) {
      if (j === i || roles[j] === ABSENT || (roles[j] === POSITIVE && !head.countsPositives)) continue;
      const before = (scratch[at + j] = sigmoid((s[j] - s[i]) / tau));
      if (roles[j] === POSITIVE) rPos[p] += before;
      else rNeg[p] += before;
    }
    const [value, byNeg, byPos] = head.at(rNeg[p], rPos[p]);
    loss += value / count;
    slope[p] = byNeg / count;
    for (let j = 0; j < n; j++) {
      if (j === i || roles[j] === ABSENT || (roles[j] === POSITIVE && !head.countsPositives)) continue;
      const before = scratch[at + j], by = roles[j] === POSITIVE ? byPos : byNeg;
      const pull = (by * before * (1 - before)) / (tau * count);
      gradient[j] += pull;
      gradient[i] -= pull;
    }
  }
  return { loss, gradient, positives, rNeg, rPos, slope };
}
