// Between two looks of a cell: where it is, how visible it is and which numbers it has on the way.

/** @import { Look, Rect } from "./types" */

/** @type {(a: number, b: number, t: number) => number} */
export const lerp = (a, b, t) => a + (b - a) * t;
/** @param {number} t */
export const clamp = (t) => Math.max(0, Math.min(1, t));
/** @param {number} t */
export const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - (2 - 2 * t) ** 3 / 2);
/** @type {(a: Rect, b: Rect, t: number) => Rect} */
export const mixRect = (a, b, t) => ({
  x: lerp(a.x, b.x, t),
  y: lerp(a.y, b.y, t),
  w: lerp(a.w, b.w, t),
  h: lerp(a.h, b.h, t),
});
/** @type {(a: number, b: number) => boolean} */
export const near = (a, b) => Math.abs(a - b) < 0.5;
export const BODIES = new Set(["token", "ghost", "pad", "value", "vector", "output", "label", "flag"]); // the rest is text beside them
export const AROUND = new Set(["ring", "mark"]); // drawn around a cell: waits until the cell has arrived, and is on top of it

/**
 * @param {Look} a
 * @param {Look} b
 * @param {number} t
 * @param {boolean} [patient]
 * @returns {Look}
 */
export function between(a, b, t, patient) {
  const from = (a.alpha && a.rect) || b.rect || a.rect,
    to = b.rect ?? a.rect; // hidden cells appear in their final place
  if (!from) return b;
  const sameVec = a.vec && b.vec && a.vec.length === b.vec.length,
    late = patient || AROUND.has(b.state.role);
  const share = b.alpha > a.alpha ? clamp(late ? t * 4 - 3 : t * 4) : patient ? clamp(t * 4) : t;
  return {
    state: a.alpha && t < 0.5 && !b.origin ? a.state : b.state,
    alpha: lerp(a.alpha, b.alpha, share),
    rect: mixRect(from, to, t),
    v: a.v != null && b.v != null && a.alpha ? lerp(a.v, b.v, t) : b.v,
    vec: sameVec && a.alpha && a.vec !== b.vec ? b.vec.map((v, i) => lerp(a.vec[i], v, t)) : b.vec,
  };
}
/**
 * @param {Omit<Look, "state"> & Partial<Look>} a
 * @param {Omit<Look, "state"> & Partial<Look>} b
 */
export function differ(a, b) {
  if (a.alpha !== b.alpha) return true;
  if (!b.alpha) return false;
  const { rect: p } = a,
    { rect: q } = b;
  return (
    a.state !== b.state ||
    !p ||
    p.x !== q.x ||
    p.y !== q.y ||
    p.w !== q.w ||
    p.h !== q.h ||
    a.v !== b.v ||
    a.vec !== b.vec
  );
}
/**
 * @template T, K
 * @param {T[]} items
 * @param {(item: T) => K} key
 * @returns {Map<K, T[]>}
 */
export function grouped(items, key) {
  const groups = new Map();
  for (const item of items) groups.has(key(item)) ? groups.get(key(item)).push(item) : groups.set(key(item), [item]);
  return groups;
}
