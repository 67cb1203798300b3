// An item of the teacher's plan that is not a question: a slide, or a movie at a step.

/** @import { Line } from "./line.js" */
/** @import { View } from "./phone.js" */

import { markdown } from "./dom.js";
import { cinema } from "./reveal.js";

/**
 * The item that is on the screen; null for a question, or before the first one.
 * @param {Line} line
 * @param {(sentence: string) => void} announce
 * @returns {View | null}
 */
export function item(line, announce) {
  const { kind, html } = line.seen;
  if (kind === "step") {
    const { node, update, end } = cinema(line, announce);
    return { title: "Watch", body: [node], update, end };
  }
  if (kind !== "slide") return null;
  return { title: "On the screen", body: [markdown(html)] };
}
