// The pictures of a movie in one size: where the cells of a frame are, and how they are drawn, on any canvas. It needs no
// browser: the player's picture is one of these on a screen (picture.js), a still picture one on a list (still.js).

/** @import { Coming, Ctx, Film, Ink, Look, Neighbours, Paper, Standing, Theme, View } from "./types" */

import { coming, sketch } from "./coming.js";
import { inked } from "./ink.js";
import { textsOf } from "./neighbours.js";
import { BARE, formIn, legend } from "./numbers.js";
import { looks } from "./rects.js";
import { draw } from "./roles.js";
import { APART, PHONE, READABLE } from "./sizes.js";
import { chosenView } from "./views.js";

const WAYS = 32, // pixels below a picture that scrolls, for its buttons and as wide for each of them
  UNPLACED = { width: 800, height: 400 }, // pixels of a picture whose place is not known yet
  LEGEND = { share: 0.03, most: 14, line: 1.7, left: 14 }; // its text ÷ the picture's height, at most so many pixels; lines; margin

export class Painter {
  width = 0; // pixels of its place: a picture may be wider
  height = 0;
  /** @type {Theme} */
  theme = null;
  /** @type {Film} */
  film = null;
  /** @type {Record<string, Ink>} */
  inks = {};
  /** @type {Record<string, Standing>} */
  views = {};
  /** @type {Map<number, Coming[]>} */
  comings = new Map();
  /** @type {number} what the form of numbers is at least, in any scene of a phone */
  form = null;
  /** @type {Map<string, number>} */
  widths = new Map();

  /** @param {Film} film */
  load(film) {
    this.film = film;
    this.inks = {};
    this.texts = textsOf(film.frames[0].states);
    this.#relay();
  }
  /** @param {Theme} theme its font decides how wide a text is */
  dress(theme) {
    this.theme = theme;
    this.widths = new Map();
  }
  /**
   * Take a place of this size in pixels.
   * @param {number} width
   * @param {number} height
   */
  fit(width, height) {
    this.width = width;
    this.height = height;
    this.#relay();
  }
  // Forget where everything is.
  #relay() {
    this.views = {};
    this.comings = new Map();
    this.form = null;
  }
  // The minimum size of a number in pixels, if it fits.
  get least() {
    return READABLE;
  }
  // Pixels of the legend of the number colours below the picture.
  legend() {
    return LEGEND.line * Math.max(this.least, Math.min(LEGEND.most, LEGEND.share * this.height));
  }
  /**
   * The scales of the numbers that are ever visible in a scene, in the panels of these views.
   * @param {string} scene
   * @param {View[]} views
   */
  scales(scene, views) {
    const { panels } = this.inks[scene],
      names = views.flatMap(({ at }) => Object.keys(at));
    return [...new Set(names.flatMap((name) => [...(panels[name]?.scales ?? [])]))].sort();
  }
  /**
   * Pixels below the picture that stay free for the legend of its colours.
   * @param {string} scene
   */
  foot(scene) {
    const { wide, tall } = this.film.movie.scenes[scene];
    return this.scales(scene, [...wide, ...tall]).length ? this.legend() : 0;
  }
  /**
   * @param {string} scene
   * @returns {Standing}
   */
  view(scene) {
    this.inks[scene] ??= inked(
      this.film.frames.filter((frame) => frame.scene === scene),
      this.texts.limit,
    );
    return (this.views[scene] ??= this.viewAbove(scene, this.foot(scene)));
  }
  /**
   * @param {string} scene
   * @param {number} foot pixels that stay free below it
   * @returns {Standing}
   */
  viewAbove(scene, foot) {
    const { width, height, least } = this,
      [wide, high] = [width || UNPLACED.width, height || UNPLACED.height],
      view = chosenView(this.film.movie.scenes[scene], wide, high, this.inks[scene], { foot, least });
    return view.room > width && width && foot < WAYS ? this.viewAbove(scene, WAYS) : view;
  }
  /** @param {number} index */
  looksAt(index) {
    const frame = this.film.frames[index];
    return looks(frame, this.view(frame.scene));
  }
  /**
   * @param {Ctx} ctx where to draw the picture
   * @param {string} scene
   * @param {number} [edge] pixels by which it is scrolled
   * @returns {Paper}
   */
  paperOn(ctx, scene, edge = 0) {
    const { theme, texts, widths, width, height: high } = this,
      { movie } = this.film,
      apart = width > PHONE ? 0 : APART,
      { room, least, line } = this.view(scene),
      paper = { ctx, theme, movie, texts, widths, room, high, edge, least, line, apart, form: 0, signed: false };
    const formOf = (/** @type {string} */ scene) => {
      const { signed, cells } = this.numbers(scene);
      return formIn({ ...paper, least: this.view(scene).least, signed }, cells);
    };
    const { signed, cells } = this.numbers(scene);
    if (cells.length && width <= PHONE)
      this.form ??= Math.min(BARE, Math.max(...Object.keys(movie.scenes).map(formOf)));
    return Object.freeze({ ...paper, signed, form: Math.max(formOf(scene), this.form ?? 0) });
  }
  /**
   * The widths in pixels of the cells of a scene that have a number, and whether any is negative.
   * @param {string} scene
   */
  numbers(scene) {
    const { view, unit, wide } = this.view(scene),
      { panels } = this.inks[scene],
      inks = Object.keys(view.at)
        .map((name) => panels[name])
        .filter(Boolean);
    return {
      signed: inks.some(({ signed }) => signed),
      cells: inks.flatMap(({ numbers }) => [...numbers].map((w) => w * unit * wide)),
    };
  }
  /**
   * Draw a frame as it stands; the last one of a step with the outlines of what its stage fills later.
   * @param {Paper} paper
   * @param {number} index
   * @param {Look[]} shown
   * @param {Neighbours} near
   */
  paintFrame(paper, index, shown, near) {
    const { unit } = this.view(this.film.frames[index].scene),
      step = this.film.ends.indexOf(index) + 1;
    if (step) this.sketch(paper, step);
    for (const look of shown) draw(paper, look, unit, near);
  }
  /**
   * Draw the outlines of the panels that are empty until a later step of this stage.
   * @param {Paper} paper
   * @param {number} step
   */
  sketch(paper, step) {
    const { ends, frames } = this.film,
      frame = frames[ends[step - 1]],
      view = this.view(frame.scene);
    if (!this.comings.has(step)) {
      const later = ends.slice(step).map((end) => frames[end]),
        same = later.filter(({ scene }) => scene === frame.scene); // no other stage has it
      this.comings.set(step, coming(frame, same, view));
    }
    sketch(paper, this.comings.get(step), view.unit);
  }
  /**
   * @param {Paper} paper
   * @param {string} scene
   */
  paintLegend(paper, scene) {
    const scales = this.scales(scene, [this.view(scene).view]),
      { width } = this,
      { ctx, edge } = paper,
      foot = this.legend(),
      room = paper.room > width ? width - 2 * WAYS : paper.room;
    ctx.save();
    ctx.translate(edge, 0);
    if (scales.length) legend({ ...paper, room }, scales, LEGEND.left, this.height - foot / 2, foot / LEGEND.line);
    ctx.restore();
  }
}
