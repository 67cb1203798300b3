// The tooltip of a cell: the lines of its family, with their blanks filled in, and where it covers least.

/** @import { Cell, Look, Read, Rect, Spot, Stage, Token } from "./types" */

import { el } from "./dom.js";
import { boxOf, overlap, written } from "./scenes.js";

const UNPACKED = ["pad", "embed", "sort"]; // the stages before the one that packs
const HUGE = 1e6; // such numbers have no decimals
const CLEAR = 6; // pixels between the tooltip and what it explains, and the edge of the picture
const SAME = 99, // how much it counts to cover the same cell or token, a title, or batch_sizes,
  NEAR = 4; // and the same panel; anything else counts 1

/**
 * Numbers as they are stored: all with four decimals unless all are integers.
 * @param {(number | null | undefined)[]} numbers
 */
const numbers = (...numbers) => {
  const whole = numbers.every((v) => v == null || Number.isInteger(v) || Math.abs(v) >= HUGE);
  return numbers.map((v) => (v == null ? "nan" : (whole ? String(v) : v.toFixed(4)).replace("-", "−"))).join(", ");
};

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
 * What is said about a token; before the stage that packs not which packed row it becomes.
 * @param {Token} token
 * @param {Stage} stage
 */
export const told = ({ tip, address }, stage) => (UNPACKED.includes(stage) ? tip : tip + address);
/**
 * @param {Read} movie
 * @param {Cell} cell
 * @param {Stage} stage
 * @returns {string[]}
 */
export function tipLines(movie, cell, stage) {
  const blanks = {
    seq: movie.sequences[cell.seq]?.[0],
    k: cell.k,
    token: movie.tokens[cell.token] && told(movie.tokens[cell.token], stage),
    text: cell.text,
    number: cell.text || numbers(cell.v),
    vec: cell.vec && `[${numbers(...cell.vec)}]`,
  };
  const lines = movie.families[cell.f].map((wordings) => {
    const said = wordings.map((line) => filled(line, blanks));
    return said.find((line) => line !== null) ?? "";
  });
  return lines.filter(Boolean);
}

/**
 * Where the tooltip of a cell covers least: below, above or beside the cell or its whole panel. The cell itself, the
 * same token elsewhere, titles and batch_sizes count most, then the cell's panel.
 * @param {Look} hit
 * @param {number | null} token
 * @param {Spot} spot
 * @param {{ w: number, h: number }} tip
 * @param {{ w: number, h: number }} picture
 * @param {Look[]} shown
 */
export function placed(hit, token, spot, tip, picture, shown) {
  const seen = shown.filter(({ alpha, rect, state }) => alpha && rect && state.role !== "focus"),
    panel = boxOf([hit, ...seen.filter(({ state }) => state.p === hit.state.p)].map(({ rect }) => rect)), // also while it moves in
    inside = (/** @type {number} */ at, /** @type {number} */ long, /** @type {number} */ room) =>
      Math.max(CLEAR, Math.min(at, room - long - CLEAR));
  const around = (/** @type {Rect} */ { x, y, w, h }) => [
    { x: spot.x + CLEAR, y: y + h + CLEAR },
    { x: spot.x + CLEAR, y: y - tip.h - CLEAR },
    { x: x + w + CLEAR, y: spot.y - tip.h / 2 },
    { x: x - tip.w - CLEAR, y: spot.y - tip.h / 2 },
  ];
  const places = [hit.rect, panel].flatMap(around).map(({ x, y }) => ({
    left: inside(x, tip.w, picture.w),
    top: inside(y, tip.h, picture.h),
  }));
  const weight = (/** @type {Look} */ { state: { i, p, role, token: of } }) =>
    i === hit.state.i || /count|title/.test(role) || (token !== null && of === token)
      ? SAME
      : p === hit.state.p
        ? NEAR
        : 1;
  const covers = places.map(({ left: x, top: y }) =>
    seen.reduce((sum, look) => sum + (overlap(written(look), { x, y, ...tip }) ? weight(look) : 0), 0),
  );
  return places[covers.indexOf(Math.min(...covers))];
}

export class Tip {
  root = el("div", { class: "pv-tip", hidden: "" });

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
  }
  get open() {
    return !this.root.hidden;
  }
  hide() {
    this.root.hidden = true;
  }
  /**
   * Explain a cell that is pointed at; hidden if there is none.
   * @param {Look | null} hit
   * @param {Spot | null} spot
   * @param {number | null} token the one that is pointed at
   */
  show(hit, spot, token) {
    const lines = hit ? tipLines(this.player.movie, hit.state, this.player.now.stage) : [];
    this.root.hidden = !lines.length;
    if (!lines.length) return;
    this.root.replaceChildren(...lines.map((line) => el("p", { dir: "auto" }, line)));
    const { width: w, height: h, shown, pan } = this.player.picture,
      size = { w: this.root.offsetWidth, h: this.root.offsetHeight },
      gone = pan.place.scrollLeft; // pixels of the picture on the left of its place
    const here = (/** @type {Look} */ look) =>
        look.rect ? { ...look, rect: { ...look.rect, x: look.rect.x - gone } } : look,
      looks = gone ? shown.map(here) : shown,
      near = { x: spot.x - gone, y: spot.y };
    const { left, top } = placed(here(hit), token, near, size, { w, h }, looks);
    Object.assign(this.root.style, { left: `${left}px`, top: `${top}px` });
  }
}
