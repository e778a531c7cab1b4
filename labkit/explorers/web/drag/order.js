// A ranking whose items are dragged to other places; what the metrics were before stays as a tick, the order as a ghost.
import { choose, stage } from "./stage.js";
import { asHandle } from "./handle.js";
import { barsHeight, drawBars } from "./bars.js";
import { averagePrecisionAtK, mapAtR, ndcgAtK, recallAtK } from "../maths/metrics.js";
import { shape } from "../shared/svg.js";

const TOP = 40, TALL = 64, BARS = 10;

export function order({ model, el }) {
  const items = model.get("items"), total = model.get("total"), pictures = model.get("pictures");
  let list = items.map((_, at) => at), old = [...list], k = model.get("k"), width = 640, dragged = null;
  const cell = () => (width - 8) / items.length, side = () => Math.min(TALL, cell() - 6);
  const relevance = (now) => now.map((at) => (items[at] ? 1 : 0));

  function metrics(now) {
    const rel = relevance(now), ap = (by) => averagePrecisionAtK(rel, k, total, by);
    return [
      [`recall@${k}, any`, recallAtK(rel, k, total)],
      [`recall@${k}, share`, recallAtK(rel, k, total, "fraction")],
      [`recall@${k}, capped`, recallAtK(rel, k, total, "capped")],
      ["MAP@R", mapAtR(rel, total)],
      [`AP@${k} over k`, ap("k")],
      [`AP@${k} over relevant`, ap("relevant")],
      [`AP@${k} over min`, ap("min")],
      [`AP@${k} over hits`, ap("hits")],
      [`nDCG@${k}`, ndcgAtK(rel, k, { total })],
    ];
  }
  function place(at, to) {
    const from = list.indexOf(at), target = Math.min(items.length - 1, Math.max(0, to));
    if (from === target) return;
    list.splice(target, 0, ...list.splice(from, 1));
    view.redraw();
  }
  const find = (key) => ({
    moved: (x) => {
      if (dragged === null) old = [...list];
      dragged = { at: Number(key), x };
      place(Number(key), Math.floor((x - 4) / cell()));
      view.redraw();
    },
    stepped: (right) => {
      old = [...list];
      place(Number(key), list.indexOf(Number(key)) + right);
    },
    dropped: () => {
      dragged = null;
      view.redraw();
    },
  });

  function drawItem(svg, at, x, y, size, kind) {
    const own = items[at], group = shape(svg, "g", { class: `item card ${own ? "positive" : "negative"} ${kind}` });
    shape(group, "rect", { x: x - size / 2, y: y - size / 2, width: size, height: size, rx: 8 });
    const inner = 0.78 * size, corner = { x: x - inner / 2, y: y - inner / 2, width: inner, height: inner };
    const drawings = own ? pictures.relevant : pictures.other;
    shape(group, "image", { ...corner, href: drawings[at % drawings.length] });
    const sign = { x: x + size / 2 - 3, y: y - size / 2 + 12, "text-anchor": "end", class: "sign" };
    shape(group, "text", sign, own ? "✓" : "✗");
    return group;
  }
  function draw(svg, now) {
    width = now;
    const middle = (to) => 4 + (to + 0.5) * cell(), size = side(), y = TOP + size / 2;
    list.forEach((at, to) => {
      const cut = to < k ? "" : " far";
      shape(svg, "text", { x: middle(to), y: 16, "text-anchor": "middle", class: `tick${cut}` }, String(to + 1));
      const group = drawItem(svg, at, dragged?.at === at ? dragged.x : middle(to), y, size, "");
      const name = `${items[at] ? "relevant" : "other"} item`;
      asHandle(group, at, name, { low: 1, high: items.length, value: to + 1, text: `rank ${to + 1}` });
      const was = old.indexOf(at);
      if (was !== to) drawItem(svg, at, middle(was), y + size * 0.5 + 22, 0.45 * size, "was");
    });
    shape(svg, "line", { x1: 4 + k * cell(), x2: 4 + k * cell(), y1: 4, y2: TOP + size + 8, class: "cutoff" });
    const were = metrics(old), bars = metrics(list).map(([name, value], row) => [name, value, were[row][1]]);
    drawBars(svg, bars, { top: TOP + size + 66, width });
    const changed = bars.filter(([, value, was]) => Math.abs(value - was) > 1e-9).length;
    view.say(
      changed ? `${changed} of ${bars.length} metrics notice; a tick is where a bar was.` : "Drag an item to another rank.",
    );
  }
  const label = "A ranking; each item can be moved with the left and right arrow keys";
  const view = stage(el, { height: TOP + TALL + 66 + barsHeight(BARS - 1), label, draw, find });
  choose(view.controls, { label: "cut-off k", values: items.map((_, at) => at + 1), start: k, slider: true }, (value) => {
    k = value;
    old = [...list];
    view.redraw();
  });
  const lists = model.get("lists");
  const names = Object.keys(lists);
  choose(view.controls, { label: "list", values: names, start: model.get("list") }, (name) => {
    old = list = items.map((_, at) => at);
    lists[name].forEach((own, at) => (items[at] = own));
    view.redraw();
  });
}
