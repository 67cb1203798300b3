// Ink: how much room the cells of a scene and their texts take, by panel, in units. It decides nothing: views.js does.

/** @import { Cell, Frame, Ink, Inked } from "./types" */

const NUMBER = 4.1, // letters of a number in a cell, its minus among them
  NUMBERED = 0.9, // units: the least width of a number
  CLEAR = 1; // letters that would have room beside the text in a cell

/**
 * What is ever visible in some frames, by panel, in units: the box around the cells, and the texts beside them.
 * @param {Frame[]} frames
 * @param {number} [limit] letters of the longest word that has room
 * @returns {Ink}
 */
export function inked(frames, limit = Infinity) {
  /** @type {Ink} */
  const ink = { panels: {} };
  /** @type {Frame["states"]} */
  let before = [];
  for (const { states } of frames) {
    for (let i = 0; i < states.length; i++) if (states[i] !== before[i] && states[i].shown) add(ink, states[i], limit);
    before = states;
  }
  for (const { role, p } of before) // shown or not: its words are needed in all scenes
    if ((role === "label" || role === "value") && ink.panels[p]) ink.panels[p].whole = true;
  return ink;
}
/** @returns {Inked} */
const nothing = () => ({
  left: Infinity,
  top: Infinity,
  right: -Infinity,
  bottom: -Infinity,
  texts: new Map(),
  briefs: new Map(),
  titles: new Map(),
  letters: 0,
  whole: false,
  lettered: false,
  numbers: new Set(),
  signed: false,
  scales: new Set(),
});
/**
 * Add what a cell shows to the ink of its panel.
 * @param {Ink} ink
 * @param {Cell} cell
 * @param {number} limit
 */
function add({ panels }, cell, limit) {
  const { role, p, x, y, w, h, text, sub, vec, scale } = cell,
    box = (panels[p] ??= nothing());
  addText(box, cell, limit);
  box.lettered ||= role === "label";
  if (role === "value" || (vec && role !== "label")) box.scales.add(scale);
  box.left = Math.min(box.left, x);
  box.top = Math.min(box.top, y, y + h);
  box.bottom = Math.max(box.bottom, y, y + h);
  if (role === "title") box.titles.set(x, { y, letters: Math.max(box.titles.get(x)?.letters ?? 0, text.length) });
  if (role === "title" || role === "note") {
    box.texts.set(x, Math.max(box.texts.get(x) ?? 0, text.length));
    box.briefs.set(x, Math.max(box.briefs.get(x) ?? 0, (sub || text).length));
  } else box.right = Math.max(box.right, x + w);
}
/**
 * Add the word or the numbers in a cell: how many letters a unit has to hold.
 * @param {Inked} box
 * @param {Cell} cell
 * @param {number} limit
 */
function addText(box, { role, w, text, sub, v, vec }, limit) {
  const step = role === "value" ? w : role === "output" && vec ? w / vec.length : 0, // of a number on its stripe
    numbered = step >= NUMBERED && !text && !sub,
    signed = v < 0 || Boolean(vec?.some((number) => number < 0)),
    figure = text || sub ? (text || sub).length + CLEAR : signed ? NUMBER : NUMBER - 1;
  if (numbered || role === "value") box.letters = Math.max(box.letters, figure / step);
  else if ((role === "token" || role === "ghost") && text && text.length <= limit)
    box.letters = Math.max(box.letters, (text.length + CLEAR) / w);
  if (!numbered) return;
  box.numbers.add(step);
  box.signed ||= signed;
}
