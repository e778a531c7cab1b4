// A loss from its derivative: F(R) = ∫₀ᴿ g(r) dr, in closed form for points, by quadrature for a function.

const PANELS = 8;
// Gauss–Legendre, 16 nodes on −1 … 1: the positive half; each weight is for ± its node
const NODES = [
  0.09501250983763745, 0.28160355077925891, 0.45801677765722737, 0.61787624440264377, 0.75540440835500303,
  0.86563120238783175, 0.94457502307323258, 0.98940093499164993,
];
const WEIGHTS = [
  0.18945061045506851, 0.18260341504492361, 0.16915651939500254, 0.14959598881657674, 0.12462897125553387,
  0.095158511682492786, 0.062253523938647894, 0.027152459411754096,
];

/** g, linear between points [R, dL/dR] and constant outside, and its exact antiderivative with F(0) = 0. */
export function throughPoints(points) {
  if (points.length < 2) throw new Error("g: at least two points (R, dL/dR) are needed");
  const table = points[0][0] > 0 ? [[0, points[0][1]], ...points] : points;
  const x = table.map((point) => point[0]), y = table.map((point) => point[1]), last = x.length - 1, area = [0];
  if (!(x[0] >= 0) || ![...x, ...y].every(Number.isFinite)) throw new Error("g: points must be finite, with R ≥ 0");
  for (let k = 1; k <= last; k++) {
    if (!(x[k] > x[k - 1])) throw new Error("g: the points' R must be strictly increasing");
    area.push(area[k - 1] + ((x[k] - x[k - 1]) * (y[k] + y[k - 1])) / 2);
  }
  const slope = x.map((_, k) => (k < last ? (y[k + 1] - y[k]) / (x[k + 1] - x[k]) : 0));
  const piece = (R) => {
    let low = 0, high = last; // the last point that is not beyond R
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (x[middle] <= R) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const derivative = (R) => {
    const k = piece(R);
    return y[k] + slope[k] * (R - x[k]);
  };
  const value = (R) => {
    const k = piece(R), h = R - x[k];
    return area[k] + y[k] * h + (slope[k] * h * h) / 2;
  };
  return { value, derivative };
}

/** A function g of R and its antiderivative, by quadrature in u = log(1 + r), where such derivatives are smooth. */
export function ofFunction(g) {
  const value = (R) => {
    const width = Math.log1p(R) / PANELS;
    let total = 0;
    for (let panel = 0; panel < PANELS; panel++)
      for (let k = 0; k < NODES.length; k++)
        for (const node of [-NODES[k], NODES[k]]) {
          const u = width * (panel + (node + 1) / 2);
          total += g(Math.expm1(u)) * Math.exp(u) * (WEIGHTS[k] / 2) * width;
        }
    return total;
  };
  return { value, derivative: g };
}
