// The explorer in a page of the book.
import { mountAll } from "../hosts/book.js";
import { render } from "./explorer.js";

mountAll("labkit-embeddings", render);
