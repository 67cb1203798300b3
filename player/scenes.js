// A change of scene: panels that stay move rigidly, and all others fade out.

/** @import { Frame, Look, Rect, Standing } from "./types" */

import { BODIES, clamp, differ, ease, grouped, mixRect, near } from "./between.js";
import { rectOf } from "./rects.js";

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
const overlap = (p, q, by = 1) =>
  Math.min(p.x + p.w, q.x + q.w) - Math.max(p.x, q.x) > by && Math.min(p.y + p.h, q.y + q.h) - Math.max(p.y, q.y) > by;
const SAMPLES = 24, // parts of the way at which panels are compared
  FADING = 0.4, // beats in which something fades out,
  MOVING = 0.7; // and in which panels move

/**
 * The cells of each panel that stay, its boxes before and after, whether all of its cells move with it, and whether it does
 * not move: first those that stand still, then the largest ones.
 * @param {Look[]} shown
 * @param {Look[]} to
 */
function panelsOf(shown, to) {
  const staying = shown.map((_, i) => i).filter((i) => to[i].alpha && BODIES.has(to[i].state.role));
  const panels = [...grouped(staying, (i) => to[i].state.p).values()].map((cells) => {
    const bodies = cells.filter((i) => to[i].state.role !== "label"), // letters may move closer to their rows
      all = bodies.length ? bodies : cells,
      from = boxOf(all.map((i) => shown[i].rect)),
      there = boxOf(all.map((i) => to[i].rect)),
      [sx, sy] = [there.w / from.w, there.h / from.h];
    const rigid = all.every(
      (i) =>
        near(there.x + (shown[i].rect.x - from.x) * sx, to[i].rect.x) &&
        near(there.y + (shown[i].rect.y - from.y) * sy, to[i].rect.y),
    );
    return { cells, from, there, rigid, still: !differ({ alpha: 1, rect: from }, { alpha: 1, rect: there }) };
  });
  return panels.sort((a, b) => Number(b.still) - Number(a.still) || b.cells.length - a.cells.length);
}
/**
 * The panels that can move as a whole: rigid ones that meet no other on their way.
 * @param {ReturnType<typeof panelsOf>} panels
 */
function movable(panels) {
  const at = (/** @type {typeof panels[number]} */ { from, there }, /** @type {number} */ t) => mixRect(from, there, t),
    times = Array.from({ length: SAMPLES + 1 }, (_, i) => i / SAMPLES);
  /** @type {typeof panels} */
  const moved = [];
  for (const panel of panels) {
    const free = moved.every((other) => times.every((t) => !overlap(at(panel, t), at(other, t))));
    if (panel.rigid && free) moved.push(panel);
  }
  return new Set(moved);
}
/**
 * A change of scene: what leaves and what is text fades out in place, then panels that stay move rigidly. A panel whose
 * line breaks change, or that would cross another, fades out too. New cells fade in during the next tween.
 * @param {Look[]} shown
 * @param {Standing} standing
 * @param {Frame} frame
 * @param {Standing} view
 */
export function sceneChange(shown, standing, frame, view) {
  const to = shown.map((look, i) => {
    const { p, x, y, w, h, role } = look.state,
      rect = look.alpha && frame.states[i].shown ? rectOf(view, p, x, y, w, h) : null;
    const stays = rect && (BODIES.has(role) || !differ(look, { ...look, rect }));
    return stays ? { ...look, alpha: 1, rect } : { ...look, alpha: 0 };
  });
  const panels = panelsOf(shown, to),
    moved = movable(panels);
  for (const panel of panels) if (!moved.has(panel)) for (const i of panel.cells) to[i] = { ...shown[i], alpha: 0 };
  const moving = shown.map((_, i) => i).filter((i) => differ(shown[i], to[i]));
  const fades = moving.some((i) => !to[i].alpha) ? FADING : 0,
    moves = moving.some((i) => to[i].alpha) ? MOVING : 0,
    fade = fades / (fades + moves);
  const at = (/** @type {number} */ i, /** @type {number} */ t) => {
    const a = shown[i],
      b = to[i];
    return b.alpha
      ? { ...b, rect: mixRect(a.rect, b.rect, ease(clamp((t - fade) / (1 - fade)))) }
      : { ...a, alpha: a.alpha * (1 - clamp(t / fade)) };
  };
  const unit = (/** @type {number} */ t) => (t < fade ? standing.unit : view.unit);
  return { from: shown, to, moving, at, unit, beats: fades + moves };
}
