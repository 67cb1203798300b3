// The pen: text, tiles and outlines, in the colours of the theme.

/** @import { Ctx, Hue, Read, Rect, Scale, Theme, Tint } from "./types" */

import { largestLine, lineOf, READABLE, TIGHT } from "./layout.js";

/**
 * How much of a cell's width its text may take, clear of the edges.
 * @param {number} w
 */
export const within = (w) => w - Math.min(7, w * 0.2);

export class Pen {
  /**
   * @param {Theme} theme
   * @param {Read} movie
   */
  constructor(theme, movie) {
    this.theme = theme;
    this.movie = movie;
    this.room = this.high = 0; // the picture's width and height in pixels
    this.edge = 0; // pixels by which it is scrolled
    this.thick = 1; // the factor by which lines are wider in a high picture
    this.least = READABLE; // the minimum size of a number in pixels, if it fits
    this.face = "";
    this.widths = new Map();
  }
  /**
   * Pixels of a line of text beside cells of this size.
   * @param {number} unit
   */
  line(unit) {
    return lineOf(unit, this.high, this.least);
  }
  /**
   * Text size in pixels for a cell of this height: most of a small one, less of a large one.
   * @param {number} h
   */
  inside(h) {
    const wanted = Math.max(0.62 * h, Math.min(TIGHT * h, this.least));
    return Math.max(READABLE, Math.min(wanted, Math.max(largestLine(this.high, this.least), 0.4 * h)));
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
   * The text as large as fits, shortened at the smallest size, or nothing.
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
      size = Math.max(least, Math.floor((10 * px * w) / wide) / 10);
      this.font(ctx, size, weight);
      while (size > least && this.measure(ctx, text) > w) {
        size = Math.max(least, size - 0.5); // letters are whole pixels wide on some screens
        this.font(ctx, size, weight);
      }
      text = this.shorten(ctx, text, w);
    }
    if (!text) return;
    this.put(ctx, text, x, y + size * 0.06, fill, align);
  }
  /**
   * Write a text as it is, its middle at y.
   * @param {Ctx} ctx
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {string} fill
   * @param {CanvasTextAlign} align
   */
  put(ctx, text, x, y, fill, align = "center") {
    ctx.fillStyle = fill;
    ctx.textAlign = align;
    ctx.textBaseline = "middle";
    ctx.fillText(text, x, y);
  }
  /**
   * Draw the path as a line.
   * @param {Ctx} ctx
   * @param {string} colour
   * @param {number} width
   */
  stroke(ctx, colour, width) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.stroke();
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
    const gap = Math.min(2 * this.thick, w * 0.06, h * 0.06);
    ctx.beginPath();
    if (h > 12 && w > 12) ctx.roundRect(x + gap, y + gap, w - 2 * gap, h - 2 * gap, Math.min(6 * this.thick, h * 0.16));
    else ctx.rect(x + gap, y + gap, Math.max(0.5, w - 2 * gap), Math.max(0.5, h - 2 * gap));
    if (fill) {
      ctx.fillStyle = fill;
      ctx.fill();
    }
    if (edge && h > 7) {
      if (dash) ctx.setLineDash([3 * this.thick, 2 * this.thick]);
      this.stroke(ctx, edge, width * this.thick);
      if (dash) ctx.setLineDash([]);
    }
  }
  /**
   * A line around a cell, inside its rectangle: in the gap between cells it covers no number and no neighbour.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {number} width
   * @param {string} colour
   */
  outline(ctx, { x, y, w, h }, width, colour) {
    width *= this.thick;
    const inset = 0.5 + width / 2;
    ctx.beginPath();
    ctx.roundRect(x + inset, y + inset, w - 2 * inset, h - 2 * inset, h < 12 ? 1 : 6 * this.thick);
    this.stroke(ctx, colour, width);
  }
}
