// The code beside the picture: the whole program with its current statement, and the lines that run within this step.

/** @import { CodeLine } from "./types" */

import { el } from "./dom.js";
import { explained } from "./terms.js";

const FADE = 34, // pixels of the panel that "more" covers
  ROUNDING = 4; // pixels out of sight that are no further line

/**
 * A line that is wider than the panel goes on below, further in than it begins.
 * @param {string} text
 */
const line = (text) => el("span", { style: `--pv-in: ${text.search(/\S|$/) + 4}ch` }, ...explained(text));

/** @param {CodeLine} line */
const item = ([text, shape]) =>
  el("li", {}, el("code", {}, ...text.split(/(?<=\n)/).map(line)), el("span", { class: "pv-shape" }, shape));

export class Program {
  #code = el("ol");
  #detail = el("ol", { class: "pv-detail" });
  #proof = el("p", { class: "pv-proof", "data-testid": "packviz-proof" });

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    const name = "The code";
    this.root = el(
      "div",
      { class: "pv-code", tabindex: "0", role: "region", "aria-label": name },
      el("h2", {}, name),
      this.#code,
      el("h2", {}, "This step"),
      this.#detail,
      this.#proof,
    );
  }
  /** @param {AbortSignal} signal */
  listen(signal) {
    this.root.addEventListener("scroll", () => this.markMore(), { signal });
  }
  load() {
    const { code, exact, proof } = this.player.movie;
    this.#code.replaceChildren(...code.map(item));
    this.#proof.textContent = (exact ? "✓ " : "") + proof;
    this.#proof.dataset.exact = String(exact);
  }
  /** @param {boolean} moved */
  showStep(moved) {
    const { step, steps, now, stages, movie } = this.player,
      last = [...stages.keys()].findLast((stage) => movie.lines[stage] === now.code), // of the stages that share it
      made = now.stage === last && (step > 1 || steps === 1);
    [...this.#code.children].forEach((node, i) => {
      node.ariaCurrent = i === now.code ? "true" : null;
      const computed = i < now.code || (i === now.code && made);
      /** @type {HTMLElement} */ (node.lastChild).hidden = !computed; // it may need a line of its own
    });
    this.#detail.replaceChildren(...(now.detail ?? []).map(item));
    const begins = [...stages.values()].at(-1) ?? 1,
      ran = step > begins || steps === begins;
    this.#proof.style.visibility = ran ? "" : "hidden"; // before, not all that it names has run
    if (moved) this.scroll();
    this.markMore();
  }
  /** The bottom of the last thing in the panel that is seen: of its lines, or of what torch confirms in the end. */
  get end() {
    const lines = [...this.#code.children, ...this.#detail.children].filter((node) => node.getClientRects().length),
      last = this.#proof.style.visibility ? lines.at(-1) : this.#proof;
    return last?.getBoundingClientRect().bottom ?? 0;
  }
  /**
   * Scroll so that what this step runs is in view, and so is the statement that it belongs to. Below the heading, which stays,
   * a whole statement comes first, so below the last line there is as much room as that takes.
   */
  scroll() {
    const { root } = this,
      lines = [...this.#code.children],
      statement = this.#code.querySelector("[aria-current]");
    if (!statement) return;
    const { top: edge, bottom } = root.getBoundingClientRect(),
      scrolled = root.scrollTop, // by which everything but the heading is higher now
      runs = this.#detail.children.length ? this.#detail : statement,
      head = edge + (this.#code.previousElementSibling?.getBoundingClientRect().height ?? 0),
      last = Math.min(runs.getBoundingClientRect().bottom + FADE, this.end),
      least = last + scrolled - bottom,
      before = lines.slice(0, lines.indexOf(statement) + 1),
      above = before.map((node) => node.getBoundingClientRect().top + scrolled - head),
      top = least > 0 ? (above.find((top) => top >= least) ?? above.at(-1)) : 0;
    this.#proof.style.marginBottom = "";
    const short = top + root.clientHeight - root.scrollHeight;
    if (short > 0) this.#proof.style.marginBottom = `${short}px`;
    root.scrollTop = top;
  }
  /** Show whether it begins above its visible part, and continues below it. */
  markMore() {
    this.root.toggleAttribute("data-before", this.root.scrollTop > ROUNDING);
    this.root.toggleAttribute("data-more", this.end > this.root.getBoundingClientRect().bottom + ROUNDING);
  }
}
