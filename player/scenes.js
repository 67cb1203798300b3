// A change of scene: every cell that is in both pictures moves, its panel past the others; what leaves and all text fade out.

/** @import { Frame, Look, Rect, Spot, Standing } from "./types" */

import { BODIES, clamp, differ, ease, grouped, lerp } from "./between.js";
import { lineIn, rectOf } from "./rects.js";

/** @typedef {[begin: number, end: number]} Span of the time of a motion */
/**
 * From where to where a cell of a strip moves; the corners of the strip, the cell's lines, and the pixels between lines.
 * @typedef {{ a: Rect, b: Rect, corners: Spot[], lines: number[], pitches: number[] }} Cross
 */
/** @typedef {{ x: Span, y: Span }} Way when a panel moves sideways, and when up or down */

/**
 * The box around rectangles.
 * @param {Rect[]} rects
 * @returns {Rect}
 */
export function boxOf(rects) {
  const x = Math.min(...rects.map((r) => r.x)),
    y = Math.min(...rects.map((r) => r.y));
  return { x, y, w: Math.max(...rects.map((r) => r.x + r.w)) - x, h: Math.max(...rects.map((r) => r.y + r.h)) - y };
}
/** @type {(p: Rect, q: Rect, by?: number) => boolean} */
export const overlap = (p, q, by = 1) =>
  Math.min(p.x + p.w, q.x + q.w) - Math.max(p.x, q.x) > by && Math.min(p.y + p.h, q.y + q.h) - Math.max(p.y, q.y) > by;
/**
 * A place, as wide as its text, which may go on beyond it.
 * @param {Look} look
 */
export const written = ({ rect, state: { text } }) => ({ ...rect, w: Math.max(rect.w, LETTER * text.length) });
const LETTER = 10, // pixels of a letter beside cells, at most
  SAMPLES = 24, // parts of the way at which panels are compared
  FADING = 0.4, // beats in which something fades out,
  MOVING = 0.7; // and in which panels move
/** @type {Span[]} */
const SPANS = [
  [0, 1],
  [0, 0.6],
  [0.4, 1],
  [0, 0.5],
  [0.5, 1],
];
/** @type {Way[]} */
const WAYS = SPANS.flatMap((x) => SPANS.map((y) => ({ x, y }))).sort((a, b) => haste(a) - haste(b)); // first the plainest ones
const ALONG = /** @type {Span} */ ([0.25, 0.75]); // when cells move along the lines of a strip, if some change their line

/** @param {Way} way */
function haste({ x, y }) {
  const long = x[1] - x[0] + y[1] - y[0];
  return 2 - long + (x === y ? 0 : 0.01);
}
/** @type {(t: number, span: Span) => number} */
const share = (t, [begin, end]) => ease(clamp((t - begin) / (end - begin)));
/** @type {(a: Rect, b: Rect, across: number, down: number) => Rect} */
const mixed = (a, b, across, down) => ({
  x: lerp(a.x, b.x, across),
  y: lerp(a.y, b.y, down),
  w: lerp(a.w, b.w, across),
  h: lerp(a.h, b.h, down),
});
/**
 * A cell on its way in a strip whose lines break differently. If it changes its line, it leaves that between the lines, moves
 * along there with all others, and enters the next one; meanwhile the strip goes its way.
 * @param {Cross} cross
 * @param {number} t
 * @param {Way} way
 */
function acrossLines({ a, b, corners: [from, to], lines, pitches }, t, { x, y }) {
  const along = share(t, ALONG),
    line = lerp(lines[0], lines[1], (share(t, [0, ALONG[0]]) + share(t, [ALONG[1], 1])) / 2),
    first = lerp(a.y - from.y - lines[0] * pitches[0], b.y - to.y - lines[1] * pitches[1], along);
  return {
    ...mixed(a, b, along, along),
    x: lerp(from.x, to.x, share(t, x)) + lerp(a.x - from.x, b.x - to.x, along),
    y: lerp(from.y, to.y, share(t, y)) + first + line * lerp(pitches[0], pitches[1], along),
  };
}
/**
 * The cells of each panel that stay, and the box around them on their way: first those that stand still, then the largest ones.
 * @param {Look[]} shown
 * @param {Look[]} to
 * @param {Map<number, Cross>} crosses the cells of strips whose lines break differently
 */
function panelsOf(shown, to, crosses) {
  const staying = shown.map((_, i) => i).filter((i) => to[i].alpha && BODIES.has(to[i].state.role));
  const panels = [...grouped(staying, (i) => to[i].state.p).values()].map((cells) => {
    const bodies = cells.filter((i) => to[i].state.role !== "label"), // letters may move closer to their rows
      all = bodies.length ? bodies : cells,
      [from, there] = [shown, to].map((looks) => boxOf(all.map((i) => looks[i].rect)));
    const at = (/** @type {number} */ t, /** @type {Way} */ way) =>
      crosses.has(all[0])
        ? boxOf(all.map((i) => acrossLines(crosses.get(i), t, way)))
        : mixed(from, there, share(t, way.x), share(t, way.y));
    return { cells, at, still: !differ({ alpha: 1, rect: from }, { alpha: 1, rect: there }) };
  });
  return panels.sort((a, b) => Number(b.still) - Number(a.still) || b.cells.length - a.cells.length);
}
/**
 * The way of each cell that stays: for each panel the plainest one on which it meets no other, if there is one.
 * @param {ReturnType<typeof panelsOf>} panels
 */
function waysOf(panels) {
  const times = Array.from({ length: SAMPLES + 1 }, (_, i) => i / SAMPLES),
    /** @type {Rect[][]} */
    taken = [],
    /** @type {Map<number, Way>} */
    ways = new Map();
  for (const { cells, at } of panels) {
    const boxes = (/** @type {Way} */ way) => times.map((t) => at(t, way)),
      isFree = (/** @type {Way} */ way) =>
        boxes(way).every((box, k) => taken.every((other) => !overlap(box, other[k])));
    const way = WAYS.find(isFree) ?? WAYS[0];
    taken.push(boxes(way));
    for (const i of cells) ways.set(i, way);
  }
  return ways;
}
/**
 * The cells of the strips whose lines break differently.
 * @param {Look[]} shown
 * @param {Look[]} to
 * @param {Standing} standing
 * @param {Standing} view
 */
function crossesOf(shown, to, standing, view) {
  /** @type {Map<number, Cross>} */
  const crosses = new Map(),
    staying = shown.map((_, i) => i).filter((i) => to[i].alpha && BODIES.has(to[i].state.role)),
    places = [standing, view];
  for (const [p, cells] of grouped(staying, (i) => shown[i].state.p)) {
    if (places.some(({ view }) => !view.at[p])) continue;
    const linesOf = (/** @type {number} */ i) => places.map((place) => lineIn(place.view, p, shown[i].state.x)),
      pitch = places.map(({ view }) => view.breaks?.[p]?.[0]).find(Boolean),
      pitches = places.map(({ unit, tall = 1 }) => pitch * unit * tall),
      corners = places.map((place) => rectOf(place, p, 0, 0, 0, 0));
    if (cells.every((i) => new Set(linesOf(i)).size === 1)) continue;
    for (const i of cells) crosses.set(i, { a: shown[i].rect, b: to[i].rect, corners, lines: linesOf(i), pitches });
  }
  return crosses;
}
/**
 * A change of scene: what leaves and what is text fades out in place, then the cells that stay move. New cells fade in during
 * the next tween.
 * @param {Look[]} shown
 * @param {Standing} standing
 * @param {Frame} frame
 * @param {Standing} view
 */
export function sceneChange(shown, standing, frame, view) {
  const leaves = (/** @type {number} */ i) => !view.view.at[shown[i].state.p], // its panel is not there: it goes where it will be
    placeOf = (/** @type {number} */ i) => (leaves(i) ? frame.states[i] : shown[i].state);
  const to = shown.map((look, i) => {
    const { p, x, y, w, h, role } = placeOf(i),
      rect = look.alpha && frame.states[i].shown ? rectOf(view, p, x, y, w, h) : null;
    const stays = rect && (BODIES.has(role) || !differ(look, { ...look, rect }));
    return stays ? { ...look, alpha: 1, rect } : { ...look, alpha: 0 };
  });
  const crosses = crossesOf(shown, to, standing, view),
    ways = waysOf(panelsOf(shown, to, crosses));
  const isLabel = (/** @type {number} */ i) => to[i].state.role === "label",
    differing = shown.map((_, i) => i).filter((i) => differ(shown[i], to[i])),
    moving = [...differing.filter((i) => !isLabel(i)), ...differing.filter(isLabel)];
  const fades = moving.some((i) => !to[i].alpha) ? FADING : 0,
    travels = moving.some((i) => to[i].alpha) ? MOVING : 0,
    fade = fades / (fades + travels);
  const at = (/** @type {number} */ i, /** @type {number} */ t) => {
    const a = shown[i],
      b = to[i];
    if (b.alpha) {
      const time = clamp((t - fade) / (1 - fade)),
        way = ways.get(i),
        cross = crosses.get(i),
        { x, y } = way;
      return {
        ...b,
        rect: cross ? acrossLines(cross, time, way) : mixed(a.rect, b.rect, share(time, x), share(time, y)),
      };
    }
    return { ...a, alpha: a.alpha * (1 - clamp(t / fade)) };
  };
  const unit = (/** @type {number} */ t) => (t < fade ? standing.unit : view.unit);
  return { from: shown, to, moving, over: new Set(), at, unit, beats: fades + travels };
}
