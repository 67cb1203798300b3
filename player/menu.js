// A menu above the controls, opened by its button, and the one of the keys. A menu alone decides when it is open.

/** @import { Shortcut } from "./types" */

import { el } from "./dom.js";
import { SHORTCUTS, spelled } from "./shortcuts.js";

export class Menu {
  #toggle;
  #panel;

  /**
   * @param {HTMLElement} toggle the button
   * @param {string} name
   * @param {string} kind
   * @param {(Node | string)[]} content
   */
  constructor(toggle, name, kind, content) {
    this.#toggle = toggle;
    this.#panel = el(
      "div",
      { class: "pv-menu", role: "group", "aria-label": name, tabindex: -1, hidden: "" },
      ...content,
    );
    this.root = el("div", { class: `pv-menued ${kind}` }, toggle, this.#panel);
    toggle.setAttribute("aria-expanded", "false");
    toggle.addEventListener("click", () => this.show(!this.open));
    this.root.addEventListener("focusout", ({ relatedTarget }) => {
      if (!this.root.contains(/** @type {Node} */ (relatedTarget))) this.show(false);
    });
  }
  get open() {
    return !this.#panel.hidden;
  }
  /** @param {boolean} on */
  show(on) {
    if (on === this.open) return;
    const inside = this.#panel.contains(/** @type {ShadowRoot} */ (this.root.getRootNode()).activeElement);
    this.#panel.hidden = !on;
    this.#toggle.setAttribute("aria-expanded", String(on));
    if (on) this.#panel.focus({ preventScroll: true });
    else if (inside) this.#toggle.focus({ preventScroll: true });
  }
}

/**
 * The list of all keys, and the box that says whether those of one letter are used.
 * @param {HTMLElement} toggle
 * @param {HTMLInputElement} singles
 */
export function keysMenu(toggle, singles) {
  const rows = [];
  for (const { keys, listed = keys, does, beside } of /** @type {Shortcut[]} */ (Object.values(SHORTCUTS))) {
    if (!does) continue;
    if (!beside) rows.push(el("dt"), el("dd"));
    const [dt, dd] = rows.slice(-2);
    dt.append(...listed.flatMap((key) => [el("kbd", {}, spelled(key)), " "]));
    dd.append(beside ? `, ${does}` : does);
  }
  return new Menu(toggle, "Keys", "pv-keys", [
    el("dl", {}, ...rows),
    el("label", {}, singles, "Use keys of a single character"),
  ]);
}
