// Finding points by place, without looking at all of them.

/** Points sorted into square cells; also the box that holds all of them. */
export function makeGrid({ n, xy }) {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < n; i++) {
    left = Math.min(left, xy[2 * i]);
    right = Math.max(right, xy[2 * i]);
    bottom = Math.min(bottom, xy[2 * i + 1]);
    top = Math.max(top, xy[2 * i + 1]);
  }
  const size = Math.max(right - left, top - bottom) / Math.ceil(Math.sqrt(n / 2)) || 1;
  const columns = Math.floor((right - left) / size) + 1, rows = Math.floor((top - bottom) / size) + 1;
  const column = (x) => Math.min(columns - 1, Math.max(0, Math.floor((x - left) / size)));
  const row = (y) => Math.min(rows - 1, Math.max(0, Math.floor((y - bottom) / size)));
  const cell = (i) => row(xy[2 * i + 1]) * columns + column(xy[2 * i]);
  const starts = new Uint32Array(columns * rows + 1), order = new Uint32Array(n);
  for (let i = 0; i < n; i++) starts[cell(i) + 1]++;
  for (let c = 0; c < columns * rows; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  for (let i = 0; i < n; i++) order[next[cell(i)]++] = i;
  /** The nearest point within reach, the one drawn last of several at one place; -1 if there is none. */
  const nearest = (x, y, reach, wanted) => {
    let best = -1, least = reach * reach;
    for (let r = row(y - reach); r <= row(y + reach); r++) {
      const first = starts[r * columns + column(x - reach)], last = starts[r * columns + column(x + reach) + 1];
      for (let at = first; at < last; at++) {
        const i = order[at], dx = xy[2 * i] - x, dy = xy[2 * i + 1] - y, distance = dx * dx + dy * dy;
        if (!wanted(i)) continue;
        if (distance < least || (distance === least && i > best)) [best, least] = [i, distance];
      }
    }
    return best;
  };
  return { left, bottom, right, top, nearest };
}

/** Whether a point lies within a polygon, by the number of edges to its right. */
export function inside(polygon, x, y) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}

/** The next of some rows in a direction (dx, dy): the nearest within 45 degrees of it, rather straight on than near. */
export function nextPoint(xy, rows, from, dx, dy) {
  let best = -1, least = Infinity;
  for (const i of rows) {
    const x = xy[2 * i] - xy[2 * from], y = xy[2 * i + 1] - xy[2 * from + 1];
    const along = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
    if (along <= 0 || aside > along) continue;
    const distance = Math.hypot(along, 2 * aside);
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

const WIDEST = 2 ** 26; // cells a column; a number as key is far faster than a text

/** Rows whose squares of `side` pixels do not overlap at a scale; earlier rows come first. */
export function apart(xy, rows, scale, side) {
  const taken = new Map(), kept = new Set();
  for (const i of rows) {
    const x = xy[2 * i] * scale, y = xy[2 * i + 1] * scale, column = Math.floor(x / side), row = Math.floor(y / side);
    let free = true;
    for (let place = 0; place < 9 && free; place++) {
      const other = taken.get((column - 1 + (place % 3)) * WIDEST + row - 1 + Math.floor(place / 3));
      free = !other || Math.abs(other[0] - x) >= side || Math.abs(other[1] - y) >= side;
    }
    if (!free) continue;
    taken.set(column * WIDEST + row, [x, y]);
    kept.add(i);
  }
  return kept;
}
