// A picture that is wider than its place: it scrolls sideways, by hand, by a button on either side, and to what a step changes.

/** @import { Look, Paper, Rect } from "./types" */

import { BODIES, differ } from "./between.js";
import { lineSize, widthOf } from "./canvas.js";
import { button, el } from "./dom.js";
import { BADGE } from "./layout.js";
import { continued, isName } from "./neighbours.js";
import { badgeSize, draw } from "./roles.js";

const MARGIN = 34, // pixels beside what it scrolls to, if there is room
  GAP = 4, // of a cell, around its text
  KEPT = 0.9; // the share of the place by which a button scrolls

/** @type {(one: Rect, two: Rect) => boolean} */
const level = (one, two) =>
  Math.min(one.y + one.h, two.y + two.h) - Math.max(one.y, two.y) > Math.min(one.h, two.h) / 2;
/**
 * Pixels of the letter of a row, or of the name of a line, with a little room.
 * @type {(paper: Paper, look: Look, unit: number) => number}
 */
function headWidth(paper, { rect, state: { role, text, tone } }, unit) {
  if (role === "label") return Math.max(BADGE, badgeSize(paper, rect.h, unit)) * (0.6 + 0.4 * text.length) + 3;
  return widthOf(paper, text, lineSize(paper, unit), tone ? 700 : 400) + 8;
}

export class Pan {
  /**
   * @param {import("./player.js").Player} player
   * @param {HTMLCanvasElement} canvas
   */
  constructor(player, canvas) {
    this.player = player;
    this.sheet = el("div", { class: "pv-sheet" }, canvas);
    this.place = el("div", { class: "pv-pan", role: "group", "aria-label": "Picture" }, this.sheet);
    this.left = this.way("left", "‹", -KEPT);
    this.right = this.way("right", "›", KEPT);
  }
  /**
   * @param {string} side
   * @param {string} sign
   * @param {number} by
   */
  way(side, sign, by) {
    const name = `Scroll the picture to the ${side}`,
      go = () => this.go(this.place.scrollLeft + by * this.place.clientWidth, true);
    return button(sign, go, { class: `pv-scroll-${side}`, "aria-label": name, title: name, hidden: "" });
  }
  /** @param {AbortSignal} signal */
  listen(signal) {
    const scrolled = () => {
      this.mark();
      if (!this.player.tween.motion) this.player.pointer.repaint();
    };
    this.place.addEventListener("scroll", scrolled, { signal, passive: true });
  }
  /**
   * Make room for a picture of this width.
   * @param {number} room
   * @param {number} width of its place
   */
  fit(room, width) {
    const wide = room > width;
    this.sheet.style.width = wide ? `${room}px` : "";
    wide ? this.place.setAttribute("tabindex", "0") : this.place.removeAttribute("tabindex"); // to be reached, as it scrolls
    this.mark();
  }
  /**
   * The letters of rows and the names of lines: where each is written and how wide, and where the cells of its line end.
   * @param {Look[]} looks
   * @returns {{ head: Look, x: number, w: number, end: number }[]}
   */
  heads(looks) {
    const { paper, near, standing } = this.player.picture,
      seen = [...looks, ...continued(looks, standing)].filter(({ alpha, rect }) => alpha && rect),
      heads = seen.filter((look) => isName(look) || (look.state.role === "label" && !near.crowded.has(look.state.i))),
      cells = seen.filter(({ state }) => state.role !== "label" && BODIES.has(state.role));
    const right = (/** @type {Look} */ head, /** @type {Look[]} */ some) =>
        some.filter(({ rect }) => rect.x > head.rect.x && level(head.rect, rect)),
      first = (/** @type {Look[]} */ some) => some.reduce((one, two) => (two.rect.x < one.rect.x ? two : one), some[0]);
    /** @type {(head: Look) => Look[]} */
    const own = (head) => {
      if (!isName(head)) {
        const next = first(right(head, heads));
        const there = right(head, cells).filter(({ rect }) => !(rect.x > next?.rect.x)),
          others = new Set(there.filter(({ state }) => state.seq !== head.state.seq).map(({ state }) => state.p));
        const row = there.filter(({ state }) => state.p === head.state.p || !others.has(state.p)); // not of rows of all sequences
        return row.length ? row : cells.filter(({ state }) => state.p === head.state.p); // an empty row is as long as the others
      }
      const lines = heads.filter(({ state }) => state.p === head.state.p),
        beside = first(lines.flatMap((line) => right(line, cells)));
      return cells.filter(({ state }) => state.p === beside?.state.p);
    };
    return heads.map((head) => {
      const { x, w: room } = head.rect,
        w = headWidth(paper, head, standing.unit);
      return {
        head,
        x: isName(head) ? x : x + (room - w) / 2,
        w,
        end: Math.max(...own(head).map(({ rect }) => rect.x + rect.w)),
      };
    });
  }
  /**
   * Those that begin on the left of the place, at its edge: as far as the cells of their own line go.
   * @param {ReturnType<Pan["heads"]>} heads
   * @param {number} edge how far the picture is scrolled
   * @returns {Look[]}
   */
  held(heads, edge) {
    const away = heads.filter(({ x, w, end }) => x < edge && end >= edge + 2 * w);
    return away.map(({ head, w }) => ({ ...head, rect: { ...head.rect, x: edge, w } }));
  }
  // Draw them over what they cover, each with a line where the rest goes on.
  drawHeads() {
    const { paper, shown, near, standing } = this.player.picture,
      { ctx, theme, edge } = paper;
    if (!edge) return; // at its left end a picture has them in sight
    for (const { state, rect, ...look } of this.held(this.heads(shown), edge)) {
      const { x, y, w, h } = rect;
      ctx.fillStyle = theme.background;
      ctx.fillRect(x, y, w, h);
      ctx.fillStyle = theme.line;
      ctx.fillRect(x + w, y, 1, h);
      draw(paper, { ...look, state, rect: { ...rect, x: state.role === "note" ? x + 4 : x } }, standing.unit, near);
    }
  }
  // Show on which sides the picture goes on.
  mark() {
    const { scrollLeft, scrollWidth, clientWidth } = this.place;
    this.left.hidden = scrollLeft < 2;
    this.right.hidden = scrollLeft + clientWidth > scrollWidth - 2;
  }
  /**
   * @param {number} left
   * @param {boolean} smooth
   */
  go(left, smooth) {
    this.place.scrollTo({ left, behavior: smooth && !this.player.still.matches ? "smooth" : "instant" });
  }
  /**
   * Scroll as little as needed to see most of what a step changes.
   * @param {Look[]} before
   * @param {Look[]} after
   * @param {boolean} smooth
   */
  follow(before, after, smooth) {
    const { scrollLeft, clientWidth, scrollWidth } = this.place;
    if (scrollWidth <= clientWidth) return;
    const changed = after.filter(
      (look, i) => look.alpha && look.rect.w < clientWidth && (look.state.tone === "now" || differ(before[i], look)),
    );
    const heads = this.heads(after),
      end = scrollWidth - clientWidth;
    const seen = (/** @type {number} */ left) => {
      const held = this.held(heads, left).map(({ rect }) => rect);
      return changed.reduce((sum, { rect }) => {
        const begins = Math.max(left, ...held.filter((one) => level(one, rect)).map(({ x, w }) => x + w)),
          cut = Math.max(0, begins - rect.x, rect.x + rect.w - left - clientWidth);
        return sum + (cut > GAP ? 0 : rect.w * rect.h * (1 - (0.1 * cut) / GAP));
      }, 0);
    };
    const inside = (/** @type {number} */ x) => Math.max(0, Math.min(end, Math.round(x))),
      spaced = (/** @type {number} */ x) => (x < 2 * MARGIN ? 0 : x > end - MARGIN ? end : inside(x)),
      away = (/** @type {number} */ x) => Math.abs(x - scrollLeft);
    const places = [
      changed.flatMap(({ rect: { x, w } }) => [x - MARGIN, x + w + MARGIN - clientWidth].map(spaced)),
      changed.flatMap(({ rect: { x } }) => heads.flatMap(({ w }) => [x - w + GAP / 2, x - w + GAP].map(inside))), // to see more
    ].flatMap((some) => [...new Set(some)].sort((a, b) => away(a) - away(b)));
    const best = places.reduce((best, x) => (seen(x) > 1.01 * seen(best) ? x : best), scrollLeft);
    if (best !== scrollLeft) this.go(best, smooth);
  }
}
