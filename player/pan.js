// A picture that is wider than its place: it scrolls sideways, by hand, by a button on either side, and to what a step changes.

/** @import { Look } from "./types" */

import { differ } from "./between.js";
import { button, el } from "./dom.js";

const MARGIN = 34, // pixels beside what it scrolls to: of a letter
  OWN = new Set(["token", "ghost", "value", "vector", "pad"]), // cells of the row of a letter
  NAMES = /^names?(:|$)/, // panels with the names of lines
  KEPT = 0.9; // the share of the place by which a button scrolls

export class Pan {
  /**
   * @param {import("./player.js").Player} player
   * @param {HTMLCanvasElement} canvas
   */
  constructor(player, canvas) {
    this.player = player;
    this.held = 0; // pixels at the left edge that names of lines cover
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
    this.player.ui.stageBox.toggleAttribute("data-wide", wide);
    wide ? this.place.setAttribute("tabindex", "0") : this.place.removeAttribute("tabindex"); // to be reached, as it scrolls
    this.mark();
  }
  /**
   * The letters of rows whose beginning is on the left of the place, at its edge: as far as their cells go.
   * @param {Look[]} looks
   * @returns {Look[]}
   */
  letters(looks) {
    const edge = this.place.scrollLeft,
      seen = looks.filter(({ alpha, rect }) => alpha && rect),
      letters = seen.filter(({ state, rect }) => state.role === "label" && rect.x < edge);
    return letters.flatMap((letter) => {
      const { x, y, w } = letter.rect,
        level = (/** @type {Look} */ { rect }) => Math.abs(rect.y - y) < 2 && rect.x > x,
        next = seen.find((look) => look.state.role === "label" && level(look) && look.rect.x < edge + w),
        cells = seen.filter((look) => level(look) && look.state.seq === letter.state.seq && OWN.has(look.state.role)),
        end = Math.max(...cells.map(({ rect }) => rect.x + rect.w));
      return next || end < edge + 2 * w ? [] : [{ ...letter, rect: { ...letter.rect, x: edge + 2 } }];
    });
  }
  /**
   * The names of lines whose beginning is on the left of the place, at its edge; and a name for each line on which a row
   * continues.
   * @param {Look[]} looks
   * @returns {Look[]}
   */
  names(looks) {
    const edge = this.place.scrollLeft,
      { view, unit } = this.player.picture.standing,
      named = looks.filter(({ alpha, state: { role, p, text } }) => alpha && role === "note" && NAMES.test(p) && text);
    const continued = named.flatMap((look) => {
      const number = look.state.p.split(":")[1],
        [pitch, ...starts] = view.breaks?.[`row:${number}`] ?? [0, 0],
        state = { ...look.state, text: `${number} …` };
      return starts.slice(1).map((_, i) => {
        const y = look.rect.y + (i + 1) * pitch * unit;
        return { ...look, state, rect: { ...look.rect, y } };
      });
    });
    const every = [...named, ...continued],
      away = every.filter(({ rect }) => rect.x < edge);
    this.held = this.player.picture.brush.widest(this.player.picture.ctx, named, unit) + 4;
    return [
      ...continued.filter((look) => !away.includes(look)),
      ...away.map((look) => ({ ...look, rect: { ...look.rect, x: edge + 2 } })),
    ];
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
    const seen = (/** @type {number} */ left) =>
      changed.reduce((sum, { rect: { x, w, h } }) => {
        const inside = x >= left + (left ? this.held : 0) && x + w <= left + clientWidth;
        return sum + (inside ? w * h : 0);
      }, 0);
    const end = scrollWidth - clientWidth,
      inside = (/** @type {number} */ x) => (x < 2 * MARGIN ? 0 : x > end - MARGIN ? end : Math.round(x)),
      places = changed.flatMap(({ rect: { x, w } }) => [x - MARGIN - this.held, x + w + MARGIN - clientWidth]),
      near = [...new Set(places.map(inside))];
    near.sort((a, b) => Math.abs(a - scrollLeft) - Math.abs(b - scrollLeft));
    const best = near.reduce((best, x) => (seen(x) > 1.02 * seen(best) ? x : best), scrollLeft);
    if (best !== scrollLeft) this.go(best, smooth);
  }
}
