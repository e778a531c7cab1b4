// Dragged explorers in a page of the book, and in a lesson's output, where they need no kernel.
import { mountAll } from "../hosts/book.js";
import { boxes } from "./boxes.js";
import { circle } from "./circle.js";
import { fold } from "./fold.js";
import { gain } from "./gain.js";
import { learning } from "./learning.js";
import { letters } from "./letters.js";
import { maximum } from "./maximum.js";
import { mix } from "./mix.js";
import { order } from "./order.js";
import { proxies } from "./proxies.js";
import { strip } from "./strip.js";

const KINDS = { boxes, circle, fold, gain, learning, letters, maximum, mix, order, proxies, strip };

mountAll("labkit-drags", ({ model, el }) => KINDS[model.get("kind")]({ model, el }));
