// Answers to a prediction: what was typed is brought into the form in which Python lists the answers, and looked up. Here
// they are also kept for a reload.

/** @import { Question, Solution, Verdict } from "./types" */

const KEPT = "packviz answers"; // in sessionStorage: the answers to each question as they were read, by its sealed solution

export const LONGEST = 2000; // characters of an answer, as MAX_CHARACTERS in prediction.py

const CUT = 24; // letters of a word that could not be read
const HIDDEN = /[\xad\u061c\u115f\u1160\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\u3164\ufeff\ud800-\udfff]/gu; // of _HIDDEN in characters.py
const SPACE = /[\s\p{Cc}]+/gu; // white space and control characters

/**
 * A decimal digit of any script as 0 to 9: the ten digits of a script follow one another.
 * @param {string} digit
 */
function ascii(digit) {
  const code = /** @type {number} */ (digit.codePointAt(0));
  let before = 0;
  while (before < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++;
  return String(before);
}
/**
 * What was typed in plain characters, as `_legible` in prediction.py returns it.
 * @param {string} typed
 */
const legible = (typed) =>
  typed
    .normalize("NFKC")
    .replace(/\p{Nd}/gu, ascii)
    .replace(SPACE, " ")
    .trim();

/**
 * A text for a message, in quotes and cut, with a sign for what is invisible.
 * @param {string} text
 */
function quoted(text) {
  const letters = [...text.replace(HIDDEN, "\ufffd")];
  return `'${letters.length > CUT ? `${letters.slice(0, CUT - 1).join("")}…` : letters.join("")}'`;
}

/**
 * An answer as Python spells it, so that answers can be compared; throws an Error for what cannot be read. It takes and
 * refuses what `Prediction.read` does.
 * @param {Question} question
 * @param {string} typed
 */
export function readAnswer({ form, parts: { skipped, one, words, unread, single } }, typed) {
  if (form === "choice") return typed;
  const refusal = (/** @type {string} */ got) => new Error(unread.replace("{got}", () => got));
  const known = new RegExp(`^${one}$`),
    text = legible(typed),
    length = [...typed].length;
  if (!text) throw refusal("nothing");
  if (length > LONGEST) throw refusal(`a text of ${length} characters`);
  const parts = text.replace(new RegExp(skipped, "gi"), " ").split(" ").filter(Boolean);
  const given = parts.flatMap((part) => {
    const meant = form === "numbers" ? numberOf(part, known, words) : lettersOf(part.toUpperCase(), known, words);
    if (!meant) throw refusal(quoted(part));
    return meant;
  });
  const answer = form === "numbers" ? given : inOrder(given);
  if ((form === "numbers" && !answer.length) || (single && answer.length !== 1)) throw refusal(quoted(text));
  return answer.join(" ") || "none";
}
/**
 * A number without a plus, zeros before it, and decimals, or the one that a word stands for; null if it is none.
 * @param {string} part
 * @param {RegExp} known
 * @param {Record<string, string[]>} words
 */
function numberOf(part, known, words) {
  const found = known.exec(part);
  return found ? [String(BigInt(found[1]))] : (words[part.toUpperCase().replace(/\.+$/, "")] ?? null);
}
/**
 * The sequences that a word in capitals names: itself, none, all, or each of its letters; null for others.
 * @param {string} word
 * @param {RegExp} known
 * @param {Record<string, string[]>} words
 */
function lettersOf(word, known, words) {
  if (known.test(word)) return [word];
  return words[word] ?? ([...word].every((letter) => known.test(letter)) ? [...word] : null);
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
  return { right: false, reason: parts(given) === parts(answer) ? otherwise : miscounted };
}

/**
 * Whether an answer counts as a try, as `Prediction.counts` says.
 * @param {Question} question
 * @param {string} given as `readAnswer` returns it, like those before it
 * @param {(string | null)[]} [before]
 */
export function counts(question, given, before = []) {
  const { answer, slips } = solutionOf(question);
  const known = given === answer || slips.some(([wrong]) => wrong === given);
  return !before.includes(given) && (known || question.form !== "numbers" || parts(given) === parts(answer));
}

/** @param {string} spelled */
const parts = (spelled) => spelled.split(" ").length;

/**
 * The sentence of a prompt that asks: the one with a question mark or, if there is none, the last one.
 * @param {string} prompt
 */
export function asking(prompt) {
  const sentences = prompt.split(/(?<=[.?]) (?=[A-Z`])/);
  return sentences.find((sentence) => sentence.endsWith("?")) ?? sentences.at(-1);
}

/** @returns {Record<string, (string | null)[]>} empty if the browser stores nothing; null: it was shown */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}
/** @param {Question} question */
export const kept = ({ sealed }) => stored()[sealed] ?? [];
/**
 * @param {Question} question
 * @param {(string | null)[]} said
 */
export function keep({ sealed }, said) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ ...stored(), [sealed]: said }));
  } catch {
    // then the question starts over when the page is reopened
  }
}
