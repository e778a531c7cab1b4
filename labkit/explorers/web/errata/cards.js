// Ids of errata in a lesson's text become cards: pointing at one, Tab or a tap shows what the erratum says.
import { make } from "../shared/elements.js";

const ID = /\bE-[A-Z]{2,4}-(?:\d+|[A-Z])\b/;
const SKIP = "script, style, pre, code, textarea, svg, .erratum, .cm-editor";

function card(id, text) {
  const holder = make("span", "erratum", "", { tabindex: "0", role: "button", "aria-label": `${id}: ${text}` });
  holder.append(make("span", "id", id), make("span", "tip", text, { "aria-hidden": "true" }));
  holder.addEventListener("keydown", (event) => event.key === "Escape" && holder.blur());
  return holder;
}

/** Turn every known id below an element into a card; texts: by id. */
export function decorate(root, texts) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) if (ID.test(walker.currentNode.data) && !walker.currentNode.parentElement.closest(SKIP)) found.push(walker.currentNode);
  for (const node of found) {
    const parts = node.data.split(new RegExp(`(${ID.source})`));
    node.replaceWith(...parts.map((part) => (Object.hasOwn(texts, part) ? card(part, texts[part]) : document.createTextNode(part))));
  }
}
