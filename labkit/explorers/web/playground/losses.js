// The losses to choose from: name, family, options, and the function that trains. Numbers are those of lesson 7.
import { ofFunction, throughPoints } from "../maths/derivative.js";
import { parseFormula } from "../maths/formula.js";
import { functionHead, pnpHead, recallHead, smoothApHead } from "../maths/heads.js";
import { contrastive, multiSimilarity, triplet } from "../maths/pairs.js";
import { mpa, mpaAllPairs, mpaDataWise, proxyAnchor, proxyNca, softTriple } from "../maths/proxies.js";
import { rankingLoss } from "../maths/ranking.js";

export const LARGEST = 48; // R: a batch of 4 × 16 has 48 negatives
export const KNOTS = 25; // of a drawn derivative

/** Options: symbol, least, most, start, what it does, and whether a slider goes by factors. */
function option(symbol, least, most, start, words, byFactors = true) {
  return { symbol, least, most, start, words, byFactors };
}

const tau = option("τ", 0.002, 1, 0.01, "temperature of the sigmoid that counts negatives");
const alpha = option("α", 0.25, 8, 4, "how fast the pull falls with R");
const b = option("b", 0.25, 8, 2, "how soon the pull stops growing");
const tauRank = option("τ₁", 0.1, 10, 1, "temperature of the step at rank k");
const sharp = option("α", 1, 64, 16, "how sharp the maximum over samples is");
const margin = (start) => option("m", 0.05, 2, start, "margin", false);
const centers = option("K", 1, 6, 4, "proxies of a class", false);
centers.whole = true;

export const FAMILIES = {
  pnp: "PNP: the derivative, published",
  own: "PNP: your own derivative",
  ranking: "Other ranking losses",
  pair: "Pairs and triplets",
  proxy: "Proxies",
};

export const LOSSES = {
  O: { name: "PNP-O, constant", family: "pnp", options: { tau } },
  Iu: { name: "PNP-I_u, as published", family: "pnp", options: { tau } },
  "Iu-exact": { name: "PNP-I_u, log(1+R)", family: "pnp", options: { tau } },
  Ib: { name: "PNP-I_b, rises to a bound", family: "pnp", options: { tau, b } },
  Ds: { name: "PNP-D_s, falls slowly", family: "pnp", options: { tau } },
  Dq: { name: "PNP-D_q, falls quickly", family: "pnp", options: { tau, alpha } },
  drawn: { name: "drawn", family: "own", options: { tau } },
  typed: { name: "typed", family: "own", options: { tau } },
  "smooth-ap": { name: "Smooth-AP", family: "ranking", options: { tau } },
  "rs@k": { name: "RS@k, k = 1, 2, 4, 8, 16", family: "ranking", options: { tau, tauRank } },
  contrastive: { name: "contrastive", family: "pair", options: { margin: margin(1) } },
  triplet: { name: "triplet", family: "pair", options: { margin: margin(0.2) } },
  "multi-similarity": { name: "multi-similarity", family: "pair", options: {} },
  "proxy-nca": { name: "ProxyNCA", family: "proxy", options: {} },
  "proxy-anchor": { name: "ProxyAnchor", family: "proxy", options: { alpha: sharp } },
  "soft-triple": { name: "SoftTriple", family: "proxy", options: { centers } },
  mpa: { name: "MPA", family: "proxy", options: { alpha: sharp, centers } },
  "mpa-dw": { name: "MPA-DW", family: "proxy", options: { alpha: sharp, centers } },
  "mpa-ap": { name: "MPA-AP", family: "proxy", options: { alpha: sharp, centers } },
};

const PAIRS = { triplet, "multi-similarity": multiSimilarity };
const PROXIES = { "proxy-nca": proxyNca, "proxy-anchor": proxyAnchor, "soft-triple": softTriple, mpa };
Object.assign(PROXIES, { "mpa-dw": mpaDataWise, "mpa-ap": mpaAllPairs });

/** R of the knots of a drawn derivative: close together near 0. */
export const knots = Array.from({ length: KNOTS }, (_, k) => Math.expm1((Math.log1p(LARGEST) * k) / (KNOTS - 1)));

/** The options that a loss starts with. */
export function startOf(id) {
  return Object.fromEntries(Object.entries(LOSSES[id].options).map(([name, { start }]) => [name, start]));
}

/** { value, derivative } of a loss of R, for a positive with no positive before it; null for pairs and proxies. */
export function curveOf({ loss, options, drawn, typed }) {
  if (loss === "drawn") return throughPoints(knots.map((R, k) => [R, drawn[k]]));
  if (loss === "typed") return ofFunction(parseFormula(typed));
  const head = LOSSES[loss].family === "pnp" || LOSSES[loss].family === "ranking" ? headOf({ loss, options }) : null;
  return head && { value: (R) => head.at(R, 0)[0] - head.at(0, 0)[0], derivative: (R) => head.at(R, 0)[1] };
}

function headOf(choice) {
  const { loss, options } = choice;
  if (loss === "smooth-ap") return smoothApHead();
  if (loss === "rs@k") return recallHead([1, 2, 4, 8, 16], options.tauRank);
  if (LOSSES[loss].family === "pnp") return pnpHead(loss, options.alpha, options.b);
  const { value, derivative } = curveOf(choice);
  return functionHead(value, derivative);
}

/** (embeddings, labels, proxies) -> { loss, gradient, … }; choice: loss, options, drawn, typed. */
export function lossOf(choice) {
  const { loss, options } = choice, { family } = LOSSES[loss];
  if (loss === "contrastive") return (e, y) => contrastive(e, y, { margin: options.margin, form: "linear" });
  if (family === "pair") return (e, y) => PAIRS[loss](e, y, options);
  if (family === "proxy") return (e, y, proxies) => PROXIES[loss](e, y, proxies, options);
  const head = headOf(choice);
  return (e, y) => rankingLoss(e, y, head, options.tau);
}

/** How many proxies per class has; 0 for losses without. */
export function centersOf({ loss, options }) {
  return LOSSES[loss].family === "proxy" ? options.centers ?? 1 : 0;
}
