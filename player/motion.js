// Motion from one frame to the next: scenes replace each other, rows that exchange places pass side by side.

/** @import { Aside, Axis, Frame, Look, Motion, Rect, Row, Side, Size, Standing } from "./types" */

import { lineOf, looks, READABLE, rectOf } from "./layout.js";

/** @type {(a: number, b: number, t: number) => number} */
const lerp = (a, b, t) => a + (b - a) * t;
/** @param {number} t */
const clamp = (t) => Math.max(0, Math.min(1, t));
/** @param {number} t */
const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - (2 - 2 * t) ** 3 / 2);
/** @type {(a: Rect, b: Rect, t: number) => Rect} */
const mixRect = (a, b, t) => ({
  x: lerp(a.x, b.x, t),
  y: lerp(a.y, b.y, t),
  w: lerp(a.w, b.w, t),
  h: lerp(a.h, b.h, t),
});
/** @type {(a: number, b: number) => boolean} */
const near = (a, b) => Math.abs(a - b) < 0.5;
export const BODIES = new Set(["token", "ghost", "pad", "value", "vector", "output", "label", "flag"]); // the rest is text beside them
const AROUND = new Set(["ring", "mark"]); // drawn around a cell: waits until the cell has arrived, and is on top of it
const LEAST = 6; // pixels of the smallest text while rows are briefly narrow

/**
 * @param {Look} a
 * @param {Look} b
 * @param {number} t
 * @param {boolean} [patient]
 * @returns {Look}
 */
function between(a, b, t, patient) {
  const from = (a.alpha && a.rect) || b.rect || a.rect,
    to = b.rect ?? a.rect; // hidden cells appear in their final place
  if (!from) return b;
  const sameVec = a.vec && b.vec && a.vec.length === b.vec.length,
    late = patient || AROUND.has(b.state.role);
  const share = b.alpha > a.alpha ? clamp(late ? t * 4 - 3 : t * 4) : patient ? clamp(t * 4) : t;
  return {
    state: t < 0.5 && !b.origin ? a.state : b.state,
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
function differ(a, b) {
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
 * @param {Rect[]} rects
 * @returns {Rect}
 */
function boxOf(rects) {
  const x = Math.min(...rects.map((r) => r.x)),
    y = Math.min(...rects.map((r) => r.y));
  return { x, y, w: Math.max(...rects.map((r) => r.x + r.w)) - x, h: Math.max(...rects.map((r) => r.y + r.h)) - y };
}
/** @type {(p: Rect, q: Rect, by?: number) => boolean} */
const overlap = (p, q, by = 1) =>
  Math.min(p.x + p.w, q.x + q.w) - Math.max(p.x, q.x) > by && Math.min(p.y + p.h, q.y + q.h) - Math.max(p.y, q.y) > by;
/**
 * @template T, K
 * @param {T[]} items
 * @param {(item: T) => K} key
 * @returns {Map<K, T[]>}
 */
function grouped(items, key) {
  const groups = new Map();
  for (const item of items) groups.has(key(item)) ? groups.get(key(item)).push(item) : groups.set(key(item), [item]);
  return groups;
}

/**
 * A change of scene: what leaves and what is text fades out in place, then panels that stay move rigidly. A panel whose
 * line breaks change, or that would cross another, fades out too. New cells fade in during the next tween.
 * @param {Look[]} shown
 * @param {Standing} standing
 * @param {Frame} frame
 * @param {Standing} view
 */
function sceneChange(shown, standing, frame, view) {
  const to = shown.map((look, i) => {
    const { p, x, y, w, h, role } = look.state,
      rect = look.alpha && frame.states[i].shown ? rectOf(view, p, x, y, w, h) : null;
    const stays = rect && (BODIES.has(role) || !differ(look, { ...look, rect }));
    return stays ? { ...look, alpha: 1, rect } : { ...look, alpha: 0 };
  });
  const staying = shown.map((_, i) => i).filter((i) => to[i].alpha && BODIES.has(to[i].state.role));
  /** @type {typeof panels} */
  const moved = [];
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
  panels.sort((a, b) => Number(b.still) - Number(a.still) || b.cells.length - a.cells.length);
  for (const panel of panels) {
    const at = (/** @type {typeof panel} */ each, /** @type {number} */ t) => mixRect(each.from, each.there, t),
      times = Array.from({ length: 25 }, (_, i) => i / 24);
    const free = moved.every((other) => times.every((t) => !overlap(at(panel, t), at(other, t))));
    if (panel.rigid && free) moved.push(panel);
    else for (const i of panel.cells) to[i] = { ...shown[i], alpha: 0 };
  }
  const moving = shown.map((_, i) => i).filter((i) => differ(shown[i], to[i]));
  const fades = moving.some((i) => !to[i].alpha) ? 0.4 : 0,
    moves = moving.some((i) => to[i].alpha) ? 0.7 : 0;
  const fade = fades / (fades + moves);
  const at = (/** @type {number} */ i, /** @type {number} */ t) => {
    const a = shown[i],
      b = to[i];
    return b.alpha
      ? { ...b, rect: mixRect(a.rect, b.rect, ease(clamp((t - fade) / (1 - fade)))) }
      : { ...a, alpha: a.alpha * (1 - clamp(t / fade)) };
  };
  return {
    from: shown,
    to,
    moving,
    at,
    unit: (/** @type {number} */ t) => (t < fade ? standing.unit : view.unit),
    beats: fades + moves,
  };
}

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
 * Rows that exchange places pass side by side: those that keep their order stay in line, the others move aside meanwhile,
 * and all shrink if there is no room. Returns where each cell moves aside to.
 * @param {Look[]} from
 * @param {Look[]} to
 * @param {Standing} standing
 * @param {Size} size
 * @returns {Map<number, Aside>}
 */
function asides(from, to, { unit }, size) {
  /** @type {Map<number, Aside>} */
  const ways = new Map();
  for (const { axis, rows } of exchanges(from, to)) {
    /** @type {[Axis, Side][]} */
    const sides = [
      ["x", "w"],
      ["y", "h"],
    ];
    const [[x, w], [y, h]] = axis === "y" ? sides : sides.reverse();
    let rest = rows
      .filter((a) => rows.some((b) => (a.from - b.from) * (a.to - b.to) < 0))
      .sort((a, b) => a.from - b.from);
    if (!rest.length) continue;
    /** @type {Row[][]} */
    const lines = [];
    while (rest.length) {
      lines.push(inOrder(rest));
      rest = rest.filter((row) => !lines.at(-1).includes(row));
    }
    const cells = lines.flat().flatMap((row) => row.cells),
      mine = new Set(cells);
    const written = (/** @type {Look} */ { state, rect }) =>
      x === "x" && state.role === "note"
        ? Math.max(rect.w, state.text.length * 0.62 * lineOf(unit, size.h, READABLE))
        : rect[w];
    const begin = Math.min(...cells.map((i) => from[i].rect[x])),
      ends = (/** @type {number[]} */ some) => Math.max(...some.map((i) => from[i].rect[x] + written(from[i]))),
      end = ends(cells);
    const first = Math.min(...cells.map((i) => Math.min(from[i].rect[y], to[i].rect[y]))),
      last = Math.max(...cells.map((i) => Math.max(from[i].rect[y], to[i].rect[y]) + to[i].rect[h]));
    let low = 4,
      high = size[w] - 4;
    to.forEach(({ alpha, rect, state }, i) => {
      if (mine.has(i) || !alpha || (state.role !== "thread" && (rect[y] + rect[h] < first + 1 || rect[y] > last - 1)))
        return;
      if (rect[x] + rect[w] <= begin + 1) low = Math.max(low, rect[x] + rect[w]);
      else if (rect[x] >= end - 1) high = Math.min(high, rect[x]);
    });
    const gap = Math.min(16, (high - low) / lines.length / 10),
      room = (high - low + gap) / lines.length - gap,
      narrow = room < end - begin; // then there is no room for the notes beside the rows either
    const whole = (narrow ? ends(cells.filter((i) => to[i].state.role !== "note")) : end) - begin,
      scale = Math.min(1, room / whole);
    const start = Math.max(low, Math.min(begin, high - lines.length * (whole * scale + gap) + gap));
    lines.forEach((line, k) =>
      line.forEach((row) =>
        row.cells.forEach((i) => {
          const { rect, state } = from[i],
            wide = rect[w] * scale;
          const fades =
            state.role === "note" ? narrow || rect.h < READABLE : state.role === "label" && (rect[h] < 15 || wide < 9);
          ways.set(i, { x, w, at: start + k * (whole * scale + gap) + (rect[x] - begin) * scale, wide, fades });
        }),
      ),
    );
  }
  return ways;
}
const ASIDE = 0.3; // the share of the time for moving aside, and for coming back
/**
 * @param {Look} a
 * @param {Look} b
 * @param {number} t
 * @param {Aside} aside
 * @returns {Look}
 */
function beside(a, b, t, { x, w, at, wide, fades }) {
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
        from[c] = { ...to[c], rect, alpha: 0.999 };
        to[c].origin = true;
      }
    }
  }
  const ways = asides(from, to, view, size),
    swaps = ways.size > 0;
  const moving = to
    .map((_, i) => i)
    .filter((i) => ways.has(i) || differ(from[i], to[i]) || (to[i].alpha && AROUND.has(to[i].state.role)));
  const at = (/** @type {number} */ i, /** @type {number} */ t) =>
    ways.has(i)
      ? beside(from[i], to[i], t, ways.get(i))
      : between(from[i], to[i], ease(swaps ? clamp((t - ASIDE) / (1 - 2 * ASIDE)) : t), swaps);
  return { from, to, moving, at, unit: () => view.unit, beats: swaps ? 2.4 : 1 };
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
