// The elements of the player: the picture, the stages, the code, the caption and the controls below.

/** @import { Controls, MenuParts, PictureParts, StepParts, TextParts } from "./types" */

import { button, el, icon } from "./dom.js";
import { keysMenu, savingMenu } from "./menu.js";
import { Pan } from "./pan.js";
import { Asking } from "./question.js";
import { savePicture } from "./saving.js";
import { SHORTCUTS } from "./shortcuts.js";
import { explaining } from "./terms.js";

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
 * The picture, and the messages on it.
 * @param {import("./player.js").Player} player
 * @returns {PictureParts}
 */
function pictureParts(player) {
  const canvas = el("canvas", { role: "img" }),
    tip = el("div", { class: "pv-tip", hidden: "" }),
    error = el("pre", { class: "pv-error", hidden: "" }),
    failed = el("p", { class: "pv-failed", role: "alert", hidden: "" }),
    cover = el("div", { class: "pv-blank", hidden: "" });
  cover.addEventListener("click", () => player.screen.blank(false));
  const pan = new Pan(player, canvas),
    stageBox = el("div", { class: "pv-stage" }, pan.place, pan.left, pan.right, error, failed, tip, cover);
  return { canvas, tip, error, failed, cover, pan, stageBox };
}

/**
 * The texts around the picture: the stages above it, the code beside it, the caption below it.
 * @param {import("./player.js").Player} player
 * @returns {TextParts}
 */
function textParts(player) {
  const stages = el("ol"),
    nav = el("nav", { class: "pv-stages", "aria-label": "Stages" }, stages),
    stack = el("div", { class: "pv-stack", role: "group", "aria-label": "Layers, directions and heads", hidden: "" }),
    notes = el("p", { class: "pv-notes" }),
    rail = el("div", { class: "pv-rail" }, nav, stack, notes);
  const code = el("ol"),
    detail = el("ol", { class: "pv-detail" }),
    proof = el("p", { class: "pv-proof", "data-testid": "packviz-proof" }),
    side = el(
      "div",
      { class: "pv-code", tabindex: "0", role: "region", "aria-label": "PyTorch, line by line" },
      el("h2", {}, "PyTorch, line by line"),
      code,
      el("h2", {}, "This step"),
      detail,
      proof,
    );
  const caption = el("p", { class: "pv-caption", "data-testid": "packviz-caption" }),
    onward = (player.options.onward ?? []).map(({ label, go }) =>
      button(label, go, { class: "pv-onward", hidden: "" }),
    ),
    say = el("div", { class: "pv-say" }, caption, ...onward);
  return { rail, stages, stack, notes, side, code, detail, proof, say, caption, onward };
}

/**
 * What moves the player from step to step.
 * @param {import("./player.js").Player} player
 * @returns {StepParts}
 */
function stepParts(player) {
  const range = el("input", { type: "range", min: "1", step: "1", "aria-label": "Step" });
  range.addEventListener("input", () => player.go(Number(range.value)));
  const speeds = SPEEDS.map((s) => el("option", { value: s, ...(s === 1 ? { selected: "" } : {}) }, `${s}×`)),
    pace = el("select", { "aria-label": "Speed", title: "Speed" }, ...speeds);
  pace.addEventListener("change", () => player.clock.pace(Number(pace.value)));
  const playButton = control(player, "play", "Play", "pv-play");
  playButton.append(el("span", {}, "Play"));
  return {
    firstButton: control(player, "first", "First step", "pv-end"),
    backButton: control(player, "back", "Step back"),
    playButton,
    nextButton: control(player, "next", "Step forward"),
    lastButton: control(player, "last", "Last step", "pv-end"),
    range,
    count: el("span"),
    pace,
  };
}

/**
 * What changes the view, and the menus.
 * @param {import("./player.js").Player} player
 * @returns {MenuParts}
 */
function menuParts(player) {
  const codeButton = control(player, "code", "Code", "pv-tocode"),
    name = "Save this picture",
    saveButton = button(icon("image"), () => {}, { "aria-label": name, title: name }),
    saving = savingMenu(saveButton, (how) => savePicture(player, how)),
    singles = el("input", { type: "checkbox", "aria-label": "Single-key shortcuts" }),
    keysButton = button("?", () => {}, { "aria-label": "Keys", "aria-keyshortcuts": SHORTCUTS.keys.keys.join(" ") }),
    fullButton = control(player, "full", "Full screen");
  fullButton.addEventListener("click", ({ detail }) => {
    if (detail) player.root.focus({ preventScroll: true }); // after a click with a pointer, Space plays
  });
  return { codeButton, saving, singles, keys: keysMenu(keysButton, singles), fullButton };
}

/**
 * The row of controls below the caption.
 * @param {StepParts} steps
 * @param {MenuParts} menus
 */
function rowOf({ firstButton, backButton, playButton, nextButton, lastButton, range, count, pace }, menus) {
  return el(
    "div",
    { class: "pv-transport" },
    firstButton,
    backButton,
    playButton,
    nextButton,
    lastButton,
    el("div", { class: "pv-scrub" }, range),
    el("span", { class: "pv-count" }, count),
    pace,
    menus.codeButton,
    menus.saving.root,
    menus.keys.root,
    menus.fullButton,
  );
}

/**
 * @param {import("./player.js").Player} player
 * @returns {Controls}
 */
export function controls(player) {
  const picture = pictureParts(player),
    texts = textParts(player),
    steps = stepParts(player),
    menus = menuParts(player),
    row = rowOf(steps, menus),
    asking = new Asking(player);
  const { rail, side, say } = texts,
    body = el("div", { class: "pv-body" }, rail, asking.root, picture.stageBox, side, say, row),
    meaning = el("div", { class: "pv-meaning", role: "tooltip", hidden: "" }),
    live = el("div", { class: "pv-live", "aria-live": "polite", role: "status" });
  const root = el(
    "section",
    { class: "pv", "data-testid": "packviz-player", tabindex: "0", "aria-label": "packviz player" },
    body,
    meaning,
    live,
  );
  const mean = explaining(root, meaning);
  return { ...picture, ...texts, ...steps, ...menus, asking, controls: row, body, meaning, mean, live, root };
}
