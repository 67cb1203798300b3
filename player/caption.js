// The caption of the step, and the buttons beside it on the last one: where it leads.

import { button, el } from "./dom.js";
import { explained } from "./terms.js";

const LETTER_OR_BOLD = /(\{[A-Z]+\}[^\s*{]*|\*\*.+?\*\*)/; // a letter with what follows it: no line begins with its comma

export class Caption {
  #onward;
  #text = el("p", { class: "pv-caption", "data-testid": "packviz-caption" });

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.#onward = (player.options.onward ?? []).map(({ label, go }) =>
      button(label, go, { class: "pv-onward", hidden: "" }),
    );
    this.root = el("div", { class: "pv-say" }, this.#text, ...this.#onward);
  }
  /** As it is read on the screen. */
  get text() {
    return this.#text.textContent;
  }
  showStep() {
    const { step, steps, now } = this.player;
    this.write();
    this.root.dataset.tone = now.tone ?? "";
    for (const way of this.#onward) way.hidden = step !== steps;
  }
  /** Write it, its letters in the hues of the theme. */
  write() {
    const { player } = this,
      { activeElement } = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    if (this.root.contains(activeElement)) player.root.focus({ preventScroll: true }); // the focused element is removed
    const parts = player.now.caption.replaceAll(" %", "\u00a0%").split(LETTER_OR_BOLD);
    this.#text.replaceChildren(...parts.flatMap((part) => this.#written(part)));
  }
  /**
   * A part of it: bold, the letter of a sequence, or plain.
   * @param {string} part
   */
  #written(part) {
    if (part.startsWith("**")) return el("strong", {}, ...explained(part.slice(2, -2)));
    const found = /^\{([A-Z]+)\}(.*)$/.exec(part),
      seq = found && this.player.movie.sequences.find(([label]) => label === found[1]);
    if (!seq) return explained(part);
    const hue = this.player.picture.theme.hues[seq[1]];
    const chip = el("span", { class: "pv-chip", style: `background:${hue.fill};color:${hue.text}` }, seq[0]);
    return el("span", { class: "pv-chipped" }, chip, found[2]);
  }
}
