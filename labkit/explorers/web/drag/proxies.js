// Three classes on the circle: samples and proxies are dragged, arrows show where a step of gradient descent moves each.
import { choose, stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { signedBarsHeight, drawSignedBars } from "./bars.js";
import { mpa, mpaAllPairs, mpaDataWise, proxyAnchor, proxyNca, softTriple } from "../maths/proxies.js";
import { onCircle, rowsOf } from "../maths/matrix.js";
import { arrow, mark, shape } from "../shared/svg.js";

const HIGH = 400, EDGE = 48, INSIDE = 0.82, LONGEST = 1.1; // proxies have length 1, too, but would hide samples there
const ROOM = 15; // round a mark; its arrow begins there
const AXIS = 3; // of the bars; no weight is larger than scale / classes

// scale is that of the exponents; d² = 2 − 2s doubles ProxyNCA's
const LOSSES = {
  ProxyNCA: (x, y, w, { scale }) => proxyNca(x, y, w, { scale: scale / 2 }),
  ProxyAnchor: (x, y, w, { scale }) => proxyAnchor(x, y, w, { alpha: scale }),
  SoftTriple: (x, y, w, { scale, centers }) => softTriple(x, y, w, { lam: scale, tau: 0, centers }),
  MPA: (x, y, w, { scale, centers }) => mpa(x, y, w, { alpha: scale, tau: 0, centers }),
  "MPA-DW": (x, y, w, { scale, centers }) => mpaDataWise(x, y, w, { alpha: scale, tau: 0, centers }),
  "MPA-AP": (x, y, w, { scale, centers }) => mpaAllPairs(x, y, w, { alpha: scale, tau: 0, centers }),
};
const ONE_PROXY = ["ProxyNCA", "ProxyAnchor"], KINDS = ["positive", "negative", "third"];

const radians = (degrees) => (degrees * Math.PI) / 180;
const turned = (degrees) => ((Math.round(degrees) % 360) + 360) % 360;

export function proxies({ model, el }) {
  const names = model.get("names"), samples = model.get("samples"), labels = samples.map(([, c]) => c);
  const scale = model.get("scale"), length = model.get("arrow"), radius = HIGH / 2 - EDGE;
  const set = { loss: model.get("loss"), centers: model.get("centers") };
  const at = { x: samples.map(([degrees]) => degrees), w: {} };
  const K = () => (ONE_PROXY.includes(set.loss) ? 1 : set.centers);
  /** The angles of all proxies for the K of now; each K keeps its own. */
  const w = () => (at.w[K()] ??= model.get("middles").flatMap((middle) => model.get("spread")[K()].map((by) => turned(middle + by))));
  let middle = 320;
  const spot = ([x, y], far = 1) => [middle + far * radius * x, HIGH / 2 - far * radius * y];
  const find = (key) => {
    const [list, row] = key[0] === "x" ? [at.x, Number(key.slice(1))] : [w(), Number(key.slice(1))];
    const put = (degrees) => {
      list[row] = turned(degrees);
      view.redraw();
    };
    const moved = (px, py) => put((Math.atan2(HIGH / 2 - py, px - middle) * 180) / Math.PI);
    return { moved, stepped: (right, up) => put(list[row] + up - right) };
  };
  function item(svg, key, point, kind, label, says) {
    const [x, y] = point.place, drawn = mark(svg, x, y, point.proxy ? "proxy" : "sample", label);
    drawn.classList.add(kind);
    asHandle(drawn, key, says, { low: 0, high: 359, value: point.degrees, text: `${point.degrees}°` });
  }
  function pull(svg, [px, py], [gx, gy], kind) {
    const steep = Math.hypot(gx, gy), far = Math.min(LONGEST, length * steep) * radius;
    if (far < 2) return;
    const [ux, uy] = [-gx / steep, gy / steep]; // downhill; the page's y points down
    arrow(svg, [px + ROOM * ux, py + ROOM * uy], [px + (ROOM + far) * ux, py + (ROOM + far) * uy], `pull ${kind}`);
  }
  function draw(svg, width) {
    middle = width / 2;
    const x = onCircle(at.x.map(radians)), p = onCircle(w().map(radians)), centers = K();
    const { loss, gradient, proxyGradient, slopes } = LOSSES[set.loss](x, labels, p, { scale, centers });
    shape(svg, "circle", { cx: middle, cy: HIGH / 2, r: radius, class: "axis curve" });
    const placesW = rowsOf(p.values, 2).map((one) => spot(one, INSIDE)), placesX = rowsOf(x.values, 2).map((one) => spot(one));
    const classOf = (row) => Math.floor(row / centers);
    placesW.forEach((place, row) => {
      const c = classOf(row), says = `proxy of class ${names[c]}`;
      item(svg, `w${row}`, { place, degrees: w()[row], proxy: true }, KINDS[c], names[c], says);
    });
    placesX.forEach((place, row) => {
      const c = labels[row], says = row ? `sample of class ${names[c]}` : `sample x of class ${names[c]}`;
      item(svg, `x${row}`, { place, degrees: at.x[row] }, KINDS[c], row ? names[c].toLowerCase() : "x", says);
    });
    rowsOf(proxyGradient, 2).forEach((g, row) => pull(svg, placesW[row], g, KINDS[classOf(row)]));
    rowsOf(gradient, 2).forEach((g, row) => pull(svg, placesX[row], g, KINDS[labels[row]]));
    const bars = names.map((name, c) => [`∂L/∂S(x, ${name})`, slopes[c], KINDS[c]]);
    const ends = { low: "← pull", high: "push →" };
    drawSignedBars(svg, bars, { top: HIGH + 24, width, most: AXIS, ...ends });
    const kind = centers === 1 ? "one proxy" : `${centers} proxies`;
    view.say(`${set.loss}, ${kind} a class: L = ${loss.toFixed(3)}. Discs are samples, triangles proxies; x is a sample of ${names[0]}.`);
  }
  const label = "Samples and proxies of three classes on the circle; each can be moved with the arrow keys";
  const view = stage(el, { height: HIGH + 24 + signedBarsHeight(3), label, draw, find });
  const losses = { label: "loss", values: Object.keys(LOSSES), start: set.loss };
  const many = { label: "proxies per class", values: [1, 2, 3], start: set.centers };
  const changed = (name) => (value) => {
    set[name] = value;
    box.hidden = ONE_PROXY.includes(set.loss); // they have one proxy per class, always
    view.redraw();
  };
  choose(view.controls, losses, changed("loss"));
  const box = choose(view.controls, many, changed("centers"));
  changed("loss")(set.loss);
  const reset = view.controls.appendChild(document.createElement("button"));
  reset.textContent = "As at the start";
  reset.addEventListener("click", () => {
    Object.assign(at, { x: samples.map(([degrees]) => degrees), w: {} });
    view.redraw();
  });
}
