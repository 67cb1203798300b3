// The texts around the picture: the stages, the code with its current line, and the caption of the step.

/** @import { CodeLine, Stage } from "./types" */

import { el } from "./dom.js";
import { hasKeys, here } from "./keys.js";
import { spelled } from "./shortcuts.js";
import { showStack } from "./stack.js";
import { explained } from "./terms.js";

const FADE = 34; // pixels of the side panel that "more" covers

export class Texts {
  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
  }
  /** @param {AbortSignal} signal */
  listen(signal) {
    this.player.ui.side.addEventListener("scroll", () => this.markMore(), { signal });
  }
  // The texts that stay as they are from the first step to the last.
  load() {
    const { movie, steps, firstSteps, root, ui } = this.player;
    root.setAttribute("aria-label", `packviz player: ${movie.title}`);
    ui.stages.replaceChildren(...[...firstSteps].map(([stage, first], i) => this.railItem(stage, first, i)));
    showStack(this.player);
    ui.notes.textContent = movie.notes.join(" · ");
    ui.notes.hidden = !movie.notes.length;
    ui.code.replaceChildren(...movie.code.map((line) => this.codeItem(line)));
    ui.proof.textContent = (movie.exact ? "✓ " : "") + movie.proof;
    ui.proof.dataset.exact = String(movie.exact);
    ui.range.max = String(steps);
    ui.count.style.minWidth = `${2 * String(steps).length + 2}ch`;
  }
  /** @param {boolean} moved */
  showStep(moved) {
    const { stage, code, detail = [], tone, error } = this.player.movie.steps[this.player.step - 1];
    const { dataset } = this.player.root,
      newStage = dataset.stage !== stage;
    Object.assign(dataset, { step: this.player.step, stage });
    this.writeCaption();
    this.player.ui.say.dataset.tone = tone ?? "";
    this.player.ui.error.hidden = !error;
    this.player.ui.error.textContent = error ?? "";
    const last = [...this.player.firstSteps.keys()].at(-1);
    this.player.ui.proof.style.visibility = stage === last ? "" : "hidden"; // before, not all that it names has run
    for (const way of this.player.ui.onward) way.hidden = this.player.step !== this.player.steps;
    this.player.screen.makeRoom();
    this.player.ui.range.value = String(this.player.step);
    this.player.ui.range.setAttribute(
      "aria-valuetext",
      `step ${this.player.step} of ${this.player.steps}, ${this.player.movie.stages[stage]}`,
    );
    this.player.ui.count.textContent = `${this.player.step} / ${this.player.steps}`;
    this.player.ui.firstButton.disabled = this.player.ui.backButton.disabled = this.player.step === 1;
    this.player.ui.nextButton.disabled = this.player.ui.lastButton.disabled = this.player.step === this.player.steps;
    const stages = [...this.player.firstSteps.keys()];
    for (const node of this.player.ui.stages.querySelectorAll("button")) {
      const here = node.dataset.stage === stage;
      here ? node.setAttribute("aria-current", "step") : node.removeAttribute("aria-current");
      node.toggleAttribute("data-done", stages.indexOf(node.dataset.stage) < stages.indexOf(stage));
    }
    [...this.player.ui.code.children].forEach((node, i) => {
      i === code ? node.setAttribute("aria-current", "true") : node.removeAttribute("aria-current");
      /** @type {HTMLElement} */ (node.lastChild).style.visibility =
        i > code || (i === code && this.player.step === 1 && this.player.steps > 1) ? "hidden" : ""; // not computed yet
    });
    this.player.ui.detail.replaceChildren(...detail.map((line) => this.codeItem(line)));
    if (moved) this.scrollCode();
    this.markMore();
    const spoken = `${this.player.ui.caption.textContent} ${error ?? ""}`.trim();
    this.player.picture.canvas.setAttribute(
      "aria-label",
      `${this.player.movie.title}. Step ${this.player.step} of ${this.player.steps}, ${this.player.movie.stages[stage]}. ${spoken}`,
    );
    if (moved && (!this.player.clock.playing || newStage)) this.player.ui.live.textContent = spoken;
    if (moved) this.player.options.onStep?.(this.player.step, stage);
  }
  /**
   * Scroll the code so that what this step runs is in view, and so is the statement that it belongs to. A whole statement
   * is at the top, so below the last line there is as much room as that takes.
   */
  scrollCode() {
    const { side, detail, code, proof } = this.player.ui,
      statement = code.querySelector("[aria-current]");
    if (!statement) return;
    const start = side.getBoundingClientRect().top - side.scrollTop,
      last = (detail.children.length ? detail : statement).getBoundingClientRect().bottom - start + FADE,
      tops = [...code.children].map((node) => node.getBoundingClientRect().top - start),
      above = tops.slice(0, [...code.children].indexOf(statement) + 1), // of the statement and those before it
      least = last - side.clientHeight;
    const top = least > 0 ? (above.find((top) => top >= least) ?? above.at(-1)) : 0;
    proof.style.marginBottom = "";
    const short = top + side.clientHeight - side.scrollHeight;
    if (short > 0) proof.style.marginBottom = `${short}px`;
    side.scrollTop = top;
  }
  // Show whether the code continues below its visible part.
  markMore() {
    const { scrollTop, scrollHeight, clientHeight } = this.player.ui.side;
    this.player.ui.side.toggleAttribute("data-more", scrollTop + clientHeight < scrollHeight - 4);
  }
  writeCaption() {
    const root = /** @type {Document | ShadowRoot} */ (this.player.root.getRootNode());
    if (this.player.ui.say.contains(root.activeElement)) this.player.root.focus({ preventScroll: true }); // the focused element is removed
    const parts = this.player.movie.steps[this.player.step - 1].caption
      .replaceAll(" %", "\u00a0%")
      .split(/(\{[A-Z]+\}[^\s*{]*|\*\*.+?\*\*)/); // no line begins with the comma after a letter
    this.player.ui.caption.replaceChildren(
      ...parts.flatMap((part) => {
        if (part.startsWith("**")) return el("strong", {}, ...explained(part.slice(2, -2)));
        const found = /^\{([A-Z]+)\}(.*)$/.exec(part),
          seq = found && this.player.movie.sequences.find(([label]) => label === found[1]);
        if (!seq) return explained(part);
        const hue = this.player.picture.theme.hues[seq[1]];
        const chip = el("span", { class: "pv-chip", style: `background:${hue.fill};color:${hue.text}` }, seq[0]);
        return el("span", { class: "pv-chipped" }, chip, found[2]);
      }),
    );
  }
  /**
   * @param {Stage} stage
   * @param {number} first
   * @param {number} i
   */
  railItem(stage, first, i) {
    const node = el(
      "button",
      { type: "button", "data-stage": stage, title: this.player.movie.stages[stage], "aria-keyshortcuts": i + 1 },
      el("span", {}, `${i + 1} `),
      this.player.movie.stages[stage],
    );
    node.addEventListener("click", ({ detail }) => {
      this.player.go(first);
      if (detail) this.player.root.focus({ preventScroll: true }); // after a click with a pointer, Space plays
    });
    return el("li", {}, node);
  }
  /** @param {CodeLine} line */
  codeItem([text, shape]) {
    return el("li", {}, el("code", {}, ...explained(text)), el("span", { class: "pv-shape" }, shape));
  }
  // Say which keys do the same as a button.
  nameKeys() {
    this.player.screen.showCode();
    this.player.ui.singles.checked = here.singles;
    for (const node of this.player.root.querySelectorAll("[aria-keyshortcuts]"))
      this.name(/** @type {HTMLElement} */ (node));
  }
  /** @param {HTMLElement} node */
  name(node) {
    const name = this.player.movie.stages[/** @type {Stage} */ (node.dataset.stage)] ?? node.ariaLabel,
      keys = node.getAttribute("aria-keyshortcuts"),
      usable = keys && hasKeys() && (here.singles || keys.length > 1);
    node.title = usable ? `${name} (${keys.split(" ").map(spelled).join(" or ")})` : name;
  }
}
