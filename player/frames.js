// A movie as frames: a frame is a list of all cells' states, so that any step can be shown and going back is free.

/** @import { Cell, Column, Frame, Movie, Origin, Read, Scene, Stage, Token } from "./types" */

const AROUND = ["ring", "mark"]; // drawn around cells: painted after all of them, so that nothing covers them
const SCALE = 1e4; // numbers are stored in ten-thousandths
/** @type {Omit<Cell, "i" | "role" | "p" | "x" | "y">} */
const PLAIN = { w: 1, h: 1, text: "", sub: "", scale: "state", tone: "", token: null, shown: false };

/**
 * A column with one value for each: from a single value, evenly growing runs, the number of a shared list, or as it is.
 * @param {Column} column
 * @param {number} n
 * @param {unknown[][]} shared
 * @returns {any[]}
 */
export function unpacked(column, n, shared) {
  if (Array.isArray(column)) return column.length === 1 ? shared[/** @type {number} */ (column[0])] : column;
  if (column === null || typeof column !== "object") return new Array(n).fill(column);
  const values = [],
    { runs } = column;
  for (let r = 0; r < runs.length; r += 3)
    for (let k = 0; k < runs[r + 2]; k++) values.push(Math.round((runs[r] + k * runs[r + 1]) * 1e4) / 1e4);
  return values;
}

/**
 * Distribute columns over records; a row of numbers is looked up, a place is assembled.
 * @param {any[]} records
 * @param {Record<string, any>} columns
 * @param {Pick<Read, "columns" | "numbers">} movie
 */
function fill(records, columns, { numbers, columns: shared }) {
  for (const [name, column] of Object.entries(columns)) {
    if (name === "from") {
      const [p, x, y] = column.map((/** @type {Column} */ each) => unpacked(each, records.length, shared));
      records.forEach((record, i) => {
        record.from = [p[i], x[i], y[i]];
      });
      continue;
    }
    const values = unpacked(column, records.length, shared);
    records.forEach((record, i) => {
      const value = values[i];
      if (name === "vec") record.vec = value === null ? undefined : numbers[value];
      else record[name] = name === "v" ? value / SCALE : value;
    });
  }
  return records;
}

/**
 * The movie with its steps, tokens, scenes and numbers expanded, and for each group the tooltip lines of its cells.
 * @param {Movie} given
 * @returns {Read}
 */
export function read(given) {
  const { tokens, groups, tips, sequences, columns } = given,
    views = given.views.map(([w, h, at, breaks]) => ({ w, h, at, breaks }));
  const [b, t, n, said, offsets] = [tokens.b, tokens.t, tokens.n, tokens.said, tokens.offsets].map((column) =>
    unpacked(column, tokens.count, columns),
  );
  const put = (/** @type {string} */ text, /** @type {Record<string, any>} */ blanks) =>
    text.replace(/\{(\w+)\}/g, (_, name) => String(blanks[name]));
  /** @type {Token[]} */
  const known = b.map((row, i) => {
    const offset = offsets[t[i]],
      packed = n[i] >= 0,
      blanks = { seq: sequences[row][0], t: t[i], n: n[i], said: said[i], offset, position: n[i] - offset };
    const typed = said[i] ? put(tokens.typed, blanks) : "";
    const tip = typed + put(tokens.tip, blanks) + (packed ? put(tokens.address, blanks) : "");
    return { b: row, t: t[i], n: packed ? n[i] : null, tip };
  });
  /** @type {Stage} */
  let stage = "";
  const steps = given.steps.map((step) => {
    stage = step.stage ?? stage;
    return { ...step, stage, code: given.lines[stage], beats: step.beats ?? 2 };
  });
  /** @type {Record<string, Scene>} */
  const scenes = {};
  for (const [name, [wide, tall = wide]] of Object.entries(given.scenes))
    scenes[name] = { wide: wide.map((view) => views[view]), tall: tall.map((view) => views[view]) };
  const numbers = given.numbers.map((row) => row.map((number) => (number === null ? null : number / SCALE)));
  const families = groups.map(([, , , , { tip }]) => (tip === undefined ? [] : tips[tip]));
  return { ...given, steps, scenes, numbers, tokens: known, families };
}

/**
 * @param {Pick<Read, "groups" | "columns" | "numbers" | "steps" | "changes">} movie
 * @returns {{ frames: Frame[], ends: number[] }} ends: the last frame of each step
 */
export function framesOf(movie) {
  const { groups, steps } = movie,
    order = groups.map((_, g) => g);
  order.sort((one, two) => Number(AROUND.includes(groups[one][0])) - Number(AROUND.includes(groups[two][0])));
  /** @type {number[]} */
  const starts = [];
  /** @type {Cell[]} */
  let states = [];
  for (const g of order) {
    const [role, p, x, y, { n = 1, tip, ...columns }] = groups[g];
    starts[g] = states.length;
    const cells = Array.from({ length: n }, (_, k) => ({
      ...PLAIN,
      i: starts[g] + k,
      ...(tip === undefined ? {} : { f: g }),
    }));
    states.push(...fill(cells, { role, p, x, y, ...columns }, movie));
  }
  const beats = changesOf(movie, starts);
  /** @type {Frame[]} */
  const frames = [],
    ends = [];
  let beat = 0;
  for (const step of steps) {
    const those = Array.from({ length: step.beats }, () => beats[beat++] ?? []).filter(({ length }) => length);
    for (const changes of those.length ? those : [[]]) {
      /** @type {Map<number, Origin>} */
      const origins = new Map();
      states = states.slice();
      for (const [i, { from, ...change }] of changes) {
        states[i] = { ...states[i], ...change };
        if (from) origins.set(i, from);
      }
      frames.push({ states, origins, scene: step.scene ?? step.stage });
    }
    ends.push(frames.length - 1);
  }
  return { frames, ends };
}

/**
 * For each beat, the numbers of the cells that it changes, and how.
 * @param {Pick<Read, "groups" | "columns" | "numbers" | "changes">} movie
 * @param {number[]} starts the number of the first cell of each group
 */
function changesOf(movie, starts) {
  const { groups, columns: shared, changes } = movie;
  /** @type {[cell: number, change: any][][]} */
  const beats = [];
  for (const [of, when, sizes, picked, columns] of changes)
    for (const g of [of].flat()) {
      const { n = 1 } = groups[g][4],
        at = unpacked(when, 1, shared),
        counts = unpacked(sizes ?? n, at.length, shared),
        total = counts.reduce((sum, count) => sum + count, 0),
        marks = picked === null ? null : unpacked(picked, total, shared);
      const records = fill(
        Array.from({ length: total }, () => ({})),
        columns,
        movie,
      );
      let k = 0;
      at.forEach((beat, e) => {
        beats[beat] ??= [];
        for (const end = k + counts[e]; k < end; k++)
          beats[beat].push([starts[g] + (marks ? marks[k] : k % n), records[k]]);
      });
    }
  return beats;
}
