// What every picture is made of: texts, tiles and outlines.

/** @import { Ctx, Hue, Paper, Rect, Scale, Theme, Tint } from "./types" */

import { FLAT, largestLine, lineOf, READABLE, TIGHT, WEIGHT } from "./sizes.js";

const HALO = 5, // pixels of the line around a text that is written over moving cells
  LINE = 1.15; // the height of a line ÷ that of its letters

/**
 * How much of a cell's width its text may take, clear of the edges.
 * @param {number} w
 */
export const within = (w) => w - Math.min(7, w * 0.2);
/**
 * Pixels of a line of text beside cells of this size.
 * @type {(paper: Paper, unit: number) => number}
 */
export const lineSize = ({ high, line }, unit) => lineOf(unit, high, line);
/**
 * Pixels of a line between packed rows and a heading: smaller beside low rows, or it would touch both.
 * @type {(paper: Paper, unit: number) => number}
 */
export const nearSize = (paper, unit) => Math.min(lineSize(paper, unit), Math.max(paper.least, 0.66 * unit));
/**
 * Pixels of the bar of the largest count, and of the number below it.
 * @type {(paper: Paper, h: number, unit: number) => { most: number, px: number }}
 */
export const counted = (paper, h, unit) => ({
  most: Math.min(h * 0.5, Math.max(22, 0.5 * unit)),
  px: Math.max(lineSize(paper, unit), Math.min(0.62 * unit, paper.least)),
});
/**
 * Text size in pixels for a cell of this height: most of a small one, less of a large one.
 * @type {(paper: Paper, h: number) => number}
 */
export function textSize({ high, least }, h) {
  const wanted = Math.max(0.62 * h, Math.min(TIGHT * h, least));
  return Math.max(READABLE, Math.min(wanted, Math.max(largestLine(high, least), 0.4 * h)));
}
/**
 * The factor by which lines are wider in a high picture.
 * @param {Paper} paper
 */
export const thick = ({ high }) => Math.max(1, high / WEIGHT.marked);
/** @type {(paper: Paper, seq: number | undefined) => Hue} */
export const hueOf = ({ theme, movie }, seq) => theme.hues[movie.sequences[seq][1]];
/** @type {(paper: Paper, v: number | null | undefined, scale: Scale) => Tint} */
export function tintOf({ theme, movie }, v, scale) {
  if (v == null) return { fill: theme.pad, text: theme.text };
  const share = Math.max(-1, Math.min(1, v / movie.scales[scale]));
  return theme.ramp[Math.round(((share + 1) / 2) * (theme.ramp.length - 1))];
}
/** @type {(theme: Theme, px: number, weight?: number) => string} */
export const fontOf = (theme, px, weight = WEIGHT.plain) => `${weight} ${px}px ${theme.font}`;
/** @type {(paper: Paper, text: string, px: number, weight?: number) => number} */
export function widthOf({ ctx, theme, widths }, text, px, weight = WEIGHT.plain) {
  const key = `${weight} ${px} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    ctx.font = fontOf(theme, px, weight);
    widths.set(key, (width = ctx.measureText(text).width));
  }
  return width;
}
/**
 * Write a text as large as fits. If it is too long at the smallest size, it is written in two lines where there is height for
 * them, smaller if that is legible; else it is shortened, at half of that size if it is large and leaves no letters.
 * @param {Paper} paper
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {{ px: number, least?: number, weight?: number, fill: string, align?: CanvasTextAlign, high?: number }} style
 */
export function write(paper, text, x, y, w, { px, least = READABLE, weight, fill, align, high = 0 }) {
  let size = px;
  const width = (/** @type {string} */ part) => widthOf(paper, part, size, weight);
  if (width(text) > w) size = Math.max(least, Math.floor((10 * px * w) / width(text)) / 10);
  while (size > least && width(text) > w) size = Math.max(least, size - 0.5); // letters are whole pixels wide on some screens
  const short = shortened(text, (part) => width(part) <= w),
    parts = short === text ? [] : halves(text),
    half = Math.min(size, high / (2 * LINE), (size * w) / Math.max(...parts.map(width)));
  const line = (/** @type {string} */ part, /** @type {number} */ px, down = 0) =>
    put(paper, part, x, y + px * (0.06 + down), { px, weight, fill, align });
  if (parts.length && half >= Math.min(size, paper.least))
    parts.forEach((part, i) => line(part, half, (i - 0.5) * LINE));
  else if (short) line(short, size);
  else if (size > 2 * READABLE) write(paper, text, x, y, w, { px: size / 2, least: size / 2, weight, fill, align });
}
/**
 * A word in two lines, the first with a hyphen; none for a number, or for a word with other signs.
 * @param {string} text
 */
function halves(text) {
  const letters = [...text],
    half = Math.ceil(letters.length / 2);
  return /^\p{L}+$/u.test(text) ? [`${letters.slice(0, half).join("")}-`, letters.slice(half).join("")] : [];
}
/** @type {(text: string, fits: (part: string) => boolean) => string} */
function shortened(text, fits) {
  if (fits(text)) return text;
  const letters = [...text];
  for (let n = letters.length - 1; n >= 2; n--) {
    const short = `${letters.slice(0, n).join("")}…`;
    if (fits(short)) return short;
  }
  return "";
}
/**
 * Write a text as it is, its middle at y.
 * @param {Paper} paper
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {{ px: number, weight?: number, fill: string, align?: CanvasTextAlign }} style
 */
export function put({ ctx, theme, halo }, text, x, y, { px, weight, fill, align = "center" }) {
  ctx.font = fontOf(theme, px, weight);
  ctx.fillStyle = fill;
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
  if (halo) {
    ctx.lineJoin = "round";
    ctx.strokeStyle = theme.background;
    ctx.lineWidth = HALO;
    ctx.strokeText(text, x, y);
    ctx.lineJoin = "miter";
  }
  ctx.fillText(text, x, y);
}
/**
 * Draw the path as a line.
 * @type {(ctx: Ctx, colour: string, width: number) => void}
 */
export function stroke(ctx, colour, width) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.stroke();
}
/** @type {(paper: Paper, rect: Rect, style: { fill?: string, edge?: string, width?: number, dash?: boolean }) => void} */
export function tile(paper, { x, y, w, h }, { fill, edge, width = 1, dash }) {
  const { ctx } = paper,
    factor = thick(paper),
    gap = Math.min(2 * factor, w * 0.06, h * 0.06);
  ctx.beginPath();
  if (h > 12 && w > 12) ctx.roundRect(x + gap, y + gap, w - 2 * gap, h - 2 * gap, Math.min(6 * factor, h * 0.16));
  else ctx.rect(x + gap, y + gap, Math.max(0.5, w - 2 * gap), Math.max(0.5, h - 2 * gap));
  if (fill) {
    ctx.fillStyle = fill;
    ctx.fill();
  }
  if (edge && h > 7) {
    if (dash) ctx.setLineDash([3 * factor, 2 * factor]);
    stroke(ctx, edge, width * factor);
    if (dash) ctx.setLineDash([]);
  }
}
/**
 * A line around a cell, inside its rectangle: in the gap between cells it covers no number and no neighbour. Around a flat
 * cell it is at the very edge, or little would be left of its colours.
 * @type {(paper: Paper, rect: Rect, width: number, colour: string) => void}
 */
export function outline(paper, { x, y, w, h }, width, colour) {
  const wide = width * thick(paper),
    inset = (h < FLAT ? 0 : 0.5) + wide / 2;
  paper.ctx.beginPath();
  paper.ctx.roundRect(x + inset, y + inset, w - 2 * inset, h - 2 * inset, h < 12 ? 1 : 6 * thick(paper));
  stroke(paper.ctx, colour, wide);
}
