// How large and how bold text is: what must be legible, and the pixels that rows need for it.

export const READABLE = 11, // the smallest text
  LETTERED = READABLE, // a row that has its letter,
  WORDED = READABLE + 2, // one that has its words and numbers,
  ROW = 16, // one that is not low,
  BADGE = 15, // and a letter whose row is as high as it
  FLAT = 9, // of a row whose colours the usual line around it would hide
  TIGHT = 0.77, // the share of a small cell's height taken by text in it or beside it that must be legible from afar
  BESIDE = 0.44; // the height of a line of text ÷ that of the cells that it is beside

export const PHONE = 480, // pixels of the widest picture on a phone,
  NEAR = 13, // of the text in it,
  LARGE = 15, // of lines beside the cells of a wider one, if that fits: never too many
  APART = 2; // and between the letters of two rows

const RAISED = 3, // pixels by which a heading above low rows is higher, clear of the names below it,
  SPACED = 1.3; // and the height of its line ÷ that of its text at which it is clear anyway

export const WEIGHT = Object.freeze({
  plain: 400,
  number: 500,
  marked: 600, // on a mark of its own, such as a pad or a flag
  heading: 650,
  bold: 700, // the words of tokens, letters of sequences, and what is current
});

const LARGEST = 0.042; // the height of a line of text ÷ that of the picture, at most

/**
 * Pixels of a line of text beside cells of this size, in a picture of this height: headings, lengths, time steps. Beside
 * small cells it is the minimum wanted size, if it fits.
 * @param {number} unit
 * @param {number} height
 * @param {number} least
 */
export const lineOf = (unit, height, least) =>
  Math.max(READABLE, Math.min(Math.max(BESIDE * unit, Math.min(TIGHT * unit, least)), largestLine(height, least)));
/**
 * @param {number} height
 * @param {number} least
 */
export const largestLine = (height, least) => Math.max(LARGE, LARGEST * height, least);

/**
 * The middle of a heading in its line, which is at y and h high. If rows are low, it is above the names below it, or, if
 * there are none, in the middle of the line; it is never cut at the top of the picture.
 * @param {number} y
 * @param {number} h
 * @param {number} unit
 * @param {number} px
 * @param {{ y: number, h: number }} place in units of its panel
 */
export function headingAt(y, h, unit, px, place) {
  const low = h < SPACED * px;
  if (low && place.y + place.h >= 0) return y + h / 2;
  return Math.max(px / 2, y + h * (h > unit ? 0.4 : 0.32) - (low ? RAISED : 0));
}
