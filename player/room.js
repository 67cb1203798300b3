// The room of a picture: as wide as its place or, where its words and numbers need that, wider, and then it scrolls.

/** @import { View } from "./types" */

import { frameView, NARROW, READABLE, ROW, USUAL, WORDED } from "./layout.js";

const SCROLLS = 600, // pixels: in a place of at most this width, a picture may be wider than its place, and scroll
  LITTLE = 1.6, // places: so little scrolling is better than more for the sake of panels that repeat what others show
  LONG = 4, // times as wide as high: rows that scroll in a place that is not narrow, too,
  SLIGHT = 1.1, // places: not less,
  BROAD = 2, // and not more: 25 words have room in it
  MUCH = 7; // places: as wide as the widest example on a phone, the vowels padded beside packed at 390 pixels in full screen

/**
 * The view in a place that is not narrow. Where long rows have room for none of their words, not even for small ones, it is
 * wider and scrolls, if that is enough.
 * @type {typeof frameView}
 */
function wideView(scene, width, height, ink, text) {
  const usual = frameView(scene, width, height, ink, text),
    alone = { wide: [usual.view], tall: [usual.view] },
    limits = { ...USUAL, beside: NARROW.beside, row: NARROW.row },
    boxes = Object.keys(usual.view.at).map((name) => ink?.panels[name]),
    long = boxes.some((box) => box?.whole && box.right - box.left > LONG * (box.bottom - box.top));
  if (!long || usual.spelled || frameView(alone, width, height, ink, { ...text, least: READABLE, limits }).spelled)
    return usual;
  for (let least = text?.least ?? READABLE; least >= READABLE; least--)
    for (let times = SLIGHT; times <= BROAD; times += 1 / 16) {
      const wider = frameView(alone, Math.round(times * width), height, ink, { ...text, least, limits });
      if (wider.fits && wider.headed && wider.unit >= WORDED) return wider;
    }
  return usual;
}
/**
 * The view in a place of this width. In a narrow place its text is as large as it can be in a picture that need not scroll;
 * if that always has to, smaller text shows more of it.
 * @type {typeof frameView}
 */
export function roomyView(scene, width, height, ink, text = {}) {
  if (width > SCROLLS) return wideView(scene, width, height, ink, text);
  let least = text.least ?? READABLE,
    view = narrowView(scene, width, height, ink, { ...text, least });
  while (least > READABLE && !(view.fits && view.room === width)) {
    least = Math.max(READABLE, least - 1);
    view = narrowView(scene, width, height, ink, { ...text, least });
  }
  return view;
}
/**
 * The first of these views in which all words, numbers and letters fit: all panels in its place, in high rows; one of the
 * ways below, in a picture no wider than necessary; else its place again, without the words and numbers that do not fit.
 * @type {typeof frameView}
 */
function narrowView(scene, width, height, ink, text) {
  const line = (text?.least ?? READABLE) / READABLE,
    narrow = { ...text, limits: NARROW },
    fitting = frameView(scene, width, height, ink, narrow);
  const least = fitting.unit * (fitting.headed ? 1 : Math.min(1, fitting.wide)); // of a cell: large ones may cut a heading
  if (fitting.fits && least >= ROW * line) return fitting;
  const all = [...scene.tall, ...scene.wide],
    panels = (/** @type {View} */ { at }) => Object.keys(at).length,
    full = all.filter((view) => panels(view) === Math.max(...all.map(panels))),
    told = (/** @type {View} */ { at }) => Object.keys(at).filter((name) => ink?.panels[name]?.whole),
    enough = all.filter(({ at }) => full.some((each) => told(each).every((name) => at[name]))); // without panels that repeat what others show
  const ways = [
    { views: full, places: 1, headed: true }, // in its place, in low rows
    { views: scene.tall, places: 1, headed: true }, // in its place, as on a tall screen, without some of the panels
    { views: enough, places: LITTLE, headed: true }, // scrolled a little, with whole headings
    { views: enough, places: MUCH, headed: false }, // scrolled as far as these need
  ];
  for (const { views, places, headed } of ways)
    for (let times = 1; times <= places; times += 1 / 16)
      for (const view of views) {
        const room = Math.round(times * width),
          alone = { wide: [view], tall: [view] },
          wider = frameView(alone, room, height, ink, narrow);
        if (wider.fits && wider.unit >= WORDED * line && (wider.headed || !headed)) return wider;
      }
  return frameView(scene, width, height, ink, text);
}
