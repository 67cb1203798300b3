// The motion from one step to the next, frame by frame: what does not move is drawn once, and what moves is drawn, or copied
// (sprites.js), on top of it.

/** @import { Atlas, Look, Moving, Paper, Standing } from "./types" */

import { BODIES } from "./between.js";
import { motionTo } from "./motion.js";
import { draw } from "./roles.js";
import { atlasOf } from "./sprites.js";

const BEAT = 560, // ms of one beat at speed 1
  MOST = 5200; // ms of all beats of a step: with the pause after them, it lasts no longer than LONGEST in clock.js
const BACK = 0.8, // the length of a beat backwards ÷ that of one forwards
  EARLY = 8; // ms by which a motion seems to have begun before its first picture

export class Tween {
  /** @type {Moving | null} */
  motion = null;
  /** @type {Atlas | null} */
  #atlas = null;
  /** @type {HTMLCanvasElement | null} */
  #layer = null; // what does not move
  #until = 0; // when all beats of the step are to have ended
  #raf = 0;

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
  }
  // End the motion where it is. If a movie plays, the next animation frame lets it go on.
  stop() {
    this.motion = this.#layer = this.#atlas = null;
  }
  forget() {
    cancelAnimationFrame(this.#raf);
    this.stop();
  }
  /**
   * Move through all frames of a step. If there are many, or the machine is busy, each beat is shorter.
   * @param {number[]} path
   * @param {boolean} forward
   * @param {Standing} standing
   * @param {number} before
   */
  go(path, forward, standing, before) {
    this.#until = performance.now() + MOST / this.player.clock.speed;
    this.#start(path, forward, standing, before);
  }
  /**
   * Tween to each frame of the path in turn. What does not move is drawn once, what moves is blitted.
   * @param {number[]} path
   * @param {boolean} forward
   * @param {Standing} standing
   * @param {number} before the frame where it starts
   */
  #start(path, forward, standing, before) {
    const { picture, film, clock } = this.player,
      frame = film.frames[path[0]],
      view = picture.view(frame.scene),
      size = { w: view.room, h: picture.height };
    picture.widen(view);
    const motion = motionTo(picture.shown, standing, frame, view, forward, size);
    const rest = motion.there ? path.slice(1) : path,
      left = Math.max(1, this.#until - performance.now()) / (rest.length + 1),
      lasts = Math.min(left, ((forward ? BEAT : BEAT * BACK) * motion.beats) / clock.speed);
    this.motion = { ...motion, path, before, rest, forward, view, t: 0, began: null, lasts };
    this.prepare();
    this.#tick();
  }
  /**
   * The picture was resized, because the caption has more or fewer lines: continue the motion at the new size.
   * @param {Moving} motion
   */
  resume({ path, before, forward, began, t, lasts }) {
    this.player.picture.stand(before);
    this.#start(path, forward, this.player.picture.view(this.player.film.frames[before].scene), before);
    Object.assign(this.motion, { began, t, lasts });
    this.player.picture.paint(); // at once: the canvas was cleared
  }
  prepare() {
    const { motion } = this;
    this.player.picture.prepare(motion.to);
    this.#layer = this.#stillLayer(motion.to, new Set(motion.moving), motion.view.unit);
    this.#atlas = atlasOf(motion, this.player.picture);
  }
  #tick() {
    cancelAnimationFrame(this.#raf);
    this.#raf = requestAnimationFrame((now) => {
      const motion = this.motion;
      if (!motion) return this.player.clock.schedule();
      motion.began ??= now - EARLY;
      const t = Math.min(1, (now - motion.began) / motion.lasts);
      this.player.picture.attempt(() => {
        if (t >= 1) this.#arrive(motion);
        else {
          motion.t = t;
          this.player.picture.paint();
        }
      });
      if (this.motion) this.#tick();
      else this.player.clock.schedule();
    });
  }
  /** @param {Moving} motion */
  #arrive(motion) {
    this.player.picture.show(motion.to.map(({ origin, ...look }) => look));
    this.stop();
    if (motion.rest.length)
      this.#start(motion.rest, motion.forward, motion.view, motion.there ? motion.path[0] : motion.before);
    this.player.picture.paint();
  }
  /**
   * @param {Look[]} looksThere
   * @param {Set<number>} moving
   * @param {number} unit
   */
  #stillLayer(looksThere, moving, unit) {
    const { picture } = this.player,
      { canvas, ctx } = picture.surface(),
      paper = { ...picture.paper, ctx };
    if (this.motion.there) picture.sketch(paper, this.player.step);
    looksThere.forEach((look, i) => moving.has(i) || draw(paper, look, unit, picture.near));
    return canvas;
  }
  /**
   * @param {Paper} paper
   * @param {Moving} motion
   */
  paint(paper, { from, to, at, moving, over, unit, t }) {
    const atlas = this.#atlas,
      { near, ratio } = this.player.picture,
      { ctx } = paper,
      above = { ...paper, halo: true },
      shown = from.slice();
    ctx.drawImage(this.#layer, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const i of moving) {
      const look = (shown[i] = at(i, t)),
        sprite = atlas?.sprites.get(i);
      if (!sprite) {
        draw(over.has(i) && !BODIES.has(look.state.role) ? above : paper, look, unit(t), near);
        continue;
      }
      const { x, y, w, h } = look.rect,
        pad = atlas.pad * ratio,
        across = w / to[i].rect.w,
        down = h / to[i].rect.h;
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.globalAlpha = look.alpha;
      ctx.drawImage(
        atlas.canvas,
        sprite.x,
        sprite.y,
        sprite.w,
        sprite.h,
        Math.round(x * ratio - pad * across),
        Math.round(y * ratio - pad * down),
        sprite.w * across,
        sprite.h * down,
      );
      ctx.globalAlpha = 1;
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.player.picture.show(shown);
  }
}
