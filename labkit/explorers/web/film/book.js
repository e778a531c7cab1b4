// The film in a page of the book.
import { mountAll } from "../hosts/book.js";
import { render } from "./film.js";

mountAll("labkit-films", render);
