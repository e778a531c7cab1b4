// The card beside the point under the cursor: its picture, class, group and id.
import { make } from "../shared/elements.js";

const SIDE = 160; // pixels of its picture, twice what the page shows

export class Card {
  constructor(stage) {
    this.box = stage.appendChild(make("div", "card"));
    this.picture = this.box.appendChild(make("canvas", "", "", { width: SIDE, height: SIDE }));
    const words = this.box.appendChild(make("div"));
    this.name = words.appendChild(make("strong"));
    this.group = words.appendChild(make("small"));
    this.id = words.appendChild(make("small"));
    this.hide();
  }

  hide() {
    this.box.hidden = true;
  }

  /** Show a point of an explorer, or nothing for -1. */
  show(explorer, i) {
    this.box.hidden = i < 0;
    if (i < 0) return;
    const { ids, classes, labels, grouped, names, groups } = explorer.points, { view } = explorer;
    this.picture.hidden = !explorer.sheet?.has(i);
    if (!this.picture.hidden) {
      const ctx = this.picture.getContext("2d");
      ctx.fillStyle = "white";
      ctx.fillRect(0, 0, SIDE, SIDE);
      explorer.sheet.draw(ctx, i, 0, 0, SIDE);
    }
    this.name.textContent = classes[labels[i]];
    this.group.textContent = grouped ? `${grouped.by}: ${names[groups[i]]}` : "";
    this.id.textContent = ids[i];
    this.box.dataset.id = ids[i];
    const [x, y] = explorer.place(i), { offsetWidth, offsetHeight } = this.box;
    const left = x + 18 + offsetWidth < view.width ? x + 18 : x - 18 - offsetWidth;
    const top = Math.min(view.height - offsetHeight - 6, Math.max(6, y - offsetHeight / 2));
    this.box.style.transform = `translate(${Math.max(6, left)}px, ${top}px)`;
  }
}
