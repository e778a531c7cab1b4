// Outputs that give an answer away are covered: all that follow a question, up to the next heading.

const HEADING = "h1, h2, h3";

/** Elements with outputs after a question, in JupyterLab or in the book. */
function following(el) {
  const cell = el.closest(".jp-Cell"), found = [];
  let at = cell ?? el.closest(".shown");
  while ((at = at?.nextElementSibling)) {
    if (at.querySelector(HEADING) && !at.matches(".jp-CodeCell, .shown")) break;
    if (at.querySelector(".labkit-predictions")) break;
    if (cell) found.push(...at.querySelectorAll(".jp-Cell-outputArea"));
    else if (at.matches(".shown, .printed")) found.push(at);
  }
  return found;
}

/** Cover them until the returned function is called. JupyterLab makes cells when they come into view, so look again. */
export function coverFollowing(el) {
  const covered = new Set();
  const cover = () => {
    if (!el.isConnected) return;
    for (const one of following(el)) {
      one.classList.add("labkit-covered");
      covered.add(one);
    }
  };
  cover();
  const clock = setInterval(cover, 400);
  return () => {
    clearInterval(clock);
    for (const one of covered) one.classList.remove("labkit-covered");
  };
}
