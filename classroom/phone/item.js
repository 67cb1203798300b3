// An item of the teacher's plan that is no question: a slide, or a movie at a step.

/** @import { Line } from "./line.js" */
/** @import { View } from "./phone.js" */

import { el } from "./dom.js";
import { base, cinema } from "./reveal.js";

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
  const { body } = new DOMParser().parseFromString(html, "text/html"); // rendered and made safe by the server
  for (const image of body.querySelectorAll("img")) image.src = new URL(image.getAttribute("src"), base).href;
  return { title: "On the screen", body: [el("div", { class: "slide" }, ...body.childNodes)] };
}
