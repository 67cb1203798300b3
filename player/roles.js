// How each role looks on the canvas.

/** @import { Look, Paint, Role } from "./types" */

import { BADGE, READABLE, WORDED } from "./layout.js";
import { BESIDE } from "./numbers.js";
import { within } from "./pen.js";

const LOW = 22, // pixels of a cell that has no room for a text above its numbers
  THIN = 20; // pixels of a cell from which the line around it is 3 pixels wide
export const BOXED = 0.79; // the text size of a sequence's letter ÷ the height of its box

/**
 * How wide a line around cells is: thin around low ones, whose text it must not touch.
 * @param {import("./types").Rect} rect
 * @param {number} unit
 */
const around = ({ h }, unit) => (h < BADGE ? 1.5 : Math.min(h, unit) < THIN ? 2 : 3);

/** @type {Record<Role, Paint>} */
export const roles = {
  token(ctx, rect, state, look) {
    const hue = this.hue(state.seq);
    this.tile(ctx, rect, { fill: hue.fill, edge: hue.edge });
    if (look.vec && rect.h > 9) this.framed(ctx, rect, state, look, hue.text);
    else this.typed(ctx, rect, state, hue.text, this.weight(ctx, rect, state), look.least);
    this.lap(ctx, rect, state.seq, hue.text, this.told(ctx, state, rect.w));
  },
  output(ctx, rect, state, look) {
    const hue = this.hue(state.seq);
    this.tile(ctx, rect, { fill: hue.fill, edge: hue.edge });
    const side = Math.min(3.5, rect.w * 0.12, rect.h * 0.16),
      head = this.letter(ctx, rect, state, hue.text) ? this.corner(rect.h) : 0;
    const inner = { x: rect.x + side, y: rect.y + side + head, w: rect.w - 2 * side, h: rect.h - 2 * side - head };
    this.stripes(ctx, inner, look.vec, state.scale);
    this.figures(ctx, inner, look.vec, state.scale);
  },
  vector(ctx, rect, state, look) {
    this.tile(ctx, rect, { edge: this.theme.line });
    const side = Math.min(2.5, rect.h * 0.08);
    this.stripes(
      ctx,
      { x: rect.x + side, y: rect.y + side, w: rect.w - 2 * side, h: rect.h - 2 * side },
      look.vec,
      state.scale,
    );
  },
  ghost(ctx, rect, state, look) {
    const hue = this.hue(state.seq);
    this.tile(ctx, rect, { fill: hue.ghost });
    if (look.vec && rect.h > 9) this.framed(ctx, rect, state, look, hue.ghostText, 0.4);
    else this.typed(ctx, rect, state, hue.ghostText, 400);
  },
  pad(ctx, rect, state, look) {
    const wrong = state.tone === "wrong",
      { x, y, w, h } = rect;
    this.tile(ctx, rect, {
      fill: this.theme.pad,
      edge: wrong ? this.theme.wrong : this.theme["pad-hatch"],
      width: wrong ? 3 : 1,
      dash: !wrong,
    });
    if (h > 7) {
      ctx.save();
      ctx.beginPath();
      ctx.rect(x + 3, y + 3, w - 6, h - 6);
      ctx.clip();
      ctx.globalAlpha *= 0.42;
      ctx.beginPath();
      for (let d = 7 * this.thick; d < w + h; d += 7 * this.thick) {
        ctx.moveTo(x + d, y);
        ctx.lineTo(x + d - h, y + h);
      }
      this.stroke(ctx, this.theme["pad-hatch"], 0.7 * this.thick);
      ctx.restore();
    }
    const inner = look.vec && h > 9, // the numbers of a pad are seen at every size, or it would pass for zeros
      side = Math.min(5, w * 0.12, h * 0.16),
      head = h < LOW ? side : this.head(h);
    if (inner)
      this.stripes(ctx, { x: x + side, y: y + head, w: w - 2 * side, h: h - head - side }, look.vec, state.scale);
    if (h >= (inner ? LOW : WORDED)) {
      const whole = inner ? head : this.inside(h),
        px = Math.max((inner ? 0.8 : 0.9) * whole, Math.min(whole, this.least)),
        middle = y + (inner ? head : h) / 2;
      this.font(ctx, px, 600);
      const wide = Math.min(within(w), this.measure(ctx, state.text) + 8);
      ctx.fillStyle = this.theme.pad;
      ctx.fillRect(x + (w - wide) / 2, middle - px * 0.62, wide, px * 1.24);
      this.write(ctx, state.text, x + w / 2, middle, within(w), {
        px,
        least: look.least,
        weight: 600,
        fill: wrong ? this.theme.wrong : this.theme.quiet,
      });
    }
  },
  value(ctx, rect, state, look) {
    const colour = this.ramp(state.text ? null : look.v, state.scale);
    this.tile(ctx, rect, { fill: colour.fill, edge: this.theme.line });
    if (rect.h < WORDED) return;
    const middle = { x: rect.x + rect.w / 2, y: rect.y + rect.h / 2 },
      px = this.inside(rect.h),
      written = state.text || state.sub; // in place of the number, on its colour
    if (!written) this.figure(ctx, look.v, middle.x, middle.y, this.digits(ctx, rect.w - BESIDE, px), colour.text);
    else this.write(ctx, written, middle.x, middle.y, rect.w - BESIDE, { px, weight: 500, fill: colour.text });
  },
  label(ctx, { x, y, w, h }, state, look, unit) {
    if (this.crowded.has(state.i)) return;
    const hue = this.hue(state.seq),
      full = this.badge(h, unit),
      size = look.least ? Math.min(w, full) : full,
      wide = (look.least ? size : Math.max(BADGE, size)) * (0.6 + 0.4 * state.text.length);
    ctx.beginPath();
    ctx.roundRect(x + (w - wide) / 2, y + (h - size) / 2, wide, size, 5);
    ctx.fillStyle = hue.fill;
    ctx.fill();
    this.stroke(ctx, hue.edge, 1);
    this.write(ctx, state.text, x + w / 2, y + h / 2, wide, {
      px: look.least ? size * BOXED : Math.max(READABLE, size * BOXED),
      least: look.least,
      weight: 700,
      fill: hue.text,
    });
  },
  axis(ctx, { x, y, w, h }, state, _look, unit) {
    const now = state.tone === "now",
      longest = this.longest.get(state.f) ?? state.text;
    const most = this.line(unit);
    this.font(ctx, most, 700);
    const whole = this.measure(ctx, longest),
      number = longest.replace(/^t=/, ""),
      bare = this.measure(ctx, number), // with narrow columns only the first and the current one have `t=`
      plain = most > READABLE && whole > w - 7 && number !== longest && bare + 4 < w && whole + bare + 4 < 2 * w,
      wide = plain ? bare : whole,
      least = Math.min(most, this.least),
      px = Math.max(least, Math.min(most, (most * (w - (longest.length < 3 || plain ? 3 : 7))) / wide));
    this.font(ctx, px, now ? 700 : 400);
    const every = this.stacked.has(state.f)
      ? Math.ceil((0.75 * px + 1) / Math.max(h, 1))
      : Math.ceil(((wide * px) / most + 6.5) / Math.max(w, 1));
    if (!now && (state.k % every || this.crowds(state, every))) return;
    const text = plain && state.k && !now ? state.text.replace(/^t=/, "") : state.text;
    const half = this.measure(ctx, text) / 2 + 2; // at the edge of the picture it moves inwards instead of being cut off
    const middle = Math.max(half, Math.min(x + w / 2, this.room - half));
    this.put(ctx, text, middle, y + h / 2, now ? this.theme.now : this.theme.quiet);
  },
  note(ctx, { x, y, w, h }, state, _look, unit) {
    const tone =
      { "": null, now: this.theme.now, good: this.theme.good, wrong: this.theme.wrong }[state.tone] ?? this.theme.quiet;
    const px = this.line(unit);
    if (h < px && Math.round(state.y) % Math.ceil(px / h)) return;
    this.font(ctx, px, state.tone ? 700 : 400);
    const first = this.firsts.get(state.f),
      word = state.sub && state.text.slice(0, -state.sub.length - 1);
    const wide = this.measure(ctx, state.text); // at the edge of the picture it moves inwards instead of being cut off
    if (first === undefined || !word || wide + 6 < w)
      return this.put(ctx, state.text, Math.min(x, Math.max(2, this.room - wide - 3)), y + h / 2, tone, "left");
    this.put(ctx, state.sub, x + w / 2, y + h / 2, tone); // no room for the word below each of them: the first has it on its left
    if (state.x === first && !state.tone) this.put(ctx, word, x - unit * 0.7, y + h / 2, tone);
  },
  // A heading may be wider than its panel; at the edge of the picture it moves inwards instead of being cut off, as far as
  // the previous one on its line allows, and it ends where the next one begins.
  title(ctx, { x, y, h }, state, _look, unit) {
    const px = Math.max(12, this.line(unit)),
      line = this.titles.filter(({ rect }) => Math.abs(rect.y - y) < px).sort((a, b) => a.rect.x - b.rect.x);
    this.font(ctx, px, 650);
    const wide = (/** @type {Look} */ title) => this.measure(ctx, title.state.text) + 8,
      at = line.findIndex((title) => title.state.i === state.i);
    const left = (/** @type {number} */ i) =>
      Math.min(line[i].rect.x, Math.max(i ? line[i - 1].rect.x + wide(line[i - 1]) : 2, this.room - wide(line[i])));
    const end = at >= 0 && at + 1 < line.length ? left(at + 1) - 8 : this.room,
      from = at < 0 ? x : left(at),
      whole = this.measure(ctx, state.text),
      held = Math.max(from, Math.min(this.edge + 2, (this.ends.get(state.p) ?? this.room) - whole)), // it stays above its panel in a place that scrolls,
      here = end - held < whole ? from : held; // as long as there is room for all of it
    this.write(ctx, state.text, here, y + h * (h > unit ? 0.4 : 0.32), end - here, {
      px,
      weight: 650,
      fill: this.theme.text,
      align: "left",
    });
  },
  count(ctx, { x, y, w, h }, state, look, unit) {
    const now = state.tone === "now",
      px = Math.max(this.line(unit), Math.min(0.62 * unit, this.least)),
      most = Math.min(h * 0.5, Math.max(22, 0.5 * unit));
    const bar = Math.max(2, most * look.v);
    ctx.fillStyle = now ? this.theme.now : this.theme.line;
    ctx.fillRect(x + w * 0.16, y, w * 0.68, bar);
    this.font(ctx, px, 700);
    const stride = Math.ceil((this.measure(ctx, state.text) + 5) / Math.max(w, 1));
    if (!now && (state.k % Math.max(1, stride) || this.crowds(state, stride))) return;
    this.put(ctx, state.text, x + w / 2, y + most + px * 0.72, now ? this.theme.now : this.theme.text);
  },
  bracket(ctx, { x, y, w, h }, state, _look, unit) {
    const now = state.tone === "now",
      px = this.line(unit);
    this.font(ctx, px, 700);
    const room = Math.max(w + 0.4 * unit, 26),
      text = this.measure(ctx, state.text) > room ? state.text.replace(/^t=/, "") : state.text;
    this.write(ctx, text, x + w / 2, y + h * 0.3, room, {
      px,
      weight: now ? 700 : 400,
      fill: now ? this.theme.now : this.theme.quiet,
    });
    ctx.beginPath();
    ctx.moveTo(x + 2, y + h * 0.95);
    ctx.lineTo(x + 2, y + h * 0.68);
    ctx.lineTo(x + w - 2, y + h * 0.68);
    ctx.lineTo(x + w - 2, y + h * 0.95);
    this.stroke(ctx, now ? this.theme.now : this.theme.line, (now ? 2 : 1) * this.thick);
  },
  focus(ctx, { x, y, w, h }) {
    ctx.beginPath();
    ctx.roundRect(x - 0.5, y - 0.5, w + 1, h + 1, 7);
    this.stroke(ctx, this.theme.now, 2.5 * this.thick); // in the gap between cells
  },
  ring(ctx, rect, state, _look, unit) {
    const width = around(rect, unit);
    this.outline(ctx, rect, width, this.theme.text);
    this.stroke(ctx, this.hue(state.seq).fill, (width < 2 ? 0.5 : 0.6) * width * this.thick);
  },
  // Its height is how far down it leads, which may be zero or negative.
  thread(ctx, { x, y, w, h }, state) {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.bezierCurveTo(x + w / 2, y, x + w / 2, y + h, x + w, y + h);
    this.stroke(ctx, this.theme.background, 5);
    this.stroke(ctx, this.hue(state.seq).edge, 2.6);
  },
  mark(ctx, rect, state, _look, unit) {
    const width = around(rect, unit);
    this.outline(ctx, rect, width < 2 ? width : width + 1, this.theme.background);
    if (state.tone === "wrong") ctx.setLineDash([6, 3]);
    this.outline(ctx, rect, width, (state.tone && this.theme[state.tone]) || this.theme.now);
    ctx.setLineDash([]);
  },
  flag(ctx, rect, state) {
    const set = state.text !== "False",
      hue = this.hue(state.seq);
    this.tile(
      ctx,
      rect,
      set ? { fill: hue.ghost, edge: hue.edge } : { fill: this.theme.pad, edge: this.theme["pad-hatch"], dash: true },
    );
    this.font(ctx, READABLE, 600);
    const text = this.measure(ctx, state.text) < rect.w - 7 ? state.text : state.text[0]; // T or F
    this.typed(ctx, rect, { ...state, text }, set ? hue.ghostText : this.theme.quiet, set ? 600 : 400);
  },
};
