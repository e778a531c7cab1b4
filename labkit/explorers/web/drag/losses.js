// The losses of the course on one query's list of similarities: of(s, positive, settings) gives loss, gradient by each
// similarity, and a soft counterpart of a metric if the loss has one; dials: which settings it has. The mathematics is that of maths/.
import { pnpHead, recallHead, smoothApHead } from "../maths/heads.js";
import { proxyAnchor } from "../maths/proxies.js";
import { listLoss, NEGATIVE, POSITIVE } from "../maths/softcount.js";

const ranking = (head, goal) => (s, positive, set) => {
  const roles = positive.map((own) => (own ? POSITIVE : NEGATIVE));
  const { loss, gradient } = listLoss(s, roles, set.tau, head(set));
  return { loss, gradient: Array.from(gradient), goal: goal && [goal(set), 1 - loss] };
};

/** Proxies do not see the gallery: the own class and the others are one point each, here the mean of their items. */
function byProxies(s, positive) {
  const mean = (own) => {
    const found = s.filter((_, at) => positive[at] === own);
    return found.reduce((sum, one) => sum + one, 0) / found.length;
  };
  const places = [mean(true), mean(false)], onCircle = (c) => [c, Math.sqrt(1 - c * c)];
  const { loss, slopes } = proxyAnchor([[1, 0]], [0], places.map(onCircle), { alpha: 32, delta: 0.1 });
  const most = Math.max(...slopes.map(Math.abs));
  const proxies = places.map((at, c) => ({ s: at, own: c === 0, pull: -slopes[c] / most }));
  const words = "No item is pulled: the query moves towards its own proxy and away from the other one (triangles).";
  return { loss, proxies, words };
}

export const GALLERY_LOSSES = {
  "recall@k": { dials: [], of: () => ({ words: "A metric counts; it has no gradient, so nobody is pulled." }) },
  "Smooth-AP": { dials: ["tau"], of: ranking(smoothApHead, () => "Smooth-AP") },
  "RS@k": { dials: ["tau", "tauRank"], of: ranking(({ k, tauRank }) => recallHead([k], tauRank), ({ k }) => `rs@${k}`) },
  "PNP-O": { dials: ["tau"], of: ranking(() => pnpHead("O")) },
  "PNP-I_b": { dials: ["tau"], of: ranking(() => pnpHead("Ib")) },
  "PNP-D_s": { dials: ["tau"], of: ranking(() => pnpHead("Ds")) },
  "PNP-D_q": { dials: ["tau"], of: ranking(() => pnpHead("Dq"), () => "1 − PNP-D_q") },
  ProxyAnchor: { dials: [], of: byProxies },
};
