// The playground in a page of the book, or in one of its own.
import { mountAll } from "../hosts/book.js";
import { render } from "./playground.js";

mountAll("labkit-playgrounds", render);
