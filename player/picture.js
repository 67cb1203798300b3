// The picture: a canvas of the size and in the colours of its place, on which the cells of a frame are drawn.

/** @import { Ctx, Look, Neighbours, Paper, Standing, View } from "./types" */

import { readTheme, schemeOf } from "./colour.js";
import { coming, sketch } from "./coming.js";
import { inked, READABLE } from "./layout.js";
import { neighbours, textsOf } from "./neighbours.js";
import { formIn, legend } from "./numbers.js";
import { looks } from "./rects.js";
import { draw } from "./roles.js";
import { roomyView } from "./room.js";

const WAYS = 32, // pixels below a picture that scrolls, for its buttons and as wide for each of them
  LEGIBLE = 0.03, // of the window's height in full screen
  IN_HAND = 0.04; // or of its width, if that is less

export class Picture {
  width = 0; // of its place: a picture may be wider
  height = 0;
  ratio = 1;
  painted = 0; // how often
  /** @type {Record<string, import("./types").Ink>} */
  inks = {};
  /** @type {Look[]} */
  shown = null;
  near = neighbours([]); // of what was last drawn as a whole
  /** @type {Paper} */
  paper = null;

  /**
   * @param {import("./player.js").Player} player
   * @param {HTMLCanvasElement} canvas
   */
  constructor(player, canvas) {
    this.player = player;
    this.canvas = canvas;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.ctx = canvas.getContext("2d", { alpha: false });
  }
  /** @param {AbortSignal} signal */
  listen(signal) {
    this.dark.addEventListener("change", () => this.player.retheme(), { signal });
    const sizes = new ResizeObserver(() => {
      const { clientWidth: w, clientHeight: h } = this.player.ui.stageBox;
      if (w !== this.width || h !== this.height) this.attempt(() => this.resize());
      this.player.texts.scrollCode();
    });
    sizes.observe(this.player.ui.stageBox);
    signal.addEventListener("abort", () => sizes.disconnect());
  }
  load() {
    this.shown = this.views = this.comings = this.theme = null;
    this.inks = {};
    this.texts = textsOf(this.player.frames[0].states);
  }
  // The minimum size of a number in pixels, if it fits: larger in full screen, to be legible from the last row.
  get least() {
    return this.player.screen.full
      ? Math.max(READABLE, Math.min(LEGIBLE * innerHeight, IN_HAND * innerWidth))
      : READABLE;
  }
  // Pixels of the legend of the number colours below the picture.
  legend() {
    return 1.7 * Math.max(this.least, Math.min(14, 0.03 * this.height));
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
   * Pixels below the picture for the legend of its colours, and for torch's message if it refuses.
   * @param {string} scene
   */
  foot(scene) {
    const { wide, tall } = this.player.movie.scenes[scene],
      legend = this.scales(scene, [...wide, ...tall]).length ? this.legend() : 0,
      refused = this.player.movie.steps.find(
        ({ error }, i) => error && this.player.frames[this.player.ends[i]].scene === scene,
      );
    if (!refused) return legend;
    const { error: box } = this.player.ui,
      { hidden, textContent } = box;
    box.style.bottom = legend ? `${legend}px` : "";
    Object.assign(box, { hidden: false, textContent: refused.error });
    const high = this.height - box.offsetTop;
    Object.assign(box, { hidden, textContent });
    return Math.min(high, 0.6 * this.height);
  }
  /**
   * @param {string} scene
   * @returns {Standing}
   */
  view(scene) {
    this.views ??= {};
    this.inks[scene] ??= inked(this.player.frames.filter((frame) => frame.scene === scene));
    return (this.views[scene] ??= this.viewAbove(scene, this.foot(scene)));
  }
  /**
   * @param {string} scene
   * @param {number} foot pixels that stay free below it
   * @returns {Standing}
   */
  viewAbove(scene, foot) {
    const { width, height, least } = this,
      view = roomyView(this.player.movie.scenes[scene], width || 800, height || 400, this.inks[scene], { foot, least });
    return view.room > width && width && foot < WAYS ? this.viewAbove(scene, WAYS) : view;
  }
  /** @param {number} index */
  looksAt(index) {
    const frame = this.player.frames[index];
    return looks(frame, this.view(frame.scene));
  }
  /** @param {number} index */
  settle(index) {
    this.player.tween.motion = null;
    this.shown = this.looksAt(index);
    this.widen(this.view(this.player.frames[index].scene));
    this.paint();
  }
  /**
   * Show a drawing error in place of the picture; the captions, the code and the page continue to work.
   * @param {() => void} draw
   */
  attempt(draw) {
    try {
      draw();
    } catch (thrown) {
      const reason = /** @type {Error} */ (thrown);
      this.player.tween.motion = null;
      this.shown ??= [];
      this.player.ui.failed.textContent = `This step could not be drawn: ${reason.message}. Reload the page, or try a newer browser; the text and the rest of the page still work.`;
      this.player.ui.failed.hidden = false;
      console.error(reason);
    }
  }
  retheme() {
    const theme = this.player.root.hasAttribute("data-print") ? "light" : schemeOf(this.player.root);
    if (this.theme && this.player.root.dataset.theme === theme) return;
    this.player.root.dataset.theme = theme;
    this.theme = readTheme(this.player.root);
    this.widths = new Map();
    this.player.texts.writeCaption();
    if (this.player.tween.motion) this.player.tween.prepare();
    this.paint();
  }
  resize() {
    const { clientWidth: w, clientHeight: h } = this.player.ui.stageBox;
    if (!w || !h || !this.player.movie) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.width !== w || this.height !== h || this.ratio !== ratio) {
      Object.assign(this, { width: w, height: h, ratio });
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
      this.canvas.style.width = "";
      this.views = this.comings = null;
    }
    this.player.texts.markMore();
    const { ends, step, ui, tween } = this.player,
      { motion } = tween;
    if (motion) tween.resume(motion);
    else this.settle(ends[step - 1]);
    const before = motion?.before ?? ends[Math.max(0, step - 2)];
    ui.pan.follow(this.looksAt(before), this.looksAt(ends[step - 1]), Boolean(motion)); // it may be as wide as another one now
  }
  /**
   * Make room on the canvas for a view, which may be wider than its place.
   * @param {Standing} view
   */
  widen({ room }) {
    const wide = Math.round(room * this.ratio);
    if (wide > this.canvas.width) {
      this.canvas.width = wide;
      this.canvas.style.width = `${room}px`;
    }
    this.player.ui.pan.fit(room, this.width);
  }
  surface() {
    const canvas = document.createElement("canvas");
    canvas.width = this.canvas.width;
    canvas.height = this.canvas.height;
    const ctx = canvas.getContext("2d");
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    return { canvas, ctx };
  }
  // The scene that is painted: of the step, or of the motion to it.
  get scene() {
    const { tween, frames, ends, step } = this.player;
    return frames[tween.motion ? tween.motion.path[0] : ends[step - 1]].scene;
  }
  get standing() {
    return this.view(this.scene);
  }
  /**
   * @param {Ctx} ctx where to draw the picture
   * @param {string} scene
   * @returns {Paper}
   */
  paperOn(ctx, scene = this.scene) {
    const { theme, texts, widths, height: high } = this,
      { view, unit, wide, room, least } = this.view(scene),
      { panels } = this.inks[scene],
      inks = Object.keys(view.at)
        .map((name) => panels[name])
        .filter(Boolean),
      signed = inks.some(({ signed }) => signed),
      scrolls = room > this.width && ctx === this.ctx, // elsewhere all of it is drawn, as it is before it is scrolled
      edge = scrolls ? this.player.ui.pan.place.scrollLeft : 0;
    const paper = { ctx, theme, movie: this.player.movie, texts, widths, room, high, edge, least, form: 0, signed },
      cells = inks.flatMap(({ numbers }) => [...numbers].map((w) => w * unit * wide));
    return Object.freeze({ ...paper, form: formIn(paper, cells) });
  }
  paint() {
    if (!this.shown || !this.width || !this.theme) return;
    const { ctx, ratio, shown } = this,
      { tween, pointer, ui } = this.player;
    this.paper = this.paperOn(ctx);
    this.clear(ctx);
    if (tween.motion) tween.paint(this.paper, tween.motion);
    else {
      this.near = neighbours(shown);
      this.paintStep(this.paper, ratio, shown, this.near);
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ui.pan.drawHeads();
    if (!tween.motion) pointer.mark(ctx);
    this.paintLegend(this.paper);
    ui.failed.hidden = true;
    this.player.root.dataset.painted = String(++this.painted);
  }
  /** @param {Ctx} ctx */
  clear(ctx) {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = this.theme.background;
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  }
  /**
   * Draw the step as it stands.
   * @param {Paper} paper
   * @param {number} scale
   * @param {Look[]} shown
   * @param {Neighbours} near
   */
  paintStep(paper, scale, shown, near) {
    const standing = this.view(this.player.frames[this.player.ends[this.player.step - 1]].scene);
    paper.ctx.setTransform(scale, 0, 0, scale, 0, 0);
    this.sketch(paper);
    for (const look of [...shown, ...this.player.ui.pan.continued(shown, standing)])
      draw(paper, look, standing.unit, near);
  }
  /**
   * Draw the outlines of the panels that are empty until a later step of this stage.
   * @param {Paper} paper
   */
  sketch(paper) {
    const { step, ends, frames, movie } = this.player,
      frame = frames[ends[step - 1]],
      view = this.view(frame.scene);
    this.comings ??= new Map();
    if (!this.comings.has(step)) {
      const isLater = (/** @type {number} */ end, /** @type {number} */ i) =>
        i >= step && movie.steps[i].stage === movie.steps[step - 1].stage && frames[end].scene === frame.scene;
      const later = ends.filter(isLater).map((end) => frames[end]);
      this.comings.set(step, coming(frame, later, view));
    }
    sketch(paper, this.comings.get(step), view.unit);
  }
  /** @param {Paper} paper */
  paintLegend(paper) {
    const { scene } = this.player.frames[this.player.ends[this.player.step - 1]],
      scales = this.scales(scene, [this.view(scene).view]),
      { width } = this,
      { ctx, edge } = paper,
      foot = this.legend(),
      room = paper.room > width ? width - 2 * WAYS : paper.room;
    ctx.save();
    ctx.translate(edge, 0);
    if (scales.length) legend({ ...paper, room }, scales, 14, this.height - foot / 2, foot / 1.7);
    ctx.restore();
  }
}
