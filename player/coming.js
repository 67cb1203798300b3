// Outlines of what is empty now but will be filled by the end of the stage, a panel with its name. They show neither
// cells nor numbers, so they give no answer away.

/** @import { Coming, Frame, Paper, Standing } from "./types" */

import { BODIES, grouped } from "./between.js";
import { lineSize, tile, write } from "./canvas.js";
import { rectOf } from "./rects.js";
import { boxOf, overlap } from "./scenes.js";

/** @param {Frame["states"][number]} state */
const isBody = ({ shown, role }) => shown && role !== "label" && BODIES.has(role);

/**
 * The outlines of what is empty in a frame and filled in later ones: a whole panel with its heading unless that is already
 * there, without shapes and counts; or the rest of each line of a panel. A cell that moves later is outlined where it appears.
 * @param {Frame} frame
 * @param {Frame[]} later
 * @param {Standing} view
 * @returns {Coming[]}
 */
export function coming(frame, later, view) {
  const placeOf = (/** @type {Frame["states"][number]} */ { p, x, y, w, h }) => rectOf(view, p, x, y, w, h);
  const appears = frame.states.map((now, i) =>
    later.map(({ states }) => states[i]).find(({ shown, p }) => shown && !(now.shown && p === now.p)),
  );
  return [...grouped(appears.filter(Boolean), ({ p }) => p)].flatMap(([p, some]) => {
    const rectsOf = (/** @type {Frame["states"]} */ states) => states.filter(isBody).map(placeOf).filter(Boolean),
      there = rectsOf(frame.states.filter((state) => state.p === p)),
      rest = rectsOf(some).filter((rect) => there.every((other) => !overlap(rect, other)));
    const lines = grouped(rest, ({ y }) => there.length && Math.round(y)), // or all of the panel
      title = there.length ? null : some.find(({ role }) => role === "title"),
      name = title?.text.replace(/\s*[(:].*/, "") ?? "";
    return [...lines.values()].map((line) => ({ rect: boxOf(line), name, at: title ? placeOf(title) : null }));
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
