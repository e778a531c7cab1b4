// The row of pictures beneath the plane: the nearest of one selected point with ✓ and ✗, or some of many selected.
import { make } from "../shared/elements.js";
import { neighbours } from "./points.js";

const THUMB = 80; // pixels of a picture, twice what the style sheet gives it
const MOST_THUMBS = 24;

/** Fill the row and the sentence above it with what is selected in an explorer. */
export function fillStrip(explorer) {
  const { points, selectedRows: rows, model } = explorer, { strip, said } = explorer.page;
  strip.replaceChildren();
  if (!points) return;
  const below = Boolean(model.get("below")); // the page itself shows what a lasso holds
  strip.hidden = below && rows.length !== 1;
  if (rows.length === 0) said.textContent = "Nothing selected.";
  else if (rows.length === 1) showNeighbours(explorer, rows[0]);
  else showMany(explorer, rows, below ? 0 : MOST_THUMBS);
}

function showNeighbours(explorer, only) {
  const { classes, labels, ids } = explorer.points, { strip, said } = explorer.page;
  const found = neighbours(explorer.points, only, explorer.model.get("near")).filter(({ row }) => row >= 0);
  const isSame = (row) => labels[row] === labels[only], same = found.filter(({ row }) => isSame(row)).length;
  const name = `${classes[labels[only]]} (${ids[only]})`, are = same === 1 ? "is" : "are";
  said.textContent = found.length
    ? `${name}: of its ${found.length} nearest in the embedding, ${same} ${are} of its class (✓).`
    : `${name} selected.`;
  strip.append(...found.map(({ row, similarity }) => thumb(explorer, row, isSame(row), similarity)));
}

function showMany(explorer, rows, most) {
  const { classes, labels } = explorer.points, { strip, said } = explorer.page, counts = new Map();
  for (const i of rows) counts.set(labels[i], (counts.get(labels[i]) ?? 0) + 1);
  const largest = [...counts].sort((a, b) => b[1] - a[1]), count = rows.length.toLocaleString("en");
  const text = largest.slice(0, 4).map(([label, of]) => `${of} × ${classes[label]}`).join(", ");
  const more = largest.length > 4 ? `, and ${largest.length - 4} more classes` : "";
  const cut = most && rows.length > most ? ` Showing ${most} of ${count}.` : "";
  said.textContent = `${count} selected: ${text}${more}.${cut}`;
  strip.append(...rows.slice(0, most).map((i) => thumb(explorer, i, null)));
}

/** One picture, or the class's name where there is none. same: whether it is of the query's class, null without one. */
function thumb(explorer, i, same, similarity) {
  const { classes, labels, ids } = explorer.points, name = classes[labels[i]];
  const label = `${name}, ${ids[i]}${similarity === undefined ? "" : `, cosine ${similarity.toFixed(3)}`}`;
  const made = make("button", same === null ? "" : same ? "same" : "other", "", { type: "button", title: label });
  made.setAttribute("aria-label", same === null ? label : `${same ? "same class" : "other class"}: ${label}`);
  if (explorer.sheet?.has(i)) {
    const canvas = made.appendChild(make("canvas", "", "", { width: THUMB, height: THUMB }));
    explorer.sheet.draw(canvas.getContext("2d"), i, 0, 0, THUMB);
  } else made.append(make("span", "", name));
  if (same !== null) made.append(make("b", "", same ? "✓" : "✗"), make("small", "", similarity.toFixed(3)));
  made.addEventListener("click", () => explorer.select([ids[i]]));
  made.addEventListener("pointerenter", () => explorer.setHover(i));
  made.addEventListener("pointerleave", () => explorer.setHover(-1));
  return made;
}
