// Motion from one frame to the next: first to its scene, then to the frame.

/** @import { Frame, Look, Motion, Size, Standing } from "./types" */

import { AROUND, BODIES, between, clamp, differ, ease } from "./between.js";
import { ASIDE, asides, beside } from "./exchange.js";
import { looks, rectOf } from "./rects.js";
import { boxOf, overlap, sceneChange, written } from "./scenes.js";

const ENTERING = 0.999, // the opacity of a cell that comes from elsewhere: it moves, and does not appear
  BLINK = 8, // the speed at which names of columns vanish while rows leave them, and come back
  SWAP = 2.4; // beats in which rows exchange places
const READ = new Set(["label", "title", "axis", "note", "count", "bracket", "value"]);

/** @param {Look} look */
const placeOf = ({ rect }) => (rect ? `${Math.round(rect.x)} ${Math.round(rect.y)}` : "");

/**
 * The texts and numbers that cells fly past, and the lines around these numbers: they are drawn over them.
 * @param {Look[]} from
 * @param {Look[]} to
 * @param {number[]} flying
 */
function passed(from, to, flying) {
  const rects = flying.filter((i) => BODIES.has(to[i].state.role)).flatMap((i) => [from[i].rect, to[i].rect]);
  if (!rects.length) return [];
  const swept = boxOf(rects),
    flies = new Set(flying),
    numbered = new Set(to.flatMap(({ state: { role, p } }) => (role === "value" ? [p] : [])));
  return to.flatMap((look, i) => {
    const { role, p } = look.state,
      isRead = READ.has(role) || (AROUND.has(role) && numbered.has(p));
    return isRead && !flies.has(i) && (look.alpha || from[i].alpha) && look.rect && overlap(written(look), swept)
      ? [i]
      : [];
  });
}
/**
 * A beat: everything moves to the frame at once.
 * @param {Look[]} shown
 * @param {Frame} frame
 * @param {Standing} view
 * @param {boolean} forward
 * @param {Size} size
 */
function beat(shown, frame, view, forward, size) {
  const to = looks(frame, view),
    from = shown.slice();
  if (forward) {
    for (const [c, [panel, x, y]] of frame.origins) {
      const { w, h } = frame.states[c],
        rect = rectOf(view, panel, x, y, w, h);
      if (rect && to[c].alpha) {
        from[c] = { ...to[c], rect, alpha: ENTERING };
        to[c].origin = true;
      }
    }
  }
  const ways = asides(from, to, view, size),
    swaps = ways.size > 0;
  const leaving = new Set([...ways.keys()].map((i) => to[i].state.p)); // panels whose cells leave their columns meanwhile
  const named = (/** @type {number} */ i) =>
    to[i].state.role === "axis" && leaving.has(to[i].state.p) && from[i].alpha && to[i].alpha;
  const leaves = (/** @type {number} */ i) => from[i].alpha && !to[i].alpha,
    left = new Set(from.filter((_, i) => leaves(i)).map(placeOf)), // where something else may come: only when it is gone
    follows = (/** @type {number} */ i) => !from[i].alpha && to[i].alpha && left.has(placeOf(to[i])),
    inTurn = to.some((_, i) => follows(i));
  const shareOf = (/** @type {number} */ i, /** @type {number} */ t) =>
    !inTurn ? t : follows(i) ? clamp(2 * t - 1) : leaves(i) ? clamp(2 * t) : t;
  const flies = (/** @type {number} */ i) => from[i].alpha && to[i].alpha && placeOf(from[i]) !== placeOf(to[i]);
  const onTop = (/** @type {number} */ i) => flies(i) || (AROUND.has(to[i].state.role) && differ(from[i], to[i]));
  const all = to
    .map((_, i) => i)
    .filter((i) => ways.has(i) || named(i) || differ(from[i], to[i]) || (to[i].alpha && AROUND.has(to[i].state.role)));
  const over = new Set(passed(from, to, all.filter(flies))),
    below = all.filter((i) => !over.has(i)),
    moving = [...below.filter((i) => !onTop(i)), ...below.filter(onTop), ...over]; // nothing is painted over what flies past it, but what is read
  const at = (/** @type {number} */ i, /** @type {number} */ t) =>
    ways.has(i)
      ? beside(from[i], to[i], t, ways.get(i))
      : named(i)
        ? { ...to[i], alpha: 1 - clamp(BLINK * Math.min(t, 1 - t)) }
        : between(from[i], to[i], shareOf(i, ease(swaps ? clamp((t - ASIDE) / (1 - 2 * ASIDE)) : t)), swaps);
  return { from, to, moving, over, at, unit: () => view.unit, beats: swaps ? SWAP : 1 };
}

/**
 * The next motion on the way to a frame, from what is shown in the current view: first to its scene, then to the frame.
 * @param {Look[]} shown
 * @param {Standing} standing
 * @param {Frame} frame
 * @param {Standing} view
 * @param {boolean} forward
 * @param {Size} size
 * @returns {Motion}
 */
export function motionTo(shown, standing, frame, view, forward, size) {
  const change = standing === view ? null : sceneChange(shown, standing, frame, view);
  return change?.moving.length
    ? { ...change, there: false }
    : { ...beat(shown, frame, view, forward, size), there: true };
}
