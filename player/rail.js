// What is above the picture: the stages, the switch of what the run shows, and notes on what is left out.

/** @import { Stage } from "./types" */

import { el } from "./dom.js";
import { StackSwitch } from "./stack.js";

export class Rail {
  #stages = el("ol");
  #notes = el("p", { class: "pv-notes" });

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.stack = new StackSwitch(player);
    const nav = el("nav", { class: "pv-stages", "aria-label": "Stages" }, this.#stages);
    this.root = el("div", { class: "pv-rail" }, nav, this.stack.root, this.#notes);
  }
  load() {
    const { movie, stages } = this.player;
    this.#stages.replaceChildren(...[...stages].map(([stage, first], i) => this.#item(stage, first, i + 1)));
    this.stack.load();
    this.#notes.textContent = movie.notes.join(" · ");
    this.#notes.hidden = !movie.notes.length;
  }
  showStep() {
    const { stage } = this.player.now,
      stages = [...this.player.stages.keys()];
    for (const node of this.#stages.querySelectorAll("button")) {
      node.ariaCurrent = node.dataset.stage === stage ? "step" : null;
      node.toggleAttribute("data-done", stages.indexOf(node.dataset.stage) < stages.indexOf(stage));
    }
  }
  /**
   * @param {Stage} stage
   * @param {number} first its first step
   * @param {number} number
   */
  #item(stage, first, number) {
    const { player } = this,
      name = player.movie.stages[stage];
    const node = el(
      "button",
      { type: "button", "data-stage": stage, title: name, "aria-keyshortcuts": number },
      el("span", {}, `${number} `),
      name,
    );
    node.addEventListener("click", ({ detail }) => {
      player.go(first);
      if (detail) player.root.focus({ preventScroll: true }); // after a click with a pointer, Space plays
    });
    return el("li", {}, node);
  }
}
