// Rotated boxes (cx, cy, w, h, angle in radians): the area they share, IoU, and its gradient by the first.

/** The corners, counter-clockwise where y points up. */
export function corners([cx, cy, w, h, angle]) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([u, v]) => {
    const x = (u * w) / 2, y = (v * h) / 2;
    return [cx + x * c - y * s, cy + x * s + y * c];
  });
}

/** A point as a box sees it: its centre the origin, its sides along the axes. */
function seenFrom([cx, cy, , , angle], [x, y]) {
  const c = Math.cos(angle), s = Math.sin(angle), dx = x - cx, dy = y - cy;
  return [dx * c + dy * s, dy * c - dx * s];
}

/** The part of a polygon where one coordinate, times sign, is at most the bound. */
function cut(polygon, axis, sign, bound) {
  const inside = (p) => sign * p[axis] <= bound, kept = [];
  polygon.forEach((p, at) => {
    const q = polygon[(at + 1) % polygon.length];
    if (inside(p)) kept.push(p);
    if (inside(p) === inside(q)) return;
    const t = (sign * bound - p[axis]) / (q[axis] - p[axis]);
    kept.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
  });
  return kept;
}

/** The area that two boxes share: the second, as the first sees it, cut at the first one's four sides. */
export function sharedArea(first, second) {
  let rest = corners(second).map((p) => seenFrom(first, p));
  for (const axis of [0, 1]) for (const sign of [1, -1]) rest = cut(rest, axis, sign, first[2 + axis] / 2);
  const cross = (p, q) => p[0] * q[1] - p[1] * q[0];
  return Math.max(0, rest.reduce((sum, p, at) => sum + cross(p, rest[(at + 1) % rest.length]), 0) / 2);
}

/** From where to where, within 0…1, the way from p to q lies in the box [−w/2, w/2] × [−h/2, h/2]. */
function within(p, q, w, h) {
  let [from, to] = [0, 1];
  for (const [axis, bound] of [[0, w / 2], [1, h / 2]]) {
    const step = q[axis] - p[axis];
    if (step === 0) {
      if (Math.abs(p[axis]) > bound) return [0, 0];
      continue;
    }
    const ends = [(-bound - p[axis]) / step, (bound - p[axis]) / step].sort((a, b) => a - b);
    [from, to] = [Math.max(from, ends[0]), Math.min(to, ends[1])];
  }
  return to > from ? [from, to] : [0, 0];
}

/** How the shared area grows when the first box changes: only those parts of its sides count that lie in the second. */
function areaGradient(first, second) {
  const [cx, cy, w, h, angle] = first, c = Math.cos(angle), s = Math.sin(angle), round = corners(first);
  const found = new Float64Array(5);
  round.forEach((p, at) => {
    const q = round[(at + 1) % 4], far = Math.hypot(q[0] - p[0], q[1] - p[1]);
    const [from, to] = within(seenFrom(second, p), seenFrom(second, q), second[2], second[3]);
    const length = (to - from) * far, middle = (from + to) / 2;
    const [nx, ny] = [[-s, c], [-c, -s], [s, -c], [c, s]][at]; // outwards: the sides +h, −w, −h, +w
    const rx = p[0] + middle * (q[0] - p[0]) - cx, ry = p[1] + middle * (q[1] - p[1]) - cy;
    found[0] += nx * length;
    found[1] += ny * length;
    found[at % 2 ? 2 : 3] += length / 2; // a side lies half a width or half a height from the centre
    found[4] += (rx * ny - ry * nx) * length;
  });
  return found;
}

/** IoU and its gradient by the first box; exact, so both are 0 where the boxes do not touch. */
export function rotatedIou(first, second) {
  const own = first[2] * first[3], both = own + second[2] * second[3], shared = sharedArea(first, second);
  const union = both - shared;
  if (!(union > 0) || !(shared > 0)) return { value: 0, gradient: new Float64Array(5) };
  const ownGradient = [0, 0, first[3], first[2], 0];
  const gradient = areaGradient(first, second).map((g, i) => (g * both - shared * ownGradient[i]) / union ** 2);
  return { value: shared / union, gradient };
}
