// Words in cells: a token's text, or the letter of its sequence if there is no room for the longest text.

/** @import { Cell, Ctx, Look, Rect } from "./types" */

import { READABLE, WORDED } from "./layout.js";
import { NumberPen } from "./numbers.js";
import { within } from "./pen.js";

export class WordPen extends NumberPen {
  lettered = new Set(); // panels with letters beside their rows
  wordiest = ""; // the longest word: cells have room for it beside their letters, or no cell has its letter
  words = new Map(); // the longest word of each family

  /**
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Cell} state
   * @param {string} fill
   * @param {number} weight
   * @param {number} [least]
   */
  typed(ctx, { x, y, w, h }, state, fill, weight, least) {
    if (h < WORDED) return;
    const told = this.told(ctx, state, w),
      letters = told !== state.text;
    if (letters) {
      state = { ...state, text: told, sub: "" };
      weight = this.namedBy(ctx, told, w, weight);
    }
    const two = state.sub && h > Math.max(36, 2.6 * this.least),
      lettered = state.role === "token" ? this.letter(ctx, { x, y, w, h }, state, fill) : 0,
      below = lettered && h > 1.2 * w, // a tall cell has its letter above its contents
      px = this.even(
        ctx,
        Math.min(this.inside(h), below ? 0.52 * h : two ? 0.42 * h : h),
        w - (below ? 0 : lettered),
        state.f,
      ),
      low = lettered && !below && this.low(h); // its letter is beside its text, not above it
    if (low)
      return this.write(ctx, state.text, x + lettered + (w - lettered) / 2, y + h / 2, w - lettered - 4, {
        px,
        least,
        weight,
        fill,
      });
    this.font(ctx, px, weight);
    const wide = this.measure(ctx, state.text),
      aside = below ? 0 : Math.max(0, Math.min(lettered - (w - wide) / 2, (w - wide) / 2 - 4)), // beside its letter, if it is short
      middle = y + h * (below ? 0.7 : (two ? 0.39 : 0.5) + (lettered ? 0.09 : 0));
    const room = weight < 700 ? w - (letters ? 1 : 4) : within(w);
    this.write(ctx, state.text, x + w / 2 + aside, middle, room, { px, least, weight, fill });
    if (two)
      this.write(ctx, state.sub, x + w / 2, y + h * 0.77, within(w), {
        px: Math.max(READABLE, 0.27 * h, Math.min(0.39 * h, this.least)),
        fill,
      });
  }
  /**
   * How bold words are: less in cells beside their letter that have no room for all words in bold.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Cell} state
   */
  weight(ctx, { w }, state) {
    return this.lettered.has(state.p) && !this.wordy(ctx, w) ? 400 : 700;
  }
  /**
   * The size at which the longest word of a family fits into a cell of this width, if that is legible: then all of its words
   * have one size.
   * @param {Ctx} ctx
   * @param {number} px the size without it
   * @param {number} w
   * @param {number} [f]
   */
  even(ctx, px, w, f) {
    this.font(ctx, px, 700);
    const size = (px * within(w)) / this.measure(ctx, this.words.get(f) || this.wordiest || " ");
    return size < this.least ? px : Math.min(px, size);
  }
  /**
   * The word on top, its vector below, wherever the token is: paler where it was before packing.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Cell} state
   * @param {Look} look
   * @param {string} fill
   * @param {number} [share]
   */
  framed(ctx, { x, y, w, h }, state, look, fill, share = 1) {
    const weight = this.weight(ctx, { x, y, w, h }, state),
      whole = this.wordy(ctx, w, undefined, weight) || this.told(ctx, state, w) !== state.text,
      worded = h > (whole ? WORDED : 24); // a low cell has its word only if all words fit
    const head = worded && state.text ? this.head(h) : Math.min(3, h * 0.12),
      side = Math.min(3.5, w * 0.12, h * 0.09);
    ctx.globalAlpha *= share;
    this.stripes(
      ctx,
      { x: x + side, y: y + head, w: w - 2 * side, h: Math.max(0, h - head - side) },
      look.vec,
      state.scale,
    );
    ctx.globalAlpha /= share;
    if (head > 10) this.headed(ctx, { x, y, w, h: head }, state, fill, share < 1 ? 400 : weight);
  }
  /**
   * Text size in pixels in the corner of a cell of this height.
   * @param {number} h
   */
  corner(h) {
    return Math.max(READABLE, 0.27 * h, Math.min(0.52 * h, this.least));
  }
  /**
   * Whether a cell of this height has no room for a text below the letter in its corner.
   * @param {number} h
   */
  low(h) {
    return h < this.corner(h) + 2 * this.least;
  }
  /**
   * The letter of its sequence in the corner of a cell, if there is room and no letter beside its row.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Cell} state
   * @param {string} fill
   * @returns {number} how far it reaches to the right; 0 if it is not there
   */
  letter(ctx, { x, y, w, h }, state, fill) {
    const [name] = this.movie.sequences[state.seq],
      px = this.corner(h),
      tall = h > 1.2 * w && state.role !== "output";
    if (this.lettered.has(state.p) || h < 26 || state.text.startsWith(name)) return 0;
    this.font(ctx, px, 600);
    const wide = this.measure(ctx, name),
      left = tall ? (w - wide) / 2 : Math.min(5, w * 0.12), // in a tall cell above its contents
      low = this.low(h);
    if (wide > w * (h > 1.2 * w ? 0.75 : 0.5) || (low && state.role === "output")) return 0;
    if (low && !tall) {
      this.font(ctx, this.least, 700);
      if (this.measure(ctx, this.words.get(state.f) ?? state.text) > w - left - wide - 6) return 0; // no cell of a family has it
      this.font(ctx, px, 600);
    }
    const middle = tall ? 0.27 * h : low ? h / 2 : px * 0.56 + Math.min(3, h * 0.06);
    this.put(ctx, name, x + left, y + middle, fill, "left");
    return left + wide;
  }
  /**
   * Pixels of the line at the top of a cell of this height, above its stripes.
   * @param {number} h
   */
  head(h) {
    return Math.max(13, 0.36 * h, Math.min(0.81 * h, 1.15 * this.least));
  }
  /**
   * The text of a token of this width: its own, or the letter of its sequence if the panel has no letters beside it and
   * no room for the longest text.
   * @param {Ctx} ctx
   * @param {Cell} state
   * @param {number} w
   */
  told(ctx, state, w) {
    if (state.role === "flag" || this.lettered.has(state.p)) return state.text;
    return this.wordy(ctx, w, state.f) ? state.text : this.movie.sequences[state.seq][0];
  }
  /**
   * How bold the name of a sequence is in a cell of this width: less if two letters have no room otherwise.
   * @param {Ctx} ctx
   * @param {string} name
   * @param {number} w
   * @param {number} weight
   */
  namedBy(ctx, name, w, weight) {
    this.font(ctx, this.least, weight);
    return this.measure(ctx, name) > within(w) ? 400 : weight;
  }
  /**
   * Whether the longest word, or that of a family, fits into a cell of this width.
   * @param {Ctx} ctx
   * @param {number} w
   * @param {number} [f]
   * @param {number} [weight]
   */
  wordy(ctx, w, f, weight = 700) {
    this.font(ctx, this.least, weight);
    return this.measure(ctx, this.words.get(f) ?? this.wordiest) <= (weight < 700 ? w - 4 : within(w));
  }
  /**
   * The word at the top of a cell, beside the letter of its sequence if both fit.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Cell} state
   * @param {string} fill
   * @param {number} weight
   */
  headed(ctx, { x, y, w, h }, state, fill, weight) {
    const [name] = this.movie.sequences[state.seq],
      px = Math.max(0.8 * h, Math.min(0.96 * h, this.least)),
      middle = y + h / 2 + 1;
    if (this.told(ctx, state, w) === name) {
      weight = this.namedBy(ctx, name, w, weight);
      return this.write(ctx, name, x + w / 2, middle, w - (weight < 700 ? 1 : 4), { px, weight, fill });
    }
    this.font(ctx, this.least, weight);
    const least = this.measure(ctx, `${name} ${this.wordiest}`),
      lettered = !this.lettered.has(state.p) && !state.text.startsWith(name) && least + 8 < w;
    const letter = lettered ? Math.max(this.least, 0.7 * px) : 0;
    if (letter) this.write(ctx, name, x + 4, middle, w, { px: letter, fill, align: "left" });
    const left = letter ? 6 + this.measure(ctx, name) : 1;
    this.write(ctx, state.text, x + left + (w - left - 1) / 2, middle, w - left - 1, { px, weight, fill });
  }
  /**
   * The mark in the corner of a cell whose hue stands for another sequence, too; none if it would cut its text.
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {number | undefined} seq
   * @param {string} fill
   * @param {string} [text]
   */
  lap(ctx, { x, y, w, h }, seq, fill, text = "") {
    const laps = this.movie.sequences[seq][2];
    if (!laps || h < 9) return;
    const size = Math.min(9, h * 0.28),
      room = (w - this.measure(ctx, text)) / 2 - 3; // beside the text, which was written last
    if (text && h < 26 && room < Math.min(laps, 3) * (size + 1)) return;
    ctx.fillStyle = fill;
    for (let i = 0; i < Math.min(laps, 3); i++) {
      ctx.beginPath();
      ctx.moveTo(x + w - 3 - i * (size + 1), y + 3);
      ctx.lineTo(x + w - 3 - size - i * (size + 1), y + 3);
      ctx.lineTo(x + w - 3 - i * (size + 1), y + 3 + size);
      ctx.fill();
    }
  }
}
