// What a phone says to the teacher alone: the pace, and a question; each can be switched off by the teacher.

/** @import { Line } from "./line.js" */

import { Refusal } from "./connection.js";
import { button } from "./dom.js";

const SAID = { slow: "Too slow", fast: "Too fast", lost: "I am lost" };

/** @type {Line} */
let teaching = null; // the line to the room

const part = (/** @type {string} */ id) => document.getElementById(id);

/**
 * Offer what the teacher has not switched off.
 * @param {Line} line
 */
export function toTeacher(line) {
  teaching = line;
  const { channels = [], pace = null } = line.over || !line.seen ? {} : line.seen;
  part("teacher").hidden = !channels.includes("pace") && !channels.includes("wonder");
  part("paces").hidden = !channels.includes("pace");
  part("wonder").hidden = !channels.includes("wonder");
  for (const each of part("paces").querySelectorAll("button"))
    each.setAttribute("aria-pressed", String(each.dataset.pace === pace));
}

part("paces").append(
  ...Object.entries(SAID).map(([pace, label]) => {
    const press = () =>
      teaching.sendMessage("pace", { pace: teaching.seen.pace === pace ? null : pace }).catch(() => {});
    return button(label, press, { "data-pace": pace });
  }),
);
part("wonder").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = /** @type {HTMLInputElement} */ (part("wondered"));
  if (!field.value.trim()) return;
  try {
    await teaching.sendMessage("wonder", { text: field.value });
    field.value = "";
    part("wonder-told").textContent = "Your teacher has your question.";
  } catch (problem) {
    part("wonder-told").textContent =
      problem instanceof Refusal ? problem.message : "There is no connection. Try again.";
  }
});
