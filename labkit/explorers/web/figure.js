// One figure of a live page. plotly.js comes from the kernel's one carrier and is evaluated once a page.

function evaluate(code) {
  const module = { exports: {} };
  new Function("module", "exports", "define", code)(module, module.exports, undefined);
  return module.exports;
}

async function plotly(model) {
  const carrier = await model.widget_manager.get_model(model.get("library").replace("IPY_MODEL_", ""));
  globalThis.labkitPlotly ??= evaluate(carrier.get("code"));
  return globalThis.labkitPlotly;
}

// The figures' grey (labkit.figures.style.TEXT) reads on white and on black; the page's own colour reads better.
const GREY = '"#767676"';
const inked = (spec, el) => JSON.parse(spec.replaceAll(GREY, JSON.stringify(getComputedStyle(el).color)));

async function render({ model, el }) {
  const stage = el.appendChild(document.createElement("div"));
  const Plotly = await plotly(model);
  let held = false; // a pointer is down: turning or zooming must not be interrupted by a redraw
  let late = false;
  const draw = () => {
    if (held) {
      late = true;
      return;
    }
    const { data, layout } = inked(model.get("spec"), el);
    stage.style.height = `${layout.height}px`; // plotly.js asks the page for the height when the width changes
    const turned = stage._fullLayout?.scene?._scene?.getCamera(); // uirevision forgets a camera's first turn
    if (turned) layout.scene = { ...layout.scene, camera: turned };
    return Plotly.react(stage, data, layout, { displaylogo: false, showSendToCloud: false, responsive: true });
  };
  const hold = () => (held = true);
  const release = () => {
    held = false;
    if (late) draw();
    late = false;
  };
  model.on("change:spec", draw); // before the first drawing, which takes a while
  stage.addEventListener("pointerdown", hold);
  for (const end of ["pointerup", "pointercancel"]) globalThis.addEventListener(end, release);
  draw();
  const watch = new ResizeObserver(() => {
    if (stage.offsetParent) Plotly.Plots.resize(stage); // JupyterLab hides what is scrolled away
  });
  watch.observe(el);
  const theme = new MutationObserver(draw);
  theme.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  return () => {
    theme.disconnect();
    watch.disconnect();
    model.off("change:spec", draw);
    for (const end of ["pointerup", "pointercancel"]) globalThis.removeEventListener(end, release);
    Plotly.purge(stage);
  };
}

export default { render };
