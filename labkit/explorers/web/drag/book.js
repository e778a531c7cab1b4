// Dragged explorers in a page of the book, and in a lesson's output, where they need no kernel.
import { mountAll } from "../hosts/book.js";
import { circle } from "./circle.js";
import { maximum } from "./maximum.js";
import { mix } from "./mix.js";
import { order } from "./order.js";
import { proxies } from "./proxies.js";
import { strip } from "./strip.js";

const KINDS = { circle, maximum, mix, order, proxies, strip };

mountAll("labkit-drags", ({ model, el }) => KINDS[model.get("kind")]({ model, el }));
