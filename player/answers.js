// Answers to a prediction, parsed as leniently as in packviz/teach/predictions/prediction.py.

/** @import { Question, Solution, Verdict } from "./types" */

const MAX_CHARACTERS = 2000,
  QUOTED = 24;
const NAME = /^(?:[\p{L}\p{N}_]+\s*={1,2}\s*)?(?:(?:torch\s*\.\s*)?(?:tensor|size|longtensor)(?![\p{L}\p{N}_]))?/iu;
const DTYPE = /,\s*(?:dtype|device)\s*=[^,()[\]]*/g,
  APART = /[\s,;，、()[\]{}'"]+/,
  BETWEEN_SIZES = /(?<=\p{Nd})\s*[x×*]\s*(?=\p{Nd})/giu,
  INTEGER = /^([+-]?\p{Nd}{1,18})(?:\.0*)?$/u;
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu; // except joiners, which emoji and several scripts need
const NOBODY = ["none", "nobody", "nothing", "-", "–", "—", "∅"];

/** @type {(number: number, noun: string) => string} */
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/**
 * @param {string} got
 * @param {string} expected
 * @param {string} fix
 */
const refusal = (got, expected, fix) => new Error(`Expected ${expected}, but got ${got}. ${fix}.`);

/**
 * In quotes, cut, and with a symbol for each invisible character.
 * @param {string} text
 */
function quoted(text) {
  const letters = [...text],
    cut = letters.length > QUOTED ? [...letters.slice(0, QUOTED - 1), "…"] : letters;
  const symbol = (/** @type {number} */ code) =>
    code < 32 ? String.fromCodePoint(0x2400 + code) : code === 127 ? "␡" : "\ufffd";
  return `'${cut.join("").replace(HIDDEN, (letter) => symbol(letter.codePointAt(0)))}'`;
}

/**
 * @param {string} typed
 * @param {string} expected
 * @param {string} fix
 */
function checked(typed, expected, fix) {
  const { length } = [...typed];
  if (!typed.trim()) throw refusal("nothing", expected, fix);
  if (length > MAX_CHARACTERS) throw refusal(`a text of ${length} characters`, expected, fix);
  return typed.trim();
}

/**
 * A decimal digit of any script; in each the ten digits are consecutive, from 0 on.
 * @param {string} digit
 */
function plain(digit) {
  const at = digit.codePointAt(0);
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(at - before - 1))) before++;
  return String(before % 10);
}

/**
 * @param {string} typed
 * @param {boolean} several whether more than one number is asked for
 */
function numbers(typed, several) {
  /** @type {[string, string]} */
  const wanted = several
    ? ["integers", "Type them separated by spaces, such as 7 7 7"]
    : ["an integer", "Type one number, such as 7"];
  const text = checked(typed, ...wanted).replace(DTYPE, " ");
  const parts = text.replace(NAME, "").replace(BETWEEN_SIZES, " ").split(APART).filter(Boolean),
    found = parts.map((part) => INTEGER.exec(part)?.[1]);
  if (!parts.length || found.includes(undefined))
    throw refusal(quoted(parts[found.indexOf(undefined)] ?? typed), ...wanted);
  return found.map((number) => BigInt(number.replace(/\p{Nd}/gu, plain).replace("+", "")));
}

/**
 * @param {string} typed
 * @param {string[]} letters
 */
function letters(typed, letters) {
  const all = new Set(letters),
    reach = letters.length === 1 ? letters[0] : `${letters[0]} to ${letters.at(-1)}`;
  /** @type {[string, string]} */
  const wanted = [`letters of sequences, ${reach}, or none`, "Type letters separated by spaces, or the word none"];
  const words = checked(typed, ...wanted)
    .replace(/\.+$/, "")
    .split(APART)
    .filter(Boolean);
  const asTyped = new Map(words.map((word) => [word.toUpperCase(), word]));
  const named = [...asTyped.keys()].flatMap((word) => {
    if (all.has(word)) return [word];
    if (word === "AND" || NOBODY.includes(word.toLowerCase())) return [];
    if (word === "ALL") return letters;
    return [...word].every((letter) => all.has(letter)) ? [...word] : [word];
  });
  const unknown = [...new Set(named)].filter((letter) => !all.has(letter)).sort();
  if (unknown.length) {
    const first = unknown.slice(0, 3).map((word) => quoted(asTyped.get(word)));
    throw refusal(first.join(", "), ...wanted);
  }
  return letters.filter((letter) => named.includes(letter));
}

/**
 * An answer in canonical form, so that answers can be compared; throws an Error for what cannot be read.
 * @param {Question} question
 * @param {string} typed
 * @param {string[]} labels the letters of all sequences
 */
export function readAnswer({ form, example }, typed, labels) {
  if (form === "choice") return typed;
  return (form === "numbers" ? numbers(typed, /\d \d/.test(example)) : letters(typed, labels)).join(" ") || "none";
}

/**
 * @param {Question} question
 * @returns {Solution}
 */
export function solutionOf({ sealed }) {
  const bytes = Uint8Array.from(atob(sealed), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * Right, a typical mistake with its own reason, or wrong, with the first difference.
 * @param {Question} question
 * @param {string} given as `readAnswer` returns it
 * @returns {Verdict}
 */
export function judge(question, given) {
  const { answer, why, slips, hint } = solutionOf(question);
  if (given === answer) return { right: true, reason: why };
  const slip = slips.find(([wrong]) => wrong === given);
  return { right: false, reason: slip ? slip[1] : `${difference(question.form, given, answer)} ${hint}`.trim() };
}

/**
 * @param {Question["form"]} form
 * @param {string} given
 * @param {string} answer
 */
function difference(form, given, answer) {
  if (form === "choice") return "That is not what happens.";
  const [mine, right] = [given, answer].map((spelled) => (spelled === "none" ? [] : spelled.split(" ")));
  if (form === "letters") {
    const extra = mine.filter((letter) => !right.includes(letter)).length,
      missing = right.filter((letter) => !mine.includes(letter)).length;
    const told = [extra && `Letters that do not belong: ${extra}.`, missing && `Letters missing: ${missing}.`];
    return told.filter(Boolean).join(" ");
  }
  if (mine.length !== right.length)
    return `You typed ${counted(mine.length, "number")}, but the answer has ${counted(right.length, "number")}.`;
  const at = mine.findIndex((number, i) => number !== right[i]),
    size = `${mine[at]} is too ${BigInt(mine[at]) > BigInt(right[at]) ? "large" : "small"}.`;
  return right.length === 1 ? size : `The first wrong number is entry ${at}, counted from 0: ${size}`;
}
