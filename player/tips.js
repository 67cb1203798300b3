// The tooltip of a cell: the lines of its family, with their blanks filled in, and where it stands.

/** @import { Cell, Look, Read, Rect, Spot } from "./types" */

import { boxOf } from "./scenes.js";

const HUGE = 1e6; // such numbers have no decimals
const CLEAR = 8; // pixels between the tooltip and what it explains

/**
 * Numbers as they are stored: all with four decimals unless all are integers.
 * @param {(number | null | undefined)[]} numbers
 */
const numbers = (...numbers) => {
  const whole = numbers.every((v) => v == null || Number.isInteger(v) || Math.abs(v) >= HUGE);
  return numbers.map((v) => (v == null ? "nan" : (whole ? String(v) : v.toFixed(4)).replace("-", "−"))).join(", ");
};

/**
 * A line with its blanks filled in; null if one cannot be filled.
 * @param {string} line
 * @param {Record<string, string | number | undefined>} blanks
 */
function filled(line, blanks) {
  const wanted = [...line.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (wanted.some((name) => blanks[name] == null)) return null;
  return line.replace(/\{(\w+)\}/g, (_, name) => String(blanks[name]));
}

/**
 * @param {Read} movie
 * @param {Cell} cell
 * @returns {string[]}
 */
export function tipLines(movie, cell) {
  const blanks = {
    seq: movie.sequences[cell.seq]?.[0],
    k: cell.k,
    token: movie.tokens[cell.token]?.tip,
    text: cell.text,
    number: cell.text || numbers(cell.v),
    vec: cell.vec && `[${numbers(...cell.vec)}]`,
  };
  const lines = movie.families[cell.f].map((wordings) => {
    const said = wordings.map((line) => filled(line, blanks));
    return said.find((line) => line !== null) ?? "";
  });
  return lines.filter(Boolean);
}

/** @type {(p: Rect, q: Rect) => number} */
const shared = (p, q) =>
  Math.max(0, Math.min(p.x + p.w, q.x + q.w) - Math.max(p.x, q.x)) *
  Math.max(0, Math.min(p.y + p.h, q.y + q.h) - Math.max(p.y, q.y));

/**
 * Where the tooltip of a cell covers least: below, above or beside the cell or its whole panel. The cell itself, the
 * same token elsewhere and batch_sizes count most, then the cell's panel.
 * @param {Look} hit
 * @param {number | null} token
 * @param {Spot} spot
 * @param {{ w: number, h: number }} tip
 * @param {{ w: number, h: number }} picture
 * @param {Look[]} shown
 */
export function placed(hit, token, spot, tip, picture, shown) {
  const seen = shown.filter(({ alpha, rect, state }) => alpha && rect && state.role !== "focus"),
    panel = boxOf([hit, ...seen.filter(({ state }) => state.p === hit.state.p)].map(({ rect }) => rect)), // also while it moves in
    inside = (/** @type {number} */ at, /** @type {number} */ long, /** @type {number} */ room) =>
      Math.max(6, Math.min(at, room - long - 6));
  const around = (/** @type {Rect} */ { x, y, w, h }) => [
    { x: spot.x + CLEAR, y: y + h + CLEAR },
    { x: spot.x + CLEAR, y: y - tip.h - CLEAR },
    { x: x + w + CLEAR, y: spot.y - tip.h / 2 },
    { x: x - tip.w - CLEAR, y: spot.y - tip.h / 2 },
  ];
  const places = [hit.rect, panel].flatMap(around).map(({ x, y }) => ({
    left: inside(x, tip.w, picture.w),
    top: inside(y, tip.h, picture.h),
  }));
  const weight = (/** @type {Look} */ { state: { i, p, role, token: of } }) =>
    i === hit.state.i || role === "count" || (token !== null && of === token) ? 20 : p === hit.state.p ? 4 : 1;
  const covers = places.map(({ left, top }) =>
    seen.reduce((sum, look) => sum + weight(look) * shared(look.rect, { x: left, y: top, ...tip }), 0),
  );
  return places[covers.indexOf(Math.min(...covers))];
}
