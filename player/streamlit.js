// The player as a Streamlit component.

/** @import { Stage, StreamlitData, Slot, Trigger } from "./types" */

import { giveUp, mount } from "./mount.js";
import { savingMenu } from "./saving.js";
import { noteCode } from "./shared.js";

/** @type {WeakMap<object, Slot>} */
const players = new WeakMap();

/**
 * Write a number into the address, which leaves out 1. An address that is already right is left alone, because writing it
 * takes the browser some milliseconds.
 * @param {"step" | "question"} name
 * @param {number} number
 */
function keepInAddress(name, number) {
  const url = new URL(window.location.href),
    written = number === 1 ? null : String(number);
  if (url.searchParams.get(name) === written) return;
  if (written === null) url.searchParams.delete(name);
  else url.searchParams.set(name, written);
  window.history.replaceState(window.history.state, "", url);
}

/**
 * The step or the question in the address, which matches the screen even after the player is remounted.
 * @param {"step" | "question"} name
 */
function inAddress(name) {
  const number = new URL(window.location.href).searchParams.get(name);
  return /^[1-9][0-9]{0,8}$/.test(number ?? "") ? Number(number) : 1;
}

/**
 * Tell Python which stage is on screen and whether the screen is a phone's, once a movie has been painted and whenever the
 * stage changes; and what is clicked, which layer and direction is chosen, and that a question was answered. Python may
 * request a step or a token with `data.ask`, each time with another number; step 0 is the first one affected by the last
 * change of the movie, of those that show something wrong if there are any. If there are none, it is the first step of all
 * while a question waits for its answer, which the others may show. A `data.loose` player leaves the address alone and tells nothing.
 * @param {{ data: StreamlitData, parentElement: ShadowRoot, setTriggerValue: Trigger }} component
 */
export default function ({ data, parentElement, setTriggerValue }) {
  const slot = players.get(parentElement) ?? { given: data.step, chosen: data.chosen, asked: data.ask?.number };
  const tell = (/** @type {any} */ stage) => {
    slot.told = stage;
    if (!data.loose) setTriggerValue("shown", { stage, narrow: Boolean(slot.player?.screen.is("--pv-narrow")) });
  };
  players.set(parentElement, slot);
  const arrives = !slot.player && !data.loose && inAddress("step") > 1; // a link led to this step: it is brought into sight
  try {
    slot.player ? feed(slot, data) : (slot.player = mounted(slot, data, parentElement, tell, setTriggerValue));
    answer(slot, data.ask);
  } catch (reason) {
    // the content below waits for the player, so it must also appear without one
    slot.player?.destroy();
    slot.player = null;
    giveUp(parentElement, reason);
    console.error(reason);
  }
  requestAnimationFrame(() =>
    setTimeout(() => {
      if (arrives) slot.player?.screen.reveal("instant");
      tell(slot.player?.now.stage ?? data.movie.steps[0].stage);
    }),
  );
  return () => {
    players.get(parentElement)?.player?.destroy();
    players.delete(parentElement);
  };
}

/**
 * @param {Slot} slot
 * @param {StreamlitData} data
 * @param {ShadowRoot} parentElement
 * @param {(stage: Stage) => unknown} tell
 * @param {Trigger} setTriggerValue
 */
function mounted(slot, data, parentElement, tell, setTriggerValue) {
  const onStep = (/** @type {number} */ step, /** @type {Stage} */ stage) => {
    if (!data.loose) keepInAddress("step", step);
    document.dispatchEvent(new CustomEvent("packviz step", { detail: step })); // for the teacher of a class
    if (slot.told && stage !== slot.told) tell(stage);
  };
  const asked = data.step ?? inAddress("step");
  if (data.code === false) noteCode("page", false);
  const step = Math.min(Math.max(1, asked), data.movie.steps.length);
  if (step !== asked && !data.loose) keepInAddress("step", step);
  return mount(parentElement, data.movie, {
    step,
    saving: savingMenu,
    onStep,
    onPick: data.picks && ((picked) => setTriggerValue("picked", picked)),
    onward: data.onward?.map((label, i) => ({ label, go: () => onward(i) })),
    onAnswered: () => setTriggerValue("answered", true),
    question: data.loose ? 1 : inAddress("question"),
    onAsk: data.loose ? undefined : (question) => keepInAddress("question", question),
    onWatch: data.watches && ((watched) => setTriggerValue("watched", watched)),
  });
}

/**
 * Follow a link to another page below the picture, so that the visit continues: ONWARD in ui/state/names.py.
 * @param {number} i
 */
function onward(i) {
  /** @type {HTMLElement | undefined} */ ([...document.querySelectorAll(".st-key-onward a")].at(i))?.click();
}

/**
 * @param {Slot} slot
 * @param {StreamlitData} data
 */
function feed(slot, data) {
  const step = data.step !== slot.given ? data.step : data.chosen > slot.chosen ? 1 : undefined; // an edit keeps the step
  slot.given = data.step;
  slot.chosen = data.chosen;
  const before = slot.player.movie.steps;
  slot.player.update(data.movie, { step });
  const after = slot.player.movie.steps;
  if (after === before) return;
  const changed = after.filter(({ caption }, i) => i > 0 && caption !== before[i]?.caption);
  const shown = changed.find(({ tone }) => tone === "wrong") ?? changed[0];
  const waits = slot.player.question.open && shown?.tone !== "wrong";
  slot.changed = waits ? 1 : 1 + Math.max(1, after.indexOf(shown));
}

/**
 * @param {Slot} slot
 * @param {StreamlitData["ask"]} ask
 */
function answer(slot, ask) {
  if (ask?.number === slot.asked) return;
  slot.asked = ask?.number; // none in a new session, which counts from the beginning
  if (!ask) return;
  if (ask.step != null) slot.player.show(ask.step || slot.changed || 2);
  if (ask.token != null) slot.player.pointer.light(ask.token);
  if (ask.look) slot.player.screen.look();
}
