// Outlines of what is empty now but will be filled by the end of the stage, a panel with its name. They show neither
// cells nor numbers, so they give no answer away.

/** @import { Coming, Frame, Paper, Standing } from "./types" */

import { BODIES, grouped } from "./between.js";
import { lineSize, tile, write } from "./canvas.js";
import { rectOf } from "./rects.js";
import { boxOf, overlap } from "./scenes.js";

/** @param {Frame["states"][number]} state */
const isBody = ({ shown, role }) => shown && role !== "label" && BODIES.has(role);
/** @param {Frame["states"][number]} state */
const isTitle = ({ shown, role }) => shown && role === "title";

/**
 * The outlines of what is empty in a frame and filled in later ones: a whole panel with its first heading unless that is already
 * there, without shapes and counts; or the rest of each line of a panel. A cell that moves later is outlined where it appears.
 * @param {Frame} frame
 * @param {Frame[]} later
 * @param {Standing} view
 * @returns {Coming[]}
 */
export function coming(frame, later, view) {
  const placeOf = (/** @type {Frame["states"][number]} */ { p, x, y, w, h }) => rectOf(view, p, x, y, w, h),
    filled = grouped(frame.states.filter(isBody), ({ p }) => p),
    headed = new Set(frame.states.filter(isTitle).map(({ p }) => p));
  const appears = frame.states.map((now, i) =>
    later.map(({ states }) => states[i]).find(({ shown, p }) => shown && !(now.shown && p === now.p)),
  );
  return [...grouped(appears.filter(Boolean), ({ p }) => p)].flatMap(([p, some]) => {
    const there = (filled.get(p) ?? []).map(placeOf).filter(Boolean),
      rects = some.filter(isBody).map(placeOf).filter(Boolean),
      rest = rects.filter((rect) => there.every((other) => !overlap(rect, other)));
    if (there.length || !rest.length) {
      const lines = [...grouped(rest, ({ y }) => Math.round(y)).values()];
      return lines.map((line) => ({ rect: boxOf(line), name: "", at: /** @type {Coming["at"]} */ (null) }));
    }
    const title = headed.has(p) ? undefined : some.find(isTitle);
    return [{ rect: boxOf(rest), name: title?.text.replace(/\s*[(:].*/, "") ?? "", at: title ? placeOf(title) : null }];
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
