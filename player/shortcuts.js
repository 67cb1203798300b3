// The keys of the player: what each does, and how it is spelled. Buttons, menus and titles read it here.

/** @import { Shortcut } from "./types" */

import { here } from "./shared.js";

/** @type {Shortcut["run"]} */
const toggleBlank = ({ screen }) => screen.blank(!screen.blanked);

/**
 * In the order of the menu, keys by their names in `aria-keyshortcuts`.
 * @satisfies {Record<string, Shortcut>}
 */
export const SHORTCUTS = {
  next: {
    keys: ["ArrowRight", "PageDown"], // the page keys are sent by a presenter's remote, and elsewhere scroll the page
    does: "one step forward",
    run: (player) => player.next(),
    when: ({ screen, step, steps }, key) => key !== "PageDown" || screen.full || step < steps,
  },
  back: {
    keys: ["ArrowLeft", "PageUp"],
    does: "one step back",
    run: (player) => player.back(),
    when: ({ screen, step }, key) => key !== "PageUp" || screen.full || step > 1,
  },
  first: { keys: ["Home"], does: "the first step", run: (player) => player.go(1) },
  last: { keys: ["End"], does: "the last step", beside: true, run: (player) => player.go(player.steps) },
  play: {
    keys: ["Space"],
    does: "play or pause",
    run: ({ clock }) => clock.toggle(),
    when: (_player, _key, onButton) => !onButton, // which it presses
  },
  stage: {
    keys: [..."123456789"],
    listed: ["1", "2", "…"],
    shift: true, // where digits need it
    does: "a stage",
    run: (player, key) => player.go([...player.stages.values()][Number(key) - 1]),
    when: ({ stages }, key) => Number(key) <= stages.size,
  },
  nextToken: {
    keys: ["."],
    shift: true, // where a full stop needs it
    does: "the next token",
    run: ({ pointer }) => pointer.walk(1),
    when: ({ screen }) => !screen.full,
  },
  previousToken: {
    keys: [","],
    does: "the previous token, in packed order",
    beside: true,
    run: ({ pointer }) => pointer.walk(-1),
  },
  full: { keys: ["F"], shift: true, does: "full screen", run: ({ screen }) => screen.fullscreen() },
  code: { keys: ["C"], does: "show or hide the code", run: ({ screen }) => screen.toggleCode() },
  watch: {
    keys: ["L"],
    does: "the next layer, direction or head, if there are several",
    run: ({ rail }) => rail.stack.next(),
    when: ({ movie }) => Boolean(movie.stack),
  },
  blank: { keys: ["B"], shift: true, does: "hide the picture", run: toggleBlank, blanks: true },
  remoteBlank: { keys: ["."], shift: true, run: toggleBlank, blanks: true, when: ({ screen }) => screen.full },
  keys: { keys: ["?"], shift: true, does: "these keys", run: ({ controls: { keys } }) => keys.show(!keys.open) },
  escape: {
    keys: ["Escape"],
    run: ({ screen }) => screen.escape(),
    when: ({ screen, pointer, meaning, controls }) =>
      screen.full || screen.blanked || pointer.tip.open || meaning.open || controls.open,
  },
};

/** @type {Record<string, string>} */
const SPELLED = { ArrowLeft: "←", ArrowRight: "→", PageUp: "Page Up", PageDown: "Page Down" };
/** How a key is spelled on the screen. */
export const spelled = (/** @type {string} */ key) => SPELLED[key] ?? key;

/**
 * What a key does in a player now, if anything.
 * @param {import("./player.js").Player} player
 * @param {string} key by its name in `aria-keyshortcuts`
 * @param {boolean} onButton whether a button has the focus
 * @returns {Shortcut | undefined}
 */
export const shortcutOf = (player, key, onButton) =>
  Object.values(SHORTCUTS).find(
    (/** @type {Shortcut} */ { keys, when }) => keys.includes(key) && (!when || when(player, key, onButton)),
  );

/** Whether there are keys to press, as far as the browser says. */
export const hasKeys = () => !matchMedia("(hover: none) and (pointer: coarse)").matches;

/**
 * Say in the title of a button which keys do the same.
 * @param {HTMLElement} node
 */
export function titled(node) {
  const name = node.ariaLabel ?? node.lastChild.textContent,
    keys = node.getAttribute("aria-keyshortcuts"),
    usable = keys && hasKeys() && (here.singles || keys.length > 1);
  node.title = usable ? `${name} (${keys.split(" ").map(spelled).join(" or ")})` : name;
}
