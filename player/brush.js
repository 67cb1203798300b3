// The brush: text, tiles and stripes, in the colours of the theme; roles.js says how each role looks.

/** @import { Cell, Ctx, Hue, Look, Numbers, Read, Rect, Scale, Theme, Tint } from "./types" */

import { READABLE } from "./layout.js";
import { roles } from "./roles.js";

/**
 * How much of the width of a cell its text may take: it keeps clear of the edges.
 * @param {number} w
 */
export const within = (w) => w - Math.min(7, w * 0.2);

export class Brush {
  /**
   * @param {Theme} theme
   * @param {Read} movie
   * @param {Cell[]} cells
   */
  constructor(theme, movie, cells) {
    this.theme = theme;
    this.room = 0; // pixels of the picture from left to right
    this.face = "";
    this.movie = movie;
    this.widths = new Map();
    this.longest = new Map(); // the longest text of each family of axis labels: they are thinned out alike
    for (const cell of cells) {
      if (cell.role === "axis" && cell.text.length > (this.longest.get(cell.f) ?? "").length)
        this.longest.set(cell.f, cell.text);
    }
  }
  /**
   * Which of the thinned-out labels are now: their neighbours make room for them.
   * @param {Look[]} looks
   */
  see(looks) {
    this.nows = new Map(
      looks.filter(({ state }) => state.tone === "now" && state.shown).map(({ state }) => [state.f, state.k]),
    );
    this.titles = looks.filter(({ state, alpha }) => state.role === "title" && alpha && state.text);
    // Lengths side by side, below a grid that is turned: the place of each family's first one.
    const lengths = looks
      .filter(({ state }) => state.shown && state.role === "note" && state.sub)
      .map(({ state }) => state);
    const level = lengths.filter((one) => lengths.some((two) => two !== one && two.p === one.p && two.y === one.y));
    this.firsts = new Map(level.sort((one, two) => two.x - one.x).map((one) => [one.f, one.x]));
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
   * @param {number | undefined} seq
   * @returns {Hue}
   */
  hue(seq) {
    return this.theme.hues[this.movie.sequences[seq][1]];
  }
  /**
   * @param {number | null | undefined} v
   * @param {Scale} scale
   * @returns {Tint}
   */
  ramp(v, scale) {
    if (v == null) return { fill: this.theme.pad, text: this.theme.text };
    const share = Math.max(-1, Math.min(1, v / this.movie.scales[scale]));
    return this.theme.ramp[Math.round((share + 1) * 64)];
  }
  /**
   * @param {Ctx} ctx
   * @param {string} text
   * @returns {number}
   */
  measure(ctx, text) {
    const key = this.face + text; // reading ctx.font back is slow
    let width = this.widths.get(key);
    if (width === undefined) this.widths.set(key, (width = ctx.measureText(text).width));
    return width;
  }
  /**
   * @param {Ctx} ctx
   * @param {number} px
   * @param {number} weight
   */
  font(ctx, px, weight = 400) {
    ctx.font = this.face = `${weight} ${px}px ${this.theme.font}`;
  }
  /**
   * The text as large as it fits, shortened at the smallest size, or nothing.
   * @param {Ctx} ctx
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {number} w
   * @param {{ px: number, least?: number, weight?: number, fill: string, align?: CanvasTextAlign }} style
   */
  write(ctx, text, x, y, w, { px, least = READABLE, weight = 400, fill, align = "center" }) {
    if (!text) return;
    let size = px;
    this.font(ctx, size, weight);
    const wide = this.measure(ctx, text);
    if (wide > w) {
      size = Math.max(least, Math.floor((px * w) / wide));
      this.font(ctx, size, weight);
      text = this.shorten(ctx, text, w);
    }
    if (!text) return;
    ctx.fillStyle = fill;
    ctx.textAlign = align;
    ctx.textBaseline = "middle";
    ctx.fillText(text, x, y + size * 0.06);
  }
  /**
   * @param {Ctx} ctx
   * @param {string} text
   * @param {number} w
   */
  shorten(ctx, text, w) {
    if (this.measure(ctx, text) <= w) return text;
    const letters = [...text];
    for (let n = letters.length - 1; n >= 2; n--) {
      const short = `${letters.slice(0, n).join("")}…`;
      if (this.measure(ctx, short) <= w) return short;
    }
    return "";
  }
  /**
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {{ fill?: string, edge?: string, width?: number, dash?: boolean }} style
   */
  tile(ctx, { x, y, w, h }, { fill, edge, width = 1, dash }) {
    const gap = Math.min(2, w * 0.06, h * 0.06);
    ctx.beginPath();
    if (h > 12 && w > 12) ctx.roundRect(x + gap, y + gap, w - 2 * gap, h - 2 * gap, Math.min(6, h * 0.16));
    else ctx.rect(x + gap, y + gap, Math.max(0.5, w - 2 * gap), Math.max(0.5, h - 2 * gap));
    if (fill) {
      ctx.fillStyle = fill;
      ctx.fill();
    }
    if (edge && h > 7) {
      if (dash) ctx.setLineDash([3, 2]);
      ctx.strokeStyle = edge;
      ctx.lineWidth = width;
      ctx.stroke();
      if (dash) ctx.setLineDash([]);
    }
  }
  /**
   * A line around a cell, inside its own rectangle: in the gap between cells it covers no number and no neighbour.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {number} width
   * @param {string} colour
   */
  outline(ctx, { x, y, w, h }, width, colour) {
    const inset = 0.5 + width / 2;
    ctx.beginPath();
    ctx.roundRect(x + inset, y + inset, w - 2 * inset, h - 2 * inset, h < 12 ? 1 : 6);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.stroke();
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
  /**
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {number | undefined} seq
   * @param {string} fill
   */
  lap(ctx, { x, y, w, h }, seq, fill) {
    const laps = this.movie.sequences[seq][2];
    if (!laps || h < 9) return;
    const size = Math.min(9, h * 0.28);
    ctx.fillStyle = fill;
    for (let i = 0; i < Math.min(laps, 3); i++) {
      ctx.beginPath();
      ctx.moveTo(x + w - 3 - i * (size + 1), y + 3);
      ctx.lineTo(x + w - 3 - size - i * (size + 1), y + 3);
      ctx.lineTo(x + w - 3 - i * (size + 1), y + 3 + size);
      ctx.fill();
    }
  }
  /**
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Numbers | undefined} vec
   * @param {Scale} scale
   */
  stripes(ctx, { x, y, w, h }, vec, scale) {
    const across = w > 1.8 * h,
      n = vec.length,
      step = (across ? w : h) / n;
    for (let i = 0; i < n; i++) {
      ctx.fillStyle = this.ramp(vec[i], scale).fill;
      const start = Math.round(i * step),
        end = Math.round((i + 1) * step) - (step > 8 ? 1 : 0);
      if (across) ctx.fillRect(x + start, y, end - start, h);
      else ctx.fillRect(x, y + start, w, Math.max(0.6, end - start));
    }
  }
  /**
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Cell} state
   * @param {string} fill
   * @param {number} weight
   * @param {number} [least]
   */
  typed(ctx, { x, y, w, h }, state, fill, weight, least) {
    if (h < READABLE + 2) return;
    const two = state.sub && h > 36,
      px = Math.min(18, Math.max(READABLE, h * 0.4));
    this.write(ctx, state.text, x + w / 2, y + h * (two ? 0.39 : 0.5), within(w), { px, least, weight, fill });
    if (two) this.write(ctx, state.sub, x + w / 2, y + h * 0.74, within(w), { px: 11.5, fill });
  }
  /**
   * The word on top, its vector below, wherever the token stands: paler where it stood before it was packed.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Cell} state
   * @param {Look} look
   * @param {string} fill
   * @param {number} [share]
   */
  framed(ctx, { x, y, w, h }, state, look, fill, share = 1) {
    const head = h > 24 && state.text ? Math.max(13, h * 0.36) : Math.min(3, h * 0.12),
      side = Math.min(3.5, w * 0.12);
    if (head > 10)
      this.write(ctx, state.text, x + w / 2, y + head / 2 + 1, w - 6, {
        px: Math.min(14, head * 0.8),
        weight: share < 1 ? 400 : 700,
        fill,
      });
    ctx.globalAlpha *= share;
    this.stripes(ctx, { x: x + side, y: y + head, w: w - 2 * side, h: h - head - side }, look.vec, state.scale);
    ctx.globalAlpha /= share;
  }
  /**
   * The numbers on their stripes, where these lie side by side and have room for them.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Numbers | undefined} vec
   * @param {Scale} scale
   */
  figures(ctx, { x, y, w, h }, vec, scale) {
    const step = w / vec.length;
    if (w < 1.8 * h || step < 24 || h < READABLE + 2) return;
    vec.forEach(
      (v, i) =>
        v != null &&
        this.write(ctx, this.decimals(ctx, v, step - 4), x + (i + 0.5) * step, y + h / 2, step - 3, {
          px: Math.min(15, h * 0.4),
          weight: 500,
          fill: this.ramp(v, scale).text,
        }),
    );
  }
  /**
   * Numbers are never cut: where they do not fit all of them do without their leading zero, then with one decimal.
   * @param {Ctx} ctx
   * @param {number} v
   * @param {number} w
   */
  decimals(ctx, v, w) {
    this.font(ctx, READABLE, 500);
    const fits = (/** @type {string} */ text) => this.measure(ctx, text) <= w,
      plain = (/** @type {number} */ digits) =>
        v
          .toFixed(digits)
          .replace(/^-(?=0\.0+$)/, "")
          .replace("-", "−");
    if (fits("−0.00")) return plain(2);
    const text = (fits("−.00") ? plain(2) : fits("−.0") ? plain(1) : "").replace(/^(−?)0\./, "$1.");
    return fits(text) ? text : "";
  }
  /**
   * @param {Ctx} ctx
   * @param {Cell} state
   * @param {number} w
   */
  number(ctx, state, w) {
    if (state.text) return state.text;
    return this.decimals(ctx, state.v, w);
  }
}
