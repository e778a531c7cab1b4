// Questions in a page of the book, and in a lesson's output, where they need no kernel.
import { mountAll } from "../hosts/book.js";
import { render } from "./predict.js";

mountAll("labkit-predictions", render);
