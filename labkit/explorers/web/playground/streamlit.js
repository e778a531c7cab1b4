// The playground as a component of Streamlit.
import { component } from "../hosts/streamlit.js";
import { render } from "./playground.js";

export default component(render, { bytes: [], state: "view", sent: ["state"] });
