// The player on a standalone page, which contains its movie (packviz/show/movie/page.html).

import { framed } from "./frame.js";
import { mount } from "./mount.js";
import { savingMenu } from "./saving.js";

/**
 * Decode a movie from base64 of gzipped JSON.
 * @param {string} carried
 * @returns {Promise<import("./types").Movie>}
 */
export async function decompressed(carried) {
  const bytes = Uint8Array.from(atob(carried), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** Play the page's movies, each beside the script that carries it, if this is such a page and nothing plays there yet. */
export async function start() {
  const hosts = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main.pv-page:empty"));
  if (hosts.length) framed();
  for (const host of hosts) {
    const carried = host.nextElementSibling?.textContent;
    if (!carried) continue;
    const movie = await decompressed(carried);
    const asked = hosts.length === 1 && new URLSearchParams(location.hash.slice(1)).get("step");
    const onStep = (/** @type {number} */ now) => {
      try {
        if (hosts.length === 1) history.replaceState(null, "", `#step=${now}`);
      } catch {
        /* a frame has no address */
      }
    };
    mount(host, movie, { step: Number(asked || host.dataset.step) || 1, onStep, saving: savingMenu });
  }
}
