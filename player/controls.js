// The elements of the player: the picture, the stages, the code, the caption and the controls below.

import { button, el, icon } from "./dom.js";
import { keysMenu, savingMenu } from "./menu.js";
import { Pan } from "./pan.js";
import { Asking } from "./question.js";
import { savePicture } from "./saving.js";
import { explaining } from "./terms.js";

const SPEEDS = [0.5, 1, 2, 4];

/** @param {import("./player.js").Player} player */
export function controls(player) {
  const control = (
    /** @type {string} */ name,
    /** @type {string} */ label,
    /** @type {() => void} */ action = () => {},
    /** @type {string} */ keys = "",
    /** @type {string} */ kind = "",
  ) =>
    button(icon(name), action, {
      "aria-label": label,
      title: label,
      class: kind,
      ...(keys && { "aria-keyshortcuts": keys }),
    });
  const canvas = el("canvas", { role: "img" });
  const tip = el("div", { class: "pv-tip", hidden: "" });
  const error = el("pre", { class: "pv-error", hidden: "" });
  const failed = el("p", { class: "pv-failed", role: "alert", hidden: "" });
  const cover = el("div", { class: "pv-blank", hidden: "" });
  cover.addEventListener("click", () => player.screen.blank(false));
  const pan = new Pan(player, canvas);
  const stageBox = el("div", { class: "pv-stage" }, pan.place, pan.left, pan.right, error, failed, tip, cover);
  const stages = el("ol");
  const notes = el("p", { class: "pv-notes" });
  const code = el("ol");
  const detail = el("ol", { class: "pv-detail" });
  const proof = el("p", { class: "pv-proof", "data-testid": "packviz-proof" });
  const caption = el("p", { class: "pv-caption", "data-testid": "packviz-caption" });
  const invite = button("▶ Watch", () => player.clock.play(), { class: "pv-invite" });
  const onward = (player.options.onward ?? []).map(({ label, go }) =>
    button(label, go, { class: "pv-invite pv-onward", hidden: "" }),
  );
  const say = el("div", { class: "pv-say" }, caption, invite, ...onward);
  const range = el("input", { type: "range", min: "1", step: "1", "aria-label": "Step" });
  range.addEventListener("input", () => player.go(Number(range.value)));
  const count = el("span");
  const pace = el(
    "select",
    { "aria-label": "Speed", title: "Speed" },
    ...SPEEDS.map((s) => el("option", { value: s, ...(s === 1 ? { selected: "" } : {}) }, `${s}×`)),
  );
  pace.addEventListener("change", () => player.clock.pace(Number(pace.value)));
  const playButton = control("play", "Play", () => player.clock.toggle(), "Space", "pv-play");
  const saving = savingMenu(control("image", "Save this picture"), (how) => savePicture(player, how));
  const singles = el("input", { type: "checkbox", "aria-label": "Single-key shortcuts" });
  const keys = keysMenu(
    button("?", () => {}, { "aria-label": "Keys", "aria-keyshortcuts": "?" }),
    singles,
  );
  const codeButton = control("code", "Code", () => player.screen.toggleCode(), "C", "pv-tocode");
  const firstButton = control("first", "First step", () => player.go(1), "Home", "pv-end");
  const backButton = control("back", "Step back", () => player.back(), "ArrowLeft PageUp");
  const nextButton = control("next", "Step forward", () => player.next(), "ArrowRight PageDown");
  const fullButton = control("full", "Full screen", () => player.screen.fullscreen(), "F");
  fullButton.addEventListener("click", ({ detail }) => {
    if (detail) player.root.focus({ preventScroll: true }); // after a click with a pointer, Space plays
  });
  const lastButton = control("last", "Last step", () => player.go(player.steps), "End", "pv-end");
  const transport = el(
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
    codeButton,
    saving.root,
    keys.root,
    fullButton,
  );
  const live = el("div", { class: "pv-live", "aria-live": "polite", role: "status" });
  const stack = el("div", {
    class: "pv-stack",
    role: "group",
    "aria-label": "Layers, directions and heads",
    hidden: "",
  });
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
  const body = el("div", { class: "pv-body" }, rail, asking.root, stageBox, side, say, transport);
  const root = el(
    "section",
    { class: "pv", "data-testid": "packviz-player", tabindex: "0", "aria-label": "packviz player" },
    body,
    meaning,
    live,
  );

  return {
    asking,
    body,
    canvas,
    tip,
    error,
    failed,
    cover,
    stageBox,
    stages,
    stack,
    notes,
    pan,
    code,
    detail,
    proof,
    caption,
    invite,
    onward,
    say,
    controls: transport,
    range,
    count,
    pace,
    singles,
    keys,
    saving,
    playButton,
    firstButton,
    fullButton,
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
