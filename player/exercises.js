// The exercises as a Streamlit component, which triggers "packed" or "filled" when one is done.

/** @import { FillingData, PackingData, Trigger } from "./types" */

import { Filling } from "./filling.js";
import { Packing } from "./packing.js";

/** @type {WeakMap<object, Packing | Filling>} */
const exercises = new WeakMap();

/**
 * Data with a capacity is filled into rows, all other data is packed. Other data start a new exercise.
 * @param {{ data: PackingData | FillingData, parentElement: ShadowRoot, setTriggerValue: Trigger }} component
 */
export function exercise({ data, parentElement, setTriggerValue }) {
  const before = exercises.get(parentElement),
    given = JSON.stringify(data);
  if (before?.given === given) return before.retheme();
  before?.root.remove();
  const onDone = (/** @type {string} */ trigger) => setTriggerValue(trigger, true);
  const made =
    "capacity" in data
      ? new Filling(parentElement, data, given, onDone)
      : new Packing(parentElement, data, given, onDone);
  exercises.set(parentElement, made.mount());
}
