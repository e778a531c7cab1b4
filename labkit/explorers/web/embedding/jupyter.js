// The explorer as an anywidget.
import { render } from "./explorer.js";

export default { render };
