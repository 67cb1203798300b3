// Layout: the view of a scene that suits the screen, and the rectangle of each cell in it.

/** @import { Frame, Ink, Look, Rect, Scene, Standing, View } from "./types" */

const MAX_UNIT = 110; // maximum pixels of a cell; in a picture higher than LOW it grows with the height
const LOW = 600;
const EDGE = 10; // pixels around the picture
export const READABLE = 11; // pixels of the smallest text
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
  BOLD = 0.68,
  NUMBER = 4.1, // letters of a number in a cell
  WIDER = 1.8; // maximum aspect ratio of a cell, either way, if that makes text legible
const FEWER = 0.5; // the worth of a view without some of the panels
const NEAR = 0.3, // units before a panel within which something surrounds its cells,
  WORDY = 1.6; // and units of a text there
/**
 * Text does not grow with large cells: the share of the room above and before them that is enough for it.
 * @param {number} unit
 * @param {number} height
 * @param {number} least
 */
const squeezed = (unit, height, least) => Math.min(1, largestLine(height, least) / (0.44 * unit));
/**
 * The resulting position of something before the cells: the unit next to them shrinks, and the rest moves along.
 * @param {number} place
 * @param {number} squeeze
 */
const before = (place, squeeze) => place - Math.max(-1, Math.min(0, place)) * (1 - squeeze);

/**
 * What is ever visible in some frames, by panel, in units: the box around the cells, and the texts beside them.
 * @param {Frame[]} frames
 * @returns {Ink}
 */
export function inked(frames) {
  /** @type {Ink} */
  const ink = { panels: {}, scales: new Set() };
  /** @type {Frame["states"]} */
  let before = [];
  for (const { states } of frames) {
    for (let i = 0; i < states.length; i++) if (states[i] !== before[i] && states[i].shown) add(ink, states[i]);
    before = states;
  }
  return ink;
}
/**
 * @param {Ink} ink
 * @param {Frame["states"][number]} state
 */
function add({ panels, scales }, { role, p, x, y, w, h, text, vec, scale }) {
  const far = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  panels[p] ??= { ...far, texts: new Map(), letters: 0, whole: false };
  const box = panels[p],
    inside = role === "value" ? NUMBER : role === "token" || role === "ghost" ? text.length : 0;
  if (inside) box.letters = Math.max(box.letters, inside / w); // a vertical thread has no width
  box.whole ||= role === "label" || role === "value";
  if (role === "value" || (vec && role !== "label")) scales.add(scale);
  box.left = Math.min(box.left, x);
  box.top = Math.min(box.top, y, y + h);
  box.bottom = Math.max(box.bottom, y, y + h);
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
 * The view with the largest cells, centred in the picture; below it a band of `foot` pixels stays free.
 * @param {Scene} scene
 * @param {number} width
 * @param {number} height
 * @param {Ink} [ink]
 * @param {{ foot?: number, least?: number }} [text]
 * @returns {Standing}
 */
export function frameView(scene, width, height, ink, { foot = 0, least = READABLE } = {}) {
  const room = height - foot,
    inks = Object.values(ink?.panels ?? {}),
    lettered = (/** @type {typeof inks} */ some) => BOLD * least * Math.max(0, ...some.map(({ letters }) => letters)),
    wanted = lettered(inks), // the width of a unit in pixels at which all texts fit into their cells,
    needed = lettered(inks.filter(({ whole }) => whole)), // and at which those fit that no letter can replace
    most = MAX_UNIT * Math.max(1, height / LOW);
  /** @param {View} view */
  const standing = (view) => {
    let [unit, across] = [most, most],
      box = bounds(view, undefined, unit, across, height, least);
    for (let pass = 0; pass < 3; pass++) {
      const wide = (width - 2 * EDGE) / (box.right - box.left),
        high = (room - 2 * EDGE) / (box.bottom - box.top),
        even = Math.min(wide, high, most);
      unit = Math.min(high, Math.max(even, Math.min(least / TIGHT, WIDER * even)));
      across = Math.min(wide, Math.max(even, Math.min(wanted, WIDER * even)));
      if (pass < 2) box = bounds(view, ink, unit, across, height, least);
    }
    return {
      view,
      unit,
      wide: across / unit,
      squeeze: squeezed(unit, height, least),
      left: (width - (box.left + box.right) * across) / 2,
      top: (room - (box.top + box.bottom) * unit) / 2,
    };
  };
  /** @param {View} view */
  const panels = ({ at }) => Object.keys(at).length,
    views = width / room > 1.12 ? scene.wide : scene.tall;
  const many = Math.max(...views.map(panels)),
    legible = (/** @type {number} */ unit) => Math.min(1, lineOf(unit, height, least) / least),
    roomy = (/** @type {number} */ across) => Math.min(1, across / Math.max(1, needed)),
    // all panels are preferred to large cells and to whole words
    worth = (/** @type {Standing} */ { view, unit, wide }) =>
      Math.min(unit, unit * wide) *
      legible(unit) ** 8 *
      (unit * wide < wanted - 0.5 ? 0.85 : 1) *
      roomy(unit * wide) ** 2 *
      (panels(view) < many ? FEWER : 1);
  return views.map(standing).reduce((best, other) => (worth(other) > worth(best) + 0.01 ? other : best));
}
/**
 * @param {number[]} starts
 * @param {number} x
 * @returns {[x: number, down: number, end: number | undefined]}
 */
function inStrip(starts, x) {
  let line = 1;
  while (line + 1 < starts.length && starts[line + 1] <= x + 1e-6) line++;
  return [x - starts[line], (line - 1) * starts[0], starts[line + 1]];
}
/**
 * @param {Standing} frame
 * @param {string} panel
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 * @returns {Rect | null}
 */
export function rectOf(frame, panel, x, y, w, h) {
  const { view, unit, left, top, squeeze = 1, wide = 1 } = frame,
    at = view.at[panel];
  if (!at) return null;
  if (squeeze < 1) {
    if (x < -NEAR && w < WORDY) w *= squeeze;
    if (y < -NEAR && h < WORDY) h *= squeeze;
    [x, y] = [before(x, squeeze), before(y, squeeze)];
  }
  const starts = view.breaks?.[panel];
  if (starts) {
    const [inLine, down, end] = inStrip(starts, x);
    if (end !== undefined && x + w > end + 1e-6) w = end - x - 0.1;
    x = inLine;
    y += down;
  }
  return { x: left + (at[0] + x) * unit * wide, y: top + (at[1] + y) * unit, w: w * unit * wide, h: h * unit };
}
/**
 * @param {Frame} frame
 * @param {Standing} view
 * @returns {Look[]}
 */
export function looks(frame, view) {
  return frame.states.map((state) => {
    const rect = rectOf(view, state.p, state.x, state.y, state.w, state.h);
    return { state, alpha: rect && state.shown ? 1 : 0, rect, v: state.v, vec: state.vec };
  });
}
