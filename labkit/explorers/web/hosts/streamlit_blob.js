// A component of Streamlit that shows nothing: it keeps large bytes for all explorers of a page, so that they are sent
// once and not again with every selection. In front of the bytes stands their name, 64 letters.
import { BLOBS, BUS } from "../shared/page.js";

export default function ({ data }) {
  const name = new TextDecoder().decode(data.subarray(0, 64)), bytes = data.slice(64);
  BLOBS.set(name, bytes);
  BUS.dispatchEvent(new CustomEvent("blob", { detail: name }));
  return () => {
    // not at once: an element that only changes its place is mounted anew; by then another call may have brought it
    setTimeout(() => BLOBS.get(name) === bytes && BLOBS.delete(name), 5000);
  };
}
