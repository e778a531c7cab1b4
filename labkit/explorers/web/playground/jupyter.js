// The playground as an anywidget.
import { render } from "./playground.js";

export default { render };
