// What the words of captions and code mean, for who points at them.

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
  embedding: "a table that turns each id into a vector of numbers",
  live: "a sequence is live as long as it has a token at this time step",
  padding: "values that fill up short rows; they mean nothing",
  pads: "values that fill up short rows; they mean nothing",
  filler: "values that fill up short rows; they mean nothing",
};
const ANY = new RegExp(`\\b(${Object.keys(TERMS).join("|")})\\b`);

/**
 * The text, with each term explained when it is pointed at.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export const explained = (text) =>
  text.split(ANY).map((part) => (TERMS[part] ? el("abbr", { title: TERMS[part] }, part) : part));
