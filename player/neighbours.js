// What a mark needs to know about the others: how long the texts like it are, and what else is in this frame.

/** @import { Cell, CellTexts, Look, Neighbours, Standing } from "./types" */

import { BODIES, grouped } from "./between.js";
import { READABLE } from "./sizes.js";

const NAMES = /^names?(:|$)/, // panels with the names of lines
  GAP = 4, // pixels between the name of a line and its cells
  WHOLE = 10, // letters of a word that always has room,
  MORE = 4; // and so many more of one that is whole where its cell has the room

/**
 * How many letters a word may have: one that is much longer than the others is cut.
 * `longest_word` in packviz/show/movie/packing/places.py has the same rule.
 * @param {Cell[]} tokens
 */
function limitOf(tokens) {
  const lengths = tokens.map(({ text }) => text.length).sort((one, two) => one - two);
  return Math.max(WHOLE, 2 * (lengths[lengths.length >> 1] ?? 0));
}
/** @param {Cell[]} cells */
const longestOf = (cells) => cells.reduce((longest, { text }) => (text.length > longest.length ? text : longest), "");
/** @param {Cell[]} cells */
const longestByFamily = (cells) => new Map([...grouped(cells, ({ f }) => f)].map(([f, some]) => [f, longestOf(some)]));
/**
 * @param {Cell[]} cells of the first frame
 * @returns {CellTexts}
 */
export function textsOf(cells) {
  const of = (/** @type {string} */ role) => cells.filter((cell) => cell.role === role),
    [tokens, axes] = [of("token"), of("axis")],
    limit = limitOf(tokens),
    whole = tokens.filter(({ text }) => text.length <= limit);
  const columns = [...grouped(axes, ({ f }) => f)].filter(([, some]) => some.some(({ y }) => y !== some[0].y));
  return {
    lettered: new Set(of("label").map(({ p }) => p)),
    limit,
    longest: longestOf(whole),
    words: longestByFamily(whole),
    longer: longestByFamily(tokens.filter(({ text }) => text.length <= limit + MORE)),
    axes: longestByFamily(axes),
    stacked: new Set(columns.map(([f]) => f)),
  };
}
/**
 * The box around some cells.
 * @param {Look[]} looks
 */
const around = (looks) => ({
  left: Math.min(...looks.map(({ rect }) => rect.x)),
  right: Math.max(...looks.map(({ rect }) => rect.x + rect.w)),
  top: Math.min(...looks.map(({ rect }) => rect.y)),
  bottom: Math.max(...looks.map(({ rect }) => rect.y + rect.h)),
});
/**
 * @param {Look[]} looks of a frame
 * @returns {Neighbours}
 */
export function neighbours(looks) {
  const of = (/** @type {string} */ role) => looks.filter(({ state, alpha }) => state.role === role && alpha),
    nows = looks.filter(({ state }) => state.tone === "now" && state.shown),
    bodies = looks.filter(({ state, alpha, rect }) => alpha && rect && BODIES.has(state.role)),
    boxes = new Map([...grouped(bodies, ({ state }) => state.p)].map(([p, some]) => [p, around(some)]));
  // Lengths side by side below a transposed grid.
  const lengths = looks.flatMap(({ state }) => (state.shown && state.role === "note" && state.sub ? [state] : [])),
    level = lengths.filter((one) => lengths.some((two) => two !== one && two.p === one.p && two.y === one.y));
  const counts = looks.filter(({ state, rect }) => state.role === "count" && rect);
  counts.sort((one, two) => one.rect.y - two.rect.y);
  return {
    counts: new Map(counts.map(({ state, rect }) => [state.p, rect])),
    turned: counts[0]?.rect.y !== counts.at(-1)?.rect.y,
    nows: new Map(nows.map(({ state }) => [state.f, state.k])),
    ends: new Map([...boxes].map(([p, { right }]) => [p, right])),
    titles: of("title").filter(({ state }) => state.text),
    firsts: new Map(level.sort((one, two) => two.x - one.x).map((one) => [one.f, one.x])),
  };
}
/**
 * Whether it is the name of a line.
 * @param {Look} look
 */
export const isName = ({ alpha, state: { role, p, text } }) =>
  Boolean(alpha && role === "note" && NAMES.test(p) && text);
/**
 * A name for each line on which a row with a name continues, in smaller letters if need be.
 * @param {Look[]} looks
 * @param {Standing} standing
 * @returns {Look[]}
 */
export function continued(looks, { view, unit, tall }) {
  return looks.filter(isName).flatMap((look) => {
    const of = look.state.p.split(":")[1],
      strip = view.breaks?.[of] ? of : `row:${of}`, // a panel with several rows, or one row
      [pitch, ...starts] = view.breaks?.[strip] ?? [0, 0],
      cells = looks.filter(({ alpha, rect, state }) => alpha && rect && state.p === strip),
      w = Math.min(...cells.map(({ rect }) => rect.x)) - look.rect.x - GAP,
      state = strip === of || look.state.y ? look.state : { ...look.state, text: `${look.state.text} …` };
    const last = Math.max(...cells.map(({ rect }) => rect.y)); // a line that is still empty has no name
    return starts.slice(1).flatMap((_, i) => {
      const y = look.rect.y + (i + 1) * pitch * unit * tall;
      return y < last + unit ? [{ ...look, least: READABLE, state, rect: { ...look.rect, y, w } }] : [];
    });
  });
}
