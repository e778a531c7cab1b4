// The explorer as a component of Streamlit.
import { component } from "../hosts/streamlit.js";
import { render } from "./explorer.js";

export default component(render, { bytes: ["points", "sheet"], state: "selection", sent: ["selected", "lasso"] });
