// Fill the rows yourself: the visitor moves documents into rows of one capacity, with as few rows as possible.

/** @import { FillingData, Move } from "./types" */

import { button, el } from "./dom.js";
import { Exercise } from "./exercise.js";

/** @extends {Exercise<FillingData>} */
export class Filling extends Exercise {
  trigger = "filled";
  label = "Fill the rows yourself";
  keys = "Use the arrow keys, Enter for a document and then for its row, and Backspace to put one back.";

  /** @param {ConstructorParameters<typeof Exercise<FillingData>>} given */
  constructor(...given) {
    super(...given);
    const { documents, capacity } = this.data;
    this.picked = -1; // the document that waits for its row
    this.documents = documents.map((each, i) => {
      const node = button(each.letter, () => this.dragging || this.pick(i), { "aria-label": each.name });
      node.className = "pv-cell pv-document";
      node.style.setProperty("--length", String(each.length));
      return this.draggable(node, i);
    });
    this.rows = documents.map((_, row) => button("", () => this.fill(row), { class: "pv-row" }));
    for (const row of this.rows) row.style.setProperty("--length", String(capacity));
    [this.sources, this.targets] = [this.documents, this.rows];
    this.parts = [
      el("div", { class: "pv-field pv-documents", role: "group", "aria-label": "Documents" }, ...this.documents),
      this.told,
      el("div", { class: "pv-rows", role: "group", "aria-label": "Rows" }, ...this.rows),
    ];
    this.rove(this.documents, 0);
    this.rove(this.rows, 0);
  }

  paint() {
    this.root.style.setProperty("--capacity", String(this.data.capacity));
    for (const [i, node] of this.documents.entries()) this.colour(node, i);
    this.fillRows();
  }

  /** @param {number} i */
  pick(i) {
    if (this.moves.some(([taken]) => taken === i)) return;
    const byKeyboard = this.documents[i].matches(":focus-visible");
    this.rove(this.documents, i);
    this.picked = i;
    this.show(this.data.documents[i].picked);
    if (byKeyboard) this.rove(this.rows, 0).focus();
  }
  /** @param {number} row */
  fill(row) {
    if (this.picked >= 0) this.attempt(this.picked, row);
    else if (!this.finished(this.moves)) this.show(this.data.pick);
  }
  back() {
    this.picked = -1;
    super.back();
  }
  startOver() {
    this.picked = -1;
    this.rove(this.documents, 0);
    super.startOver();
  }

  /**
   * The cells of a row that are free after these moves.
   * @param {number} row
   * @param {Move[]} moves
   */
  room(row, moves) {
    const there = moves.filter(([, target]) => target === row);
    return this.data.capacity - there.reduce((sum, [i]) => sum + this.data.documents[i].length, 0);
  }
  /**
   * @param {number} source
   * @param {number} target
   * @param {Move[]} moves
   */
  place(source, target, moves) {
    if (moves.some(([taken]) => taken === source)) return null;
    const { length, said } = this.data.documents[source],
      room = this.room(target, moves),
      after = /** @type {Move[]} */ ([...moves, [source, target]]);
    if (length > room) return { accepted: false, said: said[room] };
    return { accepted: true, said: this.finished(after) ? this.data.done[used(after) - 1] : said[room] };
  }
  /** @param {Move[]} moves */
  finished(moves) {
    return moves.length === this.data.documents.length;
  }
  /**
   * @param {number} source
   * @param {number} target
   * @param {DOMRect} from
   */
  moved(source, target, from) {
    const byKeyboard = this.rows[target].matches(":focus-visible"),
      next = this.documents.findIndex((_, i) => !this.moves.some(([taken]) => taken === i));
    this.picked = -1;
    this.display();
    this.glide(/** @type {HTMLElement} */ (this.rows[target].querySelector(`[data-document="${source}"]`)), from);
    if (next >= 0) this.rove(this.documents, next);
    if (byKeyboard) (next < 0 ? this.again : this.documents[next]).focus();
  }
  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "Escape" || this.picked < 0) return super.key(event);
    event.preventDefault();
    const { picked } = this;
    this.picked = -1;
    this.show(this.data.start);
    this.documents[picked].focus();
  }
  groups() {
    return [
      { nodes: this.documents, width: this.documents.length },
      { nodes: this.rows.filter((row) => !row.hidden), width: 1 },
    ];
  }

  display() {
    for (const [i, node] of this.documents.entries()) {
      node.setAttribute("aria-disabled", String(this.moves.some(([taken]) => taken === i)));
      node.setAttribute("aria-pressed", String(i === this.picked));
    }
    this.fillRows();
  }
  /** Show what is in each row: those in use, and one more. */
  fillRows() {
    const last = Math.max(-1, ...this.moves.map(([, row]) => row));
    for (const [row, node] of this.rows.entries()) {
      const there = this.moves.filter(([, target]) => target === row).map(([i]) => i),
        room = this.room(row, this.moves),
        letters = there.map((i) => this.data.documents[i].letter).join(", ");
      node.hidden = row > last + Number(!this.finished(this.moves));
      node.setAttribute("aria-label", `Row ${row + 1}: ${letters || "empty"}, ${room} of ${this.data.capacity} free`);
      node.replaceChildren(...there.map((i) => this.copy(i)));
    }
  }
  /** @param {number} i */
  copy(i) {
    const { letter, length } = this.data.documents[i],
      node = el("span", { "data-document": i }, letter);
    node.style.setProperty("--length", String(length));
    this.colour(node, i);
    return node;
  }
}

/** @param {Move[]} moves */
const used = (moves) => new Set(moves.map(([, row]) => row)).size;
