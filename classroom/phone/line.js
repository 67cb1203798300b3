// The line of a phone: a vote stays here until the server has said that it is stored, or until its round is over.

/** @import { ForPhones } from "./seen" */

import { Connection, LATEST, Refusal } from "./connection.js";

/** @param {unknown} one @param {unknown} other */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

export class Line extends Connection {
  problem = ""; // what the server has against the last answer
  late = false; // whether an answer came after the close
  failed = ""; // why the last attempt to send the answer failed

  arrived() {
    this.settle();
    super.arrived();
    this.send();
  }

  /** Which question or item is on the screen. */
  get where() {
    const { kind, shown } = this.seen;
    return `${kind} ${shown}`;
  }
  /** Whether this movie goes where the teacher's goes. */
  get following() {
    return this.kept.alone !== this.where;
  }
  /** @param {boolean} on */
  follow(on) {
    this.save({ alone: on ? undefined : this.where });
    this.changed();
    if (this.seen.following !== on) this.join({ following: on }).catch(() => {}); // the teacher's count of followers may wait
  }

  /**
   * Send a message to the teacher alone.
   * @param {"pace" | "wonder"} path
   * @param {Record<string, string | null>} message
   */
  async sendMessage(path, message) {
    await this.ask(`/${path}`, { token: this.kept.token, ...message });
    await this.refresh();
  }

  // ---- the vote

  /** The answer as this phone has it: the one on its way, else the one that is stored; null for none. */
  get answer() {
    return this.kept.vote?.answer ?? this.seen?.mine ?? null;
  }
  /** The same as the server read it; null while it has not. */
  get read() {
    return this.kept.vote ? null : (this.seen?.read ?? null);
  }
  /** How sure one said to be of it. */
  get confidence() {
    return (this.kept.vote ?? this.seen)?.confidence ?? null;
  }
  /** Which question and round these are. */
  get at() {
    return `${this.seen.question?.number}/${this.seen.round}`;
  }
  /** @param {import("./kept.js").Vote} vote */
  open(vote) {
    const { phase, question, round } = this.seen;
    return phase === "vote" && question.number === vote.question && round === vote.round;
  }

  /**
   * @param {ForPhones["mine"]} answer
   * @param {ForPhones["confidence"]} confidence
   */
  vote(answer, confidence = this.confidence) {
    this.problem = this.failed = "";
    this.save({ vote: { question: this.seen.question.number, round: this.seen.round, answer, confidence } });
    this.changed();
    this.send();
  }

  /** Send the vote that waits, if its round is open, until it is stored. */
  async send() {
    clearTimeout(this.again);
    while (!this.sending && !this.closed && this.kept.vote && this.open(this.kept.vote)) {
      const { vote } = this.kept;
      this.sending = true;
      try {
        const { revision } = await this.ask("/vote", { token: this.kept.token, ...vote });
        this.least = Math.max(this.least, revision);
        if (this.open(vote)) {
          this.seen.voted += this.seen.mine === null ? 1 : 0;
          this.seen.mine = vote.answer;
          this.seen.read = null;
          this.seen.confidence = vote.confidence;
        }
        if (this.kept.vote === vote) this.save({ vote: undefined });
        this.failed = "";
      } catch (problem) {
        this.unsent(problem, vote);
      } finally {
        this.sending = false;
      }
      this.changed();
      if (this.failed) {
        this.again = setTimeout(() => this.send(), LATEST);
        return;
      }
    }
  }

  /**
   * @param {unknown} problem
   * @param {import("./kept.js").Vote} vote
   */
  unsent(problem, vote) {
    const { status, message } =
      problem instanceof Refusal ? problem : { status: 503, message: "There is no connection." };
    if (status === 409) this.closed = message;
    else if (status >= 500 || status === 403 || status === 404) this.failed = message;
    else {
      this.problem = message;
      if (this.kept.vote === vote) this.save({ vote: undefined });
    }
    if ([403, 404, 409].includes(status)) this.wake(); // a snapshot says what it is
  }

  /** See in a new snapshot what has become of the vote on its way, and keep the first answer for the second vote. */
  settle() {
    const { vote } = this.kept,
      { question, round, phase, mine, read } = this.seen,
      other = this.told !== this.at;
    this.told = this.at;
    if (other || phase === "vote") this.late = false;
    if (other) this.problem = "";
    if (vote && (this.closed || !this.open(vote))) {
      const current = question?.number === vote.question && round === vote.round;
      if (this.open(vote)) this.problem = this.closed;
      else this.late = current && !same(mine, vote.answer);
      this.save({ vote: undefined });
      this.failed = "";
    }
    this.closed = "";
    if (question && round === 1 && phase !== "vote" && mine !== null && this.kept.first?.question !== question.number)
      this.save({ first: { question: question.number, round: 1, answer: mine, read } });
  }
}
