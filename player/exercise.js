// Pack it yourself: the visitor moves the cells of the padded grid into data, and then types batch_sizes.

/** @import { Exercise, Trigger } from "./types" */

import { readTheme, schemeOf } from "./colour.js";
import { button, el } from "./dom.js";

const DRAGGED = 6; // pixels that a pointer moves before it drags

/** @type {WeakMap<object, Packing>} */
const exercises = new WeakMap();
/** What was packed last, kept because the page may be redrawn or revisited. */
let left = { given: "", taken: 0, said: "" };

/**
 * The exercise as a Streamlit component, which tells Python when it is done. Another batch starts a new exercise.
 * @param {{ data: Exercise, parentElement: ShadowRoot, setTriggerValue: Trigger }} component
 */
export function exercise({ data, parentElement, setTriggerValue }) {
  const before = exercises.get(parentElement),
    given = JSON.stringify(data);
  if (before?.given === given) return before.retheme();
  before?.root.remove();
  exercises.set(parentElement, new Packing(parentElement, data, given, () => setTriggerValue("packed", true)));
}

class Packing {
  /**
   * @param {ShadowRoot} host
   * @param {Exercise} data
   * @param {string} given
   * @param {() => void} onDone
   */
  constructor(host, data, given, onDone) {
    this.data = data;
    this.given = given;
    this.onDone = onDone;
    const { taken, said } = left.given === given ? left : { taken: 0, said: data.start };
    this.taken = taken; // the number of rows, and then of sizes, taken so far: the whole state
    this.dragged = null;
    this.columns = data.cells.length / data.letters.length;
    this.cells = data.cells.map((cell, i) => this.cell(cell, i));
    this.slots = data.rows.map((_, n) => el("li", { "data-n": n }));
    this.counts = data.sizes.map((_, t) => el("li", { "data-n": t }));
    this.answers = data.letters.map((_, i) => button(String(i + 1), () => this.answer(i + 1)));
    this.told = el("p", { role: "status" });
    this.strip = el("ol", { class: "pv-strip", "aria-label": "data" }, ...this.slots);
    this.ask = el("div", { role: "toolbar", "aria-label": "How many rows?" }, ...this.answers);
    this.putBack = button("Put back", () => this.back());
    this.again = button("Start over", () => this.startOver());
    this.root = el(
      "section",
      { class: "pv pv-exercise", "data-testid": "packviz-exercise", "aria-label": "Pack it yourself" },
      el(
        "div",
        { class: "pv-packing" },
        el("div", { class: "pv-field" }, this.grid()),
        this.told,
        this.line(el("code", {}, "data"), this.strip),
        this.line(el("code", {}, "batch_sizes"), el("ol", { "aria-label": "batch_sizes" }, ...this.counts), this.ask),
        this.line(
          this.putBack,
          this.again,
          el("span", { class: "pv-tokeys" }, "Keys: arrows, Enter, and Backspace to put one back."),
        ),
      ),
    );
    this.root.addEventListener("keydown", (event) => this.key(event));
    host.append(this.root);
    this.retheme();
    this.rove(this.cells, 0);
    this.rove(this.answers, 0);
    this.show(said);
  }

  retheme() {
    this.root.dataset.theme = schemeOf(this.root);
    this.hues = readTheme(this.root).hues;
    for (const [i, cell] of this.data.cells.entries()) this.paint(this.cells[i], cell);
    for (const [n, row] of this.data.rows.entries()) this.paint(this.slots[n], this.data.cells[row.cell]);
  }
  /**
   * @param {HTMLElement} node
   * @param {Exercise["cells"][number]} cell
   */
  paint(node, cell) {
    const { fill, text, edge } = this.hues[cell.b % this.hues.length];
    node.toggleAttribute("data-pad", cell.is_pad);
    node.dataset.letter = this.letter(cell);
    for (const [name, value] of Object.entries({ fill, text, edge })) node.style.setProperty(`--${name}`, value);
  }

  /** @param {HTMLElement[]} nodes */
  line(...nodes) {
    return el("div", { class: "pv-line" }, ...nodes);
  }
  /** @param {Exercise["cells"][number]} cell */
  letter(cell) {
    return this.data.letters[Math.floor(this.data.cells.indexOf(cell) / this.columns)];
  }

  grid() {
    const { columns } = this,
      head = Array.from({ length: columns }, (_, t) => el("th", { scope: "col" }, `t = ${t}`));
    const rows = this.data.letters.map((letter, row) => {
      const cells = this.cells.slice(row * columns, (row + 1) * columns).map((cell) => el("td", {}, cell));
      return el("tr", {}, el("th", { scope: "row" }, letter), ...cells);
    });
    return el(
      "table",
      { role: "grid", "aria-label": "The padded grid, sorted by length" },
      el("tr", {}, el("td"), ...head),
      ...rows,
    );
  }
  /**
   * @param {Exercise["cells"][number]} cell
   * @param {number} i
   */
  cell(cell, i) {
    const node = button(cell.text || (cell.is_pad ? "" : this.letter(cell)), () => this.dragged || this.take(i));
    node.className = "pv-cell";
    node.setAttribute("aria-label", cell.is_pad ? `${cell.name}, padding` : cell.name);
    node.addEventListener("pointerdown", (event) => this.grab(node, i, event));
    return node;
  }

  // ---- the visitor's actions

  /**
   * @param {number} i
   * @param {HTMLElement} [from] what moves to data
   */
  take(i, from = this.cells[i]) {
    const { rows, cells } = this.data;
    this.rove(this.cells, i);
    if (this.taken >= rows.length) return;
    const next = rows[this.taken],
      cell = cells[i];
    if (rows.slice(0, this.taken).some((row) => row.cell === i)) return;
    if (i === next.cell) {
      const start = from.getBoundingClientRect(),
        byKeyboard = this.cells[i].matches(":focus-visible");
      this.taken += 1;
      this.show(next.found);
      this.move(this.slots[this.taken - 1], start);
      if (byKeyboard && this.taken === rows.length) this.answers[0].focus();
    } else {
      const why = cell.t > cells[next.cell].t ? next.later : next.other;
      this.show(cell.unpacked || `${cell.name}; ${why}`, this.cells[i]);
    }
  }
  /** @param {number} given */
  answer(given) {
    const { rows, sizes, done } = this.data,
      t = this.taken - rows.length;
    if (t < 0 || t >= sizes.length || given > this.answers.length) return;
    const right = sizes[t].size === given,
      focused = this.answers.some((node) => node.matches(":focus"));
    const node = this.rove(this.answers, given - 1);
    if (focused) node.focus();
    this.taken += Number(right);
    const finished = this.taken === rows.length + sizes.length;
    this.show(finished ? done : sizes[t].said[given - 1], right ? undefined : node);
    if (!finished) return;
    if (focused) this.again.focus();
    this.onDone();
  }
  back() {
    if (!this.taken) return;
    this.taken -= 1;
    this.show(this.taken < this.data.rows.length ? this.data.back : this.data.cleared);
  }
  startOver() {
    this.taken = 0;
    this.rove(this.cells, 0);
    this.show(this.data.start);
  }

  /**
   * The mouse and the pen may drag a cell to data; a finger taps it, and otherwise scrolls the page.
   * @param {HTMLElement} node
   * @param {number} i
   * @param {PointerEvent} start
   */
  grab(node, i, start) {
    if (start.pointerType === "touch" || start.button) return;
    const off = new AbortController(),
      { signal } = off;
    const drag = (/** @type {PointerEvent} */ { clientX: x, clientY: y }) => {
      if (!this.dragged && Math.hypot(x - start.clientX, y - start.clientY) < DRAGGED) return;
      node.setPointerCapture(start.pointerId);
      this.carry(node, x, y);
    };
    const drop = (/** @type {PointerEvent} */ { clientX: x, clientY: y, type }) => {
      off.abort();
      if (!this.dragged) return;
      const { left, right, top, bottom } = this.strip.getBoundingClientRect();
      const over = x >= left && x <= right && y >= top - DRAGGED && y <= bottom + DRAGGED;
      if (over && type === "pointerup") this.take(i, this.dragged);
      this.dragged.remove();
      setTimeout(() => {
        this.dragged = null;
      }); // after the click that ends it
    };
    window.addEventListener("pointermove", drag, { signal });
    window.addEventListener("pointerup", drop, { signal });
    window.addEventListener("pointercancel", drop, { signal });
  }

  /**
   * @param {HTMLElement} node
   * @param {number} x
   * @param {number} y
   */
  carry(node, x, y) {
    const { width, height } = node.getBoundingClientRect(),
      { left, top } = this.root.getBoundingClientRect();
    this.dragged ??= this.root.appendChild(/** @type {HTMLElement} */ (node.cloneNode(true)));
    this.dragged.setAttribute("aria-hidden", "true");
    const place = { width, height, left: x - left - width / 2, top: y - top - height / 2 };
    for (const [name, value] of Object.entries(place)) this.dragged.style.setProperty(name, `${value}px`);
    this.dragged.classList.add("pv-carried");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const node = /** @type {HTMLButtonElement} */ (event.target),
      cell = this.cells.indexOf(node),
      number = this.answers.indexOf(node);
    if (event.key === "Backspace") this.back();
    else if (/^[1-9]$/.test(event.key)) this.answer(Number(event.key));
    else if (cell >= 0) return this.step(event, this.cells, cell, this.columns);
    else if (number >= 0) return this.step(event, this.answers, number, this.answers.length);
    else return;
    event.preventDefault();
  }
  /**
   * Arrow keys move the focus within the grid, or along the numbers; Home and End go to the ends of a row.
   * @param {KeyboardEvent} event
   * @param {HTMLElement[]} nodes
   * @param {number} i
   * @param {number} width
   */
  step(event, nodes, i, width) {
    const first = i - (i % width),
      last = first + width - 1;
    /** @type {Record<string, number>} */
    const places = {
      ArrowLeft: Math.max(first, i - 1),
      ArrowRight: Math.min(last, i + 1),
      ArrowUp: i - width,
      ArrowDown: i + width,
      Home: first,
      End: last,
    };
    if (!(event.key in places)) return;
    event.preventDefault();
    const place = places[event.key];
    if (nodes[place]) this.rove(nodes, place).focus();
  }
  /**
   * Make exactly one of them reachable with Tab.
   * @param {HTMLElement[]} nodes
   * @param {number} i
   */
  rove(nodes, i) {
    for (const node of nodes) node.tabIndex = -1;
    nodes[i].tabIndex = 0;
    return nodes[i];
  }

  // ---- display and announcements

  /**
   * @param {string} said
   * @param {HTMLElement} [mistake] what was taken by mistake
   */
  show(said, mistake) {
    const { rows, sizes, cells } = this.data,
      N = rows.length,
      given = Math.max(0, this.taken - N);
    const finished = given === sizes.length;
    left = { given: this.given, taken: this.taken, said };
    this.root.dataset.taken = String(this.taken);
    this.root.dataset.phase = finished ? "done" : this.taken < N ? "rows" : "sizes";
    for (const node of [...this.cells, ...this.answers]) node.toggleAttribute("data-wrong", node === mistake);
    let sum = 0;
    const ends = sizes.slice(0, given).map(({ size }) => (sum += size));
    for (const [n, { cell }] of rows.entries()) {
      const taken = n < this.taken;
      this.cells[cell].setAttribute("aria-disabled", String(taken));
      this.slots[n].textContent = "";
      if (taken) this.slots[n].append(cells[cell].text, el("small", {}, this.letter(cells[cell])));
      this.slots[n].toggleAttribute("data-there", taken);
      this.slots[n].toggleAttribute("data-next", n === this.taken);
      this.slots[n].toggleAttribute("data-end", ends.includes(n + 1)); // of a time step
    }
    for (const [t, node] of this.counts.entries()) {
      node.textContent = t < given ? String(sizes[t].size) : "";
      node.toggleAttribute("data-there", t < given);
      node.toggleAttribute("data-next", this.taken >= N && t === given);
    }
    this.putBack.setAttribute("aria-disabled", String(!this.taken));
    this.told.dataset.tone = mistake ? "wrong" : finished ? "good" : "";
    this.told.textContent = this.told.textContent === said ? `${said}\u00a0` : said; // so that the same words are announced again
  }
  /**
   * Move a row from its old place to its new one.
   * @param {HTMLElement} slot
   * @param {DOMRect} from
   */
  move(slot, from) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const to = slot.getBoundingClientRect();
    const start = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
    slot.animate([{ transform: start }, { transform: "none" }], { duration: 260, easing: "ease-out" });
  }
}
