// Numbers: as stripes of colour, as digits on them, and the legend of the colours.

/** @import { Ctx, Digits, Numbers, Rect, Scale } from "./types" */

import { READABLE } from "./layout.js";
import { Pen } from "./pen.js";

export const BESIDE = 7; // pixels of a cell's width that its number leaves free
const FORMS = ["−0.00", "−.00", "−.0"]; // how a number is written, from wide cells to narrow ones
/** @type {Record<Scale, string>} */
const SCALES = { input: "x", state: "h and gates", weight: "weight", gradient: "gradient" };
const COLOURED = 2.5; // widths of a letter for which the colours of a scale are worth smaller words
const ABOVE = new Set(["weight", "gradient"]); // the scales without negative numbers

export class NumberPen extends Pen {
  form = 0; // that of all numbers in the picture,
  signed = true; // and whether any of them is negative

  /**
   * Numbers from left to right, as in a row of h.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Numbers | undefined} vec
   * @param {Scale} scale
   */
  stripes(ctx, { x, y, w, h }, vec, scale) {
    const step = w / vec.length;
    for (let i = 0; i < vec.length; i++) {
      ctx.fillStyle = this.ramp(vec[i], scale).fill;
      const start = Math.round(i * step),
        end = Math.round((i + 1) * step) - (step > 8 ? 1 : 0);
      ctx.fillRect(x + start, y, Math.max(0.6, end - start), h);
    }
  }
  /**
   * The numbers on their stripes, if they fit.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Numbers | undefined} vec
   * @param {Scale} scale
   */
  figures(ctx, { x, y, w, h }, vec, scale) {
    const step = w / vec.length;
    if (step < 2 * this.least || h < 0.8 * this.least) return;
    const digits = this.digits(ctx, step - 4, this.inside(h + 7));
    vec.forEach(
      (v, i) => v != null && this.figure(ctx, v, x + (i + 0.5) * step, y + h / 2, digits, this.ramp(v, scale).text),
    );
  }
  /**
   * Choose how all numbers of a picture are written: as the narrowest cell that can have its number needs it.
   * @param {Ctx} ctx
   * @param {number[]} widths of its cells
   * @param {boolean} signed whether any of the numbers is negative
   */
  agree(ctx, widths, signed) {
    Object.assign(this, { form: 0, signed });
    this.form = Math.max(0, ...widths.map((w) => this.digits(ctx, w - BESIDE, this.least)?.form ?? 0));
  }
  /**
   * How numbers are written in this width: as large as fits with two decimals, if need be without the leading zero or
   * with one decimal; all in the same way, and none is cut.
   * @param {Ctx} ctx
   * @param {number} w
   * @param {number} px
   * @returns {Digits | null}
   */
  digits(ctx, w, px) {
    const large = Math.min(px, this.least);
    this.font(ctx, large, 500);
    for (let form = this.form; form < FORMS.length; form++) {
      const text = FORMS[form].slice(this.signed ? 0 : 1),
        last = form === FORMS.length - 1, // it may come nearer to the edges
        size = (large * (last ? w + 3 : w)) / this.measure(ctx, text);
      if (size >= (last ? READABLE : large))
        return { form, px: Math.min(px, size), many: text.split(".")[1].length, bare: !text.includes("0.") };
    }
    return null;
  }
  /**
   * @param {Ctx} ctx
   * @param {number} v
   * @param {number} x
   * @param {number} y
   * @param {Digits | null} digits
   * @param {string} fill
   */
  figure(ctx, v, x, y, digits, fill) {
    if (!digits) return;
    const plain = v
      .toFixed(digits.many)
      .replace(/^-(?=0\.0+$)/, "")
      .replace("-", "−");
    const text = digits.bare ? plain.replace(/^(−?)0\./, "$1.") : plain;
    if (text.length > 5) return this.write(ctx, text, x, y, digits.px * 3.1, { px: digits.px, weight: 500, fill });
    this.font(ctx, digits.px, 500);
    this.put(ctx, text, x, y + digits.px * 0.06, fill);
  }
  /**
   * The legend of the number colours: for each scale its two ends, and its subject if there are several or none is negative.
   * @param {Ctx} ctx
   * @param {Scale[]} scales
   * @param {number} x
   * @param {number} y
   * @param {number} px
   */
  legend(ctx, scales, x, y, px) {
    const told = scales.map((scale) => {
      const end = Number(this.movie.scales[scale].toPrecision(3));
      return [
        ...(scales.length > 1 || ABOVE.has(scale) ? [SCALES[scale]] : []),
        ...(ABOVE.has(scale) ? ["0", `${end}`] : [`−${end}`, `+${end}`]),
      ];
    });
    const left = (/** @type {number} */ px) => {
      this.font(ctx, px);
      const written = told.flat().reduce((sum, text) => sum + this.measure(ctx, text) + 0.4 * px, 0);
      return (this.room - 2 * x - written) / scales.length - 1.4 * px;
    };
    while (px > READABLE && left(px) < COLOURED * px) px = Math.max(READABLE, px - 0.5);
    const wide = Math.max(0, Math.min(6 * px, left(px))),
      gap = 0.4 * px;
    const write = (/** @type {string} */ text) => {
      this.put(ctx, text, x, y, this.theme.quiet, "left");
      x += this.measure(ctx, text) + gap;
    };
    for (const [at, texts] of told.entries()) {
      texts.slice(0, -1).forEach(write);
      const bar = ctx.createLinearGradient(x, 0, x + wide, 0),
        ramp = this.theme.ramp.slice(ABOVE.has(scales[at]) ? (this.theme.ramp.length - 1) / 2 : 0);
      ramp.forEach(({ fill }, i) => bar.addColorStop(i / (ramp.length - 1), fill));
      ctx.fillStyle = bar;
      ctx.fillRect(x, y - gap, wide, 2 * gap);
      ctx.strokeStyle = this.theme.line;
      ctx.lineWidth = 1;
      ctx.strokeRect(x, y - gap, wide, 2 * gap);
      x += wide + gap;
      write(texts.at(-1));
      x += px;
    }
  }
}
