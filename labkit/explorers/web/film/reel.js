// One or several films, as film.py packs them, and where the points of a film are at a moment.
import { takeApart } from "../shared/bytes.js";

/** The menus to choose a film by, and film(choice), which unpacks the one of the values chosen in all menus. */
export function openReel(bytes) {
  const { head, arrays } = takeApart(bytes), opened = new Map();
  const film = (choice) => {
    const place = head.films.findIndex(({ key }) => key.join("|") === choice.join("|"));
    if (place < 0) throw new Error(`no film of ${choice.join(", ")}`);
    if (!opened.has(place)) {
      const from = head.films.slice(0, place).reduce((sum, { size }) => sum + size, 0);
      const found = takeApart(arrays.bytes.subarray(from, from + head.films[place].size));
      opened.set(place, { ...found.head, ...found.arrays });
    }
    return opened.get(place);
  };
  return { menus: head.menus, film };
}

/** The frame at or before a step, and how far it is to the next, from 0 to 1. */
export function frameAt({ steps }, step) {
  const k = Math.max(0, steps.findLastIndex((at) => at <= step));
  if (k >= steps.length - 1) return [k, 0];
  return [k, Math.max(0, (step - steps[k]) / (steps[k + 1] - steps[k]))];
}

/** The step at a place that counts frames, such as 2.5. */
export function stepAt({ steps }, place) {
  const low = Math.min(steps.length - 1, Math.floor(place)), next = steps[Math.min(steps.length - 1, low + 1)];
  return steps[low] + (place - low) * (next - steps[low]);
}

/** All points at a step, d numbers each: on the straight way between two frames; directions have length one. */
export function pointsAt(film, step) {
  const { frames, n, d, kind } = film, [k, part] = frameAt(film, step), out = new Float64Array(n * d);
  const next = part > 0 ? k + 1 : k, scale = film.scale ?? 1;
  for (let i = 0; i < n; i++) {
    let length = 0;
    for (let c = 0; c < d; c++) {
      const from = frames[(k * n + i) * d + c], to = frames[(next * n + i) * d + c];
      out[i * d + c] = (from + part * (to - from)) * scale;
      length += out[i * d + c] ** 2;
    }
    if (kind !== "plane") for (let c = 0; c < d; c++) out[i * d + c] /= Math.sqrt(length) || 1;
  }
  return out;
}
