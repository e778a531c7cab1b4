// Errata of a page of the book, and of a notebook in JupyterLab, whose texts are rendered again and again.
import { decorate } from "./cards.js";

const texts = JSON.parse([...document.querySelectorAll("script.labkit-errata")].at(-1).textContent);
const inLab = document.body.hasAttribute("data-jp-theme-light");

if (!inLab) decorate(document.querySelector("main") ?? document.body, texts);
else if (!globalThis.labkitErrata) {
  const all = () => {
    for (const text of document.querySelectorAll(".jp-RenderedMarkdown")) decorate(text, globalThis.labkitErrata);
  };
  let wanted = 0;
  const soon = () => (wanted ||= setTimeout(() => ((wanted = 0), all()), 200));
  globalThis.labkitErrata = texts;
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  soon();
}
