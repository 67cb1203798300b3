// The brush: text, tiles and stripes, in the colours of the theme; roles.js says how each role looks.

/** @import { Cell, Ctx, Digits, Hue, Look, Numbers, Read, Rect, Scale, Theme, Tint } from "./types" */

import { largestLine, lineOf, READABLE, TIGHT } from "./layout.js";
import { roles } from "./roles.js";

/** @type {Record<Scale, string>} */
const SCALES = { input: "x", state: "h and gates" };

/**
 * How much of a cell's width its text may take, clear of the edges.
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
    this.room = this.high = 0; // the picture's width and height in pixels
    this.thick = 1; // the factor by which lines are wider in a high picture
    this.least = READABLE; // the minimum size of a number in pixels, if it fits
    this.face = "";
    this.movie = movie;
    this.widths = new Map();
    this.longest = new Map(); // the longest text of each family of axis labels, which are thinned out together
    this.lettered = new Set(); // panels with letters beside their rows
    this.rows = new Map(); // the position of the first label of each family of axis labels,
    this.stacked = new Set(); // and the families whose labels are stacked vertically
    this.large = this.longestWord = 0; // its text size in pixels, and its width at that size
    this.wordiest = ""; // the longest word: cells have room for it beside their letters, or no cell has its letter
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
   * @param {Cell} state
   * @param {number} every
   */
  crowds(state, every) {
    const apart = Math.abs(state.k - this.nows.get(state.f));
    return apart > 0 && apart < every;
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
   * @param {Ctx} ctx
   * @param {Rect} rect
   * @param {Cell} state
   * @param {string} fill
   * @param {number} weight
   * @param {number} [least]
   */
  typed(ctx, { x, y, w, h }, state, fill, weight, least) {
    if (h < READABLE + 2) return;
    const told = this.told(ctx, state, w);
    if (told !== state.text) state = { ...state, text: told, sub: "" };
    const two = state.sub && h > Math.max(36, 2.6 * this.least),
      lettered = state.role === "token" ? this.letter(ctx, { x, y, w, h }, state, fill) : 0,
      below = lettered && h > 1.2 * w, // a tall cell has its letter above its contents
      px = Math.min(this.inside(h), below ? 0.52 * h : two ? 0.42 * h : h);
    this.font(ctx, px, weight);
    const wide = this.measure(ctx, state.text),
      aside = below ? 0 : Math.max(0, Math.min(lettered - (w - wide) / 2, (w - wide) / 2 - 4)), // beside its letter, if it is short
      middle = y + h * (below ? 0.7 : (two ? 0.39 : 0.5) + (lettered ? 0.09 : 0));
    this.write(ctx, state.text, x + w / 2 + aside, middle, within(w), { px, least, weight, fill });
    if (two)
      this.write(ctx, state.sub, x + w / 2, y + h * 0.77, within(w), {
        px: Math.max(READABLE, 0.27 * h, Math.min(0.39 * h, this.least)),
        fill,
      });
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
    const whole = this.wordy(ctx, w) || this.told(ctx, state, w) !== state.text,
      worded = h > (whole ? READABLE + 2 : 24); // a low cell has its word only if all words fit
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
    if (head > 10) this.headed(ctx, { x, y, w, h: head }, state, fill, share < 1 ? 400 : 700);
  }
  /**
   * Text size in pixels in the corner of a cell of this height.
   * @param {number} h
   */
  corner(h) {
    return Math.max(READABLE, 0.27 * h, Math.min(0.52 * h, this.least));
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
    const wide = this.measure(ctx, name);
    if (wide > w * (h > 1.2 * w ? 0.75 : 0.5)) return 0;
    const left = tall ? (w - wide) / 2 : Math.min(5, w * 0.12); // in a tall cell above its contents
    this.put(ctx, name, x + left, y + (tall ? 0.27 * h : px * 0.56 + Math.min(3, h * 0.06)), fill, "left");
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
    return this.wordy(ctx, w) ? state.text : this.movie.sequences[state.seq][0];
  }
  /**
   * Whether the longest word fits into a cell of this width.
   * @param {Ctx} ctx
   * @param {number} w
   */
  wordy(ctx, w) {
    if (this.large !== this.least) {
      this.font(ctx, (this.large = this.least), 700);
      this.longestWord = this.measure(ctx, this.wordiest);
    }
    return this.longestWord <= within(w);
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
    if (this.told(ctx, state, w) === name) return this.write(ctx, name, x + w / 2, middle, w - 4, { px, weight, fill });
    this.font(ctx, this.least, weight);
    const least = this.measure(ctx, `${name} ${this.wordiest}`),
      lettered = !this.lettered.has(state.p) && !state.text.startsWith(name) && least + 8 < w;
    const letter = lettered ? Math.max(this.least, 0.7 * px) : 0;
    if (letter) this.write(ctx, name, x + 4, middle, w, { px: letter, fill, align: "left" });
    const left = letter ? 6 + this.measure(ctx, name) : 1;
    this.write(ctx, state.text, x + left + (w - left - 1) / 2, middle, w - left - 1, { px, weight, fill });
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
    if (step < 2 * this.least || h < this.least + 2) return;
    const digits = this.digits(ctx, step - 4, this.inside(h + 7));
    vec.forEach(
      (v, i) => v != null && this.figure(ctx, v, x + (i + 0.5) * step, y + h / 2, digits, this.ramp(v, scale).text),
    );
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
    for (const text of ["−0.00", "−.00", "−.0"]) {
      const last = text === "−.0", // it may come nearer to the edges
        size = (large * (last ? w + 3 : w)) / this.measure(ctx, text);
      if (size >= (last ? READABLE : large))
        return { px: Math.min(px, size), many: text.split(".")[1].length, bare: !text.includes("0.") };
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
   * The legend of the number colours: for each scale its two ends, and its subject if there are several.
   * @param {Ctx} ctx
   * @param {Scale[]} scales
   * @param {number} x
   * @param {number} y
   * @param {number} px
   */
  legend(ctx, scales, x, y, px) {
    this.font(ctx, px);
    const gap = 0.4 * px,
      told = scales.map((scale) => {
        const end = Number(this.movie.scales[scale].toPrecision(3));
        return [...(scales.length > 1 ? [SCALES[scale]] : []), `−${end}`, `+${end}`];
      });
    const written = told.flat().reduce((sum, text) => sum + this.measure(ctx, text) + gap, 0),
      free = this.room - 2 * x - written - scales.length * (gap + px),
      wide = Math.max(0, Math.min(6 * px, free / scales.length));
    const write = (/** @type {string} */ text) => {
      this.put(ctx, text, x, y, this.theme.quiet, "left");
      x += this.measure(ctx, text) + gap;
    };
    for (const texts of told) {
      texts.slice(0, -1).forEach(write);
      const bar = ctx.createLinearGradient(x, 0, x + wide, 0),
        { ramp } = this.theme;
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
