// Axes of the small charts, and what is written on them.

/** A frame inside a canvas: places of values, ticks with labels, and the names of both axes. */
export function axes(ctx, { width, height, colors, x, y, left = 46, right = 12, top = 10, bottom = 40 }) {
  const across = x.scale ?? ((value) => (value - x.least) / (x.most - x.least));
  const px = (value) => left + across(value) * (width - left - right);
  const py = (value) => height - bottom - ((value - y.least) / (y.most - y.least)) * (height - top - bottom);
  ctx.font = `13px ${colors.font}`;
  [ctx.lineWidth, ctx.strokeStyle, ctx.fillStyle] = [1, colors.grid, colors.soft];
  for (const value of y.ticks) {
    line(ctx, [[left, py(value)], [width - right, py(value)]]);
    write(ctx, y.text ? y.text(value) : String(value), left - 6, py(value), "right");
  }
  for (const value of x.ticks) {
    line(ctx, [[px(value), height - bottom], [px(value), height - bottom + 4]]);
    const atEnd = px(value) > width - right - 14; // a centred number would be cut
    const [place, align] = atEnd ? [px(value) + 8, "right"] : [px(value), "center"];
    write(ctx, value.toLocaleString("en"), place, height - bottom + 13, align);
  }
  if (x.name) write(ctx, x.name, (left + width - right) / 2, height - 8, "center");
  return { px, py, left, right: width - right, top, bottom: height - bottom };
}

export function line(ctx, points) {
  ctx.beginPath();
  points.forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
}

export function write(ctx, text, x, y, align = "left", halo = null) {
  [ctx.textAlign, ctx.textBaseline] = [align, "middle"];
  if (halo) {
    const { strokeStyle, lineWidth } = ctx;
    [ctx.strokeStyle, ctx.lineWidth, ctx.lineJoin] = [halo, 4, "round"];
    ctx.strokeText(text, x, y);
    [ctx.strokeStyle, ctx.lineWidth] = [strokeStyle, lineWidth];
  }
  ctx.fillText(text, x, y);
}

/** Round numbers from 0 to at least `most`, four or five of them. */
export function ticksTo(most) {
  const rough = most / 4, ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * ten).find((one) => one >= rough * 0.999);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, k) => +(k * step).toPrecision(3));
}

/** An arrow with a head, its width in pixels. */
export function arrow(ctx, [x0, y0], [x1, y1], width) {
  const turn = Math.atan2(y1 - y0, x1 - x0), head = 3 + 2 * width;
  ctx.lineWidth = width;
  line(ctx, [[x0, y0], [x1 - 0.6 * head * Math.cos(turn), y1 - 0.6 * head * Math.sin(turn)]]);
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  for (const side of [2.6, -2.6]) ctx.lineTo(x1 + head * Math.cos(turn + side), y1 + head * Math.sin(turn + side));
  ctx.closePath();
  ctx.fill();
}
