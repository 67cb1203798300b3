// The tooltip of a cell: the lines of its family, with their blanks filled in.

/** @import { Cell, Read } from "./types" */

/** @param {number | null | undefined} v */
const number = (v) => (v == null ? "nan" : String(v).replace("-", "−"));

/**
 * A line with its blanks filled in; null if one cannot be filled.
 * @param {string} line
 * @param {Record<string, string | number | undefined>} blanks
 */
function filled(line, blanks) {
  const wanted = [...line.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (wanted.some((name) => blanks[name] == null)) return null;
  return line.replace(/\{(\w+)\}/g, (_, name) => String(blanks[name]));
}

/**
 * @param {Read} movie
 * @param {Cell} cell
 * @returns {string[]}
 */
export function tipLines(movie, cell) {
  const blanks = {
    seq: movie.sequences[cell.seq]?.[0],
    k: cell.k,
    token: movie.tokens[cell.token]?.tip,
    text: cell.text,
    number: cell.text || number(cell.v),
    vec: cell.vec && `[${cell.vec.map(number).join(", ")}]`,
  };
  const lines = movie.families[cell.f].map((wordings) => {
    const said = wordings.map((line) => filled(line, blanks));
    return said.find((line) => line !== null) ?? "";
  });
  return lines.filter(Boolean);
}
