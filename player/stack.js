// The switch of what a run shows: its layers with their directions, and its heads. It says what is shown, and chooses another.

/** @import { Stack, Watched } from "./types" */

import { el } from "./dom.js";
import { hasKeys, SHORTCUTS } from "./shortcuts.js";

/** @param {number} many */
const each = (many) => Array.from({ length: many }, (_, i) => i);

/** @param {string} text */
const word = (text) => el("span", { class: "pv-way" }, text); // left out if there is no room

/** @param {Stack} stack */
const watchedOf = ({ layer, direction, head = 0 }) => ({ layer, direction, head });

/** @type {(one: Watched, other: Watched) => boolean} */
const same = (one, other) =>
  one.layer === other.layer && one.direction === other.direction && (one.head ?? 0) === (other.head ?? 0);

export class StackSwitch {
  root = el("div", { class: "pv-stack", role: "group", "aria-label": "Shown layer, direction and head", hidden: "" });

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
  }
  /**
   * Draw a group of buttons for each layer, from the input on, and one for the heads; a button that had the focus gives it
   * to the one that is pressed now.
   */
  load() {
    const { root } = this,
      { stack } = this.player.movie,
      focused = root.contains(/** @type {ShadowRoot} */ (root.getRootNode()).activeElement);
    root.hidden = !stack;
    if (root.hidden) return root.replaceChildren();
    const { layers, directions, heads } = stack;
    root.replaceChildren(
      word("Shown:"),
      ...(layers > 1 || directions > 1 ? each(layers).map((layer) => this.#layer(layer, stack)) : []),
      ...(heads ? [this.#heads(stack)] : []),
    );
    if (focused) /** @type {HTMLElement | null} */ (root.querySelector("[aria-pressed=true]"))?.focus();
  }
  /**
   * A layer, with a button for each of its directions.
   * @param {number} layer
   * @param {Stack} stack
   */
  #layer(layer, stack) {
    const { layers, directions } = stack,
      shown = watchedOf(stack),
      name = layers > 1 && directions === 2 ? [el("span", {}, word("layer "), String(layer))] : [];
    const buttons = each(directions).map((direction) => {
      const way = directions === 2 ? ["forward", "backward"][direction] : "",
        watched = { ...shown, layer, direction },
        spelled = layers < 3 || same(watched, shown); // with more of them there is no room
      const content = way ? ["→←"[direction], ...(spelled ? [word(` ${way}`)] : [])] : [word("layer "), String(layer)];
      return this.#button(`Layer ${layer} ${way}`.trim(), content, watched, shown);
    });
    return el("span", { class: "pv-layer" }, ...name, ...buttons);
  }
  /** @param {Stack} stack */
  #heads(stack) {
    const shown = watchedOf(stack),
      buttons = each(stack.heads).map((head) =>
        this.#button(`Head ${head}`, [String(head)], { ...shown, head }, shown),
      );
    return el("span", { class: "pv-layer" }, el("span", {}, "head"), ...buttons);
  }
  /**
   * @param {string} label
   * @param {(Node | string)[]} content
   * @param {Watched} watched what it chooses
   * @param {Watched} shown
   */
  #button(label, content, watched, shown) {
    const { onWatch } = this.player.options,
      here = same(watched, shown),
      key = hasKeys() ? ` (${SHORTCUTS.watch.keys[0]}: the next one)` : "",
      title = here ? `${label} is shown` : onWatch ? `Watch ${label.toLowerCase()}${key}` : label;
    const made = el("button", { type: "button", "aria-label": label, "aria-pressed": String(here), title }, ...content);
    made.disabled = !onWatch && !here;
    made.addEventListener("click", () => here || !onWatch || onWatch(watched));
    return made;
  }
  /** Ask for the next head, or the first one of the next direction or layer, and after the last for the first. */
  next() {
    const { stack } = this.player.movie,
      { onWatch } = this.player.options;
    if (!stack || !onWatch) return;
    const heads = Math.max(1, stack.heads ?? 0),
      ways = stack.directions * heads,
      next = (stack.layer * ways + stack.direction * heads + (stack.head ?? 0) + 1) % (stack.layers * ways);
    onWatch({
      layer: Math.floor(next / ways),
      direction: Math.floor((next % ways) / heads),
      head: next % heads,
    });
  }
}
