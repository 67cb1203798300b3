// Layout: the view of a scene that suits the screen, and the size of its cells.

/** @import { Frame, Ink, Scene, Standing, View } from "./types" */

import { before } from "./rects.js";

const MAX_UNIT = 110; // maximum pixels of a cell; in a picture higher than LOW it grows with the height
const LOW = 600;
const EDGE = 10; // pixels above and below the picture
export const READABLE = 11; // pixels of the smallest text
export const LETTERED = READABLE; // pixels of a row that has its letter,
export const WORDED = READABLE + 2; // of one that has its words and numbers,
export const BADGE = 15; // and of a letter whose row is as high as it
export const TIGHT = 0.77; // the share of a small cell's height taken by text in it or beside it that must be legible from afar

/**
 * Pixels of a line of text beside cells of this size, in a picture of this height: headings, lengths, time steps. Beside
 * small cells it is the minimum wanted size, if it fits.
 * @param {number} unit
 * @param {number} height
 * @param {number} least
 */
export const lineOf = (unit, height, least) =>
  Math.max(READABLE, Math.min(Math.max(0.44 * unit, Math.min(TIGHT * unit, least)), largestLine(height, least)));
/**
 * @param {number} height
 * @param {number} least
 */
export const largestLine = (height, least) => Math.max(15, 0.042 * height, least);
const LETTER = 0.6, // width of a letter ÷ its height
  BOLD = 0.68, // and of a bold one
  NUMBER = 4.1, // letters of a number in a cell, its minus among them
  NUMBERED = 0.9, // units: the least width of a number
  CLEAR = 1; // letters that would have room beside the text in a cell
const FEWER = 0.5; // the worth of a view without some of the panels
export const ROW = 16; // pixels of a row: in lower ones a picture in its place is kept only if its headings are whole
const RESIZED = 2, // how often the size of cells is computed anew for the text beside them, whose size depends on it
  FIGURE = 3.14, // width of a cell that has its number with two decimals ÷ the number's height,
  UNSIGNED = 2.3, // and where no number is negative;
  SPACED = 1.1, // more than that, if the picture has the width: a line around cells does not touch their numbers
  SLENDER = 1.5; // height ÷ width of a unit whose row has grown
/** The limits of a picture that is as wide as its place. */
export const USUAL = {
  edge: EDGE, // pixels on either side of the picture
  aspect: 1.8, // maximum aspect ratio of a cell, either way, if that makes text legible, as in full screen for the last row
  tight: TIGHT, // text size ÷ the height of a row that is stretched for it
  bold: BOLD, // width of a letter of a word ÷ its height,
  beside: BOLD, // and where the letter of its row is beside it
  numbers: false, // whether all numbers must have room, too
  row: 0, // lines of text: the height to which rows grow if there is height for it; the texts beside them do not grow
};
/** Those in a narrow place, where a picture may scroll, each measured at 390 pixels for the picture that needs it. */
export const NARROW = {
  edge: 5, // what leaks, which otherwise scrolls further
  aspect: 2.6, // the Zen of Python: otherwise its words fit nowhere
  tight: READABLE / ROW, // borders, whose rows are lower otherwise
  bold: 0.62, // gradients padded beside packed, whose rows are lower otherwise
  beside: 0.55, // packing, which otherwise scrolls: beside their letter, words need not be bold
  numbers: true, // the run padded beside packed: its place is too narrow for its numbers
  row: 4, // words with their ids below them
};
/**
 * Text does not grow with large cells: the share of the room above and before them that is enough for it.
 * @param {number} unit
 * @param {number} height
 * @param {number} least
 */
const squeezed = (unit, height, least) => Math.min(1, largestLine(height, least) / (0.44 * unit));

/**
 * What is ever visible in some frames, by panel, in units: the box around the cells, and the texts beside them.
 * @param {Frame[]} frames
 * @returns {Ink}
 */
export function inked(frames) {
  /** @type {Ink} */
  const ink = { panels: {} };
  /** @type {Frame["states"]} */
  let before = [];
  for (const { states } of frames) {
    for (let i = 0; i < states.length; i++) if (states[i] !== before[i] && states[i].shown) add(ink, states[i]);
    before = states;
  }
  for (const { role, p } of before) // shown or not: its words are needed in all scenes
    if ((role === "label" || role === "value") && ink.panels[p]) ink.panels[p].whole = true;
  return ink;
}
/**
 * @param {Ink} ink
 * @param {Frame["states"][number]} state
 */
function add({ panels }, { role, p, x, y, w, h, text, sub, v, vec, scale }) {
  const far = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  panels[p] ??= {
    ...far,
    texts: new Map(),
    titles: new Map(),
    letters: 0,
    whole: false,
    lettered: false,
    numbers: new Set(),
    signed: false,
    scales: new Set(),
  };
  const box = panels[p],
    words = (role === "token" || role === "ghost") && text.length,
    step = role === "value" ? w : role === "output" && vec ? w / vec.length : 0, // of a number on its stripe
    numbered = step >= NUMBERED && !text && !sub,
    signed = v < 0 || Boolean(vec?.some((number) => number < 0)),
    figure = text || sub ? (text || sub).length + CLEAR : signed ? NUMBER : NUMBER - 1,
    inside = numbered || role === "value" ? (figure * w) / step : words ? words + CLEAR : 0;
  box.lettered ||= role === "label";
  if (inside) box.letters = Math.max(box.letters, inside / w); // a vertical thread has no width
  if (numbered) box.numbers.add(step);
  if (numbered) box.signed ||= signed;
  if (role === "value" || (vec && role !== "label")) box.scales.add(scale);
  box.left = Math.min(box.left, x);
  box.top = Math.min(box.top, y, y + h);
  box.bottom = Math.max(box.bottom, y, y + h);
  if (role === "title") box.titles.set(x, { y, letters: Math.max(box.titles.get(x)?.letters ?? 0, text.length) });
  if (role === "title" || role === "note") box.texts.set(x, Math.max(box.texts.get(x) ?? 0, text.length));
  else box.right = Math.max(box.right, x + w);
}

/**
 * The box around everything in a view, in units; unit, across: a unit's height and width in pixels.
 * @param {View} view
 * @param {Ink | undefined} ink
 * @param {number} unit
 * @param {number} across
 * @param {number} height
 * @param {number} least
 */
function bounds(view, ink, unit, across, height, least) {
  const whole = { left: 0, top: 0, right: view.w, bottom: view.h };
  if (!ink) return whole;
  const letter = (LETTER * lineOf(unit, height, least)) / across,
    squeeze = squeezed(unit, height, least),
    box = { left: view.w, top: view.h, right: 0, bottom: 0 };
  for (const [name, [x, y]] of Object.entries(view.at)) {
    const panel = ink.panels[name];
    if (!panel) continue;
    const [pitch, ...starts] = view.breaks?.[name] ?? [0, 0],
      ends = [...starts.slice(1), panel.right];
    const right = Math.max(...starts.map((start, line) => ends[line] - start)),
      written = Math.max(...[...panel.texts].map(([from, letters]) => before(from, squeeze) + letter * letters));
    box.left = Math.min(box.left, x + before(panel.left, squeeze));
    box.top = Math.min(box.top, y + before(panel.top, squeeze));
    box.right = Math.max(box.right, x + right, Math.min(x + written, view.w));
    box.bottom = Math.max(box.bottom, y + panel.bottom + pitch * (starts.length - 1));
  }
  return box.right > box.left && box.bottom > box.top ? box : whole;
}

/**
 * The view with all panels and large, legible cells, as far as there is one, centred in the picture.
 * Below it a band of `foot` pixels stays free.
 * @param {Scene} scene
 * @param {number} width
 * @param {number} height
 * @param {Ink} [ink]
 * @param {{ foot?: number, least?: number, limits?: typeof USUAL }} [text]
 * @returns {Standing}
 */
export function frameView(scene, width, height, ink, { foot = 0, least = READABLE, limits = USUAL } = {}) {
  const room = height - foot,
    placed = new Set([...scene.wide, ...scene.tall].flatMap(({ at }) => Object.keys(at))),
    named = Object.entries(ink?.panels ?? {}).filter(([name]) => placed.has(name)),
    inks = named.map(([, box]) => box),
    { edge, aspect, tight, bold, row } = limits,
    worded = (/** @type {typeof inks} */ some, /** @type {number} */ beside) =>
      least * Math.max(0, ...some.map(({ letters, lettered }) => letters * (lettered ? beside : bold))),
    numbered = (/** @type {number} */ more) =>
      inks.flatMap(({ numbers, signed }) =>
        [...numbers].map((w) => ((signed ? FIGURE : UNSIGNED) + more) * (least / w)),
      ),
    figures = limits.numbers ? numbered(0) : [],
    wanted = Math.max(worded(inks, bold), ...figures), // the width of a unit in pixels at which all texts fit into their cells,
    needed = Math.max(
      worded(
        inks.filter(({ whole }) => whole),
        limits.beside,
      ),
      ...figures,
    ), // and at which those fit that no letter can replace
    spaced = Math.max(wanted, ...numbered(SPACED)),
    most = MAX_UNIT * Math.max(1, height / LOW);
  /** @param {View} view */
  const standing = (view) => {
    let [unit, across] = [most, most],
      box = bounds(view, undefined, unit, across, height, least);
    for (let times = 0; times <= RESIZED; times++) {
      const wide = (width - 2 * edge) / (box.right - box.left),
        high = (room - 2 * EDGE) / (box.bottom - box.top),
        even = Math.min(wide, high, most);
      unit = Math.min(high, Math.max(even, Math.min(least / tight, aspect * even)));
      across = Math.min(wide, Math.max(even, Math.min(spaced, aspect * even)));
      if (times < RESIZED) box = bounds(view, ink, unit, across, height, least);
    }
    const high = (room - 2 * EDGE) / ((box.bottom - box.top) * unit),
      tall = Math.max(1, Math.min(high, (row * least) / unit, (SLENDER * across) / unit));
    return {
      view,
      unit,
      wide: across / unit,
      tall,
      squeeze: squeezed(unit, height, least),
      left: (width - (box.left + box.right) * across) / 2,
      top: (room - (box.top + box.bottom) * unit * tall) / 2,
    };
  };
  /** @param {View} view */
  const panels = ({ at }) => Object.keys(at).length,
    views = width / room > 1.12 ? scene.wide : scene.tall;
  const many = Math.max(...views.map(panels)),
    lined = (/** @type {number} */ unit) => Math.min(1, lineOf(unit, height, least) / least),
    legible = (/** @type {number} */ across) => Math.min(1, across / Math.max(1, needed)),
    // all panels are preferred to large cells and to whole words
    worth = (/** @type {Standing} */ { view, unit, wide }) =>
      Math.min(unit, unit * wide) *
      lined(unit) ** 8 *
      (unit * wide < wanted - 0.5 ? 0.85 : 1) *
      legible(unit * wide) ** 2 *
      (panels(view) < many ? FEWER : 1);
  const best = views.map(standing).reduce((best, other) => (worth(other) > worth(best) + 0.01 ? other : best)),
    across = best.unit * best.wide,
    letter = LETTER * lineOf(best.unit, height, least);
  // Whether each heading ends before the next one on its line, and in the picture.
  const headings = Object.entries(best.view.at).flatMap(([name, [x, y]]) =>
    [...(ink?.panels[name]?.titles ?? [])].map(([from, title]) => ({
      x: best.left + (x + from) * across,
      y: (y + title.y) * best.unit,
      letters: title.letters,
    })),
  );
  const headed = headings.every(({ x, y, letters }) => {
    const next = headings
      .filter((other) => other.x > x + across && Math.abs(other.y - y) < letter / LETTER)
      .map(({ x }) => x);
    return x + letters * letter <= Math.min(width, ...next);
  });
  const spelled = across >= needed - 0.5;
  return { ...best, least, room: width, fits: panels(best.view) === many && spelled, spelled, headed };
}
