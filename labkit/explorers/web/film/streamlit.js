// The film as a component of Streamlit.
import { component } from "../hosts/streamlit.js";
import { render } from "./film.js";

export default component(render, { bytes: ["films"], state: "view", sent: ["step", "turn", "tilt"] });
