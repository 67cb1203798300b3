// The meaning of terms in captions and code, shown on hover, tap or keyboard focus.

import TERMS_OF_PACKVIZ from "../packviz/show/movie/terms.json" with { type: "json" };
import { el } from "./dom.js";

/** @type {Record<string, string>} */
const TERMS = TERMS_OF_PACKVIZ;

const WORDS = Object.keys(TERMS).filter((term) => term.length > 1),
  ANY = new RegExp(`\\b(${WORDS.join("|")}|[NTBF](?= = ))\\b`);
const found = (/** @type {string} */ text) => text.match(ANY)?.[0] ?? text.match(/^[NTBF]$/)?.[0];
/**
 * The meaning of the term in a text, which may begin a sentence or be several of them; a single letter is a size.
 * @param {string} text
 */
const meaning = (text) =>
  TERMS[found(text) ?? found(text.charAt(0).toLowerCase() + text.slice(1)) ?? found(text.replace(/s$/, ""))];

/**
 * The text with each of its terms made explainable.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export const explained = (text) => text.split(ANY).map((part, i) => (i % 2 ? el("abbr", { tabindex: 0 }, part) : part));

/**
 * A text with `code` in backticks.
 * @param {string} text
 * @param {(part: string) => (Node | string)[]} [say] how its words are rendered
 */
export const written = (text, say = explained) =>
  text.split("`").flatMap((part, i) => (i % 2 ? [el("code", {}, ...say(part))] : say(part)));

const EDGE = 6, // pixels between a meaning and the edges of what it is shown in,
  GAP = 4, // and between it and its term
  QUIET = 300; // ms until the texts of a page are marked after a change

const MEANING = "pv-meaning",
  TERM = "abbr, [data-term]",
  TEXTS = ".stMain :is([data-testid=stMarkdownContainer], .why) :is(code, em):not([data-term])", // in a sentence, a term is in italics
  BUSY = "a, button, label, summary, [role=tab], pre"; // where a click, or Tab, means something else
/** Also explain the terms in the texts of an app's page around the players, now and whenever they change. */
export function explainPage() {
  const tip = document.body.appendChild(el("div", { class: MEANING, role: "tooltip", hidden: "" }));
  const mark = () => {
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(TEXTS))) {
      if (!meaning(node.textContent) || node.closest(BUSY)) continue;
      node.dataset.term = ""; // the page's own nodes are not replaced, because React manages them
      node.tabIndex = 0;
    }
  };
  /** @type {number} */
  let waiting;
  new MutationObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(mark, QUIET);
  }).observe(document.body, { childList: true, subtree: true });
  mark();
  const meanings = new Meaning(document.body, tip);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && meanings.hide());
  document.addEventListener("scroll", () => meanings.hide(), true);
}

/** Shows a term's meaning beside it, until something else is pointed at, tapped or focused. */
export class Meaning {
  /** @type {HTMLElement | null} */
  #term = null;
  #root;
  #tip;

  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} tip
   */
  constructor(root, tip) {
    this.#root = root;
    this.#tip = tip;
    tip.id = `${MEANING}-${Math.random().toString(36).slice(2)}`; // there are several on a page
    /** @type {(event: Event) => HTMLElement | null} */
    const of = (event) => /** @type {HTMLElement} */ (event.target).closest(TERM);
    root.addEventListener(
      "pointerover",
      (event) => event.pointerType === "mouse" && of(event) && this.#show(of(event)),
    );
    root.addEventListener("pointerout", (event) => event.pointerType === "mouse" && of(event) && this.hide());
    root.addEventListener("focusin", (event) => this.#show(of(event)));
    root.addEventListener("focusout", () => this.hide());
    root.addEventListener("click", (event) => of(event) && this.#show(of(event)));
  }
  get open() {
    return !this.#tip.hidden;
  }
  hide() {
    this.#show(null);
  }
  /** @param {HTMLElement | null} term */
  #show(term) {
    const tip = this.#tip,
      root = this.#root;
    this.#term?.removeAttribute("aria-describedby");
    this.#term = term;
    tip.hidden = !term;
    if (!term) return;
    term.setAttribute("aria-describedby", tip.id);
    tip.textContent = meaning(term.textContent);
    const at = term.getBoundingClientRect(),
      { left, top, width } = root.getBoundingClientRect(),
      x = Math.min(at.left - left, width - tip.offsetWidth - EDGE),
      above = at.top - top - tip.offsetHeight - GAP,
      below = at.bottom - top + GAP;
    tip.style.left = `${Math.max(EDGE, x)}px`;
    tip.style.top = `${root.scrollTop + (at.top > tip.offsetHeight + 2 * GAP ? above : below)}px`;
  }
}
