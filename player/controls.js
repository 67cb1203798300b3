// The parts of the player: the picture, the stages, the code, the caption and the controls below.

import { button, el, icon } from "./dom.js";
import { remember } from "./keys.js";
import { Asking } from "./question.js";
import { explaining } from "./terms.js";

const SPEEDS = [0.5, 1, 2, 4];

/** @param {import("./player.js").Player} player */
export function controls(player) {
  const control = (
    /** @type {string} */ name,
    /** @type {string} */ label,
    /** @type {() => void} */ action,
    /** @type {Record<string, string>} */ extra = {},
  ) => button(icon(name), action, { "aria-label": label, title: label, ...extra });
  const canvas = el("canvas", { role: "img" });
  const tip = el("div", { class: "pv-tip", hidden: "" });
  const error = el("pre", { class: "pv-error", hidden: "" });
  const failed = el("p", { class: "pv-failed", role: "alert", hidden: "" });
  const cover = el("div", { class: "pv-blank", hidden: "" });
  cover.addEventListener("click", () => player.blank(false));
  const stageBox = el("div", { class: "pv-stage" }, canvas, error, failed, tip, cover);
  const stages = el("ol");
  const notes = el("p", { class: "pv-notes" });
  const code = el("ol");
  const detail = el("ol", { class: "pv-detail" });
  const proof = el("p", { class: "pv-proof", "data-testid": "packviz-proof" });
  const caption = el("p", { class: "pv-caption", "data-testid": "packviz-caption" });
  const touch = matchMedia("(pointer: coarse)").matches;
  const invite = button([touch ? "Tap " : "Press ", el("kbd", {}, "→"), " to watch"], () => player.next(), {
    class: "pv-invite",
  });
  const onward = button(player.options.onward?.label ?? "", () => player.options.onward?.go(), {
    class: "pv-invite pv-onward",
    hidden: "",
  });
  const say = el("div", { class: "pv-say" }, caption, invite, onward);
  const range = el("input", { type: "range", min: "1", step: "1", "aria-label": "Step" });
  range.addEventListener("input", () => player.go(Number(range.value)));
  const count = el("span");
  const pace = el(
    "select",
    { "aria-label": "Speed", title: "Speed" },
    ...SPEEDS.map((s) => el("option", { value: s, ...(s === 1 ? { selected: "" } : {}) }, `${s}×`)),
  );
  pace.addEventListener("change", () => {
    player.speed = Number(pace.value);
    player.rest();
  });
  const keys = el("input", { type: "checkbox", "aria-label": "Single-key shortcuts" });
  keys.addEventListener("change", () => remember(keys.checked));
  const keysLabel = el(
    "label",
    {
      class: "pv-keys",
      title:
        "Single-key shortcuts: 1, 2, … go to a stage, . and , walk through the tokens, B blanks the picture, C hides the code, F is full screen",
    },
    keys,
    "Shortcuts",
  );
  const playButton = control("play", "Play (Space)", () => player.toggle(), { class: "pv-play" });
  const saveAs = (/** @type {string} */ name, /** @type {boolean} */ told) => {
    const save = () => {
      open(false);
      player.save({ told });
    };
    return button(name, save, { "aria-label": name });
  };
  const saving = el(
    "div",
    { class: "pv-menu", hidden: "" },
    saveAs("PNG with caption", true),
    saveAs("PNG, picture only", false),
  );
  const saveButton = control("image", "Save this picture", () => open(Boolean(saving.hidden)), {
    "aria-expanded": "false",
  });
  const open = (/** @type {boolean} */ on) => {
    saving.hidden = !on;
    saveButton.setAttribute("aria-expanded", String(on));
  };
  saving.addEventListener("focusout", (event) => {
    if (!saving.contains(/** @type {Node} */ (event.relatedTarget)) && event.relatedTarget !== saveButton) open(false);
  });
  const codeButton = control("code", "Code", () => player.toggleCode(), {
    class: "pv-tocode",
    "aria-keyshortcuts": "C",
  });
  const firstButton = control("first", "First step (Home)", () => player.go(1), { class: "pv-end" });
  const backButton = control("back", "Step back (← or Page Up)", () => player.back());
  const nextButton = control("next", "Step forward (→ or Page Down)", () => player.next());
  const lastButton = control("last", "Last step (End)", () => player.go(player.steps), { class: "pv-end" });
  const transport = el(
    "div",
    { class: "pv-transport" },
    firstButton,
    backButton,
    playButton,
    nextButton,
    lastButton,
    el("div", { class: "pv-scrub" }, range),
    el("span", { class: "pv-count" }, el("span", { class: "pv-word" }, "Step "), count),
    pace,
    keysLabel,
    codeButton,
    el("div", { class: "pv-saving" }, saveButton, saving),
    control("full", "Full screen", () => player.fullscreen(), { "aria-keyshortcuts": "F" }),
  );
  const live = el("div", { class: "pv-live", "aria-live": "polite", role: "status" });
  const stack = el("div", { class: "pv-stack", role: "group", "aria-label": "Layers and directions", hidden: "" });
  const rail = el(
    "div",
    { class: "pv-rail" },
    el("nav", { class: "pv-stages", "aria-label": "Stages" }, stages),
    stack,
    notes,
  );
  const side = el(
    "div",
    { class: "pv-code", tabindex: "0", role: "region", "aria-label": "PyTorch, line by line" },
    el("h2", {}, "PyTorch, line by line"),
    code,
    el("h2", {}, "This step"),
    detail,
    proof,
  );
  const meaning = el("div", { class: "pv-meaning", role: "tooltip", hidden: "" });
  const asking = new Asking(player);
  const root = el(
    "section",
    { class: "pv", "data-testid": "packviz-player", tabindex: "0", "aria-label": "packviz player" },
    el("div", { class: "pv-body" }, rail, asking.root, stageBox, side, say, transport),
    meaning,
    live,
  );

  return {
    asking,
    canvas,
    tip,
    error,
    failed,
    cover,
    stageBox,
    stages,
    stack,
    notes,
    code,
    detail,
    proof,
    caption,
    invite,
    onward,
    say,
    range,
    count,
    pace,
    keys,
    playButton,
    firstButton,
    backButton,
    nextButton,
    lastButton,
    codeButton,
    live,
    meaning,
    mean: explaining(root, meaning),
    side,
    root,
  };
}
