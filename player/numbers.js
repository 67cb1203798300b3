// Numbers: as stripes of colour, as digits on them, and the legend of the colours.

/** @import { Digits, Numbers, Paper, Rect, Scale } from "./types" */

import { put, textSize, tintOf, widthOf, write } from "./canvas.js";
import { READABLE, WEIGHT } from "./sizes.js";

export const BESIDE = 7; // pixels of a cell's width that its number leaves free;
const NEARER = 3, // fewer of them with one decimal, and more with the leading zero,
  CLEAR = 4, // and more if it is larger than it must be: a line around cells does not touch it
  LARGE = 1e4; // from here on a number is written as 1.3e38: of its digits the first ones would be read as all
const FORMS = ["−0.00", "−.00", "−.0"]; // how a number is written, from wide cells to narrow ones;
export const BARE = 1; // without the zero, either in all scenes of a phone or in none
/** @type {Record<Scale, string>} */
const SCALES = { input: "x", state: "h and gates", influence: "influence", weight: "weight", gradient: "gradient" };
const COLOURED = 2.5, // heights of a letter for which the colours of a scale are worth smaller words,
  BAR = 6, // and those that they have if there is room
  SPACE = 0.4; // and that of a space in the legend
const ABOVE = new Set(["influence", "weight", "gradient"]); // the scales without negative numbers

/**
 * Numbers from left to right, as in a row of h.
 * @type {(paper: Paper, rect: Rect, vec: Numbers | undefined, scale: Scale) => void}
 */
export function stripes(paper, { x, y, w, h }, vec, scale) {
  const step = w / vec.length;
  for (let i = 0; i < vec.length; i++) {
    paper.ctx.fillStyle = tintOf(paper, vec[i], scale).fill;
    const start = Math.round(i * step),
      end = Math.round((i + 1) * step) - (step > 8 ? 1 : 0);
    paper.ctx.fillRect(x + start, y, Math.max(0.6, end - start), h);
  }
}
/**
 * The numbers on their stripes, if they fit.
 * @type {(paper: Paper, rect: Rect, vec: Numbers | undefined, scale: Scale) => void}
 */
export function figures(paper, { x, y, w, h }, vec, scale) {
  const step = w / vec.length;
  if (step < 2 * paper.least || h < 0.8 * paper.least) return;
  const digits = digitsIn(paper, step - BESIDE, textSize(paper, h + 7));
  vec.forEach((v, i) => {
    if (v != null) figure(paper, v, x + (i + 0.5) * step, y + h / 2, digits, tintOf(paper, v, scale).text);
  });
}
/**
 * The form of all numbers of a picture: what the narrowest cell that can have its number needs.
 * @param {Paper} paper
 * @param {number[]} widths of its cells
 */
export const formIn = (paper, widths) =>
  Math.max(0, ...widths.map((w) => digitsIn(paper, w - BESIDE, paper.least)?.form ?? 0));
/**
 * How numbers are written in this width: as large as fits with two decimals, if need be without the leading zero or
 * with one decimal; all in the same way, and none is cut.
 * @param {Paper} paper
 * @param {number} w
 * @param {number} px
 * @returns {Digits | null}
 */
export function digitsIn(paper, w, px) {
  const large = Math.min(px, paper.least);
  for (let form = paper.form; form < FORMS.length; form++) {
    const text = FORMS[form].slice(paper.signed ? 0 : 1),
      last = form === FORMS.length - 1,
      fitting = (/** @type {number} */ w) => (large * w) / widthOf(paper, text, large, WEIGHT.number),
      size = Math.min(large, fitting(last ? w + NEARER : form ? w : w - NEARER));
    if (size >= (last ? READABLE : large))
      return {
        form,
        px: Math.min(px, Math.max(size, fitting(w - CLEAR))),
        many: text.split(".")[1].length,
        bare: !text.includes("0."),
      };
  }
  return null;
}
/**
 * @param {number} v
 * @param {{ many: number, bare: boolean }} form decimals, and whether a leading zero is left out
 */
export function inDigits(v, { many, bare }) {
  const plain =
    Math.abs(v) < LARGE ? v.toFixed(many).replace(/^-(?=0\.0+$)/, "") : v.toExponential(1).replace("e+", "e");
  return (bare ? plain.replace(/^(-?)0\./, "$1.") : plain).replace("-", "−");
}
/** @type {(paper: Paper, v: number, x: number, y: number, digits: Digits | null, fill: string) => void} */
export function figure(paper, v, x, y, digits, fill) {
  if (!digits) return;
  const text = inDigits(v, digits),
    style = { px: digits.px, weight: WEIGHT.number, fill };
  if (text.length > 5) write(paper, text, x, y, digits.px * 3.1, style);
  else put(paper, text, x, y + digits.px * 0.06, style);
}
/**
 * What the legend says of each scale: its two ends, and its subject unless it alone has negative numbers.
 * @param {Paper} paper
 * @param {Scale[]} scales
 */
const saidOf = ({ movie }, scales) => {
  const alone = scales.filter((scale) => !ABOVE.has(scale)).length === 1;
  return scales.map((scale) => {
    const end = Number(movie.scales[scale].toPrecision(3));
    return [
      ...(alone && !ABOVE.has(scale) ? [] : [SCALES[scale]]),
      ...(ABOVE.has(scale) ? ["0", `${end}`] : [`−${end}`, `+${end}`]),
    ];
  });
};
/**
 * The legend of the number colours: for each scale its colours between its ends.
 * @param {Paper} paper
 * @param {Scale[]} scales
 * @param {number} x
 * @param {number} y
 * @param {number} px
 */
export function legend(paper, scales, x, y, px) {
  const { ctx, theme, room } = paper,
    said = saidOf(paper, scales);
  const left = (/** @type {number} */ px) => {
    const written = said.flat().reduce((sum, text) => sum + widthOf(paper, text, px) + SPACE * px, 0);
    return (room - 2 * x - written) / scales.length - (1 + SPACE) * px;
  };
  while (px > READABLE && left(px) < COLOURED * px) px = Math.max(READABLE, px - 0.5);
  const wide = Math.max(0, Math.min(BAR * px, left(px))),
    gap = SPACE * px;
  const next = (/** @type {string} */ text) => {
    put(paper, text, x, y, { px, fill: theme.quiet, align: "left" });
    x += widthOf(paper, text, px) + gap;
  };
  for (const [at, texts] of said.entries()) {
    texts.slice(0, -1).forEach(next);
    const bar = ctx.createLinearGradient(x, 0, x + wide, 0),
      ramp = theme.ramp.slice(ABOVE.has(scales[at]) ? (theme.ramp.length - 1) / 2 : 0);
    ramp.forEach(({ fill }, i) => bar.addColorStop(i / (ramp.length - 1), fill));
    ctx.fillStyle = bar;
    ctx.fillRect(x, y - gap, wide, 2 * gap);
    ctx.strokeStyle = theme.line;
    ctx.lineWidth = 1;
    ctx.strokeRect(x, y - gap, wide, 2 * gap);
    x += wide + gap;
    next(texts.at(-1));
    x += px;
  }
}
