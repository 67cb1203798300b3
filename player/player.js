// The player: moves a movie from step to step. What it shows is pure data (packviz/show/movie/data.py).
//
// Each fact has one owner, and only that one changes it; others read it there, or are told by a call.
//   player    which movie is loaded, and at which step it is
//   clock     whether it plays, and how fast
//   tween     the motion from one step to the next
//   picture   the size and the colours of the canvas, and which cells are on it; its pan: how far it is scrolled
//   pointer   which cell or token is pointed at or picked; its tip: the tooltip
//   question  the prediction that is asked, and the answers to it
//   screen    how the player is shown: in full screen, on paper, with its code, hidden
//   rail, program, caption, controls    the elements around the picture; what they show is read here
// What all players of a page share is in shared.js. A key, a button, the clock or the page asks the player to go to a step:
// `move` sets it, starts the motion to it, and tells all parts to show it (`showStep`).

/** @import { Film, Movie, Options } from "./types" */

import { Caption } from "./caption.js";
import { Clock } from "./clock.js";
import { Controls } from "./controls.js";
import { el } from "./dom.js";
import { filmOf, read } from "./frames.js";
import { steer } from "./keys.js";
import { Picture } from "./picture.js";
import { Pointer } from "./pointer.js";
import { Program } from "./program.js";
import { Prediction } from "./question.js";
import { Rail } from "./rail.js";
import { Screen } from "./screen.js";
import { enter, leave, use } from "./shared.js";
import { titled } from "./shortcuts.js";
import { Meaning } from "./terms.js";
import { Tween } from "./tween.js";

export class Player {
  #step = 0;
  /** @type {Film} */
  #film = null;
  #given = ""; // the movie as it was given
  #live = el("div", { class: "pv-live", "aria-live": "polite", role: "status" });
  #off = new AbortController();

  /**
   * @param {HTMLElement | ShadowRoot} host
   * @param {Options} options
   */
  constructor(host, options) {
    this.options = options;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.root = el("section", {
      class: "pv",
      "data-testid": "packviz-player",
      tabindex: "0",
      "aria-label": "packviz player",
    });
    this.clock = new Clock(this);
    this.tween = new Tween(this);
    this.picture = new Picture(this);
    this.pointer = new Pointer(this);
    this.screen = new Screen(this);
    this.rail = new Rail(this);
    this.program = new Program(this);
    this.caption = new Caption(this);
    this.controls = new Controls(this);
    this.question = new Prediction(this);
    const meaning = el("div", { class: "pv-meaning", role: "tooltip", hidden: "" });
    this.meaning = new Meaning(this.root, meaning);
    this.#assemble(meaning);
    host.append(this.root);
    this.#listen();
    enter(this);
  }
  /** @param {HTMLElement} meaning */
  #assemble(meaning) {
    const { root, rail, question, picture, pointer, screen, program, caption, controls } = this;
    picture.root.append(pointer.tip.root, screen.cover);
    const parts = [rail.root, question.root, picture.root, program.root, caption.root, controls.root];
    screen.body.append(...parts);
    root.append(screen.body, meaning, this.#live);
  }
  #listen() {
    const { signal } = this.#off;
    document.addEventListener("keydown", (event) => steer(this, event), { signal, capture: true }); // before the focused element reacts to it
    document.addEventListener("visibilitychange", () => document.hidden && this.clock.stop(), { signal });
    this.root.addEventListener("focusin", () => use(this), { signal });
    for (const part of [this.picture, this.pointer, this.program, this.screen]) part.listen(signal);
  }

  // ---- what others read

  get step() {
    return this.#step;
  }
  get film() {
    return this.#film;
  }
  get movie() {
    return this.#film?.movie;
  }
  /** How many there are. */
  get steps() {
    return this.#film.ends.length;
  }
  /** The first step of each stage. */
  get stages() {
    return this.#film.stages;
  }
  /** The current step's texts. */
  get now() {
    return this.movie.steps[this.#step - 1];
  }
  /** The last frame of the current step: how that looks once nothing moves any more. */
  get end() {
    return this.#film.ends[this.#step - 1];
  }

  // ---- data

  /**
   * @param {Movie} movie
   * @param {number} step
   */
  load(movie, step) {
    this.#film = filmOf(movie);
    this.#given = JSON.stringify(movie);
    this.#step = Math.min(this.steps, Math.max(1, Math.round(step) || 1));
    this.tween.forget();
    this.pointer.forget();
    this.screen.sink();
    this.picture.load(this.#film);
    this.question.load(movie.questions ?? []);
    for (const part of [this.rail, this.program, this.controls]) part.load();
    this.root.setAttribute("aria-label", `packviz player: ${movie.title}`);
    this.note({ steps: this.steps, cells: this.#film.first.length, stages: this.stages.size });
    this.picture.attempt(() => {
      this.picture.retheme();
      this.picture.stand(this.end);
    });
    this.#showStep(false);
    this.nameKeys();
    this.picture.attempt(() => this.picture.resize());
  }

  /**
   * @param {Movie} movie
   * @param {{ step?: number }} [asked]
   */
  update(movie, { step } = {}) {
    if (JSON.stringify(movie) !== this.#given) {
      this.clock.stop();
      this.load(movie, step ?? this.#sameStep(movie));
      this.options.onStep?.(this.#step, this.now.stage);
    } else {
      this.retheme();
      if (step !== undefined && step !== this.#step) this.go(step);
    }
  }

  /**
   * Where to continue in another movie: at its end from the end, at the same step if it shows the same tokens, else at
   * the beginning of the stage.
   * @param {Movie} movie
   */
  #sameStep(movie) {
    if (this.#step === this.steps && this.steps > 1) return movie.steps.length;
    const { steps, tokens } = read(movie),
      { stage } = this.now,
      begins = steps.findIndex((step) => step.stage === stage) + 1;
    const same = steps[this.#step - 1]?.stage === stage && JSON.stringify(tokens) === JSON.stringify(this.movie.tokens);
    return same ? this.#step : begins || 1;
  }

  retheme() {
    this.picture.attempt(() => this.picture.retheme());
  }

  // ---- going from step to step

  next() {
    this.go(this.#step + 1);
  }
  back() {
    this.go(this.#step - 1);
  }
  /**
   * Go to a step; the movie no longer plays by itself.
   * @param {number} step
   * @param {{ quick?: boolean }} [how]
   */
  go(step, how) {
    this.clock.stop();
    this.screen.reveal();
    this.move(step, how);
  }
  /**
   * @param {number} step
   * @param {{ quick?: boolean }} [how] quick: without motion
   */
  move(step, { quick = false } = {}) {
    const target = Math.min(this.steps, Math.max(1, step));
    if (target === this.#step) return;
    const { picture, tween } = this,
      { ends, frames } = this.#film,
      forward = target === this.#step + 1,
      near = forward || target === this.#step - 1 || target === 1,
      from = this.end,
      to = ends[target - 1];
    if (tween.motion) picture.stand(from); // when skipping ahead, finish the current step first
    this.#step = target;
    this.pointer.pointAt(null);
    this.screen.blank(false);
    const path = forward ? Array.from({ length: to - from }, (_, i) => from + 1 + i) : [to];
    picture.attempt(() => {
      const still = quick || this.still.matches || document.hidden;
      still ? picture.settle(to) : tween.go(path, forward, picture.view(frames[from].scene), from);
      const before = near ? from : ends[target - 2]; // after a jump most cells differ: what its own step changes is followed
      picture.pan.follow(picture.looksAt(before), picture.looksAt(to), !still);
    });
    this.#showStep(true);
  }

  /**
   * Jump to the step before `first`, then play up to `step`.
   * @param {number} step
   */
  show(step, first = step) {
    const target = Math.min(this.steps, Math.max(1, step)),
      before = Math.min(first, target) - 1;
    if (before || first < target) this.go(Math.max(1, before), { quick: true });
    first < target ? this.clock.play(target) : this.go(target);
  }

  /**
   * Tell all parts which step it is, and listeners if it has `moved` there.
   * @param {boolean} moved
   */
  #showStep(moved) {
    const { stage, error = "" } = this.now,
      newStage = this.root.dataset.stage !== stage;
    this.note({ step: this.#step, stage });
    this.caption.showStep();
    this.picture.showStep();
    this.screen.makeRoom();
    this.controls.showStep();
    this.rail.showStep();
    this.program.showStep(moved);
    if (moved && (!this.clock.playing || newStage)) this.announce(`${this.caption.text} ${error}`.trim());
    if (moved) this.options.onStep?.(this.#step, stage);
  }

  // ---- the whole of it

  /**
   * Note facts on the page, where style sheets, other scripts and tests find them.
   * @param {Record<string, string | number>} facts
   */
  note(facts) {
    Object.assign(this.root.dataset, facts);
  }
  /**
   * Have a text read aloud.
   * @param {string} text
   */
  announce(text) {
    this.#live.textContent = text;
  }
  /** Say which keys do the same as a button. */
  nameKeys() {
    this.screen.showCode();
    this.controls.showSingles();
    for (const node of this.root.querySelectorAll("[aria-keyshortcuts]")) titled(/** @type {HTMLElement} */ (node));
  }

  destroy() {
    this.clock.stop();
    this.tween.forget();
    this.#off.abort();
    this.screen.leave();
    leave(this);
    this.root.remove();
  }
}
