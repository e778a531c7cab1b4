// The elements of an explorer, from top to bottom.
import { make } from "../shared/elements.js";

const MOUSE = "Drag to move, wheel to zoom, click a point for its nearest neighbours, Shift + drag for a lasso.";
const KEYS = "Keys: arrows go from point to point, Enter selects, Shift + Enter adds, Escape clears, + and − zoom, 0 resets.";

/** Build them into an element. acts: what the buttons do, by their names. */
export function buildPage(el, acts) {
  const root = make("div", "labkit-embedding", "", { role: "group", "data-lm-suppress-shortcuts": "true" });
  const bar = make("div", "bar"), heading = make("div", "title"), tools = make("div", "tools");
  const title = heading.appendChild(make("strong")), subtitle = heading.appendChild(make("span", "soft"));
  const button = (text, label, act) => {
    const made = tools.appendChild(make("button", "", text, { type: "button", title: label, "aria-label": label }));
    made.addEventListener("click", act);
    return made;
  };
  const buttons = {
    move: button("Move", "Move: drag moves the view", acts.move),
    lasso: button("Lasso", "Lasso: drag round points to select them", acts.lasso),
    pictures: button("Pictures", "Pictures in place of points, as many as fit", acts.pictures),
  };
  button("+", "Zoom in", acts.zoomIn);
  button("−", "Zoom out", acts.zoomOut);
  button("Reset", "Reset the view", acts.reset);
  bar.append(heading, tools);
  const legend = make("div", "legend", "", { role: "group", "aria-label": "Colours" });
  const role = { tabindex: "0", role: "application", "aria-roledescription": "scatter plot" };
  const stage = make("div", "stage", "", role);
  const base = stage.appendChild(make("canvas")), over = stage.appendChild(make("canvas"));
  const wait = stage.appendChild(make("div", "wait soft", "Waiting for points …"));
  const line = make("div", "line");
  const said = line.appendChild(make("p", "said", "", { role: "status" }));
  const note = line.appendChild(make("span", "soft"));
  const strip = make("div", "strip"), help = make("p", "help soft", `${MOUSE} ${KEYS}`);
  const heard = make("div", "heard", "", { "aria-live": "polite" });
  root.append(bar, legend, stage, line, strip, help, heard);
  el.append(root);
  return { root, title, subtitle, buttons, legend, stage, base, over, wait, said, note, strip, heard };
}

/** What is not to be seen, in numbers. seen: points in view; shown: pictures in view, null if pictures are off. */
export function countsText({ points, order, keptClass }, { seen, shown }) {
  const of = (part, whole) => `${part.toLocaleString("en")} of ${whole.toLocaleString("en")}`;
  const counts = keptClass ? [`${of(order.length, points.n)} points match`] : [];
  if (seen < order.length) counts.push(`${of(seen, order.length)} in view`);
  if (shown !== null) counts.push(`${shown.toLocaleString("en")} as pictures`);
  return counts.join(", ");
}
