// Which player a key is for, and which elements of the page use it themselves. What a key does is in shortcuts.js.

import { here, noteClick } from "./shared.js";
import { shortcutOf } from "./shortcuts.js";

/** @param {string[]} names */
const roles = (...names) => names.map((name) => `[role=${name}]`).join(", ");
/** Elements that use the arrow keys themselves, and those that do unless just clicked; then the movie gets the keys. */
const NEEDS_KEYS = `input:not([type=button], [type=checkbox], [type=file], [type=image], [type=reset], [type=submit]), textarea, select, dialog, audio, video, canvas,
  [contenteditable]:not([contenteditable=false]), ${roles("alertdialog", "combobox", "dialog", "grid", "listbox", "menu", "menubar", "scrollbar", "searchbox", "slider")},
  ${roles("spinbutton", "tablist", "textbox", "tree", "treegrid")}`;
const NEEDS_KEYS_UNLESS_CLICKED = roles("radiogroup", "toolbar");
/** Elements that are pressed with Space. */
const BUTTONS = "button, input, summary, [role=button], [role=switch], [role=checkbox], [role=radio]";
const MOSTLY = 0.5; // the share of a picture in sight from which keys that scroll the page are for it
/** @param {any} node */
const needsKeys = (node) => node.matches?.(NEEDS_KEYS) || (!here.clicked && node.matches?.(NEEDS_KEYS_UNLESS_CLICKED));

/**
 * The player that a key is for: the one with the focus, else the one in full screen, else the one used last, else the one
 * most in view; none if all of them wait for the focus.
 * @param {EventTarget[]} path
 * @returns {import("./player.js").Player | undefined}
 */
function steered(path) {
  const players = [...here.players].filter(({ root, options }) => !options.focused || path.includes(root)),
    seen = new Map(players.map((player) => [player, player.screen.seen()]));
  return (
    players.find(({ root }) => path.includes(root)) ??
    players.find(({ screen }) => screen.full) ??
    (seen.get(here.last) ? here.last : null) ??
    players.reduce((best, other) => (seen.get(other) > seen.get(best) ? other : best), players[0])
  );
}

/**
 * Whether a player takes a key from where it was pressed: no element there uses it, and it does not scroll the page.
 * @param {import("./player.js").Player} player
 * @param {string} key
 * @param {EventTarget[]} path
 */
function takes(player, key, path) {
  const inside = path.indexOf(player.root),
    onSlider = player.controls.isSlider(path[0]);
  if (onSlider && /^(Arrow|Home|End)/.test(key)) return false;
  if (!onSlider && path.slice(0, inside < 0 ? path.length : inside).some(needsKeys)) return false;
  return inside >= 0 || player.screen.full || key.startsWith("Arrow") || player.screen.seen() >= MOSTLY;
}

/**
 * Do in a player what a key does, if it is for this player.
 * @param {import("./player.js").Player} player
 * @param {KeyboardEvent} event
 */
export function steer(player, event) {
  const { key } = event,
    path = event.composedPath(),
    single = key.length === 1 && key !== " ";
  if (key === "Tab") noteClick(false);
  if (event.defaultPrevented || event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
  if ((single && !here.singles) || steered(path) !== player || !takes(player, key, path)) return;
  const onButton = /** @type {any} */ (path[0]).matches?.(BUTTONS),
    name = key === " " ? "Space" : single ? key.toUpperCase() : key,
    shortcut = shortcutOf(player, name, onButton);
  if (!shortcut || (event.shiftKey && !shortcut.shift)) return;
  event.preventDefault();
  event.stopPropagation();
  if (!shortcut.blanks) player.screen.blank(false);
  shortcut.run(player, name);
}
