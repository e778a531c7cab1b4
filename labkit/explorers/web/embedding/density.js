// Many points at once: markers would cover each other and take too long, so each small square of the plane shows how
// many there are, by its opacity, and what they are, by the mean of their colours.
import { channels } from "../shared/colors.js";

const MANY = 40_000; // points in view; 60,000 markers take 12 ms without a graphics card, a frame has 16
const SIDE = 2; // pixels of the page that a square has
const FAINTEST = 0.3; // opacity of a single point

/** Whether more of these rows are in view than can be drawn one by one. */
export function isCrowded(rows, { xy }, view) {
  if (rows.length <= MANY) return false;
  const [left, top] = view.toData(0, 0), [right, bottom] = view.toData(view.width, view.height);
  let seen = 0;
  for (let k = 0; k < rows.length && seen <= MANY; k++) {
    const x = xy[2 * rows[k]], y = xy[2 * rows[k] + 1];
    if (x >= left && x <= right && y >= bottom && y <= top) seen++;
  }
  return seen > MANY;
}

/** Layers as `blend` takes them, drawn as density; returns how many of each are in view. */
export function crowd(image, layers, points, view, page) {
  const { data, width, height } = image, [r, g, b] = channels(page), pixels = new Uint32Array(data.buffer);
  pixels.fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
  const side = Math.max(1, Math.round((SIDE * width) / view.width)), columns = Math.ceil(width / side);
  const squares = new Float32Array(4 * columns * Math.ceil(height / side));
  return layers.map(([rows, stampOf, alpha]) => {
    if (!rows.length) return 0;
    squares.fill(0);
    const seen = count(squares, { side, columns, width, height }, rows, stampOf, points, view);
    paint(pixels, squares, { side, columns, width, height }, alpha);
    return seen;
  });
}

/** Add the points to their squares: number, red, green, blue. */
function count(squares, { side, columns, width, height }, rows, stampOf, { xy, groups, names }, view) {
  const looks = names.map((_, k) => stampOf(k)), scale = (view.scale * width) / view.width / side;
  const [across, down] = [width / side, height / side], { x, y } = view;
  let seen = 0;
  for (let k = 0; k < rows.length; k++) {
    const i = rows[k], px = across / 2 + (xy[2 * i] - x) * scale, py = down / 2 - (xy[2 * i + 1] - y) * scale;
    if (!(px >= 0 && py >= 0 && px < across && py < down)) continue;
    const at = 4 * ((py | 0) * columns + (px | 0)), look = looks[groups[i]];
    seen++;
    squares[at]++;
    squares[at + 1] += look.red;
    squares[at + 2] += look.green;
    squares[at + 3] += look.blue;
  }
  return seen;
}

/** The squares into the image: the logarithm of the number, so that single points are seen beside the thickest heap. */
function paint(pixels, squares, { side, columns, width, height }, alpha) {
  let most = 1;
  for (let at = 0; at < squares.length; at += 4) if (squares[at] > most) most = squares[at];
  const step = (1 - FAINTEST) / Math.log1p(most);
  for (let at = 0, left = 0, top = 0; at < squares.length; at += 4, left += side) {
    if (left >= columns * side) [left, top] = [0, top + side];
    const n = squares[at];
    if (!n) continue;
    const share = alpha * (FAINTEST + step * Math.log1p(n)), under = pixels[top * width + left], kept = 1 - share;
    const red = (under & 255) * kept + (squares[at + 1] / n) * share;
    const green = ((under >> 8) & 255) * kept + (squares[at + 2] / n) * share;
    const blue = ((under >> 16) & 255) * kept + (squares[at + 3] / n) * share;
    const color = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    const end = Math.min(left + side, width), last = Math.min(top + side, height);
    for (let py = top; py < last; py++) for (let px = left; px < end; px++) pixels[py * width + px] = color;
  }
}
