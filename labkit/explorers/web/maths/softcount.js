// The soft count of one query's list: how many items stand before a positive, the step function made a sigmoid.
// R(i, S) = Σ_{j∈S} G(s_j − s_i; τ), PNP Eqs 2, 3. Every ranking loss is a head on R_neg and R_pos.
import { sigmoid } from "./smooth.js";

// the role of an item in a query's list; the query itself is absent
export const NEGATIVE = 0;
export const POSITIVE = 1;
export const ABSENT = 2;

const WIDEST = 600; // (largest − smallest similarity) / τ up to which e^(s/τ) keeps all digits

let scratch = new Float64Array(0); // sigmoids of one positive, kept from call to call

/**
 * G(s_j − s_i; τ) of chosen items j before item i, into `scratch`; returns their sum. With powers p = e^(s/τ) it is
 * p_j / (p_j + p_i): one exponential an item instead of one a pair.
 */
function countBefore(s, powers, items, i, tau) {
  const own = powers && powers[i];
  let total = 0;
  for (let k = 0; k < items.length; k++) {
    const j = items[k];
    const before = j === i ? 0 : powers ? powers[j] / (powers[j] + own) : sigmoid((s[j] - s[i]) / tau);
    total += scratch[k] = before;
  }
  return total;
}

/** Add by · dG/ds for each of these items and for item i. */
function pullBack(gradient, items, i, by) {
  let total = 0;
  for (let k = 0; k < items.length; k++) {
    const before = scratch[k], pull = by * before * (1 - before);
    gradient[items[k]] += pull;
    total += pull;
  }
  gradient[i] -= total;
}

/** e^(s/τ), scaled so that the largest is 1; null where the smallest would lose digits. */
function powersOf(s, tau) {
  let most = -Infinity, least = Infinity;
  for (let j = 0; j < s.length; j++) {
    if (s[j] > most) most = s[j];
    if (s[j] < least) least = s[j];
  }
  if (!((most - least) / tau < WIDEST)) return null;
  const powers = new Float64Array(s.length);
  for (let j = 0; j < s.length; j++) powers[j] = Math.exp((s[j] - most) / tau);
  return powers;
}

/**
 * Loss of one query and its gradient. s: similarities of the items; roles: what each is; head: see heads.js.
 * Returns loss, gradient (by each s), and for each positive its index, R_neg, R_pos and dL/dR_neg (1/|P| included).
 * A query without positives has loss 0.
 */
export function listLoss(s, roles, tau, head) {
  const n = s.length, positives = [], negatives = [];
  for (let j = 0; j < n; j++) {
    if (roles[j] === POSITIVE) positives.push(j);
    else if (roles[j] === NEGATIVE) negatives.push(j);
  }
  const count = positives.length, gradient = new Float64Array(n), powers = powersOf(s, tau);
  const rNeg = new Float64Array(count), rPos = new Float64Array(count), slope = new Float64Array(count);
  if (scratch.length < n) scratch = new Float64Array(n);
  let loss = 0;
  for (let p = 0; p < count; p++) {
    const i = positives[p];
    if (head.countsPositives) rPos[p] = countBefore(s, powers, positives, i, tau);
    rNeg[p] = countBefore(s, powers, negatives, i, tau);
    const [value, byNeg, byPos] = head.at(rNeg[p], rPos[p]);
    loss += value / count;
    slope[p] = byNeg / count;
    pullBack(gradient, negatives, i, byNeg / (tau * count));
    if (!head.countsPositives) continue;
    countBefore(s, powers, positives, i, tau);
    pullBack(gradient, positives, i, byPos / (tau * count));
  }
  return { loss, gradient, positives, rNeg, rPos, slope };
}
