// R@1 over the steps: unseen and training classes, the untrained network as a line, and the run before as a shadow.
import { cleared, sharpen } from "../shared/elements.js";
import { axes, line, write } from "./chart.js";

export class History {
  constructor(stage, canvas) {
    Object.assign(this, { stage, canvas });
  }

  resize() {
    const box = this.stage.getBoundingClientRect(), border = 2 * this.stage.clientLeft;
    [this.width, this.height] = [box.width - border, box.height - border];
    if (this.width > 0) sharpen(this.canvas, this.width, this.height);
  }

  /** measured: [step, [[train, test] of each network]]; shadow: { name, measured } of the run before, or null. */
  draw({ measured, steps, shadow, colors }) {
    const ctx = cleared(this.canvas, this.width, this.height);
    const y = { least: 0, most: 1.04, ticks: [0, 0.25, 0.5, 0.75, 1], text: (value) => `${100 * value} %` };
    const x = { least: 0, most: steps, ticks: [0, steps / 2, steps], name: "training step" };
    const frame = axes(ctx, { width: this.width, height: this.height, colors, x, y, left: 52 });
    const { px, py, left, right } = frame;
    const curve = (list, network, which) => {
      const known = list.filter(([, all]) => Number.isFinite(all[network]?.[which]));
      return known.map(([step, all]) => [px(step), py(all[network][which])]);
    };
    const stroke = (points, color, width, dash = []) => {
      [ctx.strokeStyle, ctx.lineWidth, ctx.lineJoin] = [color, width, "round"];
      ctx.setLineDash(dash);
      if (points.length > 1) line(ctx, points);
      ctx.setLineDash([]);
    };
    if (shadow) stroke(curve(shadow.measured, 0, 1).map(([at, top]) => [Math.min(at, right), top]), colors.line, 3);
    const untrained = measured[0]?.[1][0]?.[1];
    if (Number.isFinite(untrained)) stroke([[left, py(untrained)], [right, py(untrained)]], colors.text, 1.2, [2, 4]);
    const networks = measured[0]?.[1].length ?? 0;
    for (let k = networks - 1; k >= 0; k--) {
      ctx.globalAlpha = k ? 0.35 : 1;
      if (!k) stroke(curve(measured, k, 0), colors.soft, 1.6, [6, 4]);
      stroke(curve(measured, k, 1), colors.accent, k ? 1.6 : 3);
    }
    ctx.globalAlpha = 1;
    const now = measured.at(-1);
    if (now && Number.isFinite(now[1][0][1])) {
      ctx.fillStyle = colors.accent;
      ctx.beginPath();
      ctx.arc(px(now[0]), py(now[1][0][1]), 4.5, 0, 2 * Math.PI);
      ctx.fill();
    }
    if (!measured.length) {
      ctx.fillStyle = colors.soft;
      write(ctx, "R@1 appears here.", (left + right) / 2, py(0.5), "center");
    }
  }
}
