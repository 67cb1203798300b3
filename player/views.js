// Which view of a scene is shown, how wide its picture is and how large its cells are. It is decided in this order:
//
// 1. A stage offers its views (`Scene` and `Box` in packviz/show/movie/layout.py).
// 2. ink.js measures what the cells and texts of the scene take in them, in units.
// 3. painter.js (`view`) knows the place of the picture in pixels, and keeps some free for the legend.
// 4. Here, `chosenView` decides how wide the picture may be: as its place or, where its words and numbers need that, wider,
//    and then it scrolls; and how small its text.
// 5. layout.js finds in such a place the size of the cells of each view (`standing`), and the view that is worth most
//    (`worth`, `bestView`).
// 6. rects.js says where in it each cell is.

/** @import { Ink, Limits, Standing, View } from "./types" */

import { bestView, NARROW, panels, USUAL } from "./layout.js";
import { NEAR, PHONE, READABLE, ROW, WORDED } from "./sizes.js";

/** @typedef {{ foot?: number, least?: number, limits?: Limits }} Text */

const SCROLLS = 600, // pixels: in a place of at most this width, any picture may be wider than its place, and scroll
  STEP = 1 / 16, // places by which a picture is made wider until its texts fit
  LITTLE = 1.6, // places: so little scrolling is better than more for the sake of panels that repeat what others show
  LONG = 4, // times as wide as high: rows that scroll in a place that is not narrow, too,
  LINES = 8, // of text: so high do they grow
  SLIGHT = 1.1, // places: not less,
  BROAD = 5, // and not more: 60 words have room in it,
  ONCE = 1.88, // or, for larger text than necessary, so wide that one press of a button leads to its end,
  ROOMY = 0.6, // the width of a letter ÷ its height in a word that keeps off the edges of its cell,
  CLOSE = 0.5, // and in one that need not, if the picture need not scroll then,
  MUCH = 10; // places: 40 words have room on a small phone

/**
 * The views with the most panels.
 * @param {View[]} views
 */
function fullest(views) {
  const most = Math.max(...views.map(panels));
  return views.filter((view) => panels(view) === most);
}
/**
 * The narrowest picture from so many to so many places wide, with one of these views, in which all texts fit and rows are high
 * enough for words. whole: whether its headings must be whole, too.
 * @param {View[]} views
 * @param {{ from?: number, to: number, whole: boolean }} how
 * @param {number} width
 * @param {number} height
 * @param {Ink} [ink]
 * @param {Text} [text]
 */
function wider(views, { from = 1, to, whole }, width, height, ink, text) {
  const high = (WORDED * text.least) / READABLE;
  for (let places = from; places <= to; places += STEP)
    for (const view of views) {
      const found = bestView({ wide: [view], tall: [view] }, Math.round(places * width), height, ink, text);
      if (found.fits && found.unit >= high && (found.headed || !whole)) return found;
    }
  return null;
}
/**
 * Whether a panel whose words must be whole is long and low.
 * @param {View} view
 * @param {Ink} [ink]
 */
const isLong = ({ at }, ink) =>
  Object.keys(at)
    .map((name) => ink?.panels[name])
    .some((box) => box?.whole && box.right - box.left > LONG * (box.bottom - box.top));
/**
 * The view in a place that is not narrow. Where long rows have no room for their words, not even for small ones, it is wider
 * and scrolls, if that is enough.
 * @type {typeof bestView}
 */
function wideView(scene, width, height, ink, text) {
  const usual = bestView(scene, width, height, ink, text);
  if (!isLong(usual.view, ink)) return usual;
  const limits = { ...USUAL, beside: ROOMY, row: LINES },
    alone = { wide: [usual.view], tall: [usual.view] },
    small = bestView(alone, width, height, ink, { ...text, least: READABLE, limits });
  if (usual.spelled || small.spelled) return bestView(alone, width, height, ink, { ...text, limits });
  for (let least = Math.max(NEAR, text.least); least >= READABLE; least--) {
    const how = { from: SLIGHT, to: least > text.least ? ONCE : BROAD, whole: true },
      found = wider([usual.view], how, width, height, ink, { ...text, least, limits });
    if (found) return found;
  }
  return usual;
}
/**
 * The view in a narrow place, with text of this size: the first one in which all words, numbers and letters fit. That is one
 * in its place with high rows; or the first of the ways below, in a picture no wider than necessary. If there is none, the
 * picture is as wide as its place, without the words and numbers that do not fit.
 * @type {typeof bestView}
 */
function narrowView(scene, width, height, ink, text) {
  const narrow = { limits: NARROW, ...text },
    fitting = bestView(scene, width, height, ink, narrow),
    cell = fitting.unit * (fitting.headed ? 1 : Math.min(1, fitting.wide)); // its headings end early: only if it is large
  if (fitting.fits && cell >= (ROW * text.least) / READABLE) return fitting;
  const all = [...scene.tall, ...scene.wide],
    full = fullest(all),
    told = (/** @type {View} */ { at }) => Object.keys(at).filter((name) => ink?.panels[name]?.whole),
    enough = all.filter(({ at }) => full.some((each) => told(each).every((name) => at[name]))); // without panels that repeat what others show
  const ways = [
    { views: [...full, ...scene.tall], to: 1, whole: true }, // in its place, if need be without some of the panels,
    { views: enough, to: LITTLE, whole: true, beside: ROOMY }, // scrolled a little,
    { views: enough, to: MUCH, whole: false, beside: ROOMY }, // or as far as the texts need, even if a heading ends early
  ];
  for (const { views, beside = narrow.limits.beside, ...how } of ways) {
    const found = wider(views, how, width, height, ink, { ...narrow, limits: { ...narrow.limits, beside } });
    if (found) return found;
  }
  return bestView(scene, width, height, ink, text);
}
/**
 * The same with notes in their short form, if they have one: a length without the word before it.
 * @param {Ink} [ink]
 * @returns {Ink | undefined}
 */
const brief = (ink) =>
  ink && {
    panels: Object.fromEntries(Object.entries(ink.panels).map(([p, box]) => [p, { ...box, texts: box.briefs }])),
  };
/** @param {Standing} standing */
const cellOf = ({ unit, wide, tall }) => unit * Math.min(wide, tall);
/**
 * The view in a place of this width. In a narrow place its text is as large as it can be in a picture that need not scroll;
 * if that always has to, smaller text shows more of it, lengths may be numbers alone, and words may have a little less room.
 * A phone is near: its text is larger if cells need not be smaller.
 * @type {typeof bestView}
 */
export function chosenView(scene, width, height, ink, text = {}) {
  let least = text.least ?? READABLE;
  if (width > SCROLLS) return wideView(scene, width, height, ink, { ...text, least });
  let view = narrowView(scene, width, height, ink, { ...text, least });
  while (least > READABLE && !(view.fits && view.room === width)) {
    least = Math.max(READABLE, least - 1);
    view = narrowView(scene, width, height, ink, { ...text, least });
  }
  if (view.room > width) {
    const short = brief(ink),
      close = narrowView(scene, width, height, short, { ...text, least, limits: { ...NARROW, beside: CLOSE } });
    return close.fits && close.room === width ? close : narrowView(scene, width, height, short, { ...text, least });
  }
  for (let larger = NEAR; width <= PHONE && larger > least; larger--) {
    const other = narrowView(scene, width, height, ink, { ...text, least: larger });
    const whole = other.fits && other.headed && other.room === width;
    if (whole && cellOf(other) >= cellOf(view)) return other;
  }
  return view;
}
