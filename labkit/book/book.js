// Figures and explorers of the book. All figures of an explorer are in the page; a control only chooses among them.
"use strict";

const options = { displaylogo: false, showSendToCloud: false, responsive: true };

const dark = matchMedia("(prefers-color-scheme: dark)");
// The figures' grey (labkit.figures.style.TEXT) reads on white and on black; the page's own colour reads better.
const GREY = '"#767676"';

function read(box) {
  const ink = JSON.stringify(getComputedStyle(box).color);
  return JSON.parse(box.querySelector('script[type="application/json"]').textContent.replaceAll(GREY, ink));
}

function makeControl(control, changed) {
  const label = document.createElement("label");
  const shown = document.createElement("output");
  let input;
  if (control.menu) {
    input = document.createElement("select");
    for (const value of control.values) input.add(new Option(value, value));
    input.value = control.start;
  } else {
    input = document.createElement("input");
    input.type = "range";
    input.min = 0;
    input.max = control.values.length - 1;
    input.step = 1;
    input.value = control.values.indexOf(control.start);
  }
  const value = () => (control.menu ? input.value : control.values[Number(input.value)]);
  input.addEventListener("input", () => {
    shown.textContent = control.menu ? "" : value();
    input.setAttribute("aria-valuetext", value());
    changed();
  });
  shown.textContent = control.menu ? "" : value();
  input.setAttribute("aria-valuetext", value());
  label.append(control.label + " ", input, " ", shown);
  return { value, box: label };
}

/** On a narrow page a legend beside the plot would take its place: it goes beneath. */
function fitted(layout, data, width) {
  const named = data.filter(({ name, showlegend }) => name && showlegend !== false);
  if (!width || width >= 560 || named.length < 2 || layout.showlegend === false || layout.legend?.orientation === "h") return layout;
  const more = 24 * named.length, margin = { ...layout.margin, b: (layout.margin?.b ?? 60) + more };
  const legend = { ...layout.legend, orientation: "h", x: 0, xanchor: "left", yref: "container", y: 0, yanchor: "bottom" };
  return { ...layout, legend, margin, height: layout.height + more };
}

function show(stage, { data, layout: asked }) {
  const layout = fitted(asked, data, stage.clientWidth);
  stage.style.height = `${layout.height}px`; // plotly.js asks the page for the height when the width changes
  const turned = stage._fullLayout?.scene?._scene?.getCamera(); // uirevision forgets a camera's first turn
  Plotly.react(stage, data, turned ? { ...layout, scene: { ...layout.scene, camera: turned } } : layout, options);
}

for (const box of document.querySelectorAll(".labkit-figure")) {
  const stage = box.appendChild(document.createElement("div"));
  const draw = () => show(stage, read(box));
  draw();
  dark.addEventListener("change", draw);
}

for (const box of document.querySelectorAll(".labkit-explorer")) {
  let spec = read(box);
  const row = box.appendChild(document.createElement("div"));
  row.className = "controls";
  const stage = box.appendChild(document.createElement("div"));
  const draw = () => show(stage, spec.frames[controls.map((control) => control.value()).join("|")]);
  const controls = spec.controls.map((control) => makeControl(control, draw));
  for (const control of controls) row.append(control.box);
  draw();
  dark.addEventListener("change", () => {
    spec = read(box);
    draw();
  });
}
