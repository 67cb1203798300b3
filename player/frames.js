// A movie as frames: a frame is the list of all cells' states, so that any step can be shown at once and going back is free.

/** @import { Block, Cell, Change, Frame, Movie, Origin } from "./types" */

/**
 * The records of some blocks, one after the other.
 * @param {Block[]} blocks
 * @returns {any[]}
 */
const records = (blocks) =>
  blocks.flatMap(({ n, ...columns }) =>
    Array.from({ length: n ?? columns.c.length }, (_, i) =>
      Object.fromEntries(
        Object.entries(columns).map(([name, column]) => [name, Array.isArray(column) ? column[i] : column]),
      ),
    ),
  );

/**
 * @param {Movie} movie
 * @returns {{ frames: Frame[], ends: number[] }} ends: the last frame of each step
 */
export function framesOf(movie) {
  /** @type {Cell[]} */
  let states = records(movie.cells).map((cell, i) => ({
    i,
    w: 1,
    h: 1,
    text: "",
    sub: "",
    scale: "state",
    tone: "",
    shown: true,
    ...cell,
  }));
  /** @type {Frame[]} */
  const frames = [],
    ends = [];
  for (const step of movie.steps) {
    for (const beat of step.beats.length ? step.beats : [[]]) {
      /** @type {Map<number, Origin>} */
      const origins = new Map();
      states = states.slice();
      /** @type {Change[]} */
      const changes = records(beat);
      for (const { c, from, ...change } of changes) {
        states[c] = { ...states[c], ...change };
        if (from) origins.set(c, from);
      }
      frames.push({ states, origins, scene: step.scene ?? step.stage });
    }
    ends.push(frames.length - 1);
  }
  return { frames, ends };
}
