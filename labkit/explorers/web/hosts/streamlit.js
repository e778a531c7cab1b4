// An explorer as a component of Streamlit, on a model that speaks for Streamlit.
import { BLOBS, BUS } from "../shared/page.js";

/**
 * The component of a render function. bytes: values that come apart, as names of blobs; state: what Python calls that
 * which the reader changes; sent: the values of which it is made.
 */
export function component(render, { bytes, state, sent }) {
  const mounted = new WeakMap();
  /** Streamlit calls again on the same element without cleaning up, and may clean up after a call that came too late. */
  return ({ parentElement, data, setStateValue }) => {
    let it = mounted.get(parentElement);
    if (!it) mounted.set(parentElement, (it = mount(parentElement, data, render, { bytes, state, sent })));
    it.tell = setStateValue;
    const call = ++it.calls;
    it.update(data);
    return () => {
      if (call !== it.calls) return;
      it.stop();
      mounted.delete(parentElement);
    };
  };
}

/** One mounted explorer: values from Python, what the reader has set since, and the ways back. */
function mount(parent, data, render, { bytes, state, sent }) {
  const heard = new EventTarget(), text = JSON.stringify;
  const fire = (name) => heard.dispatchEvent(new Event(`change:${name}`));
  const own = {}, waiting = Object.fromEntries(sent.map((name) => [name, []])); // echoes to come
  const it = { data, calls: 0, tell: null };
  const model = {
    get: (name) => (bytes.includes(name) ? BLOBS.get(it.data[name]) : own[name] ?? it.data[name]),
    set: (name, value) => {
      own[name] = value;
      const told = waiting[name] ?? [], before = told.at(-1) ?? text(it.data[name]);
      if (name in it.data && text(value) !== before) told.push(text(value)); // Python will say it again
    },
    save_changes: () => it.tell(state, Object.fromEntries(sent.map((name) => [name, model.get(name)]))),
    on: (name, act) => heard.addEventListener(name, act),
    off: (name, act) => heard.removeEventListener(name, act),
  };
  it.update = (now) => {
    const before = it.data;
    it.data = now;
    for (const name of Object.keys(now)) {
      const said = text(now[name]), echo = waiting[name]?.lastIndexOf(said) ?? -1;
      if (echo >= 0) waiting[name].splice(0, echo + 1);
      else if (said !== text(before[name])) {
        if (sent.includes(name)) waiting[name] = [];
        delete own[name];
        fire(name);
      }
    }
    fire("height"); // a new theme comes as just another call, and measuring looks at the colours again
  };
  const arrived = ({ detail }) => {
    for (const name of bytes) if (it.data[name] === detail) fire(name);
  };
  BUS.addEventListener("blob", arrived);
  const el = parent.appendChild(document.createElement("div")), leave = render({ model, el });
  it.stop = () => {
    BUS.removeEventListener("blob", arrived);
    leave();
    el.remove();
  };
  return it;
}
