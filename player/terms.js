// What the words of captions and code mean, for who points at them, taps them or comes to them with Tab.

import { el } from "./dom.js";

/** @type {Record<string, string>} */
const TERMS = {
  batch_sizes: "batch_sizes[t]: how many sequences are still running at time step t",
  lengths: "how many tokens each sequence has",
  h_0: "h_0: the hidden state before the first time step",
  c_0: "c_0: the LSTM's cell state before the first time step",
  h_n: "h_n: the hidden state of each sequence after its own last time step",
  c_n: "c_n: the LSTM's cell state of each sequence after its own last time step",
  "hidden state": "the numbers in which the cell keeps what it has read so far",
  sorted_indices: "sorted_indices[i]: which sequence stands at place i after sorting",
  unsorted_indices: "unsorted_indices[b]: at which place sequence b stands after sorting",
  enforce_sorted: "True: you promise that the longest sequence comes first. False: PyTorch sorts for you.",
  batch_first: "True: a grid is (batch, time, features). False: (time, batch, features).",
  total_length: "how many time steps the unpacked grid has",
  offset: "offset[t]: the packed row at which time step t begins",
  N: "N: how many packed rows there are, the sum of all lengths",
  T: "T: how many time steps the grid has",
  F: "F: how many numbers there are for each token",
  embedding: "a table that turns each id into a vector of numbers",
  live: "a sequence is live as long as it has a token at this time step",
  padding: "values that fill up short rows; they mean nothing",
  pads: "values that fill up short rows; they mean nothing",
  filler: "values that fill up short rows; they mean nothing",
};
const WORDS = Object.keys(TERMS).filter((term) => term.length > 1),
  ANY = new RegExp(`\\b(${WORDS.join("|")}|[NTF](?= = ))\\b`);

/**
 * The text, with each of its terms to be explained.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export const explained = (text) =>
  text.split(ANY).map((part) => (TERMS[part] ? el("abbr", { tabindex: 0 }, part) : part));

const MEANING = "pv-meaning";
/**
 * Say what a term means beside it, until something else is pointed at, tapped or focused. Returns what hides that.
 * @param {HTMLElement} root
 * @param {HTMLElement} tip
 */
export function explaining(root, tip) {
  tip.id = MEANING;
  /** @type {HTMLElement | null} */
  let told = null;
  const tell = (/** @type {HTMLElement | null} */ term) => {
    told?.removeAttribute("aria-describedby");
    told = term;
    tip.hidden = !term;
    if (!term) return;
    term.setAttribute("aria-describedby", MEANING);
    tip.textContent = TERMS[term.textContent];
    const at = term.getBoundingClientRect(),
      { left, top, width } = root.getBoundingClientRect(),
      x = Math.min(at.left - left, width - tip.offsetWidth - 6),
      above = at.top - top - tip.offsetHeight - 4;
    tip.style.left = `${Math.max(6, x)}px`;
    tip.style.top = `${root.scrollTop + (at.top - tip.offsetHeight > 8 ? above : at.bottom - top + 4)}px`;
  };
  const of = (/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target).closest("abbr");
  root.addEventListener("pointerover", (event) => event.pointerType === "mouse" && of(event) && tell(of(event)));
  root.addEventListener("pointerout", (event) => event.pointerType === "mouse" && of(event) && tell(null));
  root.addEventListener("focusin", (event) => tell(of(event)));
  root.addEventListener("focusout", () => tell(null));
  root.addEventListener("click", (event) => of(event) && tell(of(event)));
  return () => tell(null);
}
