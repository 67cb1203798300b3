// The player as a notebook widget: its step and the picked cell are synchronized with the Python object.

import { painted } from "./colour.js";
import { mount } from "./mount.js";
import { decompressed } from "./page.js";
import { savingMenu } from "./saving.js";

const HEIGHT = "clamp(240px, 38vw, 520px)"; // of the picture: a notebook scrolls

/**
 * The background behind a node, also across shadow roots; none if nothing is painted there.
 * @param {any} node
 */
function ground(node) {
  for (let each = node; each; each = each.parentElement ?? each.getRootNode().host) {
    const [r, g, b, alpha] = painted(getComputedStyle(each).backgroundColor);
    if (alpha > 127) return `rgb(${r} ${g} ${b})`;
  }
  return "";
}

export const widget = {
  /** @param {{ model: any, el: HTMLElement }} place */
  async render({ model, el }) {
    el.dataset.lmSuppressShortcuts = "true"; // in JupyterLab: the player handles the keys pressed in it
    el.style.setProperty("--packviz-height", HEIGHT);
    const tell = (/** @type {string} */ name, /** @type {unknown} */ value) => {
      model.set(name, value);
      model.save_changes();
    };
    const player = mount(el, await decompressed(model.get("movie")), {
      step: model.get("step"),
      focused: true,
      saving: savingMenu,
      onStep: (step) => tell("step", step),
      onPick: (picked) => tell("picked", picked),
    });
    player.pointer.choose(model.get("picked"));
    const follow = () => player.go(model.get("step")),
      choose = () => player.pointer.choose(model.get("picked"));
    model.on("change:step", follow);
    model.on("change:picked", choose);
    const retheme = () => {
      el.style.setProperty("--st-background-color", ground(el.parentElement));
      player.retheme();
    };
    const themes = new MutationObserver(retheme),
      sizes = new ResizeObserver(retheme); // also once it is in the page
    sizes.observe(el);
    for (const node of [document.documentElement, document.body]) themes.observe(node, { attributes: true });
    return () => {
      themes.disconnect();
      sizes.disconnect();
      model.off("change:step", follow);
      model.off("change:picked", choose);
      player.destroy();
    };
  },
};
