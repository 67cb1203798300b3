// An exercise by hand: a visitor moves sources to targets, one after another, and every move is answered at once.

/** @import { Data, Move, Judged } from "./types" */

import { readTheme, schemeOf } from "./colour.js";
import { button, el } from "./dom.js";
import { drag } from "./drag.js";

/**
 * What was done last in each kind of exercise, kept because the page may be redrawn or revisited.
 * @type {Map<string, { given: string, moves: Move[], said: string }>}
 */
const left = new Map();

/**
 * The moves are the whole state, and `place` judges each of them; a subclass says what there is to move and where to.
 * @template {Data} D
 */
export class Exercise {
  /** @type {HTMLElement[]} */ sources;
  /** @type {HTMLElement[]} */ targets;
  /** @type {HTMLElement[]} */ parts;
  trigger = "";
  label = "";
  keys = "";

  /**
   * @param {ShadowRoot} host
   * @param {D} data
   * @param {string} given
   * @param {(trigger: string) => void} onDone
   */
  constructor(host, data, given, onDone) {
    this.host = host;
    this.data = data;
    this.given = given;
    this.onDone = onDone;
    /** @type {Move[]} */
    this.moves = [];
    this.dragging = false;
    this.told = el("p", { role: "status" });
    this.putBack = button("Put back", () => this.back());
    this.again = button("Start over", () => this.startOver());
  }

  /** Put the exercise on the page, as it was left. */
  mount() {
    const last = left.get(this.trigger),
      before = last?.given === this.given ? last : null;
    this.moves = before?.moves ?? [];
    const keys = el("span", { class: "pv-tokeys" }, this.keys);
    this.root = el(
      "section",
      { class: "pv pv-exercise", "data-testid": "packviz-exercise", "aria-label": this.label },
      el("div", { class: "pv-packing" }, ...this.parts, this.line(this.putBack, this.again, keys)),
    );
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.host.append(this.root);
    this.retheme();
    this.show(before?.said ?? this.data.start);
    return this;
  }

  retheme() {
    this.root.dataset.theme = schemeOf(this.root);
    this.hues = readTheme(this.root).hues;
    this.paint();
  }
  /** Colour what belongs to a sequence. */
  paint() {}
  /**
   * @param {HTMLElement} node
   * @param {number} b
   */
  colour(node, b) {
    const { fill, text, edge } = this.hues[b % this.hues.length];
    for (const [name, value] of Object.entries({ fill, text, edge })) node.style.setProperty(`--${name}`, value);
  }

  /** @param {HTMLElement[]} nodes */
  line(...nodes) {
    return el("div", { class: "pv-line" }, ...nodes);
  }

  // ---- the rules, by a subclass

  /**
   * Judge a move after others; null if there is nothing to move.
   * @param {number} _source
   * @param {number} _target
   * @param {Move[]} _moves
   * @returns {Judged | null}
   */
  place(_source, _target, _moves) {
    return null;
  }
  /**
   * Whether these moves complete the exercise.
   * @param {Move[]} _moves
   */
  finished(_moves) {
    return false;
  }
  /** Show the moves. */
  display() {}
  /**
   * What happens after a move was accepted.
   * @param {number} _source
   * @param {number} _target
   * @param {DOMRect} _from where the moved thing was
   */
  moved(_source, _target, _from) {}
  /** The sentence when the last move is taken back. */
  takenBack() {
    return this.data.back;
  }
  /**
   * The groups of nodes along which arrow keys move the focus, and the number of nodes in a line of each.
   * @returns {{ nodes: HTMLElement[], width: number }[]}
   */
  groups() {
    return [];
  }

  // ---- the visitor's actions

  /**
   * @param {number} source
   * @param {number} target
   * @param {HTMLElement} [from] what is moved
   */
  attempt(source, target, from = this.sources[source]) {
    const placed = this.place(source, target, this.moves);
    if (!placed) return;
    const start = from.getBoundingClientRect();
    if (placed.accepted) this.moves = [...this.moves, [source, target]];
    this.show(placed.said, placed.accepted ? undefined : this.sources[source]);
    if (!placed.accepted) return;
    this.moved(source, target, start);
    if (this.finished(this.moves)) this.onDone(this.trigger);
  }
  back() {
    if (!this.moves.length) return;
    this.moves = this.moves.slice(0, -1);
    this.show(this.takenBack());
  }
  startOver() {
    this.moves = [];
    this.show(this.data.start);
  }
  /**
   * Let the mouse and the pen drag a source to a target.
   * @param {HTMLElement} node
   * @param {number} source
   */
  draggable(node, source) {
    node.addEventListener("pointerdown", (event) =>
      drag(node, event, this.root, {
        begin: () => {
          this.dragging = true;
        },
        over: (x, y) => this.targets.findIndex((target) => isOver(target, x, y)),
        drop: (target, carried) => target >= 0 && this.attempt(source, target, carried),
        end: () => {
          this.dragging = false;
        },
      }),
    );
    return node;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Backspace") {
      event.preventDefault();
      return this.back();
    }
    for (const { nodes, width } of this.groups()) {
      const place = nodes.indexOf(/** @type {HTMLElement} */ (event.target));
      if (place >= 0) this.step(event, nodes, place, width);
    }
  }
  /**
   * Arrow keys move the focus within a grid or along a line; Home and End go to the ends of a line.
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
   * @param {HTMLElement} [mistake] what was moved by mistake
   */
  show(said, mistake) {
    left.set(this.trigger, { given: this.given, moves: this.moves, said });
    this.root.dataset.taken = String(this.moves.length);
    for (const node of this.sources) node.toggleAttribute("data-wrong", node === mistake);
    this.putBack.setAttribute("aria-disabled", String(!this.moves.length));
    this.told.dataset.tone = mistake ? "wrong" : this.finished(this.moves) ? "good" : "";
    this.told.textContent = this.told.textContent === said ? `${said}\u00a0` : said; // so that the same words are announced again
    this.display();
  }
  /**
   * Move something from its old place to its new one.
   * @param {HTMLElement} node
   * @param {DOMRect} from
   */
  glide(node, from) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const to = node.getBoundingClientRect();
    const start = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
    node.animate([{ transform: start }, { transform: "none" }], { duration: 260, easing: "ease-out" });
  }
}

const NEAR = 6; // pixels above and below a target that belong to it

/**
 * @param {HTMLElement} node
 * @param {number} x
 * @param {number} y
 */
function isOver(node, x, y) {
  const { left, right, top, bottom, width } = node.getBoundingClientRect();
  return width > 0 && x >= left && x <= right && y >= top - NEAR && y <= bottom + NEAR;
}
