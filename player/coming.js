// Outlines of panels that are empty now but will be filled by the end of the stage, each with its name. They show neither
// cells nor numbers, so they give no answer away.

/** @import { Coming, Frame, Paper, Rect, Standing } from "./types" */

import { BODIES } from "./between.js";
import { lineSize, tile, write } from "./canvas.js";
import { rectOf } from "./rects.js";
import { boxOf } from "./scenes.js";

/** @param {Frame["states"][number]} state */
const isBody = ({ shown, role }) => shown && role !== "label" && BODIES.has(role);
/** @param {Frame["states"][number]} state */
const isTitle = ({ shown, role }) => shown && role === "title";

/**
 * The outlines of the panels that are empty in a frame and filled in later ones, each with its first heading unless that is
 * already there: without shapes and counts.
 * @param {Frame} frame
 * @param {Frame[]} later
 * @param {Standing} view
 * @returns {Coming[]}
 */
export function coming(frame, later, view) {
  const filled = new Set(frame.states.filter(isBody).map(({ p }) => p)),
    headed = new Set(frame.states.filter(isTitle).map(({ p }) => p)),
    states = later.flatMap((each) => each.states.filter(({ p }) => !filled.has(p)));
  /** @type {Map<string, Rect[]>} */
  const boxes = new Map();
  for (const { p, x, y, w, h } of states.filter(isBody)) {
    const rect = rectOf(view, p, x, y, w, h);
    if (rect) boxes.set(p, [...(boxes.get(p) ?? []), rect]);
  }
  return [...boxes].map(([p, rects]) => {
    const title = headed.has(p) ? undefined : states.find((state) => isTitle(state) && state.p === p);
    const at = title ? rectOf(view, p, title.x, title.y, title.w, title.h) : null;
    return { rect: boxOf(rects), name: title?.text.replace(/\s*[(:].*/, "") ?? "", at };
  });
}

/**
 * @param {Paper} paper
 * @param {Coming[]} outlines
 * @param {number} unit
 */
export function sketch(paper, outlines, unit) {
  const { theme, room } = paper,
    px = Math.max(12, lineSize(paper, unit));
  for (const { rect, name, at } of outlines) {
    tile(paper, rect, { edge: theme.line, dash: true });
    if (at) write(paper, name, at.x, at.y + at.h * 0.32, room - at.x, { px, fill: theme.quiet, align: "left" });
  }
}
