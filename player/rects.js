// Where the cells of a frame are in a view: their rectangles in pixels. How large the view is, is decided before (views.js).

/** @import { Frame, Look, Rect, Standing } from "./types" */

const NEAR = 0.3, // units before a panel within which something surrounds its cells,
  WORDY = 1.6; // and units of a text there
/**
 * The resulting position of something before the cells: the unit next to them shrinks, and the rest moves along.
 * @param {number} place
 * @param {number} squeeze
 */
export const before = (place, squeeze) => place - Math.max(-1, Math.min(0, place)) * (1 - squeeze);
/**
 * @param {number[]} starts
 * @param {number} x
 * @returns {[x: number, down: number, end: number | undefined]}
 */
function inStrip(starts, x) {
  let line = 1;
  while (line + 1 < starts.length && starts[line + 1] <= x + 1e-6) line++;
  return [x - starts[line], (line - 1) * starts[0], starts[line + 1]];
}
/**
 * The line of a wrapped strip on which something at x is; 0 if the panel has none.
 * @param {Standing["view"]} view
 * @param {string} panel
 * @param {number} x
 */
export function lineIn(view, panel, x) {
  const starts = view.breaks?.[panel];
  return starts ? inStrip(starts, x)[1] / starts[0] : 0;
}
/**
 * @param {Standing} frame
 * @param {string} panel
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 * @returns {Rect | null}
 */
export function rectOf(frame, panel, x, y, w, h) {
  const { view, unit, left, top, squeeze = 1, wide = 1, tall = 1, kept = 1 } = frame,
    at = view.at[panel];
  if (!at) return null;
  if (squeeze < 1) {
    if (x < -NEAR && w < WORDY) w *= squeeze;
    if (y < -NEAR && h < WORDY) h *= squeeze;
    [x, y] = [before(x, squeeze), before(y, squeeze)];
  }
  if (y < -NEAR) {
    const end = y + h; // rows that grow leave the texts above them as they are
    y /= kept;
    h = (end < 0 ? end / kept : end) - y;
  }
  const starts = view.breaks?.[panel];
  if (starts) {
    const [inLine, down, end] = inStrip(starts, x);
    if (end !== undefined && x + w > end + 1e-6) w = end - x - 0.1;
    x = inLine;
    y += down;
  }
  return {
    x: left + (at[0] + x) * unit * wide,
    y: top + (at[1] + y) * unit * tall,
    w: w * unit * wide,
    h: h * unit * tall,
  };
}
/**
 * @param {Frame} frame
 * @param {Standing} view
 * @returns {Look[]}
 */
export function looks(frame, view) {
  return frame.states.map((state) => {
    const rect = rectOf(view, state.p, state.x, state.y, state.w, state.h);
    return { state, alpha: rect && state.shown ? 1 : 0, rect, v: state.v, vec: state.vec };
  });
}
