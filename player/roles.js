// How each role looks on the canvas: one function for each `Role` of packviz/show/movie/format.py.

/** @import { Cell, Look, Neighbours, Paint, Paper, Placed, Rect, Role } from "./types" */

import {
  counted,
  hueOf,
  lineSize,
  nearSize,
  outline,
  put,
  stroke,
  textSize,
  thick,
  tile,
  tintOf,
  widthOf,
  within,
  write,
} from "./canvas.js";
import { BESIDE, digitsIn, figure, figures, stripes } from "./numbers.js";
import { BADGE, FLAT, headingAt, LETTERED, READABLE, WEIGHT, WORDED } from "./sizes.js";
import { evenSize, FULL, framed, fullSize, headOf, lap, letter, middleIn, overhang, typed, weightOf } from "./words.js";

const STRIPED = 9, // pixels of a cell that has room for the stripes of its numbers
  LOW = 22, // pixels of a cell that has no room for a text above its numbers
  CLEAR = 5, // pixels between a heading and the edge of the picture
  THIN = 32, // pixels of a cell from which the line around it is 3 pixels wide
  HATCH = 7, // pixels from one line of a pad's hatch to the next,
  INSET = 3, // from them to its edges,
  PLATED = 4, // from those to the plate behind a pad's text,
  HATCHED = 0.42, // and how opaque they are
  NAMED = 1.4, // text sizes from the bar of a count to the name below its number
  BOXED = 0.79; // the text size of a sequence's letter ÷ the height of its box

/**
 * How wide a line around cells is: thin around low ones, whose text it must not touch.
 * @param {Rect} rect
 * @param {number} unit
 */
const around = ({ h }, unit) => (h < FLAT ? 1 : h < BADGE ? 1.5 : Math.min(h, unit) < THIN ? 2 : 3);
/** Whether a row of this height has room for its letter, with its box. @type {(paper: Paper, h: number) => boolean} */
export const hasBadge = ({ apart }, h) => h >= LETTERED + apart;
/** Pixels of the letter of a row of this height, with its box. @type {(paper: Paper, h: number, unit: number) => number} */
export function badgeSize(paper, h, unit) {
  const low = Math.max(LETTERED, Math.min(BADGE, h - paper.apart)),
    most = Math.min(0.98 * h, h - paper.apart);
  return Math.max(low, Math.min(h * 0.66, 1.5 * lineSize(paper, unit)), Math.min(most, paper.least / BOXED));
}
/**
 * Whether the current one of the thinned-out labels is so near that this one makes room for it.
 * @type {(near: Neighbours, state: Cell, every: number) => boolean}
 */
function crowds({ nows }, { f, k }, every) {
  const apart = Math.abs(k - nows.get(f));
  return apart > 0 && apart < every;
}

/**
 * The middle of a remark; one below counts is right below their numbers.
 * @type {(paper: Paper, look: Placed, px: number, unit: number, near: Neighbours) => number}
 */
function middleOf(paper, { rect: { y, h }, state }, px, unit, near) {
  const bars = near.counts.get(state.p.split(":")[0]),
    middle = y + h / 2;
  if (!bars || y <= bars.y) return middle;
  const { most, px: number } = counted(paper, bars.h, unit);
  return Math.min(middle, bars.y + most + NAMED * number + 0.62 * px);
}

/** @type {Record<Role, Paint>} */
const roles = {
  token(paper, { rect, state, vec, least }) {
    const hue = hueOf(paper, state.seq);
    tile(paper, rect, { fill: hue.fill, edge: hue.edge });
    if (vec && rect.h > STRIPED) framed(paper, rect, state, vec, hue.text);
    else typed(paper, rect, state, hue.text, weightOf(paper, rect.w, state), least);
    lap(paper, rect, state, vec, hue.text);
  },
  output(paper, { rect, state, vec }) {
    const hue = hueOf(paper, state.seq);
    tile(paper, rect, { fill: hue.fill, edge: hue.edge });
    const side = Math.min(3.5, rect.w * 0.12, rect.h * 0.16),
      free = letter(paper, rect, state, hue.text);
    const inner = { x: free.x + side, y: free.y + side, w: free.w - 2 * side, h: free.h - 2 * side };
    stripes(paper, inner, vec, state.scale);
    figures(paper, inner, state.vec ?? vec, state.scale); // in motion colours pass over into others, numbers do not
  },
  vector(paper, { rect, state, vec }) {
    tile(paper, rect, { edge: paper.theme.line });
    const side = Math.min(2.5, rect.h * 0.08),
      inner = { x: rect.x + side, y: rect.y + side, w: rect.w - 2 * side, h: rect.h - 2 * side };
    stripes(paper, inner, vec, state.scale);
  },
  ghost(paper, { rect, state, vec }) {
    const hue = hueOf(paper, state.seq);
    tile(paper, rect, { fill: rect.h < FLAT ? hue.ghostFlat : hue.ghost, edge: hue.ghostEdge });
    if (vec && rect.h > STRIPED) framed(paper, rect, state, vec, hue.ghostText, 0.4);
    else typed(paper, rect, state, hue.ghostText, WEIGHT.plain);
  },
  pad(paper, { rect, state, vec, least }) {
    const { ctx, theme } = paper,
      wrong = state.tone === "wrong",
      factor = thick(paper),
      edge = wrong ? theme.wrong : theme["pad-hatch"],
      { x, y, w, h } = rect;
    tile(paper, rect, { fill: theme.pad, edge, width: wrong ? 3 : 1, dash: !wrong });
    if (h > 7) {
      const [left, top, wide, high] = [x + INSET, y + INSET, w - 2 * INSET, h - 2 * INSET];
      ctx.globalAlpha *= HATCHED;
      ctx.beginPath();
      for (let d = HATCH * factor; d < wide + high; d += HATCH * factor) {
        ctx.moveTo(left + Math.min(d, wide), top + d - Math.min(d, wide));
        ctx.lineTo(left + d - Math.min(d, high), top + Math.min(d, high));
      }
      stroke(ctx, theme["pad-hatch"], 0.7 * factor);
      ctx.globalAlpha /= HATCHED;
    }
    const inner = vec && h > STRIPED, // the numbers of a pad are seen at every size, or it would pass for zeros
      side = Math.min(5, w * 0.12, h * 0.16),
      head = h < LOW ? side : headOf(paper, h);
    if (inner) stripes(paper, { x: x + side, y: y + head, w: w - 2 * side, h: h - head - side }, vec, state.scale);
    if (!state.text || h < (inner ? LOW : WORDED)) return;
    const whole = inner ? head : textSize(paper, h),
      full = inner ? fullSize(head) : FULL * whole,
      px = Math.max(Math.min(whole, paper.least), evenSize(paper, full, w, state, 0)), // as words beside it
      middle = inner ? middleIn(head, px) : h / 2,
      half = Math.max(0.4 * px, Math.min(0.62 * px, middle - PLATED)), // of the plate behind the text
      wide = Math.min(within(w), widthOf(paper, state.text, px, WEIGHT.marked) + 8);
    ctx.fillStyle = theme.pad;
    ctx.fillRect(x + (w - wide) / 2, y + middle - half, wide, 2 * half);
    const fill = wrong ? theme.wrong : theme.quiet;
    write(paper, state.text, x + w / 2, y + middle, within(w), { px, least, weight: WEIGHT.marked, fill });
  },
  value(paper, { rect, state, v }) {
    const colour = tintOf(paper, state.text ? null : v, state.scale);
    tile(paper, rect, { fill: colour.fill, edge: paper.theme.hair });
    if (rect.h < WORDED) return;
    const [x, y] = [rect.x + rect.w / 2, rect.y + rect.h / 2],
      px = textSize(paper, rect.h),
      free = rect.w - BESIDE,
      digits = digitsIn(paper, free, px),
      written = state.text || state.sub; // in place of the number, on its colour and in its size
    if (!written) figure(paper, state.v ?? v, x, y, digits, colour.text);
    else write(paper, written, x, y, free, { px: digits?.px ?? px, weight: WEIGHT.number, fill: colour.text });
  },
  label(paper, { rect, state, least }, unit) {
    if (!hasBadge(paper, rect.h)) return;
    const hue = hueOf(paper, state.seq),
      full = badgeSize(paper, rect.h, unit),
      { y, w, h } = rect,
      size = least ? Math.min(w, full) : full,
      wide = (least ? size : Math.max(BADGE, size)) * (0.6 + 0.4 * state.text.length),
      x = rect.x - overhang(rect, wide),
      px = least ? size * BOXED : Math.max(READABLE, size * BOXED);
    paper.ctx.beginPath();
    paper.ctx.roundRect(x + (w - wide) / 2, y + (h - size) / 2, wide, size, Math.min(5, size / 3));
    paper.ctx.fillStyle = hue.fill;
    paper.ctx.fill();
    stroke(paper.ctx, hue.edge, 1);
    write(paper, state.text, x + w / 2, y + h / 2, wide, { px, least, weight: WEIGHT.bold, fill: hue.text });
  },
  axis(paper, { rect: { x, y, w, h }, state }, unit, near) {
    const { theme, texts, room } = paper,
      now = state.tone === "now",
      longest = texts.axes.get(state.f) ?? state.text,
      most = (h < unit / 2 ? nearSize : lineSize)(paper, unit);
    const whole = widthOf(paper, longest, most, WEIGHT.bold),
      number = longest.replace(/^t=/, ""),
      bare = widthOf(paper, number, most, WEIGHT.bold), // with narrow columns only the first and the current one have `t=`
      plain = most > READABLE && whole > w - 7 && number !== longest && bare + 4 < w && whole + bare + 4 < 2 * w,
      wide = plain ? bare : whole,
      least = Math.min(most, paper.least),
      px = Math.max(least, Math.min(most, (most * (w - (longest.length < 3 || plain ? 3 : 7))) / wide));
    const every = texts.stacked.has(state.f)
      ? Math.ceil((0.75 * px + 1) / Math.max(h, 1))
      : Math.ceil(((wide * px) / most + 6.5) / Math.max(w, 1));
    if (!now && (state.k % every || crowds(near, state, every))) return;
    const text = plain && state.k && !now ? state.text.replace(/^t=/, "") : state.text,
      weight = now ? WEIGHT.bold : WEIGHT.plain,
      half = widthOf(paper, text, px, weight) / 2 + 2, // at the edge of the picture it moves inwards instead of being cut off
      middle = Math.max(half, Math.min(x + w / 2, room - half));
    put(paper, text, middle, y + h / 2, { px, weight, fill: now ? theme.now : theme.quiet });
  },
  note(paper, look, unit, near) {
    const { rect, state, least } = look,
      { x, w, h } = rect,
      px = lineSize(paper, unit),
      middle = middleOf(paper, look, px, unit, near),
      style = { px, weight: state.tone ? WEIGHT.bold : WEIGHT.plain, fill: paper.theme[state.tone || "quiet"] };
    if (h < px && Math.round(state.y) % Math.ceil(px / h)) return;
    const first = near.firsts.get(state.f),
      word = state.sub && state.text.slice(0, -state.sub.length - 1),
      brief = word && first === undefined && x + widthOf(paper, state.text, px, WEIGHT.bold) > paper.room - CLEAR,
      text = brief ? state.sub : state.text,
      wide = widthOf(paper, text, px, style.weight),
      beyond = h < px && state.sub ? (near.ends.get(state.p) ?? 0) + CLEAR : x, // higher than its row, it keeps off the others
      held = Math.min(Math.max(x, beyond), Math.max(2, paper.room - wide - CLEAR)); // at the edge of the picture it moves inwards instead of being cut off
    if (least) return write(paper, text, held, middle, w, { ...style, least, align: "left" });
    if (first === undefined || !word || wide + 6 < w)
      return put(paper, text, held, middle, { ...style, align: "left" });
    put(paper, state.sub, x + w / 2, middle, style); // no room for the word below each of them: the first has it on its left
    if (state.x === first && !state.tone) put(paper, word, x - unit * 0.7, middle, style);
  },
  // A heading may be wider than its panel; at the edge of the picture it moves inwards instead of being cut off, as far as
  // the previous one on its line allows, and it ends where the next one begins.
  title(paper, { rect: { x, y, h }, state }, unit, near) {
    const { room, edge, theme } = paper,
      px = Math.max(12, lineSize(paper, unit)),
      line = near.titles.filter(({ rect }) => Math.abs(rect.y - y) < px).sort((a, b) => a.rect.x - b.rect.x),
      at = line.findIndex((title) => title.state.i === state.i);
    const wide = (/** @type {Look} */ title) => widthOf(paper, title.state.text, px, WEIGHT.heading) + 8;
    const left = (/** @type {number} */ i) =>
      Math.min(line[i].rect.x, Math.max(i ? line[i - 1].rect.x + wide(line[i - 1]) : CLEAR, room - wide(line[i])));
    const end = at >= 0 && at + 1 < line.length ? left(at + 1) - 8 : room - CLEAR,
      from = at < 0 ? x : left(at),
      whole = widthOf(paper, state.text, px, WEIGHT.heading),
      held = Math.max(from, Math.min(edge + 2, (near.ends.get(state.p) ?? room) - whole)), // it stays above its panel in a place that scrolls,
      here = end - held < whole ? from : held, // as long as there is room for all of it
      middle = headingAt(y, h, unit, px, state);
    write(paper, state.text, here, middle, end - here, { px, weight: WEIGHT.heading, fill: theme.text, align: "left" });
  },
  count(paper, { rect: { x, y, w, h }, state, v }, unit, near) {
    const { ctx, theme } = paper,
      now = state.tone === "now",
      { most, px } = counted(paper, h, unit),
      low = near.turned && h < most + 1.3 * px; // there is no room below the bar: its number is beside it
    ctx.fillStyle = now ? theme.now : theme.line;
    ctx.fillRect(x + 0.16 * w, y, (low ? 0.34 : 0.68) * w, Math.max(2, (low ? 0.8 * h : most) * v));
    const stride = Math.ceil((widthOf(paper, state.text, px, WEIGHT.bold) + 5) / Math.max(w, 1));
    if (!now && (state.k % Math.max(1, stride) || crowds(near, state, stride))) return;
    const [across, down] = low ? [0.75 * w, 0.4 * h] : [w / 2, most + px * 0.72];
    put(paper, state.text, x + across, y + down, { px, weight: WEIGHT.bold, fill: now ? theme.now : theme.text });
  },
  bracket(paper, { rect: { x, y, w, h }, state }, unit) {
    const { ctx, theme } = paper,
      now = state.tone === "now",
      px = nearSize(paper, unit),
      room = Math.max(w + 0.4 * unit, 26),
      text = widthOf(paper, state.text, px, WEIGHT.bold) > room ? state.text.replace(/^t=/, "") : state.text,
      style = { px, weight: now ? WEIGHT.bold : WEIGHT.plain, fill: now ? theme.now : theme.quiet };
    write(paper, text, x + w / 2, y + 0.3 * h - 1, room, style);
    ctx.beginPath();
    ctx.moveTo(x + 2, y + 0.95 * h);
    ctx.lineTo(x + 2, y + 0.68 * h);
    ctx.lineTo(x + w - 2, y + 0.68 * h);
    ctx.lineTo(x + w - 2, y + 0.95 * h);
    stroke(ctx, now ? theme.now : theme.line, (now ? 2 : 1) * thick(paper));
  },
  focus(paper, { rect: { x, y, w, h } }, unit) {
    const [out, width] = unit < BADGE ? [-0.5, 1.5] : [0.5, 2.5]; // in the gap between cells, and off the name above low ones
    paper.ctx.beginPath();
    paper.ctx.roundRect(x - out, y - out, w + 2 * out, h + 2 * out, 7);
    stroke(paper.ctx, paper.theme.now, width * thick(paper));
  },
  ring(paper, { rect, state }, unit) {
    const width = around(rect, unit);
    outline(paper, rect, width, paper.theme.text);
    stroke(paper.ctx, hueOf(paper, state.seq).fill, (width < 2 ? 0.5 : 0.6) * width * thick(paper));
  },
  // Its height is how far down it leads, which may be zero or negative.
  thread(paper, { rect: { x, y, w, h }, state }) {
    paper.ctx.beginPath();
    paper.ctx.moveTo(x, y);
    paper.ctx.bezierCurveTo(x + w / 2, y, x + w / 2, y + h, x + w, y + h);
    stroke(paper.ctx, paper.theme.background, 5);
    stroke(paper.ctx, hueOf(paper, state.seq).edge, 2.6);
  },
  mark(paper, { rect, state }, unit) {
    const { ctx, theme } = paper,
      width = around(rect, unit);
    outline(paper, rect, width < 2 ? width : width + 2, theme.background);
    if (state.tone === "wrong") ctx.setLineDash([6, 3]);
    outline(paper, rect, width, (state.tone && theme[state.tone]) || theme.now);
    ctx.setLineDash([]);
  },
  flag(paper, { rect, state }) {
    const { pad, "pad-hatch": hatch, quiet } = paper.theme,
      set = state.text !== "False",
      hue = hueOf(paper, state.seq);
    tile(paper, rect, set ? { fill: hue.ghost, edge: hue.edge } : { fill: pad, edge: hatch, dash: true });
    const whole = widthOf(paper, "False", READABLE, WEIGHT.marked) < rect.w - 14,
      text = whole ? state.text : state.text[0]; // T or F
    typed(paper, rect, { ...state, text }, set ? hue.ghostText : quiet, set ? WEIGHT.marked : WEIGHT.plain);
  },
};

/**
 * @param {Paper} paper
 * @param {Look} look
 * @param {number} unit
 * @param {Neighbours} near
 */
export function draw(paper, look, unit, near) {
  const paint = roles[look.state.role];
  if (!paint || look.alpha <= 0.01) return;
  paper.ctx.globalAlpha = look.alpha;
  paint(paper, look, unit, near);
  paper.ctx.globalAlpha = 1;
}
