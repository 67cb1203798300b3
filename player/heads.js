// The heads of lines in a picture that scrolls: the letters of rows and the names of lines. A head that would be out of sight
// is held at the left edge of its place as far as the cells of its own line go.

/** @import { Head, Look, Neighbours, Paper, Rect, Standing } from "./types" */

import { BODIES } from "./between.js";
import { lineSize, widthOf } from "./canvas.js";
import { continued, isName } from "./neighbours.js";
import { badgeSize, draw, hasBadge } from "./roles.js";
import { BADGE, WEIGHT } from "./sizes.js";

const ROOM = 8, // pixels beside the name of a line, both together,
  INDENT = 4, // those on its left,
  BORDER = 3; // and those around the box of a letter

/** @typedef {{ paper: Paper, near: Neighbours, standing: Standing }} Drawn how a picture is drawn */

/**
 * Whether two rectangles are on one line.
 * @type {(one: Rect, two: Rect) => boolean}
 */
export const level = (one, two) =>
  Math.min(one.y + one.h, two.y + two.h) - Math.max(one.y, two.y) > Math.min(one.h, two.h) / 2;
/**
 * Pixels of the letter of a row, or of the name of a line, with a little room.
 * @type {(paper: Paper, look: Look, unit: number) => number}
 */
function widthOfHead(paper, { rect, state: { role, text, tone } }, unit) {
  if (role === "label") return Math.max(BADGE, badgeSize(paper, rect.h, unit)) * (0.6 + 0.4 * text.length) + BORDER;
  return widthOf(paper, text, lineSize(paper, unit), tone ? WEIGHT.bold : WEIGHT.plain) + ROOM;
}
/** @type {(head: Look, some: Look[]) => Look[]} */
const rightOf = (head, some) => some.filter(({ rect }) => rect.x > head.rect.x && level(head.rect, rect));
/** @param {Look[]} some */
const leftmost = (some) => some.reduce((one, two) => (two.rect.x < one.rect.x ? two : one), some[0]);

/**
 * The cells that a letter is the head of: those of its row, up to the next letter.
 * @param {Look} head
 * @param {Look[]} heads
 * @param {Look[]} cells
 */
function cellsOfLetter(head, heads, cells) {
  const next = leftmost(rightOf(head, heads)),
    there = rightOf(head, cells).filter(({ rect }) => !(rect.x > next?.rect.x)),
    others = new Set(there.filter(({ state }) => state.seq !== head.state.seq).map(({ state }) => state.p));
  const row = there.filter(({ state }) => state.p === head.state.p || !others.has(state.p)); // not of rows of all sequences
  return row.length ? row : cells.filter(({ state }) => state.p === head.state.p); // an empty row is as long as the others
}
/**
 * The cells that a name is the head of: those of the panel beside the names.
 * @param {Look} head
 * @param {Look[]} heads
 * @param {Look[]} cells
 */
function cellsOfName(head, heads, cells) {
  const lines = heads.filter(({ state }) => state.p === head.state.p),
    beside = leftmost(lines.flatMap((line) => rightOf(line, cells)));
  return cells.filter(({ state }) => state.p === beside?.state.p);
}

/**
 * All heads: where each is written and how wide, and where the cells of its line end.
 * @param {Look[]} looks
 * @param {Drawn} drawn
 * @returns {Head[]}
 */
export function headsOf(looks, { paper, standing }) {
  const seen = [...looks, ...continued(looks, standing)].filter(({ alpha, rect }) => alpha && rect),
    heads = seen.filter((look) => isName(look) || (look.state.role === "label" && hasBadge(paper, look.rect.h))),
    cells = seen.filter(({ state }) => state.role !== "label" && BODIES.has(state.role));
  return heads.map((head) => {
    const { x, w: room } = head.rect,
      w = widthOfHead(paper, head, standing.unit),
      named = isName(head),
      own = (named ? cellsOfName : cellsOfLetter)(head, heads, cells);
    return { head, x: named ? x : x + (room - w) / 2, w, end: Math.max(...own.map(({ rect }) => rect.x + rect.w)) };
  });
}
/**
 * Those that begin on the left of the place, at its edge: as far as the cells of their own line go.
 * @param {Head[]} heads
 * @param {number} edge how far the picture is scrolled
 * @returns {Look[]}
 */
export function held(heads, edge) {
  const away = heads.filter(({ x, w, end }) => x < edge && end >= edge + 2 * w);
  return away.map(({ head, w }) => ({ ...head, rect: { ...head.rect, x: edge, w } }));
}
/**
 * Draw them over what they cover, each with a line where the rest goes on.
 * @param {Look[]} shown
 * @param {Drawn} drawn
 */
export function drawHeld(shown, drawn) {
  const { paper, near, standing } = drawn,
    { ctx, theme, edge } = paper;
  if (!edge) return; // at its left end a picture has them in sight
  for (const { state, rect, ...look } of held(headsOf(shown, drawn), edge)) {
    const { x, y, w, h } = rect;
    ctx.fillStyle = theme.background;
    ctx.fillRect(x, y, w, h);
    ctx.fillStyle = theme.line;
    ctx.fillRect(x + w, y, 1, h);
    const written = { ...rect, x: state.role === "note" ? x + INDENT : x };
    draw(paper, { ...look, state, rect: written }, standing.unit, near);
  }
}
