// Items on the unit circle and a query that is dragged round it: the metric jumps, the loss slides.
import { stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { barsHeight, drawBars } from "./bars.js";
import { averagePrecisionAtK, ranked } from "../maths/metrics.js";
import { distances } from "../maths/pairs.js";
import { onCircle } from "../maths/matrix.js";
import { mark, shape } from "../shared/svg.js";

const HIGH = 340, EDGE = 40;

export function circle({ model, el }) {
  const items = model.get("items").map((item) => ({ ...item })), margin = model.get("margin");
  let query = model.get("query"), before = null;
  const radius = HIGH - 2 * EDGE;
  const spot = (degrees, far = 1) => {
    const turn = (degrees * Math.PI) / 180;
    return [EDGE + far * radius * Math.cos(turn), HIGH - EDGE - far * radius * Math.sin(turn)];
  };
  const put = (key, degrees) => {
    const angle = Math.round(10 * Math.min(90, Math.max(0, degrees))) / 10;
    if (key === "query") query = angle;
    else items[key].angle = angle;
    view.redraw();
  };
  const at = (key) => (key === "query" ? query : items[key].angle);
  const find = (key) => ({
    moved: (x, y) => put(key, (Math.atan2(HIGH - EDGE - y, x - EDGE) * 180) / Math.PI),
    stepped: (right, up) => put(key, at(key) + up - right),
  });
  function measured() {
    const cosines = items.map(({ angle }) => Math.cos(((angle - query) * Math.PI) / 180));
    const order = ranked(cosines), relevance = order.map((i) => (items[i].positive ? 1 : 0));
    const total = items.filter((item) => item.positive).length;
    const both = (item) => onCircle([query, item.angle].map((degrees) => (degrees * Math.PI) / 180));
    const pair = (item) => {
      const D = distances(both(item))[1]; // `contrastive` takes a batch; this is one pair of it
      return (item.positive ? D : Math.max(0, margin - D)) ** 2 / 2;
    };
    const loss = items.reduce((sum, item) => sum + pair(item), 0) / items.length;
    const bars = [["R@1", relevance[0]], ["average precision", averagePrecisionAtK(relevance, items.length, total, "relevant")]];
    return { order, loss, bars: [...bars, ["pair loss", loss, undefined, "soft"]] };
  }
  function draw(svg, width) {
    const { order, bars, loss } = measured(), [sx, sy] = spot(0), [ex, ey] = spot(90);
    shape(svg, "path", { d: `M${sx},${sy} A${radius},${radius} 0 0 0 ${ex},${ey}`, class: "axis curve" });
    for (const degrees of [0, 30, 60, 90]) {
      const [x, y] = spot(degrees, 1.12);
      shape(svg, "text", { x, y: y + 4, "text-anchor": "middle", class: "tick" }, `${degrees}°`);
    }
    order.forEach((i, place) => {
      const item = items[i], [x, y] = spot(item.angle), kind = item.positive ? "positive" : "negative";
      asHandle(mark(svg, x, y, kind, item.positive ? "+" : "−"), i, kind, { low: 0, high: 90, value: item.angle, text: `${item.angle}°` });
      const [tx, ty] = spot(item.angle, 0.86);
      shape(svg, "text", { x: tx, y: ty + 4, "text-anchor": "middle", class: "tick" }, `rank ${place + 1}`);
    });
    const [qx, qy] = spot(query, 0.7), [ox, oy] = spot(0, 0);
    shape(svg, "line", { x1: ox, y1: oy, x2: qx, y2: qy, class: "axis" });
    asHandle(mark(svg, qx, qy, "query", "q"), "query", "query", { low: 0, high: 90, value: query, text: `${query}°` });
    drawBars(svg, bars.map(([name, value, , kind], row) => [name, value, before?.[row]?.[1], kind]), { top: HIGH + 14, width });
    before ??= bars;
    view.say(`The query is at ${query}°. Pair loss ${loss.toFixed(4)}. Ticks are where the bars were at the start.`);
  }
  const label = "Query and items on a quarter of the circle; each can be moved with the arrow keys";
  const view = stage(el, { height: HIGH + 14 + barsHeight(3), label, draw, find });
}
