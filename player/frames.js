// A movie as frames: a frame is the list of all cells' states, so that any step can be shown at once and going back is free.

/** @import { Cell, Column, Frame, Movie, Origin, Token } from "./types" */

const AROUND = ["ring", "mark"]; // drawn around cells: painted after all of them, for nothing to cover them
/** @type {Omit<Cell, "i" | "role" | "p" | "x" | "y">} */
const PLAIN = { w: 1, h: 1, text: "", sub: "", scale: "state", tone: "", token: null, shown: false };

/**
 * A column with one value for each: from one for all, from runs that grow evenly, or as it stands.
 * @param {Column} column
 * @param {number} n
 * @param {unknown[][]} [shared]
 * @returns {any[]}
 */
export function unpacked(column, n, shared = []) {
  if (Array.isArray(column)) return column;
  if (column === null || typeof column !== "object") return new Array(n).fill(column);
  if ("column" in column) return shared[column.column];
  const values = [],
    { runs } = column;
  for (let r = 0; r < runs.length; r += 3)
    for (let k = 0; k < runs[r + 2]; k++) values.push(Math.round((runs[r] + k * runs[r + 1]) * 1e4) / 1e4);
  return values;
}

/**
 * Give each of some records its share of some columns; a row of numbers is looked up, a place is put together.
 * @param {any[]} records
 * @param {Record<string, any>} columns
 * @param {Movie["numbers"]} numbers
 * @param {unknown[][]} [shared]
 */
function fill(records, columns, numbers, shared) {
  for (const [name, column] of Object.entries(columns)) {
    if (name === "from") {
      const [p, x, y] = column.map((/** @type {Column} */ each) => unpacked(each, records.length));
      records.forEach((record, i) => {
        record.from = [p[i], x[i], y[i]];
      });
      continue;
    }
    const values = unpacked(column, records.length, shared);
    records.forEach((record, i) => {
      record[name] = name === "vec" ? (values[i] === null ? undefined : numbers[values[i]]) : values[i];
    });
  }
  return records;
}

/**
 * What was given, its tokens one by one, and for each group the lines that its cells say.
 * @param {Movie} movie
 */
export function read(movie) {
  const { tokens, groups, tips, sequences } = movie;
  const [b, t, n] = [tokens.b, tokens.t, tokens.n].map((column) => unpacked(column, 0));
  const put = (/** @type {string} */ text, /** @type {Record<string, any>} */ blanks) =>
    text.replace(/\{(\w+)\}/g, (_, name) => String(blanks[name]));
  /** @type {Token[]} */
  const known = b.map((row, i) => {
    const offset = tokens.offsets[t[i]],
      packed = n[i] >= 0,
      blanks = { seq: sequences[row][0], t: t[i], n: n[i], said: tokens.said[i], offset, position: n[i] - offset };
    const typed = tokens.said[i] ? put(tokens.typed, blanks) : "";
    const tip = typed + put(tokens.tip, blanks) + (packed ? put(tokens.address, blanks) : "");
    return { b: row, t: t[i], n: packed ? n[i] : null, tip };
  });
  return { ...movie, tokens: known, families: groups.map(({ tip }) => (tip === undefined ? [] : tips[tip])) };
}

/**
 * @param {Pick<Movie, "groups" | "columns" | "numbers" | "steps">} movie
 * @returns {{ frames: Frame[], ends: number[] }} ends: the last frame of each step
 */
export function framesOf({ groups, columns: shared, numbers, steps }) {
  const order = groups.map((_, g) => g);
  order.sort((one, two) => Number(AROUND.includes(groups[one].role)) - Number(AROUND.includes(groups[two].role)));
  /** @type {number[]} */
  const starts = [];
  /** @type {Cell[]} */
  let states = [];
  for (const g of order) {
    const { n = 1, tip, ...columns } = groups[g];
    starts[g] = states.length;
    const cells = Array.from({ length: n }, (_, k) => ({
      ...PLAIN,
      i: starts[g] + k,
      ...(tip === undefined ? {} : { f: g }),
    }));
    states.push(...fill(cells, columns, numbers, shared));
  }
  /** @type {Frame[]} */
  const frames = [],
    ends = [];
  for (const step of steps) {
    for (const beat of step.beats.length ? step.beats : [[]]) {
      /** @type {Map<number, Origin>} */
      const origins = new Map();
      states = states.slice();
      for (const [of, picked, columns] of beat)
        for (const g of [of].flat()) {
          const marks = picked === null ? Array.from({ length: groups[g].n ?? 1 }, (_, k) => k) : unpacked(picked, 1),
            blank = marks.map(() => ({}));
          const changes = fill(blank, columns, numbers);
          marks.forEach((mark, k) => {
            const { from, ...change } = changes[k],
              i = starts[g] + mark;
            states[i] = { ...states[i], ...change };
            if (from) origins.set(i, from);
          });
        }
      frames.push({ states, origins, scene: step.scene ?? step.stage });
    }
    ends.push(frames.length - 1);
  }
  return { frames, ends };
}
