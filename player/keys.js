// Which player a key is for, and which elements of the page use it themselves.

import { here, noteClick } from "./shared.js";
import { shortcutOf } from "./shortcuts.js";

/** @param {string[]} names */
const roles = (...names) => names.map((name) => `[role=${name}]`).join(", ");
/** Elements that use the arrow keys themselves, and those that do unless just clicked; then the movie gets the keys. */
const NEEDS_KEYS = `input:not([type=button], [type=checkbox], [type=file], [type=image], [type=reset], [type=submit]), textarea, select, dialog, audio, video, canvas,
  [contenteditable]:not([contenteditable=false]), ${roles("alertdialog", "combobox", "dialog", "grid", "listbox", "menu", "menubar", "scrollbar", "searchbox", "slider")},
  ${roles("spinbutton", "tablist", "textbox", "tree", "treegrid")}`;
const NEEDS_KEYS_UNLESS_CLICKED = roles("radiogroup", "toolbar");
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
 * @param {import("./player.js").Player} player
 * @param {KeyboardEvent} event
 */
export function steer(player, event) {
  const { key } = event,
    path = event.composedPath(),
    inside = path.indexOf(player.root),
    single = key.length === 1 && key !== " ";
  if (key === "Tab") noteClick(false);
  if (
    event.defaultPrevented ||
    event.isComposing ||
    event.altKey ||
    event.ctrlKey ||
    event.metaKey ||
    steered(path) !== player
  )
    return;
  const onRange = player.controls.isSlider(path[0]);
  if (!onRange && path.slice(0, inside < 0 ? path.length : inside).some(needsKeys)) return;
  if ((single && !here.singles) || (onRange && /^(Arrow|Home|End)/.test(key))) return;
  if (inside < 0 && !player.screen.full && !key.startsWith("Arrow") && player.screen.seen() < 0.5) return; // the key scrolls the page
  const onButton = /** @type {any} */ (path[0]).matches?.(
    "button, input, summary, [role=button], [role=switch], [role=checkbox], [role=radio]",
  );
  const name = key === " " ? "Space" : single ? key.toUpperCase() : key,
    shortcut = shortcutOf(player, name, onButton);
  if (!shortcut || (event.shiftKey && !shortcut.shift)) return;
  event.preventDefault();
  event.stopPropagation();
  if (!shortcut.blanks) player.screen.blank(false);
  shortcut.run(player, name);
}
