// The brush draws each cell as its role looks (roles.js), and knows which labels and titles are near it.

/** @import { Cell, Ctx, Look, Read, Theme } from "./types" */

import { roles } from "./roles.js";
import { WordPen } from "./words.js";

export class Brush extends WordPen {
  /**
   * @param {Theme} theme
   * @param {Read} movie
   * @param {Cell[]} cells
   */
  constructor(theme, movie, cells) {
    super(theme, movie);
    this.longest = new Map(); // the longest text of each family of axis labels, which are thinned out together
    this.rows = new Map(); // the position of the first label of each family of axis labels,
    this.stacked = new Set(); // and the families whose labels are stacked vertically
    for (const cell of cells) {
      if (cell.role === "label") this.lettered.add(cell.p);
      if (cell.role === "axis" && !this.rows.has(cell.f)) this.rows.set(cell.f, cell.y);
      if (cell.role === "axis" && this.rows.get(cell.f) !== cell.y) this.stacked.add(cell.f);
      if (cell.role === "token" && cell.text.length > this.wordiest.length) this.wordiest = cell.text;
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
    this.titles = looks.filter(({ state, alpha }) => state.role === "title" && alpha && state.text);
    // Lengths side by side below a transposed grid: the position of each family's first one.
    const lengths = looks
      .filter(({ state }) => state.shown && state.role === "note" && state.sub)
      .map(({ state }) => state);
    const level = lengths.filter((one) => lengths.some((two) => two !== one && two.p === one.p && two.y === one.y));
    this.firsts = new Map(level.sort((one, two) => two.x - one.x).map((one) => [one.f, one.x]));
  }
  /**
   * The pixels of the widest of these texts beside lines; 0 without any.
   * @param {Ctx} ctx
   * @param {Look[]} looks
   * @param {number} unit
   */
  widest(ctx, looks, unit) {
    return Math.max(
      0,
      ...looks.map(({ state }) => {
        this.font(ctx, this.line(unit), state.tone ? 700 : 400);
        return this.measure(ctx, state.text);
      }),
    );
  }
  /**
   * Draw a name over what it covers.
   * @param {Ctx} ctx
   * @param {Look} look
   * @param {number} unit
   */
  name(ctx, look, unit) {
    const { x, y, h } = look.rect;
    ctx.fillStyle = this.theme.background;
    ctx.fillRect(x - 2, y, this.widest(ctx, [look], unit) + 6, h);
    this.draw(ctx, look, unit);
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
