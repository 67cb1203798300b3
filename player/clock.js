// Play: the movie goes on by itself, and each step stays as long as its caption takes to read.

const WORDS = /\S*[\p{L}\p{N}]\S*/gu, // no word is a sign alone, such as =
  WORD = 250, // ms for each word of the caption: how long a step lasts, its motion included,
  SHORTEST = 2200, // at least
  LONGEST = 6000, // and at most
  SETTLED = 800; // ms that the picture stands still at least

export class Clock {
  playing = false;
  speed = 1;
  #until = 0; // the step at which it ends
  #since = 0; // when the current step began
  #timer = 0; // of the next step

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
  }
  /** @param {number} speed */
  pace(speed) {
    this.speed = speed;
    this.schedule();
  }
  toggle() {
    this.playing ? this.stop() : this.play();
  }
  play(until = this.player.steps) {
    if (this.player.step === this.player.steps) this.player.move(1, { quick: true });
    this.playing = true;
    this.#until = until;
    this.player.controls.showPlaying(this.playing);
    this.player.screen.reveal();
    this.#advance();
  }
  #advance() {
    this.#since = performance.now();
    this.player.move(this.player.step + 1);
    this.schedule();
  }
  /**
   * Go on once the motion has ended and the caption has been read; end the play at its last step, or where a question waits.
   * @returns {void}
   */
  schedule() {
    clearTimeout(this.#timer);
    if (!this.playing || this.player.tween.motion) return; // the end of the motion comes back here
    if (this.player.step >= this.#until || this.player.question.holds()) return this.stop();
    this.#timer = setTimeout(() => this.#advance(), this.#remaining());
  }
  // How many ms this step still lasts, now that its motion has ended.
  #remaining() {
    const words = (this.player.caption.text.match(WORDS) ?? []).length,
      been = (performance.now() - this.#since) * this.speed;
    return Math.max(SETTLED, Math.min(LONGEST, Math.max(SHORTEST, WORD * words)) - been) / this.speed;
  }
  stop() {
    if (!this.playing) return;
    this.playing = false;
    clearTimeout(this.#timer);
    this.player.controls.showPlaying(this.playing);
  }
}
