// A page without Python: a model that only holds values, and data that is in the page itself.

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** A model with the methods of anywidget's. */
function modelOf(values) {
  const heard = new EventTarget();
  return {
    get: (name) => values[name],
    set: (name, value) => {
      values[name] = value;
      heard.dispatchEvent(new Event(`change:${name}`));
    },
    save_changes: () => {},
    on: (name, act) => heard.addEventListener(name, act),
    off: (name, act) => heard.removeEventListener(name, act),
  };
}

/**
 * Render what stands in the boxes of a class. A box holds a script of JSON: `bytes`, texts in base64, and `models`, each
 * with its values and, under `bytes`, which of the texts it has under which name.
 */
export function mountAll(className, render) {
  for (const box of document.querySelectorAll(`.${className}:not([data-mounted])`)) {
    box.dataset.mounted = "true";
    box.querySelector(".labkit-still")?.remove();
    const spec = JSON.parse(box.querySelector('script[type="application/json"]').textContent);
    const shared = spec.bytes.map(bytes);
    for (const { values, bytes: used } of spec.models) {
      const found = Object.entries(used).map(([name, place]) => [name, shared[place]]);
      const model = modelOf({ ...values, ...Object.fromEntries(found) });
      const el = box.appendChild(document.createElement("div"));
      el.model = model; // so that a page's own script can read and set its values
      render({ model, el });
    }
  }
}
