// What a phone remembers of a room in its own storage: its token, what was typed, and a vote that is still on its way.

/**
 * alone: the question whose movie this phone looks at by itself. first: the answer of the first vote.
 *
 * @typedef {{ question: number, round: number, answer: unknown }} Vote
 * @typedef {{ token?: string, name?: string, draft?: { at: string, text: string }, vote?: Vote, first?: Vote, alone?: number, at?: number }} Kept
 */

const PREFIX = "packviz class ",
  DAYS = 2 * 24 * 3600 * 1000; // ms; rooms are deleted after one day

/** @type {Map<string, Kept>} */
const here = new Map(); // where the browser keeps nothing

/**
 * @param {string} code
 * @returns {Kept}
 */
export function recall(code) {
  try {
    for (const name of Object.keys(localStorage))
      if (name.startsWith(PREFIX) && !(JSON.parse(localStorage[name]).at > Date.now() - DAYS))
        localStorage.removeItem(name);
    return JSON.parse(localStorage[PREFIX + code] ?? "null") ?? here.get(code) ?? {};
  } catch {
    return here.get(code) ?? {};
  }
}
/**
 * @param {string} code
 * @param {Kept} kept
 */
export function keep(code, kept) {
  here.set(code, kept);
  try {
    localStorage[PREFIX + code] = JSON.stringify({ ...kept, at: Date.now() });
  } catch {
    /* until the page is left */
  }
}
/** @param {string} code */
export function forget(code) {
  here.delete(code);
  try {
    localStorage.removeItem(PREFIX + code);
  } catch {
    /* it was not there */
  }
}
