// The player: moves a movie from step to step. What it shows is pure data (packviz/show/movie/data.py).

/** @import { Frame, Movie, Options, Stage } from "./types" */

import { Clock } from "./clock.js";
import { controls } from "./controls.js";
import { el } from "./dom.js";
import { framesOf, read } from "./frames.js";
import { enter, leave, steer, use } from "./keys.js";
import { Picture } from "./picture.js";
import { Pointer } from "./pointer.js";
import { Screen } from "./screen.js";
import { watchNext } from "./stack.js";
import { Texts } from "./texts.js";
import { Tween } from "./tween.js";

export class Player {
  step = 0;
  /** @type {Frame[]} */
  frames = [];
  /** @type {number[]} */
  ends = [];

  /**
   * @param {HTMLElement | ShadowRoot} host
   * @param {Options} options
   */
  constructor(host, options) {
    this.options = options;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.clock = new Clock(this);
    this.tween = new Tween(this);
    this.pointer = new Pointer(this);
    this.texts = new Texts(this);
    this.screen = new Screen(this);
    this.ui = controls(this);
    this.root = this.ui.root;
    this.picture = new Picture(this, this.ui.canvas);
    host.append(this.root);
    this.listen();
    enter(this);
  }

  listen() {
    this.off = new AbortController();
    const { signal } = this.off;
    document.addEventListener("keydown", (event) => steer(this, event), { signal, capture: true }); // before the focused element reacts to it
    document.addEventListener("visibilitychange", () => document.hidden && this.clock.stop(), { signal });
    this.root.addEventListener("focusin", () => use(this), { signal });
    for (const part of [this.picture, this.pointer, this.texts, this.screen, this.ui.pan]) part.listen(signal);
  }

  // ---- data

  /**
   * @param {Movie} movie
   * @param {number} step
   */
  load(movie, step) {
    this.movie = read(movie);
    this.text = JSON.stringify(movie);
    Object.assign(this, framesOf(this.movie));
    this.steps = movie.steps.length;
    this.step = Math.min(this.steps, Math.max(1, Math.round(step) || 1));
    this.firstSteps = new Map();
    this.movie.steps.forEach(({ stage }, i) => this.firstSteps.has(stage) || this.firstSteps.set(stage, i + 1));
    this.tween.forget();
    this.pointer.forget();
    this.picture.load(this);
    this.ui.asking.give(movie.questions ?? []);
    this.texts.load();
    Object.assign(this.root.dataset, {
      steps: this.steps,
      cells: this.frames[0].states.length,
      stages: this.firstSteps.size,
    });
    this.picture.attempt(() => {
      this.picture.retheme();
      this.picture.stand(this.ends[this.step - 1]);
    });
    this.texts.showStep(false);
    this.texts.nameKeys();
    this.picture.attempt(() => this.picture.resize());
  }

  /**
   * @param {Movie} movie
   * @param {{ step?: number }} [asked]
   */
  update(movie, { step } = {}) {
    if (JSON.stringify(movie) !== this.text) {
      this.clock.stop();
      this.load(movie, step ?? this.sameStage(movie));
      this.options.onStep?.(this.step, /** @type {Stage} */ (this.root.dataset.stage));
    } else {
      this.retheme();
      if (step !== undefined && step !== this.step) this.go(step);
    }
  }

  /**
   * Where to continue in another movie: at its end from the end, at the same step if it shows the same tokens, else at
   * the beginning of the stage.
   * @param {Movie} movie
   */
  sameStage(movie) {
    if (this.step === this.steps && this.steps > 1) return movie.steps.length;
    const { steps, tokens } = read(movie),
      { stage } = this.root.dataset,
      begins = steps.findIndex((step) => step.stage === stage) + 1;
    const same = steps[this.step - 1]?.stage === stage && JSON.stringify(tokens) === JSON.stringify(this.movie.tokens);
    return same ? this.step : begins || 1;
  }

  retheme() {
    this.picture.attempt(() => this.picture.retheme());
  }

  // ---- going from step to step

  next() {
    this.go(this.step + 1);
  }
  back() {
    this.go(this.step - 1);
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
    if (target === this.step) return;
    const { picture, tween } = this,
      forward = target === this.step + 1,
      from = this.ends[this.step - 1],
      to = this.ends[target - 1];
    if (tween.motion) picture.stand(from); // when skipping ahead, finish the current step first
    this.step = target;
    this.pointer.pointAt(null);
    this.screen.blank(false);
    const path = forward ? Array.from({ length: to - from }, (_, i) => from + 1 + i) : [to];
    picture.attempt(() => {
      const still = quick || this.still.matches || document.hidden;
      still ? picture.settle(to) : tween.go(path, forward, picture.view(this.frames[from].scene), from);
      this.ui.pan.follow(picture.looksAt(from), picture.looksAt(to), !still);
    });
    this.texts.showStep(true);
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

  watchNext() {
    watchNext(this);
  }

  destroy() {
    this.clock.stop();
    this.tween.forget();
    this.off.abort();
    this.screen.leave();
    leave(this);
    this.root.remove();
  }
}

/**
 * @param {HTMLElement | ShadowRoot} host
 * @param {Movie} movie
 * @param {Options} options
 */
export function mount(host, movie, options = {}) {
  let player;
  host.querySelector(".pv-none")?.remove();
  try {
    player = new Player(host, options);
    player.load(movie, options.step ?? 1);
    return player;
  } catch (reason) {
    player?.destroy();
    giveUp(host, reason);
    throw reason;
  }
}

/**
 * Show the reason in place of the player.
 * @param {HTMLElement | ShadowRoot} host
 * @param {any} reason
 */
export function giveUp(host, reason) {
  host.querySelector(".pv-none")?.remove();
  host.append(
    el(
      "div",
      { class: "pv pv-none" },
      el(
        "p",
        { class: "pv-failed", role: "alert" },
        `The picture could not be shown: ${reason.message}. Reload the page, or try a newer browser; the rest of the page still works.`,
      ),
    ),
  );
}
