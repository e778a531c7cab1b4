// Markers drawn once and stamped many times, as a page may show 60,000 points.
import { channels, GREY, OTHER, readableOn, SAME } from "../shared/colors.js";
import { make } from "../shared/elements.js";
import { drawMarker } from "../shared/markers.js";

/** The radius of a marker: smaller where there are many points, larger where one has zoomed in. */
export function radius(n, { scale, first }) {
  const small = n < 400 ? 5 : n < 2500 ? 4.2 : n < 15000 ? 3 : 2;
  return Math.min(8, Math.round(2 * small * Math.sqrt(Math.max(1, scale / first)) ** 0.6) / 2);
}

/** A marker as a canvas, and as the pixels it covers: column, row and share of each. */
function makeStamp(shape, color, r, ratio) {
  const half = Math.ceil(r + 2), pixels = Math.ceil(2 * half * ratio);
  const canvas = make("canvas", "", "", { width: pixels, height: pixels });
  const ctx = canvas.getContext("2d", { willReadFrequently: true });
  ctx.scale(ratio, ratio);
  drawMarker(ctx, shape, half, half, r, color);
  const found = ctx.getImageData(0, 0, pixels, pixels).data, covered = [];
  for (let k = 0; k < pixels * pixels; k++) {
    const share = found[4 * k + 3];
    if (share > 8) covered.push(k % pixels, Math.floor(k / pixels), share);
  }
  const [red, green, blue] = channels(color);
  return { canvas, half, side: pixels / ratio, covered: Int16Array.from(covered), red, green, blue };
}

/**
 * The stamps of all groups at one radius: `base` where nothing is chosen, `of` where a group stands out, `stranger` for
 * a neighbour of another class. Groups without colours of their own are grey, blue when chosen, orange as strangers.
 */
export function makeStamps({ names, colors, shapes }, r, ratio, dark) {
  const stamp = (shape, color) => makeStamp(shape, readableOn(dark, color), r, ratio);
  const own = names.map((_, k) => (colors ? stamp(shapes[k], colors[k]) : null));
  const grey = stamp("circle", GREY), chosen = stamp("circle", SAME), other = stamp("circle", OTHER);
  return { r, grey, of: (k) => own[k] ?? chosen, stranger: (k) => own[k] ?? other, base: (k) => own[k] ?? grey };
}

/**
 * Stamp layers of points, [rows, stamp of a group, opacity] each, pixel by pixel into an image: without a graphics card
 * that is far faster than drawImage. Returns how many of each layer are in view.
 */
export function blend(image, layers, { groups, xy }, view, page) {
  const { data, width, height } = image, across = width / view.width, down = height / view.height;
  const [r, g, b] = channels(page);
  new Uint32Array(data.buffer).fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
  return layers.map(([rows, stampOf, alpha]) => {
    let seen = 0;
    for (const i of rows) {
      const x = view.width / 2 + (xy[2 * i] - view.x) * view.scale; // toScreen, without making an array
      const y = view.height / 2 - (xy[2 * i + 1] - view.y) * view.scale;
      if (!view.sees(x, y)) continue;
      seen++;
      const { covered, half, red, green, blue } = stampOf(groups[i]);
      const left = Math.round((x - half) * across), top = Math.round((y - half) * down);
      for (let k = 0; k < covered.length; k += 3) {
        const px = left + covered[k], py = top + covered[k + 1];
        if (px < 0 || py < 0 || px >= width || py >= height) continue;
        const at = 4 * (py * width + px), share = (covered[k + 2] * alpha) / 255;
        data[at] += (red - data[at]) * share;
        data[at + 1] += (green - data[at + 1]) * share;
        data[at + 2] += (blue - data[at + 2]) * share;
      }
    }
    return seen;
  });
}
