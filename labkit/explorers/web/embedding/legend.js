// What the colours stand for: a button a group, or a menu where there are too many groups for a colour each.
import { readableOn } from "../shared/colors.js";
import { make } from "../shared/elements.js";
import { legendEntry } from "../shared/markers.js";

/** Fill it; choose(group) is called with the group that the reader wants to see, -1 for all. */
export function fillLegend(legend, points, chosen, dark, choose) {
  const { grouped, names, members, colors, shapes } = points;
  legend.replaceChildren();
  if (!colors) {
    const words = grouped ? `${names.length} values of ${grouped.by}: ` : `${names.length} classes: `;
    const label = legend.appendChild(make("label", "soft", words)), menu = label.appendChild(make("select"));
    menu.append(new Option("all grey: point at one, or choose", "-1"));
    names.forEach((name, k) => menu.append(new Option(`${name} (${members[k].length})`, String(k))));
    menu.addEventListener("change", () => choose(Number(menu.value)));
  } else {
    names.forEach((name, k) => {
      const look = { name, shape: shapes[k], color: readableOn(dark, colors[k]), count: members[k].length };
      const click = ({ currentTarget }) => choose(currentTarget.getAttribute("aria-pressed") === "true" ? -1 : k);
      legend.append(legendEntry({ ...look, pressed: false, click }));
    });
  }
  markChosen(legend, chosen);
}

/** Show which group is chosen. */
export function markChosen(legend, chosen) {
  [...legend.querySelectorAll("button")].forEach((b, k) => b.setAttribute("aria-pressed", String(k === chosen)));
  const menu = legend.querySelector("select");
  if (menu) menu.value = String(chosen);
}
