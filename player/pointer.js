// Pointing at a cell, with a pointer or the keys: its tooltip, and an outline wherever its token is.

/** @import { Ctx, Look, Spot } from "./types" */

import { stroke } from "./canvas.js";
import { Tip, told } from "./tips.js";

const OUTLINE = 3, // pixels of the line around what is pointed at,
  HALO = 5, // and of that behind it, which sets it off
  ROUND = { most: 7, share: 0.2 }; // its corners: pixels, and at most ÷ the height of the cell

export class Pointer {
  /** @type {number | null} */
  hover = null; // the token that is pointed at
  /** @type {number | null} */
  picked = null; // the cell that was clicked
  /** @type {Look | null} */
  cell = null; // the cell that is pointed at

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.tip = new Tip(player);
  }
  /** @param {AbortSignal} signal */
  listen(signal) {
    const { canvas } = this.player.picture;
    canvas.addEventListener("pointermove", (event) => this.point(event), { signal });
    canvas.addEventListener("pointerdown", (event) => this.point(event), { signal });
    canvas.addEventListener("click", () => this.pick(), { signal });
    canvas.addEventListener("pointerleave", ({ pointerType }) => pointerType === "touch" || this.pointAt(null), {
      signal,
    }); // a finger leaves at once
  }
  forget() {
    this.tip.hide();
    this.hover = this.picked = this.cell = null;
  }
  /** @param {PointerEvent} event */
  point(event) {
    const box = this.player.picture.canvas.getBoundingClientRect();
    this.pointAt({ x: event.clientX - box.left, y: event.clientY - box.top });
  }
  /** @param {Spot | null} spot */
  pointAt(spot) {
    const hit = spot && !this.player.tween.motion ? this.hit(spot) : null,
      token = hit?.state.token ?? null;
    if (!hit && !this.cell && this.hover == null && !this.tip.open) return;
    const same = hit && hit === this.cell && token === this.hover;
    this.cell = hit;
    this.hover = token;
    this.tip.show(hit, spot, token);
    if (!same) this.repaint();
  }
  // A clicked cell stays outlined, and listeners are notified.
  pick() {
    const { i, role, seq, k, token } = this.cell?.state ?? {};
    if (i === undefined || !this.player.options.onPick) return;
    this.picked = this.picked === i ? null : i;
    this.repaint();
    if (this.picked !== null)
      this.player.options.onPick({
        role,
        seq: seq ?? null,
        k: k ?? null,
        step: this.player.step,
        token: token ?? null,
      });
  }
  /**
   * The first cell that fits at the end of this step: cells still moving in are found as well.
   * @param {(state: Look["state"]) => boolean} fits
   */
  found(fits) {
    return this.player.picture.looksAt(this.player.end).find(({ state, alpha, rect }) => alpha && rect && fits(state));
  }
  /**
   * Outline a cell picked elsewhere: the first one with this role, seq, k or token.
   * @param {Partial<import("./types").Picked> | null} picked
   */
  choose(picked) {
    const told = Object.entries(picked ?? {}).filter(([name]) => name !== "step"),
      same = (/** @type {Look["state"]} */ state) =>
        told.every(([name, value]) => (state[/** @type {"k"} */ (name)] ?? null) === value);
    this.picked = told.length ? (this.found(same)?.state.i ?? null) : null;
    this.repaint();
  }
  /**
   * Highlight a token wherever it is, as if it were pointed at.
   * @param {number} token
   */
  light(token) {
    const look = this.found((state) => state.token === token);
    this.hover = token;
    this.cell = null;
    this.tip.show(look, look && { x: look.rect.x + look.rect.w / 2, y: look.rect.y + look.rect.h / 2 }, token);
    const { movie, now } = this.player;
    this.player.announce(movie.tokens[token] ? told(movie.tokens[token], now.stage) : "");
    this.repaint();
  }
  /**
   * The uppermost cell there that has a tooltip.
   * @param {Spot} spot
   * @returns {Look | null}
   */
  hit({ x, y }) {
    const isOn = (/** @type {Look["rect"]} */ rect) =>
      rect && x >= rect.x && x < rect.x + rect.w && y >= rect.y && y < rect.y + rect.h;
    return (
      this.player.picture.shown.findLast(({ state, alpha, rect }) => alpha && state.f !== undefined && isOn(rect)) ??
      null
    );
  }
  /** @param {Ctx} ctx */
  mark(ctx) {
    const same = this.hover == null ? this.cell : null,
      { shown, theme } = this.player.picture;
    for (const look of shown) {
      const { state, alpha, rect } = look;
      const lit = this.hover != null && state.token === this.hover;
      if (!alpha || !rect || !(look === same || state.i === this.picked || lit)) continue;
      ctx.beginPath();
      ctx.roundRect(rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2, Math.min(ROUND.most, rect.h * ROUND.share));
      stroke(ctx, theme.background, HALO);
      stroke(ctx, theme.now, OUTLINE);
    }
  }
  /**
   * Step through the tokens in packed order with the keyboard.
   * @param {number} by
   */
  walk(by) {
    const order = this.player.movie.tokens
      .map((_, i) => i)
      .sort((i, j) => (this.player.movie.tokens[i].n ?? i) - (this.player.movie.tokens[j].n ?? j));
    const at = this.hover == null ? (by > 0 ? -1 : 0) : order.indexOf(this.hover);
    const token = order[(at + by + order.length) % order.length];
    if (this.found((state) => state.token === token)) this.light(token);
  }
  repaint() {
    this.player.picture.attempt(() => this.player.picture.paint());
  }
}
