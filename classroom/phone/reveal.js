// The answer: whether one's own was right and why, what the class said, and the movie of what torch did.

/** @import { Line } from "./line.js" */
/** @import { Bar } from "./seen" */

import { told } from "./answer.js";
import { base, button, el, letter, rich } from "./dom.js";

/** @type {Promise<any>} */
let loading = null;
/** The player, fetched once: by phones one after the other while they wait, or when it is needed. */
export const player = () =>
  (loading ??= import(new URL(document.documentElement.dataset.player, base).href).catch((problem) => {
    loading = null;
    throw problem;
  }));

/** @param {Line} line */
export function verdict({ seen, kept: { first } }) {
  const { question, mine, read, right, reason, solution, why } = seen,
    parts = [];
  if (mine !== null && (right ?? null) === null)
    parts.push(el("p", { class: "verdict" }, "Your answer: ", ...given(told(question, mine, read))));
  else if (mine !== null) {
    const [kind, sign] = right ? ["good", "✓ Right: "] : ["wrong", "✗ Not right: "];
    parts.push(el("p", { class: `verdict ${kind}` }, sign, ...given(told(question, mine, read))));
    if (!right && reason) parts.push(el("p", {}, ...rich(reason)));
  } else {
    parts.push(el("p", { class: "verdict" }, "You did not answer in this vote."));
    if (first?.question === question.number)
      parts.push(el("p", {}, "Your first answer: ", ...given(told(question, first.answer, first.read))));
  }
  if (!right && solution) parts.push(el("p", {}, "The right answer: ", ...given(solution)));
  if (why) parts.push(el("p", {}, ...rich(why)));
  return parts;
}
/** @param {string} text */
const given = (text) => [el("b", {}, ...rich(text))];

/** @param {Bar} bar */
const written = ({ answer, before, after }) => {
  const many = Math.max(before, after);
  return el("li", {}, answer ?? "other answers", ...(many > 1 ? [" ", el("b", {}, `×${many}`)] : []));
};

/**
 * What the class said, before the talk and after it.
 * @param {Line} line
 */
export function bars({ seen }) {
  const { question, read: own, rounds, bars } = seen,
    most = Math.max(1, ...bars.flatMap(({ before, after }) => [before, after]));
  const bar = (/** @type {string} */ when, /** @type {number} */ many, /** @type {number} */ sure) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${(100 * many) / most}%`;
    return el(
      "div",
      { class: `bar ${rounds === 2 ? when : "after"}` },
      el("span", { class: "when" }, rounds === 2 ? when : "votes"),
      el("span", { class: "track", "aria-hidden": "true" }, fill),
      el("span", { class: "many" }, sure ? `${many} (${sure} sure)` : String(many)),
    );
  };
  const said = bars.some(({ sure = [] }) => sure.some(Boolean)); // then each line has room for it: equal bars are equal
  const items = bars.map(({ answer, right, before, after, reason, sure = [] }, i) =>
    el(
      "li",
      { class: right && "good" },
      el(
        "p",
        {},
        question.options ? `${letter(i)}. ` : "",
        ...given(answer ?? "Other answers"),
        ...(right ? [" ✓ right"] : []),
        ...(answer !== null && answer === own ? [" · your answer"] : []),
      ),
      bar("before", before, sure[0]),
      ...(rounds === 2 ? [bar("after", after, sure[1])] : []),
      ...(reason && !right && answer !== own ? [el("p", { class: "quiet" }, ...rich(reason))] : []),
    ),
  );
  if (!bars.length) return [el("h2", {}, "The class"), el("p", {}, "Nobody has answered.")]; // a poll without options
  if (question.collects)
    return [el("h2", {}, "What the class wrote"), el("ul", { class: "texts" }, ...bars.map(written))];
  const what = rounds === 2 ? "The class, before and after the talk" : "The class";
  return [el("h2", {}, what), el("ul", { class: said ? "bars said" : "bars" }, ...items)];
}

/** @param {Line} line */
async function film({ seen, kept }) {
  const reply = await fetch(new URL(`${seen.movie.path}&${new URLSearchParams({ token: kept.token })}`, base));
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  return reply.json();
}

/**
 * The movie, at the teacher's step as long as this phone follows.
 * @param {Line} line
 * @param {(sentence: string) => void} announce
 * @returns {{ node: HTMLElement, update: () => void, end: () => void }}
 */
export function cinema(line, announce) {
  const said = el("p", {}),
    turn = button("", () => choose(!line.following)),
    host = el("div", { class: "movie" }, el("p", { class: "quiet" }, "Loading the movie …")),
    node = el("section", { "aria-label": "The movie" }, el("div", { class: "follow" }, said, turn), host);
  /** @type {any} */
  let playing = null;
  let led = false, // whether the step is the teacher's
    failed = false, // to fetch the movie
    over = false;
  const lead = () => {
    led = true;
    playing.go(line.seen.step);
    led = false;
  };
  const choose = (/** @type {boolean} */ following) => {
    line.follow(following);
    announce(said.textContent);
  };
  const update = () => {
    const { step } = line.seen;
    said.textContent = line.following
      ? `Following your teacher: step ${step}.`
      : `Looking around on your own. Your teacher is at step ${step}.`;
    turn.textContent = line.following ? "Look around" : "Follow";
    if (playing && line.following && playing.step !== step) lead();
    if (failed && line.live) show();
  };
  const show = async () => {
    failed = false;
    try {
      const [{ mount, styles }, movie] = await Promise.all([player(), film(line)]);
      if (over) return;
      const root = host.shadowRoot ?? host.attachShadow({ mode: "open" }),
        { step } = line.seen;
      root.replaceChildren(el("style", {}, styles));
      playing = mount(root, movie, {
        step: line.following ? Math.max(1, step - 1) : step, // the step that shows the answer moves into its place
        onPick: false,
        onStep: (/** @type {number} */ now) => {
          if (!led && line.following && now !== line.seen.step) choose(false);
        },
      });
      if (line.seen.following !== line.following) line.follow(line.following);
      update();
    } catch {
      failed = true;
      host.replaceChildren(el("p", {}, "The movie could not be loaded. "), button("Try again", show));
    }
  };
  update();
  show();
  return {
    node,
    update,
    end: () => {
      over = true;
      playing?.destroy();
    },
  };
}
