// The connection to the server. News is only "there is revision n"; what it is comes as a snapshot, and a snapshot comes
// with every connection.

/** @import { Kept } from "./kept.js" */
/** @import { ForPhones } from "./seen" */

import { forget, keep, recall } from "./kept.js";

const PATIENCE = 8000, // ms until a request counts as lost
  SILENCE = 22_000, // ms without a sign of life; the server gives one every 15 s
  SPREAD = 150, // ms over which the phones of a class ask for what is new
  SOONEST = 100;
export const LATEST = 1100; // ms between two attempts to connect

/** The server has refused a request with a sentence; from 500 on it may accept the same request later. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} sentence
   */
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

/** @param {number} most */
const anytime = (most) => most * Math.random();

export class Connection {
  /** @type {ForPhones} */
  seen = null;
  live = false;
  over = ""; // why there is no room, or none for this phone

  /**
   * @param {URL} base of the app
   * @param {string} code
   * @param {() => void} changed
   */
  constructor(base, code, changed) {
    this.base = base;
    this.room = new URL(`api/rooms/${code}`, base).href;
    this.code = code;
    this.changed = changed;
    this.kept = recall(code);
    this.turn = new AbortController();
    this.least = 0; // an older snapshot is not shown: it does not have the vote that was acknowledged
    this.newest = 0; // revision that the server has spoken of
  }

  /** Connect, and connect again whenever the connection is lost, until the room is gone. */
  async run() {
    for (let tries = 0; !this.over; tries++) {
      this.turn = new AbortController();
      try {
        if (!this.kept.token) await this.join({});
        await this.refresh();
        await this.listen(() => (tries = 0));
      } catch (problem) {
        this.afterFailure(problem);
      }
      this.live = false;
      if (this.over) break;
      this.changed();
      const wait = Math.min(LATEST, SOONEST * 2 ** tries);
      await this.pause(wait + anytime(wait / 4));
    }
    this.changed();
  }

  /** Reconnect now: after sleep, or without a network, the old connection may be dead. */
  wake() {
    this.turn.abort();
    this.endPause?.();
  }

  /** @param {number} wait in ms */
  pause(wait) {
    return new Promise((done) => {
      this.endPause = () => done(null);
      setTimeout(this.endPause, wait);
    });
  }

  /**
   * Stop if this phone is refused for good; anything else may succeed at the next attempt.
   * @param {unknown} problem
   */
  afterFailure(problem) {
    if (!(problem instanceof Refusal) || problem.status >= 500) return;
    if (problem.status === 403) this.save({ token: undefined });
    else {
      this.over = problem.status === 404 ? "gone" : problem.message;
      if (problem.status === 404) forget(this.code);
    }
  }

  /**
   * Listen for news until the connection ends.
   * @param {() => void} connected
   */
  async listen(connected) {
    const { signal } = this.turn,
      since = this.seen.revision;
    const query = new URLSearchParams({ token: this.kept.token, since: String(since) }),
      decoder = new TextDecoder(),
      { turn } = this;
    let text = "",
      silence = setTimeout(() => turn.abort(), SILENCE); // the answer itself may be lost, too
    try {
      const reply = await fetch(`${this.room}/events?${query}`, { signal, cache: "no-store" });
      if (!reply.ok) throw await refusal(reply);
      const reader = reply.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => turn.abort(), SILENCE);
        if (!this.live) {
          this.live = true;
          connected();
          this.changed();
        }
        const lines = (text + decoder.decode(value, { stream: true })).split("\n");
        text = lines.pop();
        for (const line of lines) if (line.startsWith("data:")) this.news(JSON.parse(line.slice(5)).revision);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  /** @param {number} revision */
  news(revision) {
    this.newest = Math.max(this.newest, revision);
    if (this.coming || this.newest <= this.seen.revision) return;
    this.coming = setTimeout(async () => {
      const { turn } = this;
      try {
        await this.refresh();
      } catch (problem) {
        this.afterFailure(problem);
        turn.abort();
      }
      this.coming = 0;
      if (!turn.signal.aborted) this.news(revision);
    }, anytime(SPREAD));
  }

  /** Ask what there is to be seen now. */
  async refresh() {
    const seen = await this.ask("", null, { token: this.kept.token });
    if (seen.revision < Math.max(this.least, this.seen?.revision ?? 0)) return;
    this.seen = seen;
    this.arrived();
  }

  /** Act on a new snapshot. */
  arrived() {
    this.changed();
  }

  /**
   * @param {string} path below the room's address
   * @param {object | null} body of a POST
   * @param {Record<string, string>} [query]
   */
  async ask(path, body, query = {}) {
    const lost = new AbortController(),
      give = () => lost.abort(),
      timer = setTimeout(give, PATIENCE),
      { signal } = this.turn;
    if (!body) signal.addEventListener("abort", give);
    try {
      const how = body
        ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }
        : {};
      const address = `${this.room}${path}${body ? "" : `?${new URLSearchParams(query)}`}`;
      const reply = await fetch(address, { ...how, signal: lost.signal, cache: "no-store" });
      if (!reply.ok) throw await refusal(reply);
      return await reply.json();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", give);
    }
  }

  // ---- who this phone is

  /** @param {{ name?: string, following?: boolean }} wish */
  async join(wish) {
    const { token, name } = await this.ask("/join", { token: this.kept.token, ...wish });
    this.save({ token, name });
    if (this.seen) Object.assign(this.seen, wish, { name });
    this.changed();
  }

  /** @param {Kept} values */
  save(values) {
    this.kept = { ...this.kept, ...values };
    keep(this.code, this.kept);
  }
}

/**
 * @param {Response} reply
 * @returns {Promise<Error>}
 */
async function refusal(reply) {
  const { error } = await reply.json().catch(() => ({ error: "" }));
  return error ? new Refusal(reply.status, error) : new Error(`status ${reply.status}`); // from something in between
}
