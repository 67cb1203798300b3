// Pack it yourself: the visitor moves the cells of the padded grid into data, and then types batch_sizes.

/** @import { Move, PackingData } from "./types" */

import { button, el } from "./dom.js";
import { Exercise } from "./exercise.js";

const DATA = 0,
  SIZES = 1; // the targets

/** @extends {Exercise<PackingData>} */
export class Packing extends Exercise {
  trigger = "packed";
  label = "Pack it yourself";
  keys = "Use the arrow keys, Enter, and Backspace to put one back.";

  /** @param {ConstructorParameters<typeof Exercise<PackingData>>} given */
  constructor(...given) {
    super(...given);
    const { data } = this;
    this.columns = data.cells.length / data.letters.length;
    this.cells = data.cells.map((cell, i) => this.cell(cell, i));
    this.slots = data.rows.map((_, n) => el("li", { "data-n": n }));
    this.counts = data.sizes.map((_, t) => el("li", { "data-n": t }));
    this.answers = data.letters.map((_, i) => button(String(i + 1), () => this.answer(i + 1)));
    this.sources = [...this.cells, ...this.answers];
    const strip = el("ol", { class: "pv-strip", "aria-label": "data" }, ...this.slots),
      sizes = el("ol", { "aria-label": "batch_sizes" }, ...this.counts);
    this.targets = [strip];
    this.parts = [
      el("div", { class: "pv-field" }, this.grid()),
      this.told,
      this.line(el("code", {}, "data"), strip),
      this.line(
        el("code", {}, "batch_sizes"),
        sizes,
        el("div", { role: "toolbar", "aria-label": "How many rows?" }, ...this.answers),
      ),
    ];
    this.rove(this.cells, 0);
    this.rove(this.answers, 0);
  }

  paint() {
    for (const [i, cell] of this.data.cells.entries()) this.dress(this.cells[i], cell);
    for (const [n, row] of this.data.rows.entries()) this.dress(this.slots[n], this.data.cells[row.cell]);
  }
  /**
   * @param {HTMLElement} node
   * @param {PackingData["cells"][number]} cell
   */
  dress(node, cell) {
    node.toggleAttribute("data-pad", cell.is_pad);
    node.dataset.letter = this.letter(cell);
    this.colour(node, cell.b);
  }
  /** @param {PackingData["cells"][number]} cell */
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
   * @param {PackingData["cells"][number]} cell
   * @param {number} i
   */
  cell(cell, i) {
    const node = button(cell.text || (cell.is_pad ? "" : this.letter(cell)), () => this.dragging || this.take(i));
    node.className = "pv-cell";
    node.setAttribute("aria-label", cell.is_pad ? `${cell.name}, padding` : cell.name);
    return this.draggable(node, i);
  }

  /** @param {number} i */
  take(i) {
    this.rove(this.cells, i);
    this.attempt(i, DATA);
  }
  /** @param {number} given */
  answer(given) {
    if (given > this.answers.length || this.moves.length < this.data.rows.length) return;
    const focused = this.answers.some((node) => node.matches(":focus")),
      node = this.rove(this.answers, given - 1);
    if (focused) node.focus();
    this.attempt(this.cells.length + given - 1, SIZES);
    if (focused && this.finished(this.moves)) this.again.focus();
  }
  startOver() {
    this.rove(this.cells, 0);
    super.startOver();
  }

  /**
   * @param {number} source
   * @param {number} target
   * @param {Move[]} moves
   */
  place(source, target, moves) {
    const { rows, sizes, cells, done } = this.data;
    if (target === SIZES) {
      const t = moves.length - rows.length,
        given = source - cells.length + 1;
      if (t < 0 || t >= sizes.length) return null;
      const accepted = sizes[t].size === given;
      return { accepted, said: accepted && t + 1 === sizes.length ? done : sizes[t].said[given - 1] };
    }
    if (moves.length >= rows.length || moves.some(([taken]) => taken === source)) return null;
    const next = rows[moves.length],
      cell = cells[source];
    if (source === next.cell) return { accepted: true, said: next.found };
    const why = cell.t > cells[next.cell].t ? next.later : next.other;
    return { accepted: false, said: cell.unpacked || `${cell.name}; ${why}` };
  }
  /** @param {Move[]} moves */
  finished(moves) {
    return moves.length === this.data.rows.length + this.data.sizes.length;
  }
  takenBack() {
    return this.moves.length < this.data.rows.length ? this.data.back : this.data.cleared;
  }
  /**
   * @param {number} source
   * @param {number} target
   * @param {DOMRect} from
   */
  moved(source, target, from) {
    if (target !== DATA) return;
    const { length } = this.moves;
    this.glide(this.slots[length - 1], from);
    if (this.cells[source].matches(":focus-visible") && length === this.data.rows.length) this.answers[0].focus();
  }
  /** @param {KeyboardEvent} event */
  key(event) {
    const plain = !event.altKey && !event.ctrlKey && !event.metaKey;
    if (!plain || !/^[1-9]$/.test(event.key)) return super.key(event);
    event.preventDefault();
    this.answer(Number(event.key));
  }
  groups() {
    return [
      { nodes: this.cells, width: this.columns },
      { nodes: this.answers, width: this.answers.length },
    ];
  }

  display() {
    const { rows, sizes, cells } = this.data,
      { length } = this.moves,
      given = Math.max(0, length - rows.length);
    this.root.dataset.phase = given === sizes.length ? "done" : length < rows.length ? "rows" : "sizes";
    let sum = 0;
    const ends = sizes.slice(0, given).map(({ size }) => (sum += size));
    for (const [n, { cell }] of rows.entries()) {
      const taken = n < length;
      this.cells[cell].setAttribute("aria-disabled", String(taken));
      this.slots[n].textContent = "";
      if (taken) this.slots[n].append(cells[cell].text, el("small", {}, this.letter(cells[cell])));
      this.slots[n].toggleAttribute("data-there", taken);
      this.slots[n].toggleAttribute("data-next", n === length);
      this.slots[n].toggleAttribute("data-end", ends.includes(n + 1)); // of a time step
    }
    for (const [t, node] of this.counts.entries()) {
      node.textContent = t < given ? String(sizes[t].size) : "";
      node.toggleAttribute("data-there", t < given);
      node.toggleAttribute("data-next", length >= rows.length && t === given);
    }
  }
}
