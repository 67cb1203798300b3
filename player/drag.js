// Dragging: the mouse and the pen carry a copy of a node; a finger taps the node, and otherwise scrolls the page.

const DRAGGED = 6; // pixels that a pointer moves before it drags

/**
 * @param {HTMLElement} node
 * @param {PointerEvent} start
 * @param {HTMLElement} root around everything that a copy may be carried over
 * @param {{ begin: () => void, over: (x: number, y: number) => number, drop: (target: number, carried: HTMLElement) => void,
 *   end: () => void }} on
 */
export function drag(node, start, root, { begin, over, drop, end }) {
  if (start.pointerType === "touch" || start.button) return;
  const off = new AbortController(),
    { signal } = off;
  /** @type {HTMLElement | null} */
  let carried = null;
  const move = (/** @type {PointerEvent} */ { clientX: x, clientY: y }) => {
    if (!carried && Math.hypot(x - start.clientX, y - start.clientY) < DRAGGED) return;
    if (!carried) begin();
    node.setPointerCapture(start.pointerId);
    carried ??= root.appendChild(copyOf(node));
    carry(carried, node, root, x, y);
  };
  const stop = (/** @type {PointerEvent} */ { clientX: x, clientY: y, type }) => {
    off.abort();
    if (!carried) return;
    if (type === "pointerup") drop(over(x, y), carried);
    carried.remove();
    setTimeout(end); // after the click that ends it
  };
  window.addEventListener("pointermove", move, { signal });
  window.addEventListener("pointerup", stop, { signal });
  window.addEventListener("pointercancel", stop, { signal });
}

/** @param {HTMLElement} node */
function copyOf(node) {
  const copy = /** @type {HTMLElement} */ (node.cloneNode(true));
  copy.setAttribute("aria-hidden", "true");
  copy.classList.add("pv-carried");
  return copy;
}

/**
 * @param {HTMLElement} carried
 * @param {HTMLElement} node
 * @param {HTMLElement} root
 * @param {number} x
 * @param {number} y
 */
function carry(carried, node, root, x, y) {
  const { width, height } = node.getBoundingClientRect(),
    { left, top } = root.getBoundingClientRect();
  const place = { width, height, left: x - left - width / 2, top: y - top - height / 2 };
  for (const [name, value] of Object.entries(place)) carried.style.setProperty(name, `${value}px`);
}
