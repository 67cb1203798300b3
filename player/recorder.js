// A canvas that keeps what is drawn on it as a list of shapes, for pictures that are made without a browser. It knows what
// the marks are drawn with (canvas.js, roles.js, words.js, numbers.js, coming.js), and nothing else of a canvas.

/** @import { Path, Shape, Spot } from "./types" */

const CURVE = 16; // straight pieces of a curve

export class Recorder {
  fillStyle = "";
  strokeStyle = "";
  lineWidth = 1;
  font = "";
  textAlign = "center";
  textBaseline = "middle";
  globalAlpha = 1;
  /** @type {Shape[]} */
  shapes = [];
  /** @type {Path} */
  path = { box: null, lines: [] };
  /** @type {number[]} */
  dash = [];
  #moved = [{ x: 0, y: 0, scale: 1 }];

  /** @param {(text: string) => number} ems how wide a text is, in multiples of its size */
  constructor(ems) {
    this.ems = ems;
  }

  // ---- where it is drawn

  get #at() {
    return this.#moved.at(-1);
  }
  /** @type {(x: number, y: number) => Spot} */
  #spot(x, y) {
    const { x: left, y: top, scale } = this.#at;
    return { x: left + scale * x, y: top + scale * y };
  }
  save() {
    this.#moved.push({ ...this.#at });
  }
  restore() {
    this.#moved.pop();
  }
  /** @type {(x: number, y: number) => void} */
  translate(x, y) {
    Object.assign(this.#at, this.#spot(x, y));
  }
  /** @param {number} by */
  scale(by) {
    this.#at.scale *= by;
  }

  // ---- paths

  beginPath() {
    this.path = { box: null, lines: [] };
  }
  /** @type {(x: number, y: number, w: number, h: number, round?: number) => void} */
  roundRect(x, y, w, h, round = 0) {
    const { scale } = this.#at;
    this.path.box = { ...this.#spot(x, y), w: scale * w, h: scale * h, round: scale * round };
  }
  /** @type {(x: number, y: number, w: number, h: number) => void} */
  rect(x, y, w, h) {
    this.roundRect(x, y, w, h);
  }
  /** @type {(x: number, y: number) => void} */
  moveTo(x, y) {
    this.path.lines.push([this.#spot(x, y)]);
  }
  /** @type {(x: number, y: number) => void} */
  lineTo(x, y) {
    this.path.lines.at(-1).push(this.#spot(x, y));
  }
  /** @type {(ax: number, ay: number, bx: number, by: number, x: number, y: number) => void} */
  bezierCurveTo(ax, ay, bx, by, x, y) {
    const line = this.path.lines.at(-1),
      points = [line.at(-1), this.#spot(ax, ay), this.#spot(bx, by), this.#spot(x, y)];
    for (let i = 1; i <= CURVE; i++) {
      const t = i / CURVE,
        shares = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3],
        along = (/** @type {"x" | "y"} */ axis) => shares.reduce((sum, share, k) => sum + share * points[k][axis], 0);
      line.push({ x: along("x"), y: along("y") });
    }
  }

  // ---- what is drawn

  fill() {
    const { path, fillStyle: fill, globalAlpha: alpha } = this;
    if (path.box) this.shapes.push({ kind: "tile", ...path.box, fill, alpha });
    else this.shapes.push({ kind: "area", lines: path.lines, fill, alpha });
    this.filled = path;
  }
  stroke() {
    const { path, strokeStyle: edge, globalAlpha: alpha, shapes } = this,
      width = this.#at.scale * this.lineWidth,
      dashed = this.dash.length > 0,
      last = shapes.at(-1);
    if (!path.box) shapes.push({ kind: "lines", lines: path.lines, edge, width, alpha });
    else if (last?.kind === "tile" && this.filled === path && !last.edge) Object.assign(last, { edge, width, dashed });
    else shapes.push({ kind: "tile", ...path.box, edge, width, dashed, alpha });
  }
  /** @type {(x: number, y: number, w: number, h: number) => void} */
  fillRect(x, y, w, h) {
    this.beginPath();
    this.rect(x, y, w, h);
    const { fillStyle } = this;
    if (typeof fillStyle === "string") return this.fill();
    const { colours } = /** @type {{ colours: string[] }} */ (fillStyle); // a gradient from left to right
    for (const [i, colour] of colours.entries()) {
      this.fillStyle = colour;
      this.fillRect(x + (i * w) / colours.length, y, w / colours.length, h);
    }
    this.fillStyle = fillStyle;
  }
  /** @type {(x: number, y: number, w: number, h: number) => void} */
  strokeRect(x, y, w, h) {
    this.beginPath();
    this.rect(x, y, w, h);
    this.stroke();
  }
  createLinearGradient() {
    /** @type {string[]} */
    const colours = [];
    return { colours, addColorStop: (/** @type {number} */ _, /** @type {string} */ colour) => colours.push(colour) };
  }
  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }
  /** @type {() => { weight: number, px: number }} */
  #type() {
    const [weight, px] = this.font.split(" ").map(Number.parseFloat);
    return { weight, px };
  }
  /** @param {string} text */
  measureText(text) {
    const { weight, px } = this.#type();
    return { width: px * this.ems(text) * (weight < BOLD ? 1 : WIDER) };
  }
  /** @type {(text: string, x: number, y: number) => void} */
  fillText(text, x, y) {
    const { fillStyle: fill, textAlign, globalAlpha: alpha } = this,
      { weight, px } = this.#type(),
      type = { px: this.#at.scale * px, bold: weight >= BOLD, left: textAlign === "left" };
    this.shapes.push({ kind: "text", ...this.#spot(x, y), text, ...type, fill, alpha });
  }
}

const BOLD = 600, // the weight from which letters are bold,
  WIDER = 1.12; // and so much wider
