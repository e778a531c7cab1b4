// The explorer as a component of Streamlit, on a model that speaks for Streamlit. Appended to explorer.js.
const BLOBS = (globalThis.labkitBlobs ??= new Map());
const instances = new WeakMap();

/** The model of one mounted explorer: values from Python, and the ways back. */
function mount(parent) {
  const heard = new EventTarget();
  const fire = (name) => heard.dispatchEvent(new Event(`change:${name}`));
  const it = { data: {}, calls: 0, set: null, sent: [] };
  const values = { selected: [], lasso: [], near: {} };
  const model = {
    get: (name) => (name === "points" || name === "sheet" ? BLOBS.get(it.data[name]) : values[name] ?? it.data[name]),
    set: (name, value) => {
      values[name] = value;
      const said = JSON.stringify(value), before = it.sent.at(-1) ?? JSON.stringify(it.data.selected);
      if (name === "selected" && said !== before) it.sent.push(said); // Python will say it again
    },
    save_changes: () => it.set("selection", { selected: values.selected, lasso: values.lasso }),
    on: (name, act) => heard.addEventListener(name, act),
    off: (name, act) => heard.removeEventListener(name, act),
  };
  it.update = (data) => {
    const before = it.data, differs = (name) => JSON.stringify(before[name]) !== JSON.stringify(data[name]);
    it.data = data;
    for (const name of ["points", "sheet", "kept"]) if (differs(name)) fire(name);
    fire("height"); // a new theme comes as just another call, and measuring looks at the colours again
    const said = JSON.stringify(data.selected), echo = it.sent.lastIndexOf(said);
    if (echo >= 0) it.sent.splice(0, echo + 1);
    else if (said !== JSON.stringify(before.selected)) {
      it.sent = [];
      values.selected = data.selected;
      fire("selected");
    }
    values.near = data.near;
    if (differs("near")) fire("near");
  };
  const arrived = ({ detail }) => {
    for (const name of ["points", "sheet"]) if (it.data[name] === detail) fire(name);
  };
  BUS.addEventListener("blob", arrived);
  const el = parent.appendChild(document.createElement("div"));
  const stop = render({ model, el });
  it.stop = () => {
    BUS.removeEventListener("blob", arrived);
    stop();
    el.remove();
  };
  return it;
}

/** Streamlit calls again on the same element without cleaning up, and may clean up after a call that came too late. */
export default function ({ parentElement, data, setStateValue }) {
  let it = instances.get(parentElement);
  if (!it) instances.set(parentElement, (it = mount(parentElement)));
  it.set = setStateValue;
  const call = ++it.calls;
  it.update(data);
  return () => {
    if (call !== it.calls) return;
    it.stop();
    instances.delete(parentElement);
  };
}
