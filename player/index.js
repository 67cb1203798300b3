// The entry point of the bundle packviz/show/movie/player.js, which `make player` writes.

import { widget } from "./anywidget.js";
import { start } from "./page.js";
import streamlit from "./streamlit.js";

export { framed } from "./frame.js";
export { mount } from "./mount.js";
export { explainPage } from "./terms.js";

/**
 * Streamlit calls it with its component; anywidget calls it without arguments, to get the widget.
 * @param {Parameters<typeof streamlit>[0]} [component]
 */
export default (component) => (component ? streamlit(component) : widget);

start();
