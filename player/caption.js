// The caption of the step, and the buttons beside it on the last one: where it leads.

/** @import { Read } from "./types" */

import { button, el } from "./dom.js";
import { explained } from "./terms.js";

const LETTER_OR_BOLD = /(\{[A-Z]+\}[^\s*{]*|\*\*.+?\*\*)/; // a letter with what follows it: no line begins with its comma

export class Caption {
  #onward;
  #text = el("p", { class: "pv-caption", "data-testid": "packviz-caption" });
  #reserved = ""; // the width that it was reserved for
  /** @type {Read | undefined} */
  #movie; // and the movie

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
    this.#text.replaceChildren(...this.#words(player.now));
  }
  /**
   * Keep as much room as the movie's longest caption takes at this width, so that a narrow player's picture has the same
   * height in each step. The first one has no such room beside a question, and the last one has none beside the ways on.
   */
  reserve() {
    const { picture, movie, question } = this.player,
      width = getComputedStyle(this.#text).width;
    if (!picture.theme || (movie === this.#movie && width === this.#reserved)) return;
    this.#movie = movie;
    this.#reserved = width;
    const steps = movie.steps.slice(question.root.hidden ? 0 : 1, this.#onward.length ? -1 : undefined),
      captions = steps.map((step) => el("p", { class: "pv-caption" }, ...this.#words(step))),
      aside = el("div", { class: "pv-measured", style: `width: ${width}` }, ...captions);
    this.root.append(aside);
    this.#text.style.setProperty(
      "--pv-longest",
      `${Math.max(0, ...captions.map((one) => one.getBoundingClientRect().height))}px`,
    );
    aside.remove();
  }
  /**
   * @param {{ caption: string }} step
   * @returns {(Node | string)[]}
   */
  #words({ caption }) {
    const parts = caption.split(LETTER_OR_BOLD);
    return parts.flatMap((part) => this.#written(part));
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
