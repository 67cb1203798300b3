// How the player is shown: on the page, in full screen or on paper, with its code or without, its picture hidden or not; and
// how much of it is in sight.

import { el } from "./dom.js";
import { here, noteClick, noteCode, use } from "./shared.js";
import { SHORTCUTS } from "./shortcuts.js";

const WHOLE = 0.9, // the share of the picture in sight that is nearly all of it
  ROUNDED = 1; // pixels: at most the error of a sum of rounded heights

export class Screen {
  /** All of the player but what lies over it. */
  body = el("div", { class: "pv-body" });
  /** It hides the picture. */
  cover = el("div", { class: "pv-blank", hidden: "" });
  #keeps = false; // whether the page keeps its place if the picture is in sight
  #above = Number.NaN; // pixels of the page above the player
  /** @type {HTMLElement[]} */
  #behind = []; // what is inert while the player fills the window
  #root;

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.#root = player.root;
    this.cover.addEventListener("click", () => this.blank(false));
  }
  /** @param {AbortSignal} signal */
  listen(signal) {
    const root = this.#root;
    document.addEventListener("pointerdown", (event) => this.#press(event), { signal, capture: true });
    document.addEventListener(
      "fullscreenchange",
      () => this.fill(/** @type {any} */ (root.getRootNode()).fullscreenElement === root),
      { signal },
    );
    window.addEventListener("resize", () => this.fit(), { signal });
    // Paper has a different width: the picture is drawn for it, and afterwards for the window again.
    window.addEventListener("beforeprint", () => this.#forPaper(true), { signal });
    window.addEventListener("afterprint", () => this.#forPaper(false), { signal });
    const above = new ResizeObserver(() => this.fit()); // the content above it on the page changed its height
    for (const node of ancestors(root)) above.observe(node);
    signal.addEventListener("abort", () => above.disconnect());
    this.#watchRatio(signal);
    this.fit();
  }
  leave() {
    this.#isolate(false);
  }
  get full() {
    return this.#root.hasAttribute("data-full");
  }
  /** @param {boolean} on */
  fill(on) {
    this.#root.toggleAttribute("data-full", on);
    this.#isolate(on);
    this.player.controls.showFull(on);
    this.showCode();
    this.fit();
  }
  /**
   * Make everything behind a player that fills the window inert.
   * @param {boolean} on
   */
  #isolate(on) {
    for (const node of this.#behind) node.inert = false;
    const beside = (/** @type {HTMLElement} */ node) =>
      [...(node.parentNode?.children ?? [])].filter((each) => each !== node && !(/** @type {any} */ (each).inert));
    this.#behind = /** @type {HTMLElement[]} */ (on ? [this.#root, ...ancestors(this.#root)].flatMap(beside) : []);
    for (const node of this.#behind) node.inert = true;
  }
  toggleCode() {
    const where = this.full ? "full" : "page";
    noteCode(where, !here.code[where]);
    for (const player of here.players) player.screen.showCode();
    if (this.full && here.code.full) this.player.program.root.scrollIntoView({ block: "nearest" }); // on a phone it is below
  }
  // In full screen the picture takes the place of the code, unless the code is requested.
  showCode() {
    const on = here.code[this.full ? "full" : "page"];
    this.player.note({ code: on ? "on" : "off" });
    this.player.controls.showCode(on);
    this.player.program.markMore();
  }
  /** @returns {void} */
  fullscreen() {
    if (/** @type {any} */ (this.#root.getRootNode()).fullscreenElement === this.#root)
      return void document.exitFullscreen();
    const asked = this.full ? null : this.#root.requestFullscreen?.();
    asked ? asked.catch(() => this.fill(true)) : this.fill(!this.full); // iPhones have no full screen: the player fills the window
  }
  /** Whether the picture is hidden. */
  get blanked() {
    return !this.cover.hidden;
  }
  /** @param {boolean} on */
  blank(on) {
    if (on === this.blanked) return;
    this.cover.hidden = !on;
    if (!on) return;
    this.player.clock.stop();
    this.player.pointer.pointAt(null);
    this.cover.textContent = `The picture is hidden. Press ${SHORTCUTS.blank.keys[0]} or take a step to show it.`;
    this.player.announce(this.cover.textContent);
  }
  escape() {
    const { pointer, meaning, controls } = this.player,
      { open } = controls;
    pointer.pointAt(null);
    meaning.hide();
    controls.closeMenus();
    if (!open && this.full) this.fullscreen();
  }
  /** @param {Event} event */
  #press(event) {
    const path = event.composedPath();
    noteClick(true);
    if (!(/** @type {any} */ (path[0]).matches?.("abbr"))) this.player.meaning.hide();
    if (!path.includes(this.player.picture.canvas)) this.player.pointer.pointAt(null);
    if (path.includes(this.#root)) use(this.player);
  }
  /** The share of the picture that is in sight. */
  seen() {
    const { picture, controls } = this.player,
      { top, bottom, height } = picture.root.getBoundingClientRect(),
      end = Math.min(bottom, innerHeight, controls.root.getBoundingClientRect().top); // which may stick to the window's edge
    return Math.max(0, end - Math.max(top, 0)) / (Math.min(height, innerHeight) || 1);
  }
  /** Whether the picture is in sight, all of it or nearly so. */
  get inSight() {
    return this.seen() > WHOLE;
  }
  /**
   * Scroll so that who uses the controls sees all of the picture. In a low window they are in sight before it is. On a phone
   * the player is as high as the window from then on.
   * @param {ScrollBehavior} [behavior]
   * @returns {boolean} whether it scrolls
   */
  reveal(behavior = this.player.still.matches ? "instant" : "smooth") {
    if (
      this.full ||
      (this.#keeps && this.inSight && 2 * this.player.picture.height > innerHeight) || // below an answer it may be small
      !(this.#rise() || (this.is("--pv-low") && !this.inSight))
    )
      return false;
    this.look(behavior);
    return true;
  }
  /**
   * Set off the movie, and bring the picture into sight if it is not there.
   * @param {() => void} set
   */
  keepPlace(set) {
    this.#keeps = true;
    set();
    if (!this.reveal() && !this.inSight) this.player.picture.root.scrollIntoView({ block: "nearest" });
    this.#keeps = false;
  }
  // On an upright phone a page that has been scrolled stays where it is, unless the caption is below the window's end.
  #rise() {
    const root = this.#root,
      side = this.is("--pv-side"), // there the window is low
      risen = root.hasAttribute("data-risen"),
      cut = risen && root.getBoundingClientRect().top + this.bottom > innerHeight + ROUNDED;
    if (here.fits || !this.is("--pv-phone") || !(this.#atTop || cut || side)) return false;
    root.toggleAttribute("data-risen", true);
    if (!risen) this.player.picture.attempt(() => this.player.picture.resize());
    return !side;
  }
  // Another movie, seen from the top of the page, is whole there.
  sink() {
    const root = this.#root;
    if (root.hasAttribute("data-risen") && this.#atTop) root.removeAttribute("data-risen");
  }
  get #atTop() {
    return ancestors(this.#root).every(({ scrollTop }) => scrollTop <= 0);
  }
  /** @param {boolean} on */
  #forPaper(on) {
    this.#root.toggleAttribute("data-print", on);
    this.player.tween.stop();
    this.player.picture.attempt(() => {
      this.player.picture.retheme();
      this.player.picture.resize();
    });
  }
  /**
   * Another screen or zoom level has a different pixel ratio.
   * @param {AbortSignal} signal
   */
  #watchRatio(signal) {
    const now = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    now.addEventListener(
      "change",
      () => {
        this.player.picture.attempt(() => this.player.picture.resize());
        this.#watchRatio(signal);
      },
      { signal, once: true },
    );
  }
  /**
   * Whether the style sheet finds the player narrow or the window low: the limits are there.
   * @param {"--pv-narrow" | "--pv-low" | "--pv-phone" | "--pv-side"} name
   */
  is(name) {
    return Boolean(getComputedStyle(this.body).getPropertyValue(name));
  }
  // Whether the question has to give way to the movie. It need not in a frame that follows the height of its content.
  get little() {
    return this.full || (!here.fits && (this.is("--pv-narrow") || this.is("--pv-low")));
  }
  // The player's position on the page decides how high its picture can be.
  fit() {
    const root = this.#root;
    if (!this.full) {
      let above = root.getBoundingClientRect().top;
      for (const node of ancestors(root)) above += node.scrollTop;
      if (above !== this.#above) root.style.setProperty("--pv-above", `${Math.round(above)}px`);
      this.#above = above;
    }
    this.makeRoom();
  }
  // Pixels from the player's top to the end of its controls, which may stick to the window's edge.
  get bottom() {
    const { caption, controls } = this.player;
    return caption.root.offsetTop + caption.root.offsetHeight + controls.root.offsetHeight;
  }
  /**
   * Scroll to the player, and to the heading of its page if the window has room for both.
   * @param {ScrollBehavior} behavior
   */
  look(behavior = "instant") {
    const root = this.#root;
    root.style.scrollMarginTop = this.#above + this.bottom < innerHeight + ROUNDED ? `${this.#above}px` : "";
    root.scrollIntoView({ block: "start", behavior });
  }
  // The picture has the height that all else in the window leaves it.
  makeRoom() {
    const { question, picture, caption } = this.player,
      narrow = this.is("--pv-narrow");
    if (narrow) caption.reserve();
    question.fit(this.little, narrow);
    if (this.full) return;
    this.#root.style.setProperty("--pv-around", `${this.bottom - picture.root.offsetHeight}px`);
  }
}

/**
 * All ancestor elements of a node, also across shadow roots.
 * @param {HTMLElement} node
 */
function ancestors(node) {
  /** @type {HTMLElement[]} */
  const found = [];
  /** @type {any} */
  let each = node;
  while ((each = each.parentElement ?? each.getRootNode().host)) found.push(each);
  return found;
}
