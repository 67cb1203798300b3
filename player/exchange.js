// Rows that exchange places pass side by side.

/** @import { Aside, Axis, Look, Row, Side, Size, Standing } from "./types" */

import { BODIES, between, clamp, ease, grouped, lerp, near } from "./between.js";
import { BADGE, lineOf, READABLE } from "./sizes.js";

const LEAST = 6, // pixels of the smallest text while rows are briefly narrow
  NARROWEST = 9, // pixels of a letter's cell: in a narrower one it is hidden meanwhile
  LETTER = 0.62, // the width of a letter ÷ its height
  EDGE = 4, // pixels between rows and the edge of the picture,
  GAP = 16; // and between rows side by side, if there is room

/**
 * The longest subsequence of rows that keep their order on the way.
 * @template {{ to: number }} T
 * @param {T[]} rows
 * @returns {T[]}
 */
function inOrder(rows) {
  /** @type {T[][]} */
  const runs = [];
  for (const row of rows) {
    /** @type {T[]} */
    const before = runs
      .filter((run) => run.at(-1).to < row.to)
      .reduce((best, run) => (run.length > best.length ? run : best), []);
    runs.push([...before, row]);
  }
  return runs.reduce((best, run) => (run.length > best.length ? run : best), []);
}

/**
 * The rows of each panel that change places, as { cells, from, to }, with the axis of their motion.
 * @param {Look[]} from
 * @param {Look[]} to
 * @returns {{ axis: Axis, rows: Row[] }[]}
 */
function exchanges(from, to) {
  const fixed = from
    .map((_, i) => i)
    .filter((i) => {
      const { state } = to[i],
        body = BODIES.has(state.role) || state.role === "note";
      return (
        body && state.seq != null && from[i].alpha === 1 && to[i].alpha && !to[i].origin && from[i].state.p === state.p
      );
    });
  return [...grouped(fixed, (i) => to[i].state.p).values()].flatMap((cells) => {
    const shift = (/** @type {number} */ i, /** @type {Axis} */ axis) => to[i].rect[axis] - from[i].rect[axis];
    const axis = /** @type {Axis[]} */ (["x", "y"]).filter((each) => cells.some((i) => !near(shift(i, each), 0)));
    const rows = [...grouped(cells, (i) => to[i].state.seq).values()].filter(
      (row) => row.filter((i) => BODIES.has(to[i].state.role)).length > 1,
    );
    if (axis.length !== 1 || !rows.every((row) => row.every((i) => near(shift(i, axis[0]), shift(row[0], axis[0])))))
      return [];
    const place = (/** @type {Look[]} */ looks_, /** @type {number[]} */ row) =>
      looks_[row.find((i) => BODIES.has(to[i].state.role))].rect[axis[0]];
    return [{ axis: axis[0], rows: rows.map((row) => ({ cells: row, from: place(from, row), to: place(to, row) })) }];
  });
}

/**
 * The rows that cross others, in lines side by side: those that keep their order stay in the first one.
 * @param {Row[]} rows
 */
function linesOf(rows) {
  let rest = rows
    .filter((a) => rows.some((b) => (a.from - b.from) * (a.to - b.to) < 0))
    .sort((a, b) => a.from - b.from);
  /** @type {Row[][]} */
  const lines = [];
  while (rest.length) {
    lines.push(inOrder(rest));
    rest = rest.filter((row) => !lines.at(-1).includes(row));
  }
  return lines;
}
/**
 * How far to either side rows may move aside, from where they begin and end: to the next mark that is on their way, or to
 * the edge of the picture.
 * @param {Look[]} from
 * @param {Look[]} to
 * @param {number[]} cells of the rows
 * @param {{ begin: number, end: number }} whole
 * @param {Axis} x the axis across their motion
 * @param {number} size of the picture there
 * @returns {[low: number, high: number]}
 */
function freeRoom(from, to, cells, { begin, end }, x, size) {
  const [w, y, h] = /** @type {[Side, Axis, Side]} */ (x === "x" ? ["w", "y", "h"] : ["h", "x", "w"]),
    mine = new Set(cells),
    first = Math.min(...cells.map((i) => Math.min(from[i].rect[y], to[i].rect[y]))),
    last = Math.max(...cells.map((i) => Math.max(from[i].rect[y], to[i].rect[y]) + to[i].rect[h]));
  let low = EDGE,
    high = size - EDGE;
  to.forEach(({ alpha, rect, state }, i) => {
    if (mine.has(i) || !alpha || (state.role !== "thread" && (rect[y] + rect[h] < first + 1 || rect[y] > last - 1)))
      return;
    if (rect[x] + rect[w] <= begin + 1) low = Math.max(low, rect[x] + rect[w]);
    else if (rect[x] >= end - 1) high = Math.min(high, rect[x]);
  });
  return [low, high];
}

/**
 * Rows that exchange places pass side by side: those that keep their order stay in line, the others move aside meanwhile,
 * and all shrink if there is no room. Returns where each cell moves aside to.
 * @param {Look[]} from
 * @param {Look[]} to
 * @param {Standing} standing
 * @param {Size} size
 * @returns {Map<number, Aside>}
 */
export function asides(from, to, { unit }, size) {
  /** @type {Map<number, Aside>} */
  const ways = new Map();
  for (const { axis, rows } of exchanges(from, to)) {
    const lines = linesOf(rows);
    if (!lines.length) continue;
    const [x, w, h] = /** @type {[Axis, Side, Side]} */ (axis === "y" ? ["x", "w", "h"] : ["y", "h", "w"]),
      cells = lines.flat().flatMap((row) => row.cells);
    const written = (/** @type {Look} */ { state, rect }) =>
      x === "x" && state.role === "note"
        ? Math.max(rect.w, state.text.length * LETTER * lineOf(unit, size.h, READABLE))
        : rect[w];
    const begin = Math.min(...cells.map((i) => from[i].rect[x])),
      ends = (/** @type {number[]} */ some) => Math.max(...some.map((i) => from[i].rect[x] + written(from[i]))),
      end = ends(cells);
    const [low, high] = freeRoom(from, to, cells, { begin, end }, x, size[w]),
      gap = Math.min(GAP, (high - low) / lines.length / 10),
      room = (high - low + gap) / lines.length - gap,
      narrow = room < end - begin; // then there is no room for the notes beside the rows either
    const whole = (narrow ? ends(cells.filter((i) => to[i].state.role !== "note")) : end) - begin,
      scale = Math.min(1, room / whole),
      start = Math.max(low, Math.min(begin, high - lines.length * (whole * scale + gap) + gap));
    const aside = (/** @type {Look} */ { rect, state: { role } }, /** @type {number} */ line) => {
      const wide = rect[w] * scale,
        isCut = rect[h] < BADGE || wide < NARROWEST,
        fades = role === "note" ? narrow || rect.h < READABLE : role === "label" && isCut;
      return { x, w, at: start + line * (whole * scale + gap) + (rect[x] - begin) * scale, wide, fades };
    };
    lines.forEach((line, k) => {
      for (const i of line.flatMap((row) => row.cells)) ways.set(i, aside(from[i], k));
    });
  }
  return ways;
}
export const ASIDE = 0.3; // the share of the time for moving aside, and for coming back
/**
 * @param {Look} a
 * @param {Look} b
 * @param {number} t
 * @param {Aside} aside
 * @returns {Look}
 */
export function beside(a, b, t, { x, w, at, wide, fades }) {
  const share = Math.min(t, 1 - t) / ASIDE,
    out = ease(clamp(share)),
    look = between(a, b, ease(clamp((t - ASIDE) / (1 - 2 * ASIDE))));
  return {
    ...look,
    alpha: fades ? clamp(1 - 5 * share) : look.alpha, // invisible before it has moved
    least: LEAST,
    rect: { ...look.rect, [x]: lerp(look.rect[x], at, out), [w]: lerp(look.rect[w], wide, out) },
  };
}
