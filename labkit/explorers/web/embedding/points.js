// The points of an explorer, with what it looks up in them.
import { takeApart } from "../shared/bytes.js";

/** Rows by their number: one list for each of `count` numbers. */
function sorted(numbers, count) {
  const rows = Array.from({ length: count }, () => []);
  numbers.forEach((number, i) => rows[number].push(i));
  return rows;
}

/**
 * Points as packed.py packs them. Neighbours and counts are about classes (labels, peers); colours, shapes and the
 * legend about groups (groups, members, names): the classes, if Python names no others. xy has two numbers a point.
 */
export function unpack(bytes) {
  const { head, arrays } = takeApart(bytes), { grid } = head;
  const { labels, near, similarity, shared } = arrays;
  const xy = grid ? Float64Array.from(arrays.xy, (q, k) => grid.low[k % 2] + q * grid.step[k % 2]) : arrays.xy;
  const cells = Int32Array.from(arrays.cells, (cell) => cell - 1); // -1: no picture
  let before = "";
  const ids = head.ids.map((rest, i) => (before = before.slice(0, shared[i]) + rest));
  const groups = head.grouped ? arrays.groups : labels, names = head.grouped?.names ?? head.classes;
  const peers = sorted(labels, head.classes.length), members = head.grouped ? sorted(groups, names.length) : peers;
  const by = head.grouped?.by ?? "class", row = new Map(ids.map((id, i) => [id, i]));
  return { ...head, ids, xy, labels, cells, near, similarity, groups, names, by, peers, members, row };
}

/** Rows and similarities of the nearest points in the embedding space: from the table that came with the points, else
 * as Python answered; -1 for one that is not among our points. */
export function neighbours({ k, near, similarity, ids, row }, i, answer) {
  if (k) return Array.from({ length: k }, (_, j) => ({ row: near[i * k + j], similarity: similarity[i * k + j] }));
  if (answer?.id !== ids[i]) return [];
  return answer.ids.map((id, j) => ({ row: row.get(id) ?? -1, similarity: answer.similarities[j] }));
}
