// The player's place: on the page, in full screen, on paper, and whether its picture and its code are shown.

import { icon } from "./dom.js";
import { here, noteClick, noteCode, use } from "./keys.js";
import { SHORTCUTS } from "./shortcuts.js";

export class Screen {
  above = Number.NaN; // pixels of the page above the player

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
  }
  /** @param {AbortSignal} signal */
  listen(signal) {
    const { root } = this.player;
    document.addEventListener("pointerdown", (event) => this.press(event), { signal, capture: true });
    document.addEventListener(
      "fullscreenchange",
      () => this.fill(/** @type {any} */ (root.getRootNode()).fullscreenElement === root),
      { signal },
    );
    window.addEventListener("resize", () => this.fit(), { signal });
    // Paper has a different width: the picture is drawn for it, and afterwards for the window again.
    window.addEventListener("beforeprint", () => this.forPaper(true), { signal });
    window.addEventListener("afterprint", () => this.forPaper(false), { signal });
    const above = new ResizeObserver(() => this.fit()); // the content above it on the page changed its height
    for (const node of ancestors(root)) above.observe(node);
    signal.addEventListener("abort", () => above.disconnect());
    this.watchRatio();
    this.fit();
  }
  leave() {
    this.isolate(false);
  }
  get full() {
    return this.player.root.hasAttribute("data-full");
  }
  /** @param {boolean} on */
  fill(on) {
    this.player.root.toggleAttribute("data-full", on);
    this.isolate(on);
    const { fullButton } = this.player.ui;
    fullButton.setAttribute("aria-label", on ? "Leave full screen" : "Full screen");
    fullButton.replaceChildren(icon(on ? "less" : "full"));
    this.player.texts.name(fullButton);
    this.showCode();
    this.fit();
  }
  /**
   * Make everything behind a player that fills the window inert.
   * @param {boolean} on
   */
  isolate(on) {
    for (const node of this.behind ?? []) node.inert = false;
    const beside = (/** @type {HTMLElement} */ node) =>
      [...(node.parentNode?.children ?? [])].filter((each) => each !== node && !(/** @type {any} */ (each).inert));
    this.behind = /** @type {HTMLElement[]} */ (
      on ? [this.player.root, ...ancestors(this.player.root)].flatMap(beside) : []
    );
    for (const node of this.behind) node.inert = true;
  }
  toggleCode() {
    const where = this.full ? "full" : "page";
    noteCode(where, !here.code[where]);
    for (const player of here.players) player.screen.showCode();
    if (this.full && here.code.full) this.player.ui.side.scrollIntoView({ block: "nearest" }); // on a phone it is below
  }
  // In full screen the picture takes the place of the code, unless the code is requested.
  showCode() {
    const on = here.code[this.full ? "full" : "page"],
      label = on ? "Hide the code" : "Show the code";
    this.player.root.dataset.code = on ? "on" : "off";
    this.player.ui.codeButton.setAttribute("aria-label", label);
    this.player.texts.name(this.player.ui.codeButton);
    this.player.texts.markMore();
  }
  /** @returns {void} */
  fullscreen() {
    if (/** @type {any} */ (this.player.root.getRootNode()).fullscreenElement === this.player.root)
      return void document.exitFullscreen();
    const asked = this.full ? null : this.player.root.requestFullscreen?.();
    asked ? asked.catch(() => this.fill(true)) : this.fill(!this.full); // iPhones have no full screen: the player fills the window
  }
  /** @param {boolean} on */
  blank(on) {
    if (on !== this.player.ui.cover.hidden) return;
    this.player.ui.cover.hidden = !on;
    if (!on) return;
    this.player.clock.stop();
    this.player.pointer.pointAt(null);
    this.player.ui.live.textContent =
      this.player.ui.cover.textContent = `The picture is hidden. Press ${SHORTCUTS.blank.keys[0]} or take a step to show it again.`;
  }
  escape() {
    this.player.pointer.pointAt(null);
    this.player.ui.mean();
    const open = [this.player.ui.keys, this.player.ui.saving].filter((menu) => menu.open);
    for (const menu of open) menu.show(false);
    if (!open.length && this.full) this.fullscreen();
  }
  /** @param {Event} event */
  press(event) {
    noteClick();
    if (!(/** @type {any} */ (event.composedPath()[0]).matches?.("abbr"))) this.player.ui.mean();
    if (!event.composedPath().includes(this.player.ui.canvas)) this.player.pointer.pointAt(null);
    if (event.composedPath().includes(this.player.root)) use(this.player);
  }
  seen() {
    const { top, bottom, height } = this.player.ui.stageBox.getBoundingClientRect(),
      end = Math.min(bottom, innerHeight, this.player.ui.controls.getBoundingClientRect().top); // which may stick to the window's edge
    return Math.max(0, end - Math.max(top, 0)) / (Math.min(height, innerHeight) || 1);
  }
  // In a low window the controls are in sight before the picture is: who uses them sees all of it.
  reveal() {
    if (this.full || !this.is("--pv-low") || this.seen() > 0.9) return;
    this.look(this.player.still.matches ? "instant" : "smooth");
  }
  /** @param {boolean} on */
  forPaper(on) {
    this.player.root.toggleAttribute("data-print", on);
    this.player.tween.stop();
    this.player.picture.attempt(() => {
      this.player.picture.retheme();
      this.player.picture.resize();
    });
  }
  // Another screen or zoom level has a different pixel ratio.
  watchRatio() {
    const now = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`),
      { signal } = this.player.off;
    now.addEventListener(
      "change",
      () => {
        this.player.picture.attempt(() => this.player.picture.resize());
        this.watchRatio();
      },
      { signal, once: true },
    );
  }
  /**
   * Whether the style sheet finds the player narrow or the window low: the limits are there.
   * @param {"--pv-narrow" | "--pv-low"} name
   */
  is(name) {
    return Boolean(getComputedStyle(this.player.ui.body).getPropertyValue(name));
  }
  // Whether the question has to give way to the movie. It need not in a frame that follows the height of its content.
  get little() {
    return this.full || (!here.fits && (this.is("--pv-narrow") || this.is("--pv-low")));
  }
  // The player's position on the page decides how high its picture can be.
  fit() {
    const { root } = this.player;
    if (!this.full) {
      let above = root.getBoundingClientRect().top;
      for (const node of ancestors(root)) above += node.scrollTop;
      if (above !== this.above) root.style.setProperty("--pv-above", `${Math.round(above)}px`);
      this.above = above;
    }
    this.makeRoom();
  }
  // Pixels from the player's top to the end of its controls, which may stick to the window's edge.
  get bottom() {
    const { say, controls } = this.player.ui;
    return say.offsetTop + say.offsetHeight + controls.offsetHeight;
  }
  /**
   * Scroll to the player, and to the heading of its page if the window has room for both.
   * @param {ScrollBehavior} behavior
   */
  look(behavior = "instant") {
    const { root } = this.player;
    root.style.scrollMarginTop = this.above + this.bottom <= innerHeight ? `${this.above}px` : "";
    root.scrollIntoView({ block: "start", behavior });
  }
  // The picture has the height that all else in the window leaves it.
  makeRoom() {
    const { stageBox, asking } = this.player.ui;
    asking.fit(this.little, !this.little || this.is("--pv-narrow"));
    if (this.full) return;
    this.player.root.style.setProperty("--pv-around", `${this.bottom - stageBox.offsetHeight}px`);
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
