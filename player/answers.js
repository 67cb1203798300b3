// Answers to a prediction: what was typed is brought into the form in which Python lists the answers, and looked up.

/** @import { Question, Solution, Verdict } from "./types" */

const CUT = 24; // letters of a word that could not be read
const APART = /(?<=\d)\s*[xX×*]\s*(?=\d)|[\s,;、()[\]{}'"]+/u;

/**
 * The words of an answer: without white space, commas and brackets, and without the zeros around a number and the sign of -0.
 * @param {string} typed
 */
const wordsOf = (typed) =>
  typed
    .normalize("NFKC")
    .split(APART)
    .map((word) =>
      word
        .replace(/^\+|\.0*$/g, "")
        .replace(/^(-?)0+(?=\d)/, "$1")
        .replace(/^-0$/, "0"),
    )
    .filter(Boolean);

/**
 * An answer as Python spells it, so that answers can be compared; throws an Error for what cannot be read.
 * @param {Question} question
 * @param {string} typed
 */
export function readAnswer({ form, parts: { one, words, unread, single } }, typed) {
  if (form === "choice") return typed;
  const known = new RegExp(`^(?:${one})$`, "i"),
    isKnown = (/** @type {string} */ part) => known.test(part),
    told = wordsOf(typed);
  const parts = told.flatMap((word) => {
    const meant = isKnown(word) ? [word] : words[word.toUpperCase()];
    return meant ?? (form === "letters" && [...word].every(isKnown) ? [...word] : [word]);
  });
  const given = form === "letters" ? inOrder(parts.map((part) => part.toUpperCase())) : parts,
    missing = !told.length || (form === "numbers" && !parts.length) || (single && given.length !== 1);
  const wrong = parts.find((part) => !isKnown(part)) ?? (missing ? typed.trim() : null);
  if (wrong === null) return given.join(" ") || "none";
  const letters = [...wrong],
    got = letters.length > CUT ? `${letters.slice(0, CUT - 1).join("")}…` : wrong;
  throw new Error(unread.replace("{got}", () => `'${got}'`));
}
/** @param {string[]} letters */
const inOrder = (letters) => [...new Set(letters)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));

/**
 * @param {Question} question
 * @returns {Solution}
 */
export function solutionOf({ sealed }) {
  const bytes = Uint8Array.from(atob(sealed), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * Right, a typical mistake with its own reason, or wrong.
 * @param {Question} question
 * @param {string} given as `readAnswer` returns it
 * @returns {Verdict}
 */
export function judge(question, given) {
  const { answer, why, slips, miscounted, otherwise } = solutionOf(question);
  if (given === answer) return { right: true, reason: why };
  const slip = slips.find(([wrong]) => wrong === given);
  if (slip) return { right: false, reason: slip[1] };
  const counts = (/** @type {string} */ spelled) => spelled.split(" ").length;
  return { right: false, reason: counts(given) === counts(answer) ? otherwise : miscounted };
}
