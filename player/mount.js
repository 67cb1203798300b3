// A player in its place on the page or, if there can be none, the reason.

/** @import { Movie, Options } from "./types" */

import { el } from "./dom.js";
import { Player } from "./player.js";

/**
 * @param {HTMLElement | ShadowRoot} host
 * @param {Movie} movie
 * @param {Options} options
 */
export function mount(host, movie, options = {}) {
  let player;
  host.querySelector(".pv-none")?.remove();
  try {
    player = new Player(host, options);
    player.load(movie, options.step ?? 1);
    return player;
  } catch (reason) {
    player?.destroy();
    giveUp(host, reason);
    throw reason;
  }
}

/**
 * Show the reason in place of the player.
 * @param {HTMLElement | ShadowRoot} host
 * @param {any} reason
 */
export function giveUp(host, reason) {
  host.querySelector(".pv-none")?.remove();
  const said = `The picture could not be shown: ${reason.message}. Reload the page, or try a newer browser.`;
  host.append(el("div", { class: "pv pv-none" }, el("p", { class: "pv-failed", role: "alert" }, said)));
}
