// The picture on the screen: a canvas of the size and in the colours of its place, which cells are on it, and the messages
// that lie on it. What it shows is changed by `stand`, `show` and `prepare`; `paint` paints that.

/** @import { Ctx, Film, Look, Paper, Standing } from "./types" */

import { readTheme, schemeOf } from "./colour.js";
import { el } from "./dom.js";
import { drawHeld } from "./heads.js";
import { continued, neighbours } from "./neighbours.js";
import { Painter } from "./painter.js";
import { Pan } from "./pan.js";
import { READABLE } from "./sizes.js";

const LEGIBLE = 0.03, // of the window's height in full screen
  IN_HAND = 0.04, // or of its width, if that is less
  MESSAGE = 0.6; // of the picture's height: what torch's message takes at most

export class Picture extends Painter {
  ratio = 1;
  painted = 0; // how often
  /** @type {Look[]} */
  shown = null;
  near = neighbours([]); // of what was last drawn as a whole
  /** @type {Paper} */
  paper = null;
  canvas = el("canvas", { role: "img" });
  ctx = this.canvas.getContext("2d", { alpha: false });
  #error = el("pre", { class: "pv-error", hidden: "" });
  #failed = el("p", { class: "pv-failed", role: "alert", hidden: "" });

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    super();
    this.player = player;
    this.pan = new Pan(player, this.canvas);
    const { place, ways } = this.pan;
    this.root = el("div", { class: "pv-stage" }, place, ways, this.#error, this.#failed);
  }
  /** @param {AbortSignal} signal */
  listen(signal) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.player.retheme(), { signal });
    const sizes = new ResizeObserver(() => {
      const { clientWidth: w, clientHeight: h } = this.root;
      if (w !== this.width || h !== this.height) this.attempt(() => this.resize());
      this.player.program.scroll();
    });
    sizes.observe(this.root);
    this.pan.listen(signal);
    signal.addEventListener("abort", () => sizes.disconnect());
  }
  /** @param {Film} film */
  load(film) {
    super.load(film);
    this.shown = this.theme = null;
  }
  // The minimum size of a number in pixels, if it fits: larger in full screen, to be legible from the last row.
  get least() {
    return this.player.screen.full
      ? Math.max(READABLE, Math.min(LEGIBLE * innerHeight, IN_HAND * innerWidth))
      : READABLE;
  }
  /**
   * Pixels below the picture for the legend of its colours, and for torch's message if it refuses.
   * @param {string} scene
   */
  foot(scene) {
    const legend = super.foot(scene),
      { movie, frames, ends } = this.film,
      refused = movie.steps.find(({ error }, i) => error && frames[ends[i]].scene === scene);
    if (!refused) return legend;
    const box = this.#error,
      { hidden, textContent } = box;
    box.style.bottom = legend ? `${legend}px` : "";
    Object.assign(box, { hidden: false, textContent: refused.error });
    const high = this.height - box.offsetTop;
    Object.assign(box, { hidden, textContent });
    return Math.min(high, MESSAGE * this.height);
  }
  /** Show torch's error, if this step is refused, and say the step to who cannot see the picture. */
  showStep() {
    const { step, steps, movie, now, caption } = this.player,
      { error = "" } = now;
    this.#error.hidden = !error;
    this.#error.textContent = error;
    const spoken = `${caption.text} ${error}`.trim(),
      where = `Step ${step} of ${steps}, ${movie.stages[now.stage]}`;
    this.canvas.setAttribute("aria-label", `${movie.title}. ${where}. ${spoken}`);
  }
  // ---- what it shows, and what that is drawn with: changed here and nowhere else

  /**
   * Show a frame as it stands. Like `show`, it leaves the painting to the caller.
   * @param {number} index
   */
  stand(index) {
    this.shown = this.looksAt(index);
  }
  /**
   * Show cells that may be on their way to a frame.
   * @param {Look[]} looks
   */
  show(looks) {
    this.shown = looks;
  }
  /**
   * Get ready to draw these cells: on the paper of this place, and with what they need to know about each other.
   * @param {Look[]} looks
   */
  prepare(looks) {
    this.paper = this.paperHere();
    this.near = neighbours(looks);
  }
  /**
   * End the motion and paint a frame as it stands.
   * @param {number} index
   */
  settle(index) {
    this.player.tween.stop();
    this.stand(index);
    this.widen(this.view(this.film.frames[index].scene));
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
      this.player.tween.stop();
      this.shown ??= [];
      this.#failed.textContent = `This step could not be drawn: ${reason.message}. Reload the page, or try a newer browser.`;
      this.#failed.hidden = false;
      console.error(reason);
    }
  }
  retheme() {
    const theme = this.player.root.hasAttribute("data-print") ? "light" : schemeOf(this.player.root);
    if (this.theme && this.player.root.dataset.theme === theme) return;
    this.player.note({ theme });
    this.dress(readTheme(this.player.root));
    this.player.caption.write();
    if (this.player.tween.motion) this.player.tween.prepare();
    this.paint();
  }
  resize() {
    const { clientWidth: w, clientHeight: h } = this.root;
    if (!w || !h || !this.player.movie) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.width !== w || this.height !== h || this.ratio !== ratio) {
      this.ratio = ratio;
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
      this.canvas.style.width = "";
      this.fit(w, h);
    }
    this.player.program.markMore();
    const { end, step, tween } = this.player,
      { motion } = tween;
    if (motion) tween.resume(motion);
    else this.settle(end);
    const before = motion?.before ?? this.film.ends[Math.max(0, step - 2)];
    this.pan.follow(this.looksAt(before), this.looksAt(end), Boolean(motion)); // it may be as wide as another one now
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
    this.root.toggleAttribute("data-wide", room > this.width);
    this.pan.fit(room, this.width);
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
    const { tween, end } = this.player;
    return this.film.frames[tween.motion ? tween.motion.path[0] : end].scene;
  }
  get standing() {
    return this.view(this.scene);
  }
  paint() {
    if (!this.shown || !this.width || !this.theme) return;
    const { ctx, ratio, shown, scene } = this,
      { end, tween, pointer } = this.player;
    this.paper = this.paperHere();
    this.clear(ctx);
    if (tween.motion) tween.paint(this.paper, tween.motion);
    else {
      this.near = neighbours(shown);
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.paintFrame(this.paper, end, [...shown, ...continued(shown, this.standing)], this.near);
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawHeld(this.shown, this);
    if (!tween.motion) pointer.mark(ctx);
    this.paintLegend(this.paper, scene);
    this.#failed.hidden = true;
    this.player.note({ painted: ++this.painted });
  }
  /**
   * What everything is drawn on here, scrolled as far as its place is.
   * @returns {Paper}
   */
  paperHere() {
    const { scene } = this,
      scrolls = this.view(scene).room > this.width;
    return this.paperOn(this.ctx, scene, scrolls ? this.pan.place.scrollLeft : 0);
  }
  /** @param {Ctx} ctx */
  clear(ctx) {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = this.theme.background;
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  }
}
