// The film as an anywidget.
import { render } from "./film.js";

export default { render };
