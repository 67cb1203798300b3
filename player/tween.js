// The motion from one step to the next: what does not move is drawn once, and what moves is drawn or copied on top of it.

/** @import { Atlas, Look, Moving, Paper, Standing } from "./types" */

import { BODIES } from "./between.js";
import { motionTo } from "./motion.js";
import { draw } from "./roles.js";

const BEAT = 560, // ms of one beat at speed 1
  MOST = 5200; // ms of all beats of a step: with the pause after them, it lasts no longer than LONGEST in clock.js
const MANY = 60; // moving cells that are copied instead of drawn

export class Tween {
  /** @type {Moving | null} */
  motion = null;
  /** @type {Atlas | null} */
  atlas = null;

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
  }
  // End the motion where it is. If a movie plays, the next animation frame lets it go on.
  stop() {
    this.motion = this.layer = this.atlas = null;
  }
  forget() {
    cancelAnimationFrame(this.raf);
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
    this.until = performance.now() + MOST / this.player.clock.speed;
    this.start(path, forward, standing, before);
  }
  /**
   * Tween to each frame of the path in turn. What does not move is drawn once, what moves is blitted.
   * @param {number[]} path
   * @param {boolean} forward
   * @param {Standing} standing
   * @param {number} before the frame where it starts
   */
  start(path, forward, standing, before) {
    const { picture, film, clock } = this.player,
      frame = film.frames[path[0]],
      view = picture.view(frame.scene),
      size = { w: view.room, h: picture.height };
    picture.widen(view);
    const motion = motionTo(picture.shown, standing, frame, view, forward, size);
    const rest = motion.there ? path.slice(1) : path,
      left = Math.max(1, this.until - performance.now()) / (rest.length + 1),
      lasts = Math.min(left, ((forward ? BEAT : BEAT * 0.8) * motion.beats) / clock.speed);
    this.motion = { ...motion, path, before, rest, forward, view, t: 0, began: null, lasts };
    this.prepare();
    this.tick();
  }
  /**
   * The picture was resized, because the caption has more or fewer lines: continue the motion at the new size.
   * @param {Moving} motion
   */
  resume({ path, before, forward, began, t, lasts }) {
    this.player.picture.stand(before);
    this.start(path, forward, this.player.picture.view(this.player.film.frames[before].scene), before);
    Object.assign(this.motion, { began, t, lasts });
    this.player.picture.paint(); // at once: the canvas was cleared
  }
  prepare() {
    const { motion } = this;
    this.player.picture.prepare(motion.to);
    this.layer = this.stillLayer(motion.to, new Set(motion.moving), motion.view.unit);
    this.atlas = this.spriteAtlas(motion);
  }
  tick() {
    cancelAnimationFrame(this.raf);
    this.raf = requestAnimationFrame((now) => {
      const motion = this.motion;
      if (!motion) return this.player.clock.schedule();
      motion.began ??= now - 8;
      const t = Math.min(1, (now - motion.began) / motion.lasts);
      this.player.picture.attempt(() => {
        if (t >= 1) this.arrive(motion);
        else {
          motion.t = t;
          this.player.picture.paint();
        }
      });
      if (this.motion) this.tick();
      else this.player.clock.schedule();
    });
  }
  /** @param {Moving} motion */
  arrive(motion) {
    this.player.picture.show(motion.to.map(({ origin, ...look }) => look));
    this.stop();
    if (motion.rest.length)
      this.start(motion.rest, motion.forward, motion.view, motion.there ? motion.path[0] : motion.before);
    this.player.picture.paint();
  }
  /**
   * @param {Look[]} looksThere
   * @param {Set<number>} moving
   * @param {number} unit
   */
  stillLayer(looksThere, moving, unit) {
    const { picture } = this.player,
      { canvas, ctx } = picture.surface(),
      paper = { ...picture.paper, ctx };
    if (this.motion.there) picture.sketch(paper, this.player.step);
    looksThere.forEach((look, i) => moving.has(i) || draw(paper, look, unit, picture.near));
    return canvas;
  }
  /**
   * Moving cells that keep their size and look are drawn once and then copied if there are many: text is expensive.
   * @param {Moving} motion
   * @returns {Atlas | null}
   */
  spriteAtlas({ from, to, moving, view: { unit } }) {
    const plain = moving.filter((i) => {
      const a = from[i],
        b = to[i];
      return (
        BODIES.has(b.state.role) &&
        b.state.role !== "label" &&
        a.alpha > 0.9 &&
        b.alpha === 1 &&
        a.rect &&
        Math.abs(a.rect.w - b.rect.w) < 0.5 &&
        Math.abs(a.rect.h - b.rect.h) < 0.5 &&
        (a.state === b.state ||
          b.origin ||
          (a.state.text === b.state.text && a.state.tone === b.state.tone && a.vec === b.vec)) &&
        a.v === b.v
      );
    });
    if (plain.length < MANY) return null;
    const pad = 3,
      { ratio, paper, near } = this.player.picture,
      sprites = new Map(),
      wide = 2048;
    let x = 0,
      y = 0,
      line = 0;
    for (const i of plain) {
      const w = Math.ceil((to[i].rect.w + 2 * pad) * ratio),
        h = Math.ceil((to[i].rect.h + 2 * pad) * ratio);
      if (x + w > wide) {
        x = 0;
        y += line;
        line = 0;
      }
      sprites.set(i, { x, y, w, h });
      x += w;
      line = Math.max(line, h);
    }
    if (y + line > 8192) return null;
    const canvas = document.createElement("canvas");
    canvas.width = wide;
    canvas.height = y + line;
    const ctx = canvas.getContext("2d");
    for (const [i, at] of sprites) {
      ctx.setTransform(ratio, 0, 0, ratio, at.x + pad * ratio, at.y + pad * ratio);
      draw({ ...paper, ctx }, { ...to[i], rect: { ...to[i].rect, x: 0, y: 0 } }, unit, near);
    }
    return { canvas, sprites, pad };
  }
  /**
   * @param {Paper} paper
   * @param {Moving} motion
   */
  paint(paper, { from, to, at, moving, unit, t }) {
    const { atlas } = this,
      { near, ratio } = this.player.picture,
      { ctx } = paper,
      shown = from.slice();
    ctx.drawImage(this.layer, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const i of moving) {
      const look = (shown[i] = at(i, t)),
        sprite = atlas?.sprites.get(i);
      if (!sprite) {
        draw(paper, look, unit(t), near);
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
