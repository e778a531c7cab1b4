// What the reader set up stays when a host mounts the same points in the same place anew.
import { KEPT } from "../shared/page.js";

export function keep(explorer) {
  const place = explorer.model.get("place");
  if (!place) return;
  const { tool, pictures, chosen } = explorer, { title, subtitle, by } = explorer.points;
  const { x, y, scale, first, touched } = explorer.view;
  KEPT.set(place, { title, subtitle, by, view: { x, y, scale, first, touched }, tool, pictures, chosen });
}

/** Whether there was something to restore. */
export function restore(explorer) {
  const kept = KEPT.get(explorer.model.get("place")), { points } = explorer;
  if (!points || kept?.title !== points.title || kept.subtitle !== points.subtitle) return false;
  if (kept.view.touched) Object.assign(explorer.view, kept.view);
  explorer.setTool(kept.tool);
  explorer.setPictures(kept.pictures);
  if (kept.by === points.by) explorer.choose(kept.chosen);
  return true;
}
