// A movie as frames: a frame is a list of all cells' states, so that any step can be shown and going back is free. The data
// are those of packviz/show/movie/format.py.

/** @import { Cell, Film, Frame, Movie, Origin, Read, Scene, Stage } from "./types" */

import FORMAT from "./format.json" with { type: "json" };

const { scale: SCALE, usual: USUAL } = FORMAT;

/**
 * The i-th value of a column: a list with one value for each mark, or one value for all of them.
 * @param {unknown} column
 * @param {number} i
 * @returns {any}
 */
const valueAt = (column, i) => (Array.isArray(column) ? column[i] : column);

/**
 * The fields of the i-th mark; numbers are scaled, and rows of numbers looked up.
 * @param {object} columns
 * @param {number} i
 * @param {Read["numbers"]} numbers
 * @returns {any}
 */
function fieldsAt(columns, i, numbers) {
  /** @type {Record<string, any>} */
  const fields = {};
  for (const [name, column] of Object.entries(columns)) fields[name] = valueAt(column, i);
  if ("v" in fields) fields.v /= SCALE;
  if ("vec" in fields) fields.vec = fields.vec === null ? undefined : numbers[fields.vec];
  return fields;
}

/**
 * @param {Movie} given
 * @returns {Film}
 */
export function filmOf(given) {
  const movie = read(given),
    stages = new Map();
  movie.steps.forEach(({ stage }, i) => stages.has(stage) || stages.set(stage, i + 1));
  return Object.freeze({ movie, ...framesOf(movie), stages });
}

/**
 * The movie with the stage of each step, and with its tokens, scenes and numbers expanded.
 * @param {Movie} given
 * @returns {Read}
 */
export function read(given) {
  const views = given.views.map(([w, h, at, breaks]) => ({ w, h, at, breaks }));
  /** @type {Stage} */
  let stage = "";
  const steps = given.steps.map((step) => {
    stage = step.stage ?? stage;
    return { ...step, stage, code: given.lines[stage] };
  });
  /** @type {Record<string, Scene>} */
  const scenes = {};
  for (const [name, [wide, tall = wide]] of Object.entries(given.scenes))
    scenes[name] = { wide: wide.map((view) => views[view]), tall: tall.map((view) => views[view]) };
  const numbers = given.numbers.map((row) => row.map((number) => (number === null ? null : number / SCALE)));
  const families = given.groups.map(({ tip }) => (tip === undefined ? [] : given.tips[tip]));
  return { ...given, steps, scenes, numbers, tokens: tokensOf(given), families };
}

/**
 * The tokens with their tooltips; apart from these, where packing puts them.
 * @param {Movie} movie
 */
function tokensOf({ tokens, sequences }) {
  const put = (/** @type {string} */ text, /** @type {Record<string, any>} */ blanks) =>
    text.replace(/\{(\w+)\}/g, (_, name) => String(blanks[name]));
  return tokens.b.map((b, i) => {
    const t = tokens.t[i],
      n = tokens.n[i],
      said = tokens.said?.[i] ?? "",
      offset = tokens.offsets[t],
      blanks = { seq: sequences[b][0], t, n, said, offset, position: n - offset };
    const tip = (said && put(tokens.typed, blanks)) + put(tokens.tip, blanks),
      address = n >= 0 ? put(tokens.address, blanks) : "";
    return { b, t, n: n >= 0 ? n : null, tip, address };
  });
}

/**
 * @param {Pick<Read, "groups" | "numbers" | "steps">} movie
 * @returns {{ first: Cell[], frames: Frame[], ends: number[] }} first: before the first step; ends: the last frame of each step
 */
export function framesOf({ groups, numbers, steps }) {
  /** @type {number[]} */
  const starts = [];
  /** @type {Cell[]} */
  let states = [];
  groups.forEach(({ role, n = 1, tip, ...columns }, g) => {
    starts.push(states.length);
    const family = tip === undefined ? {} : { f: g };
    for (let k = 0; k < n; k++)
      states.push({ ...USUAL, i: states.length, role, ...family, ...fieldsAt(columns, k, numbers) });
  });
  const first = states,
    /** @type {Frame[]} */
    frames = [],
    /** @type {number[]} */
    ends = [];
  for (const step of steps) {
    for (const changes of step.frames) {
      /** @type {Map<number, Origin>} */
      const origins = new Map();
      states = states.slice();
      for (const [g, some, { from, ...columns }] of changes) {
        const marks = some ?? Array.from({ length: groups[g].n ?? 1 }, (_, k) => k);
        marks.forEach((mark, k) => {
          const i = starts[g] + mark;
          states[i] = { ...states[i], ...fieldsAt(columns, k, numbers) };
          if (from) origins.set(i, [valueAt(from[0], k), valueAt(from[1], k), valueAt(from[2], k)]);
        });
      }
      frames.push({ states, origins, scene: step.scene ?? step.stage });
    }
    ends.push(frames.length - 1);
  }
  return { first, frames, ends };
}
