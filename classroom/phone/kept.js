// What a phone remembers of a room in its own storage: its token, what was typed, and a vote that is still on its way.

/** @import { ForPhones } from "./seen" */

/**
 * alone: the question or item whose movie this phone looks at by itself. first: the answer of the first vote.
 *
 * @typedef {Pick<ForPhones, "round" | "read" | "confidence"> & { question: number, answer: ForPhones["mine"] }} Vote
 * @typedef {{ token?: string, name?: string, draft?: { at: string, text: string }, vote?: Vote, first?: Vote, alone?: string, at?: number }} Kept
 */

const PREFIX = "packviz class ",
  DAYS = 2 * 24 * 3600 * 1000; // ms; rooms are deleted after one day

/** @type {Map<string, Kept>} */
const here = new Map(); // where the browser keeps nothing

/**
 * Use the browser's storage; null if there is none.
 * @param {(storage: Storage) => any} use
 */
function stored(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
/**
 * @param {string} code
 * @returns {Kept}
 */
export const recall = (code) =>
  stored((storage) => {
    for (const name of Object.keys(storage))
      if (name.startsWith(PREFIX) && !(JSON.parse(storage[name]).at > Date.now() - DAYS)) storage.removeItem(name);
    return JSON.parse(storage[PREFIX + code] ?? "null");
  }) ??
  here.get(code) ??
  {};
/**
 * @param {string} code
 * @param {Kept} kept
 */
export function keep(code, kept) {
  here.set(code, kept);
  stored((storage) => storage.setItem(PREFIX + code, JSON.stringify({ ...kept, at: Date.now() })));
}
/** @param {string} code */
export function forget(code) {
  here.delete(code);
  stored((storage) => storage.removeItem(PREFIX + code));
}
