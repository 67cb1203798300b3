// The player on a page of its own, which carries its movie (packviz/show/movie/page.html).

import { mount } from "./player.js";

/** Play the page's movie, if this is such a page and nothing plays there yet. */
export async function start() {
  /** @type {HTMLElement | null} */
  const host = document.querySelector("main.pv-page:empty"),
    carried = document.querySelector("script#movie");
  if (!host || !carried) return;
  const packed = Uint8Array.from(atob(carried.textContent), (letter) => letter.charCodeAt(0));
  const movie = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  const step = Number(new URLSearchParams(location.hash.slice(1)).get("step")) || 1;
  const onStep = (/** @type {number} */ now) => {
    try {
      history.replaceState(null, "", `#step=${now}`);
    } catch {
      /* a frame has no address */
    }
  };
  mount(host, movie, { step, onStep });
}
