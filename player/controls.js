// The row of controls below the caption: what moves the player from step to step, what changes the view, and the menus.

import { button, el, icon } from "./dom.js";
import { keysMenu } from "./menu.js";
import { here, noteSingles } from "./shared.js";
import { SHORTCUTS, titled } from "./shortcuts.js";

const SPEEDS = [0.5, 1, 2, 4];

/**
 * A button with an icon, for what some keys do as well.
 * @param {import("./player.js").Player} player
 * @param {keyof typeof SHORTCUTS} name also of its icon
 * @param {string} label
 * @param {string} [kind]
 */
const control = (player, name, label, kind = "") =>
  button(icon(name), () => SHORTCUTS[name].run(player, ""), {
    "aria-label": label,
    title: label,
    class: kind,
    "aria-keyshortcuts": SHORTCUTS[name].keys.join(" "),
  });

/**
 * @param {HTMLElement} node a button
 * @param {string} label
 * @param {string} [sign] the name of its icon, if that changes
 */
function relabel(node, label, sign) {
  node.setAttribute("aria-label", label);
  if (sign) node.replaceChildren(icon(sign));
  titled(node);
}

export class Controls {
  #range = el("input", { type: "range", min: "1", step: "1", "aria-label": "Step" });
  #count = el("span");
  #first;
  #back;
  #play;
  #next;
  #last;
  #code;
  #full;
  #menus;
  #singles = el("input", { type: "checkbox", "aria-label": "Single-key shortcuts" });

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.#first = control(player, "first", "First step", "pv-end");
    this.#back = control(player, "back", "Step back");
    this.#play = control(player, "play", "Play", "pv-play");
    this.showPlaying(false);
    this.#next = control(player, "next", "Step forward");
    this.#last = control(player, "last", "Last step", "pv-end");
    this.#code = control(player, "code", "Code", "pv-tocode");
    this.#code.append(el("span", {}, "Code")); // in full screen, where the code is hidden at first
    this.#full = control(player, "full", "Full screen");
    this.#full.addEventListener("click", ({ detail }) => {
      if (detail) player.root.focus({ preventScroll: true }); // after a click with a pointer, Space plays
    });
    this.#range.addEventListener("input", () => player.go(Number(this.#range.value)));
    const keysButton = button("?", () => {}, {
      "aria-label": "Keys",
      "aria-keyshortcuts": SHORTCUTS.keys.keys.join(" "),
    });
    const { saving } = player.options;
    this.keys = keysMenu(keysButton, this.#singles);
    this.#menus = saving ? [saving(player), this.keys] : [this.keys];
    this.#singles.addEventListener("change", () => noteSingles(this.#singles.checked));
    this.root = this.#row();
  }
  #row() {
    const scrub = el("div", { class: "pv-scrub" }, this.#range),
      count = el("span", { class: "pv-count" }, this.#count),
      steps = [this.#first, this.#back, this.#play, this.#next, this.#last, scrub, count, this.#pace()],
      view = [this.#code, ...this.#menus.map(({ root }) => root), this.#full];
    return el("div", { class: "pv-transport" }, ...steps, ...view);
  }
  #pace() {
    const speeds = SPEEDS.map((s) => el("option", { value: s, ...(s === 1 ? { selected: "" } : {}) }, `${s}×`)),
      pace = el("select", { "aria-label": "Speed", title: "Speed" }, ...speeds);
    pace.addEventListener("change", () => this.player.clock.pace(Number(pace.value)));
    return pace;
  }

  load() {
    const { steps } = this.player;
    this.#range.max = String(steps);
    this.#count.style.minWidth = `${2 * String(steps).length + 2}ch`;
  }
  showStep() {
    const { step, steps, movie, now } = this.player;
    this.#range.value = String(step);
    this.#range.setAttribute("aria-valuetext", `step ${step} of ${steps}, ${movie.stages[now.stage]}`);
    this.#count.textContent = `${step} / ${steps}`;
    this.#first.disabled = this.#back.disabled = step === 1;
    this.#next.disabled = this.#last.disabled = step === steps;
  }
  /** @param {boolean} playing */
  showPlaying(playing) {
    const name = playing ? "Pause" : "Play";
    relabel(this.#play, name, playing ? "pause" : "play");
    this.#play.append(el("span", {}, name));
  }
  /** @param {boolean} full */
  showFull(full) {
    relabel(this.#full, full ? "Leave full screen" : "Full screen", full ? "less" : "full");
  }
  /** @param {boolean} on */
  showCode(on) {
    relabel(this.#code, on ? "Hide the code" : "Show the code");
  }
  showSingles() {
    this.#singles.checked = here.singles;
  }
  /**
   * Whether it is the slider, which uses some keys itself.
   * @param {EventTarget} node
   */
  isSlider(node) {
    return node === this.#range;
  }
  /** Whether a menu is open. */
  get open() {
    return this.#menus.some(({ open }) => open);
  }
  closeMenus() {
    for (const menu of this.#menus) menu.show(false);
  }
}
