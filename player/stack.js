// The switch of what a run shows: its layers with their directions, and its heads. It says what is shown, and chooses another.

/** @import { Stack, Watched } from "./types" */

import { el } from "./dom.js";
import { hasKeys } from "./keys.js";
import { SHORTCUTS } from "./shortcuts.js";

/** @param {number} many */
const each = (many) => Array.from({ length: many }, (_, i) => i);

/**
 * Draw a group of buttons for each layer, from the input on, and one for the heads; a button that had the focus gives it to
 * the one that is pressed now.
 * @param {import("./player.js").Player} player
 */
export function showStack(player) {
  const { stack } = player.movie,
    { onWatch } = player.options,
    node = player.ui.stack;
  const focused = node.contains(/** @type {ShadowRoot} */ (node.getRootNode()).activeElement);
  node.hidden = !stack;
  if (node.hidden) return node.replaceChildren();
  const { layers, directions, heads = 0 } = stack,
    shown = watchedOf(stack);
  /** @type {(label: string, content: (Node | string)[], watched: Watched) => HTMLElement} */
  const button = (label, content, watched) => {
    const here = same(watched, shown),
      key = hasKeys() ? ` (${SHORTCUTS.watch.keys[0]}: the next one)` : "",
      title = here ? `${label} is shown` : onWatch ? `Watch ${label.toLowerCase()}${key}` : label;
    const made = el("button", { type: "button", "aria-label": label, "aria-pressed": String(here), title }, ...content);
    made.disabled = !onWatch && !here;
    made.addEventListener("click", () => here || !onWatch || onWatch(watched));
    return made;
  };
  const layerGroup = (/** @type {number} */ layer) => {
    const name = layers > 1 && directions === 2 ? [el("span", {}, word("layer "), String(layer))] : [];
    const buttons = each(directions).map((direction) => {
      const way = directions === 2 ? ["forward", "backward"][direction] : "",
        watched = { ...shown, layer, direction },
        spelled = layers === 1 || same(watched, shown);
      const content = way ? ["→←"[direction], ...(spelled ? [word(` ${way}`)] : [])] : [word("layer "), String(layer)];
      return button(`Layer ${layer} ${way}`.trim(), content, watched);
    });
    return el("span", { class: "pv-layer" }, ...name, ...buttons);
  };
  const headGroup = () => {
    const buttons = each(heads).map((head) => button(`Head ${head}`, [String(head)], { ...shown, head }));
    return el("span", { class: "pv-layer" }, el("span", {}, "head"), ...buttons);
  };
  node.replaceChildren(
    word("Watch"),
    ...(layers > 1 || directions > 1 ? each(layers).map(layerGroup) : []),
    ...(heads ? [headGroup()] : []),
  );
  if (focused) /** @type {HTMLElement | null} */ (node.querySelector("[aria-pressed=true]"))?.focus();
}

/** @param {string} text */
const word = (text) => el("span", { class: "pv-way" }, text); // left out if there is no room

/** @param {Stack} stack */
const watchedOf = ({ layer, direction, head = 0 }) => ({ layer, direction, head });

/** @type {(one: Watched, other: Watched) => boolean} */
const same = (one, other) =>
  one.layer === other.layer && one.direction === other.direction && (one.head ?? 0) === (other.head ?? 0);

/**
 * Ask for the next head, or the first one of the next direction or layer, and after the last for the first.
 * @param {import("./player.js").Player} player
 */
export function watchNext(player) {
  const { stack } = player.movie,
    { onWatch } = player.options;
  if (player.ui.stack.hidden || !onWatch) return;
  const heads = Math.max(1, stack.heads ?? 0),
    ways = stack.directions * heads,
    next = (stack.layer * ways + stack.direction * heads + (stack.head ?? 0) + 1) % (stack.layers * ways);
  onWatch({
    layer: Math.floor(next / ways),
    direction: Math.floor((next % ways) / heads),
    head: next % heads,
  });
}
