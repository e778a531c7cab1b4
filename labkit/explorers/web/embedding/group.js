// Explorers of one group on a page follow each other, by ids: what is selected, and what is under the cursor.
import { BUS } from "../shared/page.js";

/** Tell the others of the explorer's group. */
export function tell(explorer, what, detail) {
  const group = explorer.model.get("group");
  if (group) BUS.dispatchEvent(new CustomEvent(what, { detail: { ...detail, group, from: explorer } }));
}

/** Follow them, until the signal stops it. */
export function joinGroup(explorer, signal) {
  const { model } = explorer;
  const follow = (what, act) => {
    const heard = ({ detail }) => detail.from !== explorer && detail.group === model.get("group") && act(detail);
    BUS.addEventListener(what, heard, { signal });
  };
  follow("select", ({ ids }) => {
    model.set("selected", ids); // not saved: Python keeps the models of a group in step itself
    explorer.show(ids);
  });
  follow("hover", ({ id }) => {
    if (!explorer.points) return;
    explorer.linked = explorer.points.row.get(id) ?? -1;
    explorer.page.root.dataset.linked = explorer.linked >= 0 ? id : "";
    explorer.draw();
  });
}
