// The elements of a film, from top to bottom.
import { make } from "../shared/elements.js";

export function buildPage(el) {
  const root = make("div", "labkit-embedding film", "", { role: "group" });
  const menus = make("div", "menus"), title = make("strong"), words = make("p", "words soft", "", { role: "status" });
  const stage = make("div", "stage", "", { role: "img", tabindex: "0" });
  const canvas = stage.appendChild(make("canvas"));
  const wait = stage.appendChild(make("div", "wait soft", "Waiting for the frames …"));
  const time = make("div", "time"), button = time.appendChild(make("button", "", "▶ Play", { type: "button" }));
  const range = { type: "range", "aria-label": "Training step", min: 0 };
  const slider = time.appendChild(make("input", "", "", range));
  const legend = make("div", "legend", "", { role: "group", "aria-label": "Classes" });
  root.append(menus, title, words, stage, time, legend);
  el.append(root);
  return { root, menus, title, words, stage, canvas, wait, time, button, slider, legend };
}

/** A menu for each thing to choose; changed(choice) gets the values of all. */
export function fillMenus(box, menus, chosen, changed) {
  const inputs = menus.map(({ label, values }, k) => {
    const holder = make("label", "soft", `${label} `), menu = holder.appendChild(make("select"));
    for (const value of values) menu.append(new Option(value, value));
    menu.value = chosen[k];
    menu.addEventListener("change", () => changed(inputs.map((input) => input.value)));
    box.append(holder);
    return menu;
  });
}
