// What the explorers of one page share. A host imports a module once for every explorer, so it hangs on the page.

/** Events between explorers: "select" and "hover" of a group, "film" for films that go together, "blob" for bytes. */
export const BUS = (globalThis.labkitExplorers ??= new EventTarget());

/** Bytes by the name of their content, kept by hosts/streamlit_blob.js. */
export const BLOBS = (globalThis.labkitBlobs ??= new Map());

/** What the reader set up, by the model's "place": Streamlit mounts anew when something above has changed. */
export const KEPT = (globalThis.labkitViews ??= new Map());

/** Call back when the stage gets another size, and when the page may have other colours; until the signal stops it. */
export function watchPage(stage, { resized, recolored, signal }) {
  const size = new ResizeObserver(resized);
  size.observe(stage);
  const theme = new MutationObserver(recolored); // JupyterLab and Streamlit mark their theme there
  for (const at of [document.documentElement, document.body]) theme.observe(at, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolored, { signal });
  signal.addEventListener("abort", () => {
    size.disconnect();
    theme.disconnect();
  });
}
