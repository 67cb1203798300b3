// The player: moves a movie from step to step and decides nothing. A movie is pure data (packviz/show/movie/data.py).

/** @import { Atlas, CodeLine, Ctx, Frame, Look, Movie, Moving, Options, Rgb, Spot, Stage, Standing } from "./types" */

import { Brush } from "./brush.js";
import { channels, readTheme, schemeOf } from "./colour.js";
import { controls } from "./controls.js";
import { el, icon } from "./dom.js";
import { framesOf, read } from "./frames.js";
import { here, steer } from "./keys.js";
import { frameView, inked, looks, READABLE } from "./layout.js";
import { BODIES, motionTo } from "./motion.js";
import { explained } from "./terms.js";
import { tipLines } from "./tips.js";

const FADE = 34; // pixels of the side panel that "more" covers
const BEAT = 560; // ms of one beat at speed 1
const LEGIBLE = 0.03, // of the window's height in full screen
  IN_HAND = 0.04; // or of its width, if that is less
// While playing, a step lasts for its motion and SETTLED, for as long as its caption takes to read, and never less than LEAST.
const SETTLED = 1000,
  WORD = 350,
  LEAST = 2500; // ms; WORD is for each word of the caption

export class Player {
  width = 0;
  height = 0;
  ratio = 1;
  step = 0;
  /** @type {Frame[]} */
  frames = [];
  /** @type {number[]} */
  ends = [];
  /** @type {Record<string, import("./types").Ink>} */
  inks = {};

  /**
   * @param {HTMLElement | ShadowRoot} host
   * @param {Options} options
   */
  constructor(host, options) {
    this.options = options;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.speed = 1;
    this.painted = 0;
    this.ui = controls(this);
    this.root = this.ui.root;
    this.canvas = this.ui.canvas;
    this.ctx = this.canvas.getContext("2d", { alpha: false });
    host.append(this.root);
    this.fit();
    this.listen();
    here.players.add(this);
  }

  listen() {
    this.off = new AbortController();
    const { signal } = this.off;
    document.addEventListener("keydown", (event) => steer(this, event), { signal, capture: true }); // before the focused element reacts to it
    document.addEventListener("pointerdown", (event) => this.press(event), { signal, capture: true });
    document.addEventListener(
      "fullscreenchange",
      () => this.fill(/** @type {any} */ (this.root.getRootNode()).fullscreenElement === this.root),
      { signal },
    );
    document.addEventListener("visibilitychange", () => document.hidden && this.stop(), { signal });
    this.root.addEventListener(
      "focusin",
      () => {
        here.last = this;
      },
      { signal },
    );
    this.canvas.addEventListener("pointermove", (event) => this.point(event), { signal });
    this.canvas.addEventListener("pointerdown", (event) => this.point(event), { signal });
    this.canvas.addEventListener("click", () => this.pick(), { signal });
    this.canvas.addEventListener("pointerleave", () => this.pointAt(null), { signal });
    this.dark.addEventListener("change", () => this.attempt(() => this.retheme()), { signal });
    window.addEventListener(
      "resize",
      () => {
        this.ui.asking.measure();
        this.fit();
      },
      { signal },
    );
    // Paper has a different width: the picture is drawn for it, and afterwards for the window again.
    window.addEventListener("beforeprint", () => this.print(true), { signal });
    window.addEventListener("afterprint", () => this.print(false), { signal });
    this.ui.side.addEventListener("scroll", () => this.tellMore(), { signal });
    this.sizes = new ResizeObserver(() => {
      const { clientWidth: w, clientHeight: h } = this.ui.stageBox;
      if (w !== this.width || h !== this.height) this.attempt(() => this.resize());
      this.scrollCode();
    });
    this.sizes.observe(this.ui.stageBox);
    this.above = new ResizeObserver(() => this.fit()); // the content above it on the page changed its height
    for (const node of ancestors(this.root)) this.above.observe(node);
    this.watchRatio();
  }

  /** @param {boolean} on */
  print(on) {
    this.root.toggleAttribute("data-print", on);
    this.motion = null;
    this.attempt(() => {
      this.retheme();
      this.resize();
    });
  }

  // Another screen or zoom level has a different pixel ratio.
  watchRatio() {
    const now = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`),
      { signal } = this.off;
    now.addEventListener(
      "change",
      () => {
        this.attempt(() => this.resize());
        this.watchRatio();
      },
      { signal, once: true },
    );
  }

  // The player's position on the page decides how high its picture can be.
  fit() {
    if (this.full) return;
    let above = this.root.getBoundingClientRect().top;
    for (const node of ancestors(this.root)) above += node.scrollTop;
    this.root.style.setProperty("--pv-above", `${Math.round(above)}px`);
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
    this.ui.tip.hidden = true;
    this.hover = this.picked = this.hit_ = this.motion = this.shown = this.views = this.theme = null;
    this.layer = this.atlas = null;
    this.inks = {};
    this.firstSteps = new Map();
    this.movie.steps.forEach(({ stage }, i) => this.firstSteps.has(stage) || this.firstSteps.set(stage, i + 1));
    this.ui.asking.give(movie.questions ?? []);
    this.root.setAttribute("aria-label", `packviz player: ${movie.title}`);
    this.ui.stages.replaceChildren(...[...this.firstSteps].map(([stage, first], i) => this.railItem(stage, first, i)));
    this.tellStack();
    this.ui.notes.textContent = movie.notes.join(" · ");
    this.ui.notes.hidden = !movie.notes.length;
    this.ui.code.replaceChildren(...movie.code.map((line) => this.codeItem(line)));
    this.ui.proof.textContent = (movie.exact ? "✓ " : "") + movie.proof;
    this.ui.proof.dataset.exact = String(movie.exact);
    this.ui.range.max = String(this.steps);
    this.ui.count.style.minWidth = `${2 * String(this.steps).length + 2}ch`;
    Object.assign(this.root.dataset, {
      steps: this.steps,
      cells: this.frames[0].states.length,
      stages: this.firstSteps.size,
    });
    this.attempt(() => {
      this.retheme();
      this.shown = this.looksAt(this.ends[this.step - 1]);
    });
    this.tell(false);
    this.tellKeys();
    this.attempt(() => this.resize());
  }

  /**
   * @param {Movie} movie
   * @param {{ step?: number }} [asked]
   */
  update(movie, { step } = {}) {
    if (JSON.stringify(movie) !== this.text) {
      this.stop();
      this.load(movie, step ?? this.sameStage(movie));
      this.options.onStep?.(this.step, /** @type {Stage} */ (this.root.dataset.stage));
    } else {
      this.attempt(() => this.retheme());
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

  /**
   * @param {Stage} stage
   * @param {number} first
   * @param {number} i
   */
  railItem(stage, first, i) {
    const node = el(
      "button",
      { type: "button", "data-stage": stage, title: this.movie.stages[stage], "aria-keyshortcuts": i + 1 },
      el("span", {}, `${i + 1} `),
      this.movie.stages[stage],
    );
    node.addEventListener("click", () => this.go(first));
    return el("li", {}, node);
  }
  // A map of the layers, from the input on, each with its directions, to see and choose which one the run shows.
  tellStack() {
    const { stack, stages } = this.movie,
      { onWatch } = this.options;
    this.ui.stack.hidden = !stack || !stages.run;
    if (this.ui.stack.hidden) return;
    const button = (/** @type {number} */ layer, /** @type {number} */ direction) => {
      const way = stack.directions === 2 ? ` ${direction ? "backward" : "forward"}` : "",
        label = `Layer ${layer}${way}`,
        here = layer === stack.layer && direction === stack.direction;
      const node = el("button", { type: "button", "aria-label": label, "aria-pressed": String(here), title: label });
      node.textContent = stack.directions === 2 ? (direction ? "←" : "→") : String(layer);
      node.disabled = !onWatch && !here;
      node.addEventListener("click", () => here || !onWatch || onWatch({ layer, direction }));
      return node;
    };
    const each = (/** @type {number} */ many) => Array.from({ length: many }, (_, i) => i);
    const layers = each(stack.layers).map((layer) =>
      el(
        "span",
        { class: "pv-layer" },
        ...(stack.directions === 2 && stack.layers > 1 ? [String(layer)] : []),
        ...each(stack.directions).map((direction) => button(layer, direction)),
      ),
    );
    this.ui.stack.replaceChildren(stack.layers > 1 ? "layer" : "direction", ...layers);
  }
  /** @param {CodeLine} line */
  codeItem([text, shape]) {
    return el("li", {}, el("code", {}, ...explained(text)), el("span", { class: "pv-shape" }, shape));
  }

  retheme() {
    const theme = this.root.hasAttribute("data-print") ? "light" : schemeOf(this.root);
    if (this.theme && this.root.dataset.theme === theme) return;
    this.root.dataset.theme = theme;
    this.theme = readTheme(this.root);
    this.brush = new Brush(this.theme, this.movie, this.frames[0].states);
    this.writeCaption();
    if (this.motion) this.prepare(this.motion);
    this.paint();
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.ui.stageBox;
    if (!w || !h || !this.movie) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.width !== w || this.height !== h || this.ratio !== ratio) {
      Object.assign(this, { width: w, height: h, ratio });
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
      this.views = null;
    }
    this.tellMore();
    if (this.motion) this.startAgain(this.motion);
    else this.settle(this.ends[this.step - 1]);
  }

  /**
   * @param {string} scene
   * @returns {Standing}
   */
  view(scene) {
    this.views ??= {};
    this.inks[scene] ??= inked(this.frames.filter((frame) => frame.scene === scene));
    return (this.views[scene] ??= frameView(
      this.movie.scenes[scene],
      this.width || 800,
      this.height || 400,
      this.inks[scene],
      { foot: this.foot(scene), least: this.least },
    ));
  }
  /**
   * Pixels below the picture for the legend of its colours, and for torch's message if it refuses.
   * @param {string} scene
   */
  foot(scene) {
    const legend = this.inks[scene].scales.size ? this.legend() : 0,
      refused = this.movie.steps.find(({ error }, i) => error && this.frames[this.ends[i]].scene === scene);
    if (!refused) return legend;
    const { error: box } = this.ui,
      { hidden, textContent } = box;
    box.style.bottom = legend ? `${legend}px` : "";
    Object.assign(box, { hidden: false, textContent: refused.error });
    const high = this.height - box.offsetTop;
    Object.assign(box, { hidden, textContent });
    return Math.min(high, 0.6 * this.height);
  }
  // The minimum size of a number in pixels, if it fits: larger in full screen, to be legible from the last row.
  get least() {
    return this.full ? Math.max(READABLE, Math.min(LEGIBLE * innerHeight, IN_HAND * innerWidth)) : READABLE;
  }
  // Pixels of the legend of the number colours below the picture.
  legend() {
    return 1.7 * Math.max(this.least, Math.min(14, 0.03 * this.height));
  }
  /** @param {number} index */
  looksAt(index) {
    const frame = this.frames[index];
    return looks(frame, this.view(frame.scene));
  }

  // ---- going from step to step

  next() {
    if (this.step < this.steps) this.go(this.step + 1);
  }
  back() {
    this.go(this.step - 1);
  }
  toggle() {
    this.playing ? this.stop() : this.play();
  }
  play(until = this.steps) {
    if (this.step === this.steps) this.go(1, { quick: true });
    this.playing = true;
    this.until = until;
    this.tellPlaying();
    this.next();
    this.rest();
  }
  /** @returns {void} */
  rest() {
    clearTimeout(this.timer);
    if (!this.playing) return;
    if (this.motion) return void (this.timer = setTimeout(() => this.rest(), 60));
    this.timer = setTimeout(() => (this.step >= this.until ? this.stop() : this.next()), this.hold());
  }
  // How much longer this step is held, now that its motion has ended.
  hold() {
    const words = this.ui.caption.textContent.split(/\s+/).length,
      been = (performance.now() - this.since) * this.speed;
    return Math.max(SETTLED, Math.max(LEAST, WORD * words) - been) / this.speed;
  }
  stop() {
    if (!this.playing) return;
    this.playing = false;
    clearTimeout(this.timer);
    this.tellPlaying();
  }

  /**
   * @param {number} step
   * @param {{ quick?: boolean }} [how]
   */
  go(step, { quick = false } = {}) {
    const target = Math.min(this.steps, Math.max(1, step));
    if (target === this.step) return;
    const forward = target === this.step + 1,
      from = this.ends[this.step - 1],
      to = this.ends[target - 1];
    if (this.motion) this.shown = this.looksAt(from); // when skipping ahead, finish the current step first
    this.step = target;
    this.since = performance.now();
    this.pointAt(null);
    this.blank(false);
    const path = forward ? Array.from({ length: to - from }, (_, i) => from + 1 + i) : [to];
    this.attempt(() =>
      quick || this.still.matches || document.hidden
        ? this.settle(to)
        : this.start(path, forward, this.view(this.frames[from].scene), from),
    );
    this.tell(true);
    this.rest();
  }

  /**
   * Jump to the step before `first`, then play up to `step`.
   * @param {number} step
   */
  show(step, first = step) {
    const target = Math.min(this.steps, Math.max(1, step));
    this.stop();
    const before = Math.min(first, target) - 1;
    if (before) this.go(before, { quick: true });
    first < target ? this.play(target) : this.go(target);
  }

  /** @param {number} index */
  settle(index) {
    this.motion = null;
    this.shown = this.looksAt(index);
    this.paint();
  }

  /**
   * Tween to each frame of the path in turn. What does not move is drawn once, what moves is blitted.
   * @param {number[]} path
   * @param {boolean} forward
   * @param {Standing} standing
   * @param {number} before the frame where it starts
   */
  start(path, forward, standing, before) {
    const frame = this.frames[path[0]],
      view = this.view(frame.scene);
    const motion = motionTo(this.shown, standing, frame, view, forward, { w: this.width, h: this.height });
    const lasts = ((forward ? BEAT : BEAT * 0.8) * motion.beats) / this.speed;
    const rest = motion.there ? path.slice(1) : path;
    this.motion = { ...motion, path, before, rest, forward, view, t: 0, began: null, lasts };
    this.prepare(this.motion);
    this.tick();
  }
  /**
   * The picture was resized, because the caption has more or fewer lines: continue the motion at the new size.
   * @param {Moving} motion
   */
  startAgain({ path, before, forward, began, t }) {
    this.shown = this.looksAt(before);
    this.start(path, forward, this.view(this.frames[before].scene), before);
    Object.assign(this.motion, { began, t });
    this.paint(); // at once: the canvas was cleared
  }
  /** @param {Moving} motion */
  prepare(motion) {
    this.measure();
    this.layer = this.stillLayer(motion.to, new Set(motion.moving), motion.view.unit);
    this.atlas = this.spriteAtlas(motion);
  }

  tick() {
    cancelAnimationFrame(this.raf);
    this.raf = requestAnimationFrame((now) => {
      const motion = this.motion;
      if (!motion) return;
      motion.began ??= now - 8;
      const t = Math.min(1, (now - motion.began) / motion.lasts);
      this.attempt(() => {
        if (t >= 1) this.arrive(motion);
        else {
          motion.t = t;
          this.paint();
        }
      });
      if (this.motion) this.tick();
    });
  }

  /** @param {Moving} motion */
  arrive(motion) {
    this.shown = motion.to.map(({ origin, ...look }) => look);
    this.motion = null;
    this.layer = this.atlas = null;
    if (motion.rest.length)
      this.start(motion.rest, motion.forward, motion.view, motion.there ? motion.path[0] : motion.before);
    this.paint();
  }

  /**
   * Show a drawing error in place of the picture; the captions, the code and the page continue to work.
   * @param {() => void} draw
   */
  attempt(draw) {
    try {
      draw();
    } catch (thrown) {
      const reason = /** @type {Error} */ (thrown);
      this.motion = null;
      this.shown ??= [];
      this.ui.failed.textContent = `This step could not be drawn: ${reason.message}. Reload the page, or try a newer browser; the text and the rest of the page still work.`;
      this.ui.failed.hidden = false;
      console.error(reason);
    }
  }

  // ---- painting

  surface() {
    const canvas = document.createElement("canvas");
    canvas.width = this.canvas.width;
    canvas.height = this.canvas.height;
    const ctx = canvas.getContext("2d");
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    return { canvas, ctx };
  }
  /**
   * @param {Look[]} looksThere
   * @param {Set<number>} moving
   * @param {number} unit
   */
  stillLayer(looksThere, moving, unit) {
    const { canvas, ctx } = this.surface();
    this.brush.see(looksThere);
    looksThere.forEach((look, i) => moving.has(i) || this.brush.draw(ctx, look, unit));
    return canvas;
  }

  /**
   * Moving cells that keep their size and look are drawn once and then copied if there are many: text is expensive.
   * @param {Moving} motion
   * @returns {Atlas | null}
   */
  spriteAtlas({ from, to, moving, view: { unit } }) {
    const plain = moving.filter((i) => {
      const a = from[i],
        b = to[i];
      return (
        BODIES.has(b.state.role) &&
        b.state.role !== "label" &&
        a.alpha > 0.9 &&
        b.alpha === 1 &&
        a.rect &&
        Math.abs(a.rect.w - b.rect.w) < 0.5 &&
        Math.abs(a.rect.h - b.rect.h) < 0.5 &&
        (a.state === b.state ||
          b.origin ||
          (a.state.text === b.state.text && a.state.tone === b.state.tone && a.vec === b.vec)) &&
        a.v === b.v
      );
    });
    if (plain.length < 60) return null;
    const pad = 3,
      ratio = this.ratio,
      sprites = new Map(),
      wide = 2048;
    let x = 0,
      y = 0,
      line = 0;
    for (const i of plain) {
      const w = Math.ceil((to[i].rect.w + 2 * pad) * ratio),
        h = Math.ceil((to[i].rect.h + 2 * pad) * ratio);
      if (x + w > wide) {
        x = 0;
        y += line;
        line = 0;
      }
      sprites.set(i, { x, y, w, h });
      x += w;
      line = Math.max(line, h);
    }
    if (y + line > 8192) return null;
    const canvas = document.createElement("canvas");
    canvas.width = wide;
    canvas.height = y + line;
    const ctx = canvas.getContext("2d");
    for (const [i, at] of sprites) {
      ctx.setTransform(ratio, 0, 0, ratio, at.x + pad * ratio, at.y + pad * ratio);
      this.brush.draw(ctx, { ...to[i], rect: { x: 0, y: 0, w: to[i].rect.w, h: to[i].rect.h } }, unit);
    }
    return { canvas, sprites, pad };
  }

  measure() {
    Object.assign(this.brush, {
      room: this.width,
      high: this.height,
      least: this.least,
      thick: Math.max(1, this.height / 600),
    });
  }
  paint(ctx = this.ctx) {
    if (!this.shown || !this.width || !this.brush) return;
    this.measure();
    const { ratio, motion } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = this.theme.background;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (motion) this.paintMotion(ctx, motion);
    else {
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      const { unit } = this.view(this.frames[this.ends[this.step - 1]].scene);
      this.brush.see(this.shown);
      for (const look of this.shown) this.brush.draw(ctx, look, unit);
      this.markHover(ctx);
    }
    this.paintLegend(ctx);
    if (ctx !== this.ctx) return;
    this.ui.failed.hidden = true;
    this.root.dataset.painted = String(++this.painted);
  }

  /** @param {Ctx} ctx */
  paintLegend(ctx) {
    const { scales } = this.inks[this.frames[this.ends[this.step - 1]].scene],
      foot = this.legend();
    if (scales.size) this.brush.legend(ctx, [...scales].sort(), 14, this.height - foot / 2, foot / 1.7);
  }
  /**
   * @param {Ctx} ctx
   * @param {Moving} motion
   */
  paintMotion(ctx, { from, to, at, moving, unit, t }) {
    const { ratio, atlas } = this,
      shown = from.slice();
    ctx.drawImage(this.layer, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const i of moving) {
      const look = (shown[i] = at(i, t)),
        sprite = atlas?.sprites.get(i);
      if (!sprite) {
        this.brush.draw(ctx, look, unit(t));
        continue;
      }
      const { x, y, w, h } = look.rect,
        pad = atlas.pad * ratio,
        across = w / to[i].rect.w,
        down = h / to[i].rect.h;
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.globalAlpha = look.alpha;
      ctx.drawImage(
        atlas.canvas,
        sprite.x,
        sprite.y,
        sprite.w,
        sprite.h,
        Math.round(x * ratio - pad * across),
        Math.round(y * ratio - pad * down),
        sprite.w * across,
        sprite.h * down,
      );
      ctx.globalAlpha = 1;
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.shown = shown;
  }

  // ---- pointing at a cell

  /** @param {PointerEvent} event */
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    this.pointAt({ x: event.clientX - box.left, y: event.clientY - box.top });
  }
  /** @param {Spot | null} spot */
  pointAt(spot) {
    const hit = spot && !this.motion ? this.hit(spot) : null,
      token = hit?.state.token ?? null;
    if (!hit && !this.hit_ && this.hover == null && this.ui.tip.hidden) return;
    const same = hit && hit === this.hit_ && token === this.hover;
    this.hit_ = hit;
    this.hover = token;
    this.showTip(hit, spot);
    if (!same) this.attempt(() => this.paint());
  }
  // A clicked cell stays outlined, and listeners are notified.
  pick() {
    const { i, role, seq, k, token } = this.hit_?.state ?? {};
    if (i === undefined || !this.options.onPick) return;
    this.picked = this.picked === i ? null : i;
    this.paint();
    if (this.picked !== null)
      this.options.onPick({ role, seq: seq ?? null, k: k ?? null, step: this.step, token: token ?? null });
  }
  /**
   * The first cell that fits at the end of this step: cells still moving in are found as well.
   * @param {(state: Look["state"]) => boolean} fits
   */
  found(fits) {
    return this.looksAt(this.ends[this.step - 1]).find(({ state, alpha, rect }) => alpha && rect && fits(state));
  }
  /**
   * Outline a cell picked elsewhere: the first one with this role, seq, k or token.
   * @param {Partial<import("./types").Picked> | null} picked
   */
  choose(picked) {
    const told = Object.entries(picked ?? {}).filter(([name]) => name !== "step"),
      same = (/** @type {Look["state"]} */ state) =>
        told.every(([name, value]) => (state[/** @type {"k"} */ (name)] ?? null) === value);
    this.picked = told.length ? (this.found(same)?.state.i ?? null) : null;
    this.attempt(() => this.paint());
  }
  /**
   * Highlight a token wherever it is, as if it were pointed at.
   * @param {number} token
   */
  light(token) {
    const look = this.found((state) => state.token === token);
    this.hover = token;
    this.hit_ = null;
    this.showTip(look, look && { x: look.rect.x + look.rect.w / 2, y: look.rect.y + look.rect.h / 2 });
    this.ui.live.textContent = this.movie.tokens[token]?.tip ?? "";
    this.paint();
  }
  /**
   * @param {Spot} spot
   * @returns {Look | null}
   */
  hit({ x, y }) {
    for (let i = this.shown.length - 1; i >= 0; i--) {
      const { state, alpha, rect } = this.shown[i];
      if (
        alpha &&
        rect &&
        state.f !== undefined &&
        x >= rect.x &&
        x < rect.x + rect.w &&
        y >= rect.y &&
        y < rect.y + rect.h
      )
        return this.shown[i];
    }
    return null;
  }
  /**
   * @param {Look | null} hit
   * @param {Spot} spot
   */
  showTip(hit, spot) {
    const lines = hit ? tipLines(this.movie, hit.state) : [];
    this.ui.tip.hidden = !lines.length;
    if (!lines.length) return;
    this.ui.tip.replaceChildren(...lines.map((line) => el("p", { dir: "auto" }, line)));
    const { width } = this,
      left = Math.min(Math.max(6, spot.x + 14), Math.max(6, width - this.ui.tip.offsetWidth - 6));
    const above = spot.y > this.height * 0.55;
    Object.assign(this.ui.tip.style, {
      left: `${left}px`,
      top: above ? "auto" : `${spot.y + 18}px`,
      bottom: above ? `${this.height - spot.y + 12}px` : "auto",
    });
  }
  /** @param {Ctx} ctx */
  markHover(ctx) {
    const same = this.hover == null ? this.hit_ : null;
    for (const look of this.shown) {
      const { state, alpha, rect } = look;
      if (
        !alpha ||
        !rect ||
        !(look === same || state.i === this.picked || (this.hover != null && state.token === this.hover))
      )
        continue;
      ctx.beginPath();
      ctx.roundRect(rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2, Math.min(7, rect.h * 0.2));
      this.brush.stroke(ctx, this.theme.background, 5);
      this.brush.stroke(ctx, this.theme.now, 3);
    }
  }
  /**
   * Step through the tokens in packed order with the keyboard.
   * @param {number} by
   */
  walk(by) {
    const order = this.movie.tokens
      .map((_, i) => i)
      .sort((i, j) => (this.movie.tokens[i].n ?? i) - (this.movie.tokens[j].n ?? j));
    const at = this.hover == null ? (by > 0 ? -1 : 0) : order.indexOf(this.hover);
    const token = order[(at + by + order.length) % order.length];
    if (this.found((state) => state.token === token)) this.light(token);
  }

  // ---- showing the current step

  /** @param {boolean} moved */
  tell(moved) {
    const { stage, code, detail = [], tone, error } = this.movie.steps[this.step - 1];
    const { dataset } = this.root,
      newStage = dataset.stage !== stage;
    Object.assign(dataset, { step: this.step, stage });
    this.root.toggleAttribute("data-told", this.ui.asking.told === this.step);
    this.writeCaption();
    this.ui.say.dataset.tone = tone ?? "";
    this.ui.error.hidden = !error;
    this.ui.error.textContent = error ?? "";
    this.ui.invite.hidden = this.step !== 1 || this.steps === 1;
    this.ui.onward.hidden = !this.options.onward || this.step !== this.steps;
    this.ui.range.value = String(this.step);
    this.ui.range.setAttribute("aria-valuetext", `step ${this.step} of ${this.steps}, ${this.movie.stages[stage]}`);
    this.ui.count.textContent = `${this.step} / ${this.steps}`;
    this.ui.firstButton.disabled = this.ui.backButton.disabled = this.step === 1;
    this.ui.nextButton.disabled = this.ui.lastButton.disabled = this.step === this.steps;
    const stages = [...this.firstSteps.keys()];
    for (const node of this.ui.stages.querySelectorAll("button")) {
      const here = node.dataset.stage === stage;
      here ? node.setAttribute("aria-current", "step") : node.removeAttribute("aria-current");
      node.toggleAttribute("data-done", stages.indexOf(node.dataset.stage) < stages.indexOf(stage));
    }
    [...this.ui.code.children].forEach((node, i) => {
      i === code ? node.setAttribute("aria-current", "true") : node.removeAttribute("aria-current");
      /** @type {HTMLElement} */ (node.lastChild).style.visibility =
        i > code || (i === code && this.step === 1 && this.steps > 1) ? "hidden" : ""; // not computed yet
    });
    this.ui.detail.replaceChildren(...detail.map((line) => this.codeItem(line)));
    if (moved) this.scrollCode();
    this.tellMore();
    const spoken = `${this.ui.caption.textContent} ${error ?? ""}`.trim();
    this.canvas.setAttribute(
      "aria-label",
      `${this.movie.title}. Step ${this.step} of ${this.steps}, ${this.movie.stages[stage]}. ${spoken}`,
    );
    if (moved && (!this.playing || newStage)) this.ui.live.textContent = spoken;
    if (moved) this.options.onStep?.(this.step, stage);
  }
  /**
   * Scroll the code so that what this step runs is in view, and so is the statement that it belongs to.
   */
  scrollCode() {
    const { side, detail, code } = this.ui,
      statement = code.querySelector("[aria-current]");
    if (!statement) return;
    const start = side.getBoundingClientRect().top - side.scrollTop,
      first = statement.getBoundingClientRect().top - start - FADE,
      last = detail.getBoundingClientRect().bottom - start + FADE;
    side.scrollTop = Math.max(0, Math.min(first, last - side.clientHeight));
  }
  // Show whether the code continues below its visible part.
  tellMore() {
    const { scrollTop, scrollHeight, clientHeight } = this.ui.side;
    this.ui.side.toggleAttribute("data-more", scrollTop + clientHeight < scrollHeight - 4);
  }
  tellPlaying() {
    this.ui.playButton.replaceChildren(icon(this.playing ? "pause" : "play"));
    const label = this.playing ? "Pause (Space)" : "Play (Space)";
    this.ui.playButton.setAttribute("aria-label", label);
    this.ui.playButton.title = label;
  }
  writeCaption() {
    const root = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    if (this.ui.say.contains(root.activeElement)) this.root.focus({ preventScroll: true }); // the focused element is removed
    const parts = this.movie.steps[this.step - 1].caption.replaceAll(" %", "\u00a0%").split(/(\{[A-Z]+\}|\*\*.+?\*\*)/);
    this.ui.caption.replaceChildren(
      ...parts.flatMap((part) => {
        if (part.startsWith("**")) return el("strong", {}, ...explained(part.slice(2, -2)));
        const found = /^\{([A-Z]+)\}$/.exec(part),
          seq = found && this.movie.sequences.find(([label]) => label === found[1]);
        if (!seq) return explained(part);
        const hue = this.theme.hues[seq[1]];
        return el("span", { class: "pv-chip", style: `background:${hue.fill};color:${hue.text}` }, seq[0]);
      }),
    );
  }

  // ---- full screen, picture

  escape() {
    this.pointAt(null);
    this.ui.mean();
    if (this.full) this.fullscreen();
  }
  /** @param {Event} event */
  press(event) {
    here.clicked = true;
    if (!(/** @type {any} */ (event.composedPath()[0]).matches?.("abbr"))) this.ui.mean();
    if (event.composedPath().includes(this.root)) here.last = this;
  }
  seen() {
    const { top, bottom, height } = this.ui.stageBox.getBoundingClientRect();
    return Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)) / (Math.min(height, innerHeight) || 1);
  }
  tellKeys() {
    this.tellCode();
    this.ui.keys.checked = here.singles;
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll("[aria-keyshortcuts]"))) {
      const name =
        this.movie.stages[/** @type {Stage} */ (node.dataset.stage)] ?? /** @type {string} */ (node.ariaLabel);
      node.title = here.singles ? `${name} (${node.getAttribute("aria-keyshortcuts")})` : name;
    }
  }
  /** @param {boolean} on */
  blank(on) {
    if (on !== this.ui.cover.hidden) return;
    this.ui.cover.hidden = !on;
    if (!on) return;
    this.stop();
    this.pointAt(null);
    this.ui.live.textContent = this.ui.cover.textContent = "Blank. B or a step brings the picture back.";
  }

  get full() {
    return this.root.hasAttribute("data-full");
  }
  /** @param {boolean} on */
  fill(on) {
    this.root.toggleAttribute("data-full", on);
    this.shut(on);
    this.tellCode();
    if (!on) this.fit();
  }
  /**
   * Make everything behind a player that fills the window inert.
   * @param {boolean} on
   */
  shut(on) {
    for (const node of this.behind ?? []) node.inert = false;
    const beside = (/** @type {HTMLElement} */ node) =>
      [...(node.parentNode?.children ?? [])].filter((each) => each !== node && !(/** @type {any} */ (each).inert));
    this.behind = /** @type {HTMLElement[]} */ (on ? [this.root, ...ancestors(this.root)].flatMap(beside) : []);
    for (const node of this.behind) node.inert = true;
  }
  toggleCode() {
    const where = this.full ? "full" : "page";
    here.code[where] = !here.code[where];
    for (const player of here.players) player.tellCode();
    if (this.full && here.code.full) this.ui.side.scrollIntoView({ block: "nearest" }); // on a phone it is below
  }
  // In full screen the picture takes the place of the code, unless the code is requested.
  tellCode() {
    const on = here.code[this.full ? "full" : "page"],
      label = on ? "Hide the code" : "Show the code";
    this.root.dataset.code = on ? "on" : "off";
    this.ui.codeButton.setAttribute("aria-label", label);
    this.ui.codeButton.title = here.singles ? `${label} (C)` : label;
    this.tellMore();
  }
  /** @returns {void} */
  fullscreen() {
    if (/** @type {any} */ (this.root.getRootNode()).fullscreenElement === this.root)
      return void document.exitFullscreen();
    const asked = this.full ? null : this.root.requestFullscreen?.();
    asked ? asked.catch(() => this.fill(true)) : this.fill(!this.full); // iPhones have no full screen: the player fills the window
  }
  /**
   * Save the picture as a PNG, without the empty margins. told: with the caption and a description below.
   * @param {{ told?: boolean }} [how]
   */
  save({ told = true } = {}) {
    const scale = 2,
      edge = 20;
    const whole = this.drawn(scale),
      { left, top, right, bottom } = inkOf(whole, channels(this.theme.background));
    const picture = document.createElement("canvas"),
      ctx = picture.getContext("2d");
    const wide = Math.max((right - left) / scale, told ? 480 : 0) + 2 * edge,
      high = (bottom - top) / scale + 2 * edge;
    this.brush.font(ctx, 16);
    const caption = told ? this.lines(ctx, this.ui.caption.textContent, wide - 2 * edge) : [],
      foot = told ? 22 * caption.length + 34 : 0;
    picture.width = Math.round(wide * scale);
    picture.height = Math.round((high + foot) * scale);
    ctx.fillStyle = this.theme.background;
    ctx.fillRect(0, 0, picture.width, picture.height);
    const across = (picture.width - (right - left)) / 2;
    ctx.drawImage(whole, left, top, right - left, bottom - top, across, edge * scale, right - left, bottom - top);
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.textBaseline = "alphabetic";
    this.brush.font(ctx, 16);
    ctx.fillStyle = this.theme.text;
    caption.forEach((line, i) => ctx.fillText(line, edge, high + 12 + i * 22));
    this.brush.font(ctx, 12);
    ctx.fillStyle = this.theme.quiet;
    const about = `packviz · step ${this.step} / ${this.steps} · ${this.movie.title} · ${this.movie.proof}`;
    if (told) ctx.fillText(about, edge, high + foot - 12, wide - 2 * edge);
    picture.toBlob((blob) => {
      const link = el("a", { href: URL.createObjectURL(blob), download: `packviz-step-${this.step}.png` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
  /**
   * The picture at rest on a separate canvas.
   * @param {number} scale
   */
  drawn(scale) {
    const picture = document.createElement("canvas"),
      { canvas, ratio, motion, shown } = this;
    picture.width = this.width * scale;
    picture.height = this.height * scale;
    Object.assign(this, { canvas: picture, ratio: scale, motion: null });
    if (motion) this.shown = this.looksAt(this.ends[this.step - 1]);
    this.paint(picture.getContext("2d"));
    Object.assign(this, { canvas, ratio, motion, shown });
    return picture;
  }
  /**
   * @param {Ctx} ctx
   * @param {string} text
   * @param {number} width
   */
  lines(ctx, text, width) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (ctx.measureText(longer).width <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  destroy() {
    this.stop();
    cancelAnimationFrame(this.raf);
    this.motion = null;
    this.off.abort();
    this.sizes.disconnect();
    this.above.disconnect();
    this.shut(false);
    here.players.delete(this);
    if (here.last === this) here.last = null;
    this.root.remove();
  }
}

/**
 * All ancestor elements of a node, also across shadow roots.
 * @param {HTMLElement} node
 */
function ancestors(node) {
  /** @type {HTMLElement[]} */
  const found = [];
  /** @type {any} */
  let each = node;
  while ((each = each.parentElement ?? each.getRootNode().host)) found.push(each);
  return found;
}

/**
 * The part of a picture that is not background.
 * @param {HTMLCanvasElement} picture
 * @param {Rgb} background
 */
function inkOf(picture, background) {
  const { width, height } = picture,
    { data } = picture.getContext("2d").getImageData(0, 0, width, height);
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 4) {
      if (background.every((channel, c) => data[i + c] === channel)) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = y + 1;
    }
  return right > left ? { left, top, right, bottom } : { left: 0, top: 0, right: width, bottom: height };
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
