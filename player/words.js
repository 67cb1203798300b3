// Words in cells: a token's text, or the letter of its sequence if there is no room for the longest text.

/** @import { Cell, Numbers, Paper, Rect } from "./types" */

import { put, textSize, widthOf, within, write } from "./canvas.js";
import { stripes } from "./numbers.js";
import { BADGE, READABLE, WEIGHT, WORDED } from "./sizes.js";

export const FULL = 0.88; // the text of a pad ÷ the size that a word alone has in such a cell
/** Pixels of a word in its line: less in a high one, clear of both edges. @type {(h: number) => number} */
export const fullSize = (h) => Math.min(0.8 * h, 0.6 * h + 5);
/** The middle of such a word: its tails are clear of the numbers below. @type {(h: number, px: number) => number} */
export const middleIn = (h, px) => h / 2 + 1 - 0.06 * px;
const TALL = 1.2, // height ÷ width of a cell that has its letter above its contents
  CORNERED = 26, // pixels of a cell that has a letter in its corner
  TWO_LINES = 30, // and of one that has a second line
  SLIGHTLY = 0.8, // the share of the smallest text in full screen at which words are better than letters
  AIR = 10, // pixels beside the widest word in a cell, both sides together, and more beside large ones,
  INITIAL = 12, // of the letter beside the stripes of a low cell
  CLEAR = 4, // beside it, and beside a word that is under the letter in its corner
  WIDE = 16.5, // pixels of a line with room above and below its word,
  LINE = 1.3, // and its height in smallest sizes of text
  ROOMY = 1.15, // smallest sizes of a line with room above it, and of a word beside the letter of its sequence
  SLIVER = 5; // pixels of stripes that nobody can read: the word has the whole cell

/**
 * The text of a cell alone.
 * @param {Paper} paper
 * @param {Rect} rect
 * @param {Cell} state
 * @param {string} fill
 * @param {number} weight
 * @param {number} [least]
 */
export function typed(paper, { x, y, w, h }, state, fill, weight, least) {
  if (h < WORDED) return;
  const text = textOf(paper, state, w),
    letters = text !== state.text,
    sub = letters ? "" : state.sub,
    bold = letters ? nameWeight(paper, text, w, weight) : weight;
  const two = sub && h > Math.max(TWO_LINES, 2.6 * paper.least),
    corner = state.role === "token" && !letters ? cornered(paper, { x, y, w, h }, state) : null,
    reach = corner ? corner.right - x : 0, // of its letter
    below = corner && h > TALL * w,
    most = Math.min(textSize(paper, h), below ? 0.52 * h : two ? 0.42 * h : h),
    middle = y + h * (below ? 0.7 : (two ? 0.39 : 0.5) + (corner ? 0.09 : 0)),
    clears = (/** @type {number} */ size) => below || middle - size / 2 > y + cornerSize(paper, h), // it is under its letter
    whole = evenSize(paper, most, w, state, corner ? CLEAR : 0),
    px = !corner || clears(whole) ? whole : evenSize(paper, most, w, state, reach),
    style = { px, least: letters ? least : (leastOf(paper, state, px) ?? least), weight: bold, fill };
  if (corner) initial(paper, corner, fill, px);
  if (corner && !below && isLow(paper, h)) {
    const free = w - reach; // its letter is beside its text, not above it
    write(paper, text, x + reach + free / 2, y + h / 2, free - 4, style);
    return;
  }
  const wide = widthOf(paper, text, px, bold),
    aside = clears(px) ? 0 : Math.max(0, Math.min(reach - (w - wide) / 2, (w - wide) / 2 - 4)), // beside its letter, if it is short
    room = bold < WEIGHT.bold && text.length <= paper.texts.limit ? w - 1 : within(w),
    high = corner ? 0 : h * (two ? 0.5 : 0.9);
  write(paper, text, x + w / 2 + aside, middle, room, { ...style, high });
  if (two) {
    const small = Math.max(READABLE, Math.min(px, Math.max(0.27 * h, Math.min(0.39 * h, paper.least)))); // no larger than the word
    write(paper, sub, x + w / 2, y + h * 0.77, within(w), { px: small, fill });
  }
}
/**
 * How bold words are: less in cells beside their letter that have no room for all words in bold.
 * @type {(paper: Paper, w: number, state: Cell) => number}
 */
export const weightOf = (paper, w, { p }) =>
  paper.texts.lettered.has(p) && !fit(paper, w, { p }) ? WEIGHT.plain : WEIGHT.bold;
/**
 * The smallest size at which all words of a panel fit into their cells. Without letters beside them it may be a little smaller
 * than other text in full screen: such words say more than the letter of their sequence.
 * @type {(paper: Paper, p: string) => number}
 */
const smallest = ({ texts, least }, p) => (texts.lettered.has(p) ? least : Math.max(READABLE, SLIGHTLY * least));
/**
 * The size at which the widest word of a family fits into a cell of this width: all of its words have it. Where letters can
 * replace words, none that is not legible.
 * @param {Paper} paper
 * @param {number} px the size without it
 * @param {number} w
 * @param {Cell} state
 * @param {number} taken pixels of the width that its letter takes
 */
export function evenSize(paper, px, w, state, taken) {
  const { words, longer, longest, lettered } = paper.texts,
    besideLetter = lettered.has(state.p),
    free = w - taken,
    weight = weightOf(paper, w, state),
    own = fit(paper, free, state, weight, longer) ? longer : words,
    widest = state.role === "flag" ? state.text : own.get(state.f) || longest || " ",
    share = px / widthOf(paper, widest, px, weight),
    air = Math.min(AIR + 0.05 * free, 0.2 * free),
    size = Math.max(share * (free - air), Math.min(paper.least, share * within(free))); // legible before airy
  if (!besideLetter && !fit(paper, free, state)) return px;
  return Math.min(px, Math.max(size, besideLetter ? READABLE : smallest(paper, state.p)));
}
/**
 * The size at which a word that is much longer than the others is cut: theirs.
 * @type {(paper: Paper, state: Cell, px: number) => number | undefined}
 */
const leastOf = ({ texts }, { text }, px) => (text.length > texts.limit ? px : undefined);
/**
 * The word on top, its vector below, wherever the token is: paler where it was before packing.
 * @param {Paper} paper
 * @param {Rect} rect
 * @param {Cell} state
 * @param {Numbers} vec
 * @param {string} fill
 * @param {number} [share]
 */
export function framed(paper, { x, y, w, h }, state, vec, fill, share = 1) {
  const weight = weightOf(paper, w, state),
    whole = !paper.texts.lettered.has(state.p) || fit(paper, w, { p: state.p }, weight),
    worded = state.text && h > (whole ? WORDED : 24); // a low cell has its word only if all words fit
  const side = Math.min(3.5, w * 0.12, h * 0.09),
    high = worded ? headOf(paper, h) : Math.min(3, h * 0.12),
    head = worded && h - high - side < SLIVER ? h : high,
    inner = { x: x + side, y: y + head, w: w - 2 * side, h: Math.max(0, h - head - side) };
  paper.ctx.globalAlpha *= share;
  stripes(paper, inner, vec, state.scale);
  paper.ctx.globalAlpha /= share;
  if (worded) headed(paper, { x, y, w, h: head }, state, fill, share < 1 ? WEIGHT.plain : weight);
}
/**
 * Text size in pixels in the corner of a cell of this height.
 * @type {(paper: Paper, h: number) => number}
 */
export const cornerSize = ({ least }, h) => Math.max(READABLE, 0.27 * h, Math.min(0.52 * h, least));
/**
 * Whether a cell of this height has no room for a text below the letter in its corner.
 * @type {(paper: Paper, h: number) => boolean}
 */
const isLow = (paper, h) => h < cornerSize(paper, h) + 2 * paper.least;
/**
 * Where the letter of its sequence is in the corner of a cell, if there is room and no letter beside its row.
 * @param {Paper} paper
 * @param {Rect} rect
 * @param {Cell} state
 */
function cornered(paper, { x, y, w, h }, state) {
  const [name] = paper.movie.sequences[state.seq],
    px = cornerSize(paper, h),
    tall = h > TALL * w && state.role !== "output",
    low = isLow(paper, h);
  if (paper.texts.lettered.has(state.p) || h < CORNERED || state.text.startsWith(name)) return null;
  const wide = widthOf(paper, name, px, WEIGHT.marked),
    left = tall ? (w - wide) / 2 : Math.min(5, w * 0.12), // in a tall cell above its contents
    right = left + wide;
  if (wide > w * (h > TALL * w ? 0.75 : 0.5) || (low && state.role === "output")) return null;
  const longest = paper.texts.words.get(state.f) ?? state.text;
  if (low && !tall && widthOf(paper, longest, paper.least, WEIGHT.bold) > w - right - 6) return null; // no cell of a family has it
  const middle = tall ? 0.27 * h : low ? h / 2 : px * 0.56 + Math.min(3, h * 0.06);
  return { name, px, left: x + left, right: x + right, middle: y + middle, tall };
}
/**
 * Write the letter of a sequence in the corner of a cell, no larger than the word there.
 * @param {Paper} paper
 * @param {NonNullable<ReturnType<typeof cornered>>} corner
 * @param {string} fill
 * @param {number} [word] pixels of the word
 */
function initial(paper, { name, px, left, right, middle, tall }, fill, word = px) {
  const style = { px: Math.max(READABLE, Math.min(px, word)), weight: WEIGHT.marked, fill };
  if (tall) put(paper, name, (left + right) / 2, middle, style);
  else put(paper, name, left, middle, { ...style, align: "left" });
}
/**
 * The letter of its sequence in a cell without a word, if there is room: in its corner or, in a low cell of a packed row,
 * whose numbers have no room either, on its left. In rows of documents the words stand above.
 * @param {Paper} paper
 * @param {Rect} rect
 * @param {Cell} state
 * @param {string} fill
 * @returns {Rect} what it leaves of the cell
 */
export function letter(paper, rect, state, fill) {
  const { x, y, w, h } = rect,
    corner = cornered(paper, rect, state),
    [name] = paper.movie.sequences[state.seq],
    px = Math.max(INITIAL, paper.least),
    left = CLEAR + widthOf(paper, name, px, WEIGHT.marked);
  if (corner) {
    initial(paper, corner, fill);
    const top = cornerSize(paper, h);
    return { x, y: y + top, w, h: h - top };
  }
  const named = paper.texts.lettered.has(state.p) || !paper.movie.stages.unpack,
    numbered = w > 2 * paper.least * (state.vec?.length ?? 1);
  if (named || numbered || h < px || left > 0.5 * w) return rect;
  put(paper, name, x + CLEAR, y + h / 2, { px, weight: WEIGHT.marked, fill, align: "left" });
  return { x: x + left, y, w: w - left, h };
}
/**
 * How far to the left the box of a letter is moved that is wider than its place: beside a low row it ends before its cells.
 * @type {(place: Rect, wide: number) => number}
 */
export const overhang = ({ x, w, h }, wide) =>
  w > h && h < BADGE ? Math.max(0, Math.min((wide - w) / 2, x - (wide - w) / 2)) : 0;
/**
 * Pixels of the line at the top of a cell of this height, above its stripes.
 * @type {(paper: Paper, h: number) => number}
 */
export const headOf = ({ least }, h) =>
  Math.max(13, 0.42 * h, Math.min(0.6 * h, Math.max(WIDE, LINE * least)), Math.min(0.81 * h, ROOMY * least));
/**
 * The text of a token of this width: its own, or the letter of its sequence if the panel has no letters beside it and
 * no room for the longest text.
 * @type {(paper: Paper, state: Cell, w: number) => string}
 */
function textOf(paper, { role, p, f, seq, text }, w) {
  const own = role === "flag" || paper.texts.lettered.has(p) || fit(paper, w, { p, f });
  return own ? text : paper.movie.sequences[seq][0];
}
/**
 * How bold the name of a sequence is in a cell of this width: less if two letters have no room otherwise.
 * @type {(paper: Paper, name: string, w: number, weight: number) => number}
 */
const nameWeight = (paper, name, w, weight) =>
  widthOf(paper, name, paper.least, weight) > within(w) ? WEIGHT.plain : weight;
/**
 * Whether the longest word, or that of a family, fits into a cell of this width in a panel.
 * @param {Paper} paper
 * @param {number} w
 * @param {{ p: string, f?: number }} of
 * @param {number} [weight]
 * @param {Map<number, string>} [words]
 */
function fit(paper, w, { p, f }, weight = WEIGHT.bold, words = paper.texts.words) {
  const wide = widthOf(paper, words.get(f) ?? paper.texts.longest, smallest(paper, p), weight);
  return wide <= within(w);
}
/**
 * The word at the top of a cell, beside the letter of its sequence if both fit.
 * @param {Paper} paper
 * @param {Rect} rect
 * @param {Cell} state
 * @param {string} fill
 * @param {number} weight
 */
function headed(paper, { x, y, w, h }, state, fill, weight) {
  const { lettered, longest } = paper.texts,
    [name] = paper.movie.sequences[state.seq],
    px = Math.max(fullSize(h), Math.min(0.96 * h, paper.least)),
    middle = y + middleIn(h, px);
  if (textOf(paper, state, w) === name) {
    const bold = nameWeight(paper, name, w, weight);
    write(paper, name, x + w / 2, middle, w - (bold < WEIGHT.bold ? 1 : 4), { px, weight: bold, fill });
    return;
  }
  const both = (/** @type {number} */ size) => widthOf(paper, `${name} ${longest}`, size, weight) + 8;
  let left = 1,
    even = evenSize(paper, px, w, state, left);
  if (!lettered.has(state.p) && !state.text.startsWith(name) && both(ROOMY * paper.least) < w) {
    even = Math.max(paper.least, Math.min(px, (px * (w - 8)) / (both(px) - 8))); // all words of a strip have one size
    const small = Math.max(paper.least, Math.min(0.7 * px, even));
    write(paper, name, x + 4, middle, w, { px: small, weight, fill, align: "left" });
    left = 6 + widthOf(paper, name, small, weight);
  }
  const least = leastOf(paper, state, even),
    free = w - left - 1,
    style = { px: even, least, weight, fill, high: h };
  write(paper, state.text, x + left + free / 2, middle, least ? within(free) : free, style);
}
/**
 * The mark in the corner of a cell whose hue stands for another sequence, too; none if it would cut its text.
 * @param {Paper} paper
 * @param {Rect} rect
 * @param {Cell} state
 * @param {Numbers | null | undefined} vec
 * @param {string} fill
 */
export function lap(paper, { x, y, w, h }, state, vec, fill) {
  const { ctx, movie } = paper,
    laps = Math.min(movie.sequences[state.seq][2], 3);
  if (!laps || h < WORDED) return;
  const text = textOf(paper, state, w),
    px = textSize(paper, vec ? headOf(paper, h) : h),
    beside = (w - widthOf(paper, text, px, weightOf(paper, w, state))) / 2 - 3,
    size = Math.min(9, h * 0.28);
  if (text && h < CORNERED && beside < laps * (size + 1)) return;
  ctx.fillStyle = fill;
  for (let i = 0; i < laps; i++) {
    ctx.beginPath();
    ctx.moveTo(x + w - 3 - i * (size + 1), y + 3);
    ctx.lineTo(x + w - 3 - size - i * (size + 1), y + 3);
    ctx.lineTo(x + w - 3 - i * (size + 1), y + 3 + size);
    ctx.fill();
  }
}
