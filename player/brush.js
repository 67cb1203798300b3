// The brush draws each cell as its role looks (roles.js), and knows which labels and titles are near it.

/** @import { Cell, Ctx, Look, Read, Theme } from "./types" */

import { BODIES } from "./between.js";
import { BADGE, LETTERED } from "./layout.js";
import { BOXED, roles } from "./roles.js";
import { WordPen } from "./words.js";

export class Brush extends WordPen {
  /**
   * @param {Theme} theme
   * @param {Read} movie
   * @param {Cell[]} cells
   */
  constructor(theme, movie, cells) {
    super(theme, movie);
    this.crowded = new Set();
    this.longest = new Map(); // the longest text of each family of axis labels, which are thinned out together
    this.rows = new Map(); // the position of the first label of each family of axis labels,
    this.stacked = new Set(); // and the families whose labels are stacked vertically
    for (const cell of cells) {
      if (cell.role === "label") this.lettered.add(cell.p);
      if (cell.role === "axis" && !this.rows.has(cell.f)) this.rows.set(cell.f, cell.y);
      if (cell.role === "axis" && this.rows.get(cell.f) !== cell.y) this.stacked.add(cell.f);
      if (cell.role === "token" && cell.text.length > this.wordiest.length) this.wordiest = cell.text;
      if (cell.role === "token" && cell.text.length > (this.words.get(cell.f) ?? "").length)
        this.words.set(cell.f, cell.text);
      if (cell.role === "axis" && cell.text.length > (this.longest.get(cell.f) ?? "").length)
        this.longest.set(cell.f, cell.text);
    }
  }
  /**
   * Which of the thinned-out labels are current: their neighbours make room for them.
   * @param {Look[]} looks
   */
  see(looks) {
    this.nows = new Map(
      looks.filter(({ state }) => state.tone === "now" && state.shown).map(({ state }) => [state.f, state.k]),
    );
    // The letters of rows that are too low for all of them: each that is too near to the one above it is left out.
    this.crowded = new Set();
    const middles = new Map();
    const letters = looks.filter(({ state, alpha, rect }) => state.role === "label" && alpha && rect);
    for (const { state, rect } of letters.sort((one, two) => one.rect.y - two.rect.y)) {
      const last = middles.get(state.f),
        middle = rect.y + rect.h / 2;
      if (rect.h < LETTERED && middle > last + 1 && middle < last + LETTERED - 0.5) this.crowded.add(state.i);
      else middles.set(state.f, middle);
    }
    this.ends = new Map(); // where the cells of each panel end
    for (const { state, alpha, rect } of looks)
      if (alpha && rect && BODIES.has(state.role))
        this.ends.set(state.p, Math.max(this.ends.get(state.p) ?? 0, rect.x + rect.w));
    this.titles = looks.filter(({ state, alpha }) => state.role === "title" && alpha && state.text);
    // Lengths side by side below a transposed grid: the position of each family's first one.
    const lengths = looks
      .filter(({ state }) => state.shown && state.role === "note" && state.sub)
      .map(({ state }) => state);
    const level = lengths.filter((one) => lengths.some((two) => two !== one && two.p === one.p && two.y === one.y));
    this.firsts = new Map(level.sort((one, two) => two.x - one.x).map((one) => [one.f, one.x]));
  }
  /**
   * Pixels of the letter of a row of this height, with its box.
   * @param {number} h
   * @param {number} unit
   */
  badge(h, unit) {
    const low = Math.max(LETTERED, Math.min(BADGE, h));
    return Math.max(low, Math.min(h * 0.66, 1.5 * this.line(unit)), Math.min(h * 0.98, this.least / BOXED));
  }
  /**
   * Pixels of the letter of a row, or of the name of a line, with a little room.
   * @param {Ctx} ctx
   * @param {Look} look
   * @param {number} unit
   */
  headWidth(ctx, { rect, state: { role, text, tone } }, unit) {
    if (role === "label") return Math.max(BADGE, this.badge(rect.h, unit)) * (0.6 + 0.4 * text.length) + 3;
    this.font(ctx, this.line(unit), tone ? 700 : 400);
    return this.measure(ctx, text) + 8;
  }
  /**
   * Draw a letter or a name over what it covers, with a line where the rest goes on.
   * @param {Ctx} ctx
   * @param {Look} look
   * @param {number} unit
   */
  hold(ctx, look, unit) {
    const { x, y, w, h } = look.rect;
    ctx.fillStyle = this.theme.background;
    ctx.fillRect(x, y, w, h);
    ctx.fillStyle = this.theme.line;
    ctx.fillRect(x + w, y, 1, h);
    this.draw(ctx, look.state.role === "note" ? { ...look, rect: { ...look.rect, x: x + 4 } } : look, unit);
  }
  /**
   * @param {Cell} state
   * @param {number} every
   */
  crowds(state, every) {
    const apart = Math.abs(state.k - this.nows.get(state.f));
    return apart > 0 && apart < every;
  }
  /**
   * @param {Ctx} ctx
   * @param {Look} look
   * @param {number} unit
   */
  draw(ctx, look, unit) {
    const paint = roles[look.state.role];
    if (!paint || look.alpha <= 0.01) return;
    ctx.globalAlpha = look.alpha;
    paint.call(this, ctx, look.rect, look.state, look, unit);
    ctx.globalAlpha = 1;
  }
}
