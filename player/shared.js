// What all players of a page share, however often this file is loaded: which there are, which was used last, and what is
// known of the page and its visitor. Others read `here`; it is changed only by the functions below.

const KEPT = "packviz single-key shortcuts"; // in localStorage: "off" if they are switched off
/** @type {any} */
const page = window;
/**
 * players: those on the page. last: the one that was used last. clicked: whether the page was clicked after the last Tab.
 * singles: whether keys of a single character are used. fits: whether the page is in a frame that follows the height of its
 * content. code: whether it is shown on the page, and in full screen.
 * @type {{ players: Set<import("./player.js").Player>, last: import("./player.js").Player, clicked: boolean, singles: boolean, fits: boolean, code: { page: boolean, full: boolean } }}
 */
export const here = page[Symbol.for("packviz")] ?? {
  players: new Set(),
  last: null,
  clicked: false,
  singles: remembered(),
  fits: false,
  code: { page: true, full: false },
};
page[Symbol.for("packviz")] = here;

function remembered() {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  } // a sandboxed frame has no storage
}
/** @param {import("./player.js").Player} player */
export function enter(player) {
  here.players.add(player);
}
/** @param {import("./player.js").Player} player */
export function leave(player) {
  here.players.delete(player);
  if (here.last === player) here.last = null;
}
/**
 * Note which player is used.
 * @param {import("./player.js").Player} player
 */
export function use(player) {
  here.last = player;
}
/**
 * Note that the page was clicked: then some of its elements leave the keys to the movie, until Tab is pressed.
 * @param {boolean} on
 */
export function noteClick(on) {
  here.clicked = on;
}
/**
 * Note whether the page is in a frame that follows the height of its content.
 * @param {boolean} fits
 */
export function noteFrame(fits) {
  here.fits = fits;
}
/**
 * Note whether the code is shown on the page, or in full screen.
 * @param {"page" | "full"} where
 * @param {boolean} on
 */
export function noteCode(where, on) {
  here.code[where] = on;
}
/**
 * Note whether keys of a single character are used, also on the visitor's other pages.
 * @param {boolean} singles
 */
export function noteSingles(singles) {
  here.singles = singles;
  try {
    singles ? localStorage.removeItem(KEPT) : localStorage.setItem(KEPT, "off");
  } catch {
    /* then it holds until the page is left */
  }
  for (const player of here.players) player.nameKeys();
}
