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

async function render({ model, el }) {
  const stage = el.appendChild(document.createElement("div"));
  const Plotly = await plotly(model);
  const draw = () => {
    const { data, layout } = JSON.parse(model.get("spec"));
    return Plotly.react(stage, data, layout, { displaylogo: false, responsive: true });
  };
  await draw();
  model.on("change:spec", draw);
  const watch = new ResizeObserver(() => {
    if (stage.offsetParent) Plotly.Plots.resize(stage); // JupyterLab hides what is scrolled away
  });
  watch.observe(el);
  return () => {
    watch.disconnect();
    model.off("change:spec", draw);
    Plotly.purge(stage);
  };
}

export default { render };
