// What a ranking loss does with a positive's two counts: at(R_neg, R_pos) gives its loss and the derivatives by both.
import { sigmoid } from "./smooth.js";

export const VARIANTS = ["O", "Iu", "Iu-exact", "Ib", "Ds", "Dq"];

/** PNP's loss of a positive with R negatives before it (Eqs 5, 7, 9, 12, 13); "Iu-exact": the integral of Eq. 6. */
export function pnpValue(R, variant, alpha = 1, b = 4) {
  if (variant === "O") return R;
  if (variant === "Iu") return (1 + R) * Math.log1p(R);
  if (variant === "Iu-exact") return (1 + R) * Math.log1p(R) - R;
  if (variant === "Ib") return (b * R - Math.log1p(b * R)) / (b * b);
  if (variant === "Ds") return Math.log1p(R);
  if (variant === "Dq") return -Math.expm1(-alpha * Math.log1p(R));
  throw new Error(`variant must be one of ${VARIANTS.join(", ")}; got ${variant}`);
}

/** d pnpValue / dR (Eqs 6, 8, 10, 11). */
export function pnpDerivative(R, variant, alpha = 1, b = 4) {
  if (variant === "O") return 1;
  if (variant === "Iu") return Math.log1p(R) + 1;
  if (variant === "Iu-exact") return Math.log1p(R);
  if (variant === "Ib") return R / (1 + b * R);
  if (variant === "Ds") return 1 / (1 + R);
  if (variant === "Dq") return alpha * (1 + R) ** (-alpha - 1);
  throw new Error(`variant must be one of ${VARIANTS.join(", ")}; got ${variant}`);
}

export function pnpHead(variant = "Dq", alpha = 1, b = 4) {
  return functionHead((R) => pnpValue(R, variant, alpha, b), (R) => pnpDerivative(R, variant, alpha, b));
}

/** Any loss of R_neg alone, with its derivative. */
export function functionHead(value, derivative) {
  return { countsPositives: false, at: (R) => [value(R), derivative(R), 0] };
}

/** Smooth-AP: R_neg / (1 + R_pos + R_neg). */
export function smoothApHead() {
  const at = (neg, pos) => {
    const all = 1 + pos + neg;
    return [neg / all, (1 + pos) / (all * all), -neg / (all * all)];
  };
  return { countsPositives: true, at };
}

/** RS@k: the mean over k of σ((R_neg + R_pos − (k − 1)) / τ1); tauRank: one for all k, or one for each. */
export function recallHead(ks = [1, 2, 4, 8, 16], tauRank = 1) {
  const taus = Array.isArray(tauRank) ? tauRank : ks.map(() => tauRank);
  if (taus.length !== ks.length) throw new Error(`tauRank must be one number, or one for each of the ${ks.length} ks`);
  const at = (neg, pos) => {
    let value = 0, slope = 0;
    for (let k = 0; k < ks.length; k++) {
      const miss = sigmoid((neg + pos - (ks[k] - 1)) / taus[k]);
      value += miss / ks.length;
      slope += (miss * (1 - miss)) / (taus[k] * ks.length);
    }
    return [value, slope, slope];
  };
  return { countsPositives: true, at };
}
