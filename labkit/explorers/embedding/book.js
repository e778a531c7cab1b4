// The explorer in a page without Python: a model that only holds values, and data that is in the page itself.
for (const box of document.querySelectorAll(".labkit-embeddings:not([data-mounted])")) {
  box.dataset.mounted = "true";
  const spec = JSON.parse(box.querySelector('script[type="application/json"]').textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const sheets = spec.sheets.map(bytes);
  for (const { points, sheet, ...rest } of spec.explorers) {
    const values = { selected: [], near: {}, ...rest, points: bytes(points), sheet: sheets[sheet] };
    const heard = new EventTarget();
    const model = {
      get: (name) => values[name],
      set: (name, value) => {
        values[name] = value;
        heard.dispatchEvent(new Event(`change:${name}`));
      },
      save_changes: () => {},
      on: (name, act) => heard.addEventListener(name, act),
      off: (name, act) => heard.removeEventListener(name, act),
    };
    const el = box.appendChild(document.createElement("div"));
    el.model = model; // so that a page's own script can read and set the selection
    render({ model, el });
  }
}
