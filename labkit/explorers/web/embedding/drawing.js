// Drawing the plane: all points on the lower canvas, what changes with the cursor on the upper one.
import { GREY, OTHER, readableOn, SAME } from "../shared/colors.js";
import { cleared, sharpen } from "../shared/elements.js";
import { crowd, isCrowded } from "./density.js";
import { neighbours } from "./points.js";
import { apart } from "./spatial_index.js";
import { blend, makeStamps, radius } from "./stamps.js";

const PICTURE = 32; // pixels of a picture in the plane
const MOST_RINGS = 60; // more would hide the points they stand for

/** What is drawn is the state of an explorer: its points, view, colours, sheet, choice, selection, cursor and lasso. */
export class Drawing {
  constructor(explorer, base, over) {
    Object.assign(this, { explorer, base, over });
    this.forget();
  }

  /** The colours or the points are others: what was drawn once for all has to be drawn anew. */
  forget() {
    this.stamps = new Map();
    this.image = this.pictured = null;
  }

  resize() {
    const { view } = this.explorer;
    for (const canvas of [this.base, this.over]) sharpen(canvas, view.width, view.height);
    this.forget();
  }

  stampsNow() {
    const { points, view, colors } = this.explorer, r = radius(points.n, view);
    if (!this.stamps.has(r)) {
      this.stamps.set(r, makeStamps(points, r, this.base.width / view.width, colors.dark));
    }
    return this.stamps.get(r);
  }

  stamp(ctx, i, { canvas, half, side }) {
    const [x, y] = this.explorer.place(i);
    if (this.explorer.view.sees(x, y)) ctx.drawImage(canvas, x - half, y - half, side, side);
  }

  /** Rows drawn in full colour while the rest fades: the selection, and the chosen group or a single point's class. */
  strong() {
    const { selectedRows: rows, chosen, isKept, points } = this.explorer, { labels, members, peers } = points;
    const lit = chosen >= 0 ? members[chosen] : rows.length === 1 ? peers[labels[rows[0]]] : [];
    return lit.length ? [...lit.filter(isKept), ...rows] : rows;
  }

  /** All points; returns how many of those that are kept are in view, and as pictures (null if pictures are off). */
  drawBase() {
    const { points, view, chosen, selectedRows, order, rest, colors, keptClass } = this.explorer;
    const stamps = this.stampsNow(), lively = points.colors || keptClass; // what a search has found stands out
    const ctx = cleared(this.base, view.width, view.height, { willReadFrequently: true }); // it is written by hand
    const { width, height } = this.base, faded = selectedRows.length > 0 || chosen >= 0, strong = this.strong();
    this.image ??= ctx.createImageData(width, height);
    const layers = [
      [rest, () => stamps.grey, 0.16],
      [order, faded ? () => stamps.grey : keptClass ? stamps.of : stamps.base, faded ? 0.28 : lively ? 0.85 : 0.6],
      [strong, stamps.of, 1],
    ];
    const [, seen] = isCrowded(order, points, view)
      ? crowd(this.image, layers, points, view, colors.page)
      : blend(this.image, layers, points, view, colors.page);
    ctx.putImageData(this.image, 0, 0);
    const shown = this.drawPictures(ctx, faded ? 0.45 : 1);
    if (shown) for (const i of strong) this.stamp(ctx, i, stamps.of(points.groups[i]));
    return { seen, shown };
  }

  /** Some points as their pictures; which ones depends on the zoom only, so that none flickers while the view moves. */
  drawPictures(ctx, alpha) {
    const { points, view, sheet, pictures, order, colors } = this.explorer, half = PICTURE / 2;
    if (!pictures || !sheet) return null;
    if (this.pictured?.scale !== view.scale || this.pictured.order !== order) {
      const rows = apart(points.xy, order.filter((i) => sheet.has(i)), view.scale, PICTURE + 3);
      this.pictured = { scale: view.scale, order, rows };
    }
    let shown = 0;
    ctx.globalAlpha = alpha;
    for (const i of this.pictured.rows) {
      const [x, y] = this.explorer.place(i);
      if (!view.sees(x, y)) continue;
      shown++;
      sheet.draw(ctx, i, x - half, y - half, PICTURE);
      ctx.strokeStyle = points.colors ? readableOn(colors.dark, points.colors[points.groups[i]]) : GREY;
      ctx.lineWidth = 2;
      ctx.strokeRect(x - half, y - half, PICTURE, PICTURE);
    }
    ctx.globalAlpha = 1;
    return shown;
  }

  /** A ring round a point, with a rim of the page's colour. */
  ring(ctx, i, radius, color, width, dash = []) {
    const [x, y] = this.explorer.place(i);
    for (const [style, thick, gaps] of [[this.explorer.colors.page, width + 2, []], [color, width, dash]]) {
      ctx.beginPath();
      ctx.setLineDash(gaps);
      ctx.strokeStyle = style;
      ctx.lineWidth = thick;
      ctx.arc(x, y, radius, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.setLineDash([]);
  }

  drawOver() {
    const { points, view, colors, selectedRows: rows, hover, current, linked, chosen, isKept } = this.explorer;
    const ctx = cleared(this.over, view.width, view.height), stamps = this.stampsNow(), { r } = stamps;
    const only = rows.length === 1 ? rows[0] : -1, mark = current >= 0 ? current : hover;
    const alone = !points.colors && chosen < 0 && only < 0 && mark >= 0; // a grey plane: the group under the cursor
    const pointed = alone ? points.members[points.groups[mark]].filter(isKept) : [];
    for (const i of pointed) this.stamp(ctx, i, stamps.of(points.groups[i]));
    if (only >= 0) this.drawNeighbours(ctx, only);
    else if (rows.length <= MOST_RINGS) for (const i of rows) this.ring(ctx, i, r + 1.5, colors.text, 1.2);
    if (only >= 0) this.ring(ctx, only, r + 5, colors.text, 2.5);
    if (linked >= 0) this.ring(ctx, linked, r + 7, colors.accent, 3, [5, 3]);
    if (mark >= 0) this.ring(ctx, mark, r + 4, colors.accent, 2.5);
    if (this.explorer.lasso?.length > 1) this.drawLasso(ctx);
  }

  /** Lines to the nearest points in the embedding space: solid within the class, dashed and orange to others. */
  drawNeighbours(ctx, only) {
    const { points, colors, model } = this.explorer, { labels, groups } = points, from = this.explorer.place(only);
    const { r, of, stranger } = this.stampsNow();
    for (const { row } of neighbours(points, only, model.get("near"))) {
      if (row < 0) continue;
      const same = labels[row] === labels[only], color = readableOn(colors.dark, same ? SAME : OTHER);
      ctx.beginPath();
      ctx.setLineDash(same ? [] : [6, 4]);
      ctx.strokeStyle = color;
      ctx.lineWidth = 1.6;
      ctx.moveTo(...from);
      ctx.lineTo(...this.explorer.place(row));
      ctx.stroke();
      this.stamp(ctx, row, (same ? of : stranger)(groups[row]));
      this.ring(ctx, row, r + 3, color, 2, same ? [] : [4, 3]);
    }
    this.stamp(ctx, only, of(groups[only]));
  }

  drawLasso(ctx) {
    ctx.beginPath();
    for (const [px, py] of this.explorer.lasso) ctx.lineTo(px, py);
    ctx.closePath();
    ctx.fillStyle = ctx.strokeStyle = this.explorer.colors.accent;
    ctx.globalAlpha = 0.15;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.lineWidth = 2;
    ctx.stroke();
  }
}
