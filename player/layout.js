// Where things are: the view of a scene that suits the screen, and the rectangle of each cell in it.

/** @import { Frame, Look, Rect, Scene, Standing, View } from "./types" */

const MAX_UNIT = 58; // pixels of a cell, at most
export const READABLE = 11; // pixels of the smallest text

/**
 * @param {Scene} scene
 * @param {number} width
 * @param {number} height
 * @returns {Standing}
 */
export function frameView(scene, width, height) {
  /** @param {View} view */
  const size = ({ w, h }) => Math.min((width - 20) / w, (height - 14) / h, MAX_UNIT);
  /** @param {View} view */
  const panels = ({ at }) => Object.keys(at).length,
    views = width / height > 1.12 ? scene.wide : (scene.tall ?? scene.wide);
  const most = Math.max(...views.map(panels)),
    worth = (/** @type {View} */ view) => size(view) * (panels(view) < most ? 0.8 : 1); // better all panels than large cells
  const view = views.reduce((best, other) => (worth(other) > worth(best) + 0.01 ? other : best));
  const unit = size(view);
  return { view, unit, left: (width - view.w * unit) / 2, top: Math.max(4, (height - view.h * unit) / 2) };
}
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
 * @param {Standing} frame
 * @param {string} panel
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 * @returns {Rect | null}
 */
export function rectOf(frame, panel, x, y, w, h) {
  const { view, unit, left, top } = frame,
    at = view.at[panel];
  if (!at) return null;
  const starts = view.breaks?.[panel];
  if (starts) {
    const [inLine, down, end] = inStrip(starts, x);
    if (end !== undefined && x + w > end + 1e-6) w = end - x - 0.1;
    x = inLine;
    y += down;
  }
  return { x: left + (at[0] + x) * unit, y: top + (at[1] + y) * unit, w: w * unit, h: h * unit };
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
