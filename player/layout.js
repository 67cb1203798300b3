// Layout in a place of one size: how large the cells of each view can be there, and which view is worth most. What decides
// about the place is in views.js.

/** @import { Ink, Inked, Limits, Needs, Place, Scene, Standing, View } from "./types" */

import { before } from "./rects.js";

import { BESIDE, LARGE, largestLine, lineOf, READABLE, ROW, TIGHT } from "./sizes.js";

const MAX_UNIT = 110; // maximum pixels of a cell; in a picture higher than LOW it grows with the height
const LOW = 600;
const SQUARE = 1.12; // width ÷ height: a wider picture is one on a desktop, any other one on a phone

const LETTER = 0.6, // width of a letter ÷ its height
  BOLD = 0.68, // and of a bold one
  RESIZED = 2, // how often the size of cells is computed anew for the text beside them, whose size depends on it
  FIGURE = 3.14, // width of a cell that has its number with two decimals ÷ the number's height,
  UNSIGNED = 2.3, // and where no number is negative;
  SPACED = 1.1, // more than that, if the picture has the width: a line around cells does not touch their numbers
  ROUNDING = 0.5; // pixels by which a unit may be narrower than what it needs
const SMALL_LINES = 8, // the powers of what small lines of text,
  CUT_WORDS = 2, // and words without enough room leave of a view's worth;
  LETTERS = 0.85, // the factors of letters instead of words,
  FEWER = 0.5; // and of a view without some of the panels

/**
 * A picture that is as wide as its place.
 * @type {Limits}
 */
export const USUAL = {
  edge: 10,
  line: LARGE,
  aspect: 1.8,
  tight: TIGHT,
  bold: BOLD,
  beside: BOLD,
  numbers: false,
  row: 0,
  slender: 3.2,
  kept: false,
  higher: 1.8,
  above: 1 / 2,
};
/**
 * One in a narrow place. There it scrolls if its texts have no room, so they get more of it and need less.
 * @type {Limits}
 */
export const NARROW = {
  edge: 5, // a margin is lost to cells
  line: READABLE,
  aspect: 2.6, // a long word fits into a low and wide cell
  tight: READABLE / ROW, // a low row is stretched a little more
  bold: 0.62, // less of the room beside a word stays free,
  beside: 0.55, // and beside the letter of its row it is not bold
  numbers: true, // no letter can replace them
  row: 10, // a phone is high: cells are as large as its width allows
  slender: 4,
  kept: true, // rows grow without the texts above them
  higher: 1, // rows grow after it is laid out
  above: 1 / 6, // a low picture is near to the heading of the player
};

/**
 * Text does not grow with large cells: the share of the room above and before them that is enough for it.
 * @param {number} unit
 * @param {number} height
 * @param {number} line
 */
const squeezed = (unit, height, line) => Math.min(1, largestLine(height, line) / (BESIDE * unit));

/**
 * The box around everything in a view, in units; unit, across: a unit's height and width in pixels. over: how much of it is
 * above the cells, which does not grow with the rows.
 * @param {View} view
 * @param {Ink | undefined} ink
 * @param {number} unit
 * @param {number} across
 * @param {number} height
 * @param {number} line
 */
function bounds(view, ink, unit, across, height, line) {
  const whole = { left: 0, top: 0, right: view.w, bottom: view.h, over: 0 };
  if (!ink) return whole;
  const letter = (LETTER * lineOf(unit, height, line)) / across,
    squeeze = squeezed(unit, height, line),
    box = { left: view.w, top: view.h, right: 0, bottom: 0, over: 0 };
  for (const [name, [x, y]] of Object.entries(view.at)) {
    const panel = ink.panels[name];
    if (!panel) continue;
    const [pitch, ...starts] = view.breaks?.[name] ?? [0, 0],
      ends = [...starts.slice(1), panel.right];
    const right = Math.max(...starts.map((start, line) => ends[line] - start)),
      written = Math.max(...[...panel.texts].map(([from, letters]) => before(from, squeeze) + letter * letters));
    box.left = Math.min(box.left, x + before(panel.left, squeeze));
    const over = Math.max(0, -before(panel.top, squeeze));
    if (y - over < box.top) [box.top, box.over] = [y - over, over];
    box.right = Math.max(box.right, x + right, Math.min(x + written, view.w));
    box.bottom = Math.max(box.bottom, y + panel.bottom + pitch * (starts.length - 1));
  }
  return box.right > box.left && box.bottom > box.top ? box : whole;
}

/**
 * The widths of a unit in pixels at which the texts in these panels fit into their cells.
 * @param {Inked[]} boxes
 * @param {number} least
 * @param {Limits} limits
 * @returns {Needs}
 */
function needs(boxes, least, { bold, beside, numbers }) {
  const words = (/** @type {Inked[]} */ some, /** @type {number} */ narrow) =>
    least * Math.max(0, ...some.map(({ letters, lettered }) => letters * (lettered ? narrow : bold)));
  const figures = (/** @type {number} */ more) =>
    boxes.flatMap(({ numbers, signed }) =>
      [...numbers].map((w) => (least * ((signed ? FIGURE : UNSIGNED) + more)) / w),
    );
  const must = numbers ? figures(0) : [],
    whole = boxes.filter((box) => box.whole),
    wanted = Math.max(words(boxes, bold), ...must);
  return { needed: Math.max(words(whole, beside), ...must), wanted, spaced: Math.max(wanted, ...figures(SPACED)) };
}
/**
 * The height and width of a unit in pixels at which a box of units fills a place. Cells are squares; where text in them or
 * beside them needs it, and there is room, they are higher or wider.
 * @param {{ left: number, top: number, right: number, bottom: number }} box
 * @param {Place} place
 * @param {Needs} needs
 */
function filling(box, { width, height, room, least, limits: { edge, aspect, tight, higher } }, { spaced }) {
  const wide = (width - 2 * edge) / (box.right - box.left),
    high = (room - 2 * edge) / (box.bottom - box.top),
    most = MAX_UNIT * Math.max(1, height / LOW),
    even = Math.min(wide, high, most);
  return {
    unit: Math.min(high, Math.max(Math.min(higher * even, most), Math.min(least / tight, aspect * even))),
    across: Math.min(wide, Math.max(even, Math.min(spaced, aspect * even))),
  };
}
/**
 * A view in its place, with cells as large as fit.
 * @param {View} view
 * @param {Ink | undefined} ink
 * @param {Place} place
 * @param {Needs} needs
 * @returns {Standing}
 */
export function standing(view, ink, place, needs) {
  const { width, height, room, least, line, limits } = place;
  let box = { left: 0, top: 0, right: view.w, bottom: view.h, over: 0 },
    { unit, across } = filling(box, place, needs);
  for (let times = 0; times < RESIZED; times++) {
    box = bounds(view, ink, unit, across, height, line);
    ({ unit, across } = filling(box, place, needs));
  }
  const over = limits.kept ? box.over : 0,
    body = box.top + over,
    high = ((room - 2 * limits.edge) / unit - over) / (box.bottom - body),
    tall = Math.max(1, Math.min(high, (limits.row * least) / unit, (limits.slender * across) / unit)),
    free = room - (over + (box.bottom - body) * tall) * unit;
  return {
    view,
    unit,
    wide: across / unit,
    tall,
    kept: limits.kept ? tall : 1,
    squeeze: squeezed(unit, height, line),
    left: (width - (box.left + box.right) * across) / 2,
    top: limits.above * free + (over - body * tall) * unit,
  };
}
/**
 * Whether each heading ends before the next one on its line, and in the picture.
 * @param {Standing} standing
 * @param {Ink | undefined} ink
 * @param {Place} place
 */
export function headed({ view, unit, wide, left }, ink, { width, height, line }) {
  const across = unit * wide,
    px = lineOf(unit, height, line);
  const headings = Object.entries(view.at).flatMap(([name, [x, y]]) =>
    [...(ink?.panels[name]?.titles ?? [])].map(([from, title]) => ({
      x: left + (x + from) * across,
      y: (y + title.y) * unit,
      letters: title.letters,
    })),
  );
  return headings.every(({ x, y, letters }) => {
    const next = headings.filter((other) => other.x > x + across && Math.abs(other.y - y) < px).map(({ x }) => x);
    return x + letters * LETTER * px <= Math.min(width, ...next);
  });
}
/**
 * How many panels a view has, without the one for words that have no room in their cells.
 * @param {View} view
 */
export const panels = ({ at }) => Object.keys(at).filter((name) => name !== "words").length;
/** @type {(across: number, needed: number) => boolean} */
const fit = (across, needed) => across >= needed - ROUNDING;
/**
 * How much a view is worth: the pixels of its cells, times a factor of at most 1 for each thing that it lacks. The powers
 * say how much that matters: with lines of nine tenths of the wanted size, cells are worth less than half of what they are.
 * @param {Standing} standing
 * @param {Place} place
 * @param {Needs} needs
 * @param {number} many the panels of the view that has most
 */
export function worth({ view, unit, wide }, { height, least, limits }, { needed, wanted }, many) {
  const across = unit * wide,
    spelled = fit(across, wanted) || Boolean(view.at.words),
    whole = panels(view) === many,
    high = Math.min(unit, (spelled && whole ? limits.higher : 1) * across), // where nothing is missing, higher cells are worth more
    cells = Math.sqrt(Math.min(unit, across) * high),
    lines = Math.min(1, lineOf(unit, height, least) / least) ** SMALL_LINES, // from afar, smaller ones cannot be read
    words = Math.min(1, across / Math.max(1, needed)) ** CUT_WORDS, // the share that has room of those that must be whole
    letters = spelled ? 1 : LETTERS, // instead of some of the other words
    all = whole ? 1 : FEWER;
  return cells * lines * words * letters * all;
}
/**
 * The view with all panels and large, legible cells, as far as there is one, centred in the picture.
 * Below it a band of `foot` pixels stays free.
 * @param {Scene} scene
 * @param {number} width
 * @param {number} height
 * @param {Ink} [ink]
 * @param {{ foot?: number, least?: number, limits?: Limits }} [text]
 * @returns {Standing}
 */
export function bestView(scene, width, height, ink, { foot = 0, least = READABLE, limits = USUAL } = {}) {
  const line = Math.max(least, limits.line),
    place = { width, height, room: height - foot, least, line, limits },
    views = width / place.room > SQUARE ? scene.wide : scene.tall,
    placed = new Set([...scene.wide, ...scene.tall].flatMap(({ at }) => Object.keys(at))),
    boxes = Object.entries(ink?.panels ?? {}).flatMap(([name, box]) => (placed.has(name) ? [box] : [])),
    need = needs(boxes, least, limits),
    many = Math.max(...views.map(panels)),
    worthOf = (/** @type {Standing} */ each) => worth(each, place, need, many);
  const best = views
    .map((view) => standing(view, ink, place, need))
    .reduce((best, other) => (worthOf(other) > worthOf(best) + 0.01 ? other : best));
  const spelled = fit(best.unit * best.wide, need.needed),
    fits = panels(best.view) === many && spelled;
  return { ...best, least, line, room: width, fits, spelled, headed: headed(best, ink, place) };
}
