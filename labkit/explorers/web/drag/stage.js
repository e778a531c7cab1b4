// What all dragged explorers have: a drawing that fills its width, controls above, a line of words beneath.
import { paintRoot } from "../shared/colors.js";
import { innerSize, make } from "../shared/elements.js";
import { shape } from "../shared/svg.js";
import { watchPage } from "../shared/page.js";
import { handles } from "./handle.js";

/** draw(svg, width) draws everything anew; find(key) gives the moved/stepped functions of a handle. */
export function stage(el, { height, label, draw, find }) {
  const stop = new AbortController();
  el.className = "labkit-embedding labkit-drag";
  let colors = paintRoot(el), wanted = 0;
  const controls = el.appendChild(make("div", "controls"));
  const svg = shape(el, "svg", { height, role: "group", "aria-label": label });
  const words = el.appendChild(make("p", "words", "", { role: "status" }));
  const paint = () => {
    wanted = 0;
    const focus = document.activeElement?.closest?.("[data-handle]");
    const key = focus && svg.contains(focus) ? focus.dataset.handle : null;
    svg.replaceChildren();
    draw(svg, innerSize(svg)[0] || 640);
    if (key !== null) svg.querySelector(`[data-handle="${key}"]`)?.focus({ preventScroll: true });
  };
  const redraw = () => (wanted ||= requestAnimationFrame(paint));
  handles(svg, find, stop.signal);
  watchPage(el, { resized: redraw, recolored: () => (colors = paintRoot(el, colors)), signal: stop.signal });
  redraw();
  return { redraw, say: (text) => (words.textContent = text), controls };
}

/** A menu or a slider over given values; returns its box. */
export function choose(parent, { label, values, start, slider = false, names = values.map(String) }, changed) {
  const box = parent.appendChild(make("label", "", `${label} `));
  if (!slider) {
    const menu = box.appendChild(make("select", "", "", { "aria-label": label }));
    values.forEach((_, at) => menu.add(new Option(names[at], at)));
    menu.value = values.indexOf(start);
    menu.addEventListener("change", () => changed(values[Number(menu.value)]));
    return box;
  }
  const range = { type: "range", min: 0, max: values.length - 1, step: 1, "aria-label": label };
  const input = box.appendChild(make("input", "", "", range)), shown = box.appendChild(make("output"));
  const tell = () => {
    shown.textContent = names[Number(input.value)];
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  input.value = values.indexOf(start);
  tell();
  input.addEventListener("input", () => {
    tell();
    changed(values[Number(input.value)]);
  });
  return box;
}
