// A picture that is wider than its place: it scrolls sideways, by hand, by a button on either side, and to what a step changes.

/** @import { Head, Look } from "./types" */

import { BODIES, differ } from "./between.js";
import { button, el } from "./dom.js";
import { headsOf, held, level } from "./heads.js";
import { PHONE } from "./sizes.js";

const MARGIN = 34, // pixels beside what it scrolls to, if there is room
  GAP = 4, // of a cell, around its text: as much of it may be cut
  CUT = 0.1, // the share of a cell's worth that is lost if that is
  BETTER = 1.01, // how much more must be seen to scroll for it
  KEPT = 0.9, // the share of the place by which a button scrolls
  SMALL = 340, // pixels of a place without room beside a legend,
  FOCUS = 9, // how much more the frame around the current time step is worth than as much of other cells
  LITTLE = 12, // pixels that are not left to scroll,
  FADE = 12, // at least, over which the picture fades at its right edge where it goes on,
  ENDS = 2; // pixels from an end of the picture that count as the end

/**
 * The places near one at which a column begins beside the heads of the lines, or, in a picture without columns, that one.
 * @param {number} left
 * @param {Look[]} looks
 * @param {Head[]} heads
 */
function columnsAt(left, looks, heads) {
  const beside = Math.max(0, ...heads.map(({ w }) => w)),
    columns = looks.flatMap(({ alpha, rect, state: { role } }) => (alpha && role === "axis" ? [rect.x - beside] : [])),
    near = [Math.max(...columns.filter((x) => x <= left)), Math.min(...columns.filter((x) => x > left))];
  return columns.length ? near.map((x) => (Number.isFinite(x) ? Math.max(0, Math.round(x)) : left)) : [left];
}
/**
 * Where to scroll, as little as needed to see most of what changed; if possible, to where a column begins.
 * @param {Look[]} changed
 * @param {Look[]} looks
 * @param {Head[]} heads
 * @param {{ scrollLeft: number, clientWidth: number, scrollWidth: number }} place
 */
function whereTo(changed, looks, heads, { scrollLeft, clientWidth, scrollWidth }) {
  const end = scrollWidth - clientWidth;
  const seen = (/** @type {number} */ left) => {
    const kept = held(heads, left).map(({ rect }) => rect);
    return changed.reduce((sum, { rect, state }) => {
      const begins = Math.max(left, ...kept.filter((one) => level(one, rect)).map(({ x, w }) => x + w)),
        cut = Math.max(0, begins - rect.x, rect.x + rect.w - left - clientWidth);
      const worth = rect.w * rect.h * (state.role === "focus" ? FOCUS : 1);
      return sum + (cut > GAP ? 0 : worth * (1 - (CUT * cut) / GAP));
    }, 0);
  };
  const inside = (/** @type {number} */ x) => (x > end - LITTLE ? end : Math.max(0, Math.round(x))),
    spaced = (/** @type {number} */ x) => (x < 2 * MARGIN ? 0 : x > end - MARGIN ? end : inside(x)),
    away = (/** @type {number} */ x) => Math.abs(x - scrollLeft);
  const margins = changed.flatMap(({ rect: { x, w } }) => [x - MARGIN, x + w + MARGIN - clientWidth].map(spaced));
  const places = [
    margins.flatMap((left) => columnsAt(left, looks, heads)).map(inside),
    margins,
    changed.flatMap(({ rect: { x } }) => heads.flatMap(({ w }) => [x - w + GAP / 2, x - w + GAP].map(inside))), // to see more
  ].flatMap((some) => [...new Set(some)].sort((a, b) => away(a) - away(b)));
  return places.reduce((best, x) => (seen(x) > BETTER * seen(best) ? x : best), scrollLeft);
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
    this.ways = el("div", { class: "pv-ways" }, this.left, this.right);
  }
  /**
   * @param {string} side
   * @param {string} sign
   * @param {number} by
   */
  way(side, sign, by) {
    const go = () => {
      const { picture, end } = this.player,
        looks = picture.looksAt(end),
        left = this.place.scrollLeft + by * this.place.clientWidth;
      this.go(columnsAt(left, looks, headsOf(looks, picture))[0], true);
    };
    return button(sign, go, { class: `pv-scroll-${side}`, hidden: "" });
  }
  /**
   * Write on a button which time steps are out of sight on its side: those from one pixel of the picture to another.
   * @param {HTMLButtonElement} way
   * @param {{ side: string, sign: string, from: number, to: number }} where
   */
  name(way, { side, sign, from, to }) {
    const { picture, end } = this.player,
      steps = picture.looksAt(end).flatMap(({ alpha, rect, state: { role, text } }) => {
        const t = role === "axis" && alpha && rect.x < to && rect.x + rect.w > from ? /^t=(\d+)$/.exec(text) : null;
        return t ? [Number(t[1])] : [];
      });
    const [first, last] = [Math.min(...steps), Math.max(...steps)],
      hidden = steps.length ? `t = ${first}${last > first ? ` … ${last}` : ""}` : "",
      name = `Scroll the picture to the ${side}${hidden && `: ${hidden}`}`,
      { clientWidth } = this.place,
      legends = picture.scales(picture.scene, [picture.standing.view]).length,
      both = !this.left.hidden && !this.right.hidden,
      room = clientWidth > PHONE || (clientWidth > SMALL && legends < (both ? 1 : 2)),
      text = room ? hidden : ""; // on a phone a legend leaves room for one such text, two legends for none
    way.textContent = side === "left" ? `${sign} ${text}`.trim() : `${text} ${sign}`.trim();
    way.setAttribute("aria-label", name);
    way.title = name;
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
  // Show on which sides the picture goes on, and with which time steps.
  mark() {
    const { scrollLeft, scrollWidth, clientWidth } = this.place;
    const right = scrollLeft + clientWidth;
    this.left.hidden = scrollLeft < ENDS;
    const last = Math.max(...this.cells.map(({ rect }) => rect.x + rect.w)); // beside it are lengths, which are short
    this.right.hidden = right > scrollWidth - ENDS || (right > scrollWidth - MARGIN && right > last + FADE);
    this.place.style.setProperty("--pv-fade", this.right.hidden ? "0px" : `${this.cut(right)}px`);
    if (!this.left.hidden) this.name(this.left, { side: "left", sign: "‹", from: 0, to: scrollLeft });
    if (!this.right.hidden) this.name(this.right, { side: "right", sign: "›", from: right, to: scrollWidth });
  }
  // The cells that are shown now.
  get cells() {
    const { picture, end } = this.player;
    return picture.looksAt(end).filter(({ alpha, rect, state: { role } }) => alpha && rect && BODIES.has(role));
  }
  /**
   * Pixels that are in sight of a cell cut by the right edge: nobody shall read half of its number.
   * @param {number} right
   */
  cut(right) {
    const cut = this.cells.filter(({ rect: { x, w } }) => x < right && x + w > right);
    return Math.max(FADE, ...cut.map(({ rect }) => right - rect.x));
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
    const left = whereTo(changed, after, headsOf(after, this.player.picture), { scrollLeft, clientWidth, scrollWidth });
    if (left !== scrollLeft) this.go(left, smooth);
    else this.mark();
  }
}
