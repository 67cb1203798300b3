// All of the player in one file: packviz/show/movie/player.js, which `make player` writes.

import { framed } from "./frame.js";
import { start } from "./page.js";

export { exercise } from "./exercise.js";
export { mount } from "./player.js";
export { default } from "./streamlit.js";
export { explainPage } from "./terms.js";

start();
framed();
