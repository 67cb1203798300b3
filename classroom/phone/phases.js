// The phases of a question: what is on the phone in each of them.

/** @import { Line } from "./line.js" */
/** @import { View } from "./phone.js" */

import { answering, asked, mark, told } from "./answer.js";
import { button, counted, el } from "./dom.js";
import { bars, cinema, verdict } from "./reveal.js";

export const SLOW = 1000; // ms until it is said that something takes long

/** @param {Line} line */
const heading = (line) => `Question ${line.seen.question.number}`;
/** @param {string} text without its marks of code */
const plain = (text) => text.replaceAll("`", "");
const counts = () => el("p", { class: "quiet" });
/** @param {string} answer that may be a sentence itself */
const ended = (answer) => (/[.!?]$/.test(answer) ? answer : `${answer}.`);

/**
 * A phase in which the answer can be seen, but not changed.
 * @param {Line} line
 * @param {string} title
 * @param {string} sentence
 * @returns {View}
 */
function between(line, title, sentence) {
  const node = el("p", { class: "told" });
  const update = () => {
    const { question, mine, read } = line.seen;
    node.textContent = line.late
      ? "Your answer did not reach the server before the vote closed. It does not count."
      : mine === null
        ? "You did not answer in this vote."
        : `Your answer: ${plain(told(question, mine, read))}`;
  };
  return { title, body: [el("p", {}, sentence), node, ...asked(line.seen.question)], update };
}

/**
 * @param {Line} line
 * @returns {View}
 */
function lobby(line) {
  const { question, name } = line.seen,
    joined = counts();
  const body = question
    ? [...asked(question), el("p", {}, "The vote has not been opened yet. Think about your answer.")]
    : [
        el("p", {}, "You are ", el("b", {}, name), "."),
        el("p", {}, "Wait for the first question. It will appear here."),
      ];
  const update = () => {
    joined.textContent = `${counted(line.seen.joined, "phone")} in this room.`;
    if (!question) body[0].childNodes[1].textContent = line.seen.name;
  };
  return { title: question ? heading(line) : "You are in", body: [...body, joined], update };
}

/**
 * How sure one is of the answer that was given: two buttons, which count with it.
 * @param {Line} line
 */
function confidence(line) {
  const said = (/** @type {"sure" | "guessing"} */ how, /** @type {string} */ label) =>
    button(label, () => line.vote(line.answer, how), { "data-said": how });
  const sure = [said("sure", "Sure"), said("guessing", "Guessing")];
  const ask = el("span", { id: "sure" }, "How sure are you?"),
    node = el("div", { class: "row sure", role: "group", "aria-labelledby": "sure" }, ask, ...sure);
  const update = () => {
    node.hidden = line.answer === null || line.seen.question.poll || !line.seen.channels.includes("confidence");
    for (const each of sure) each.setAttribute("aria-pressed", String(each.dataset.said === line.confidence));
  };
  return { node, update };
}

/**
 * @param {Line} line
 * @param {(sentence: string) => void} announce
 * @returns {View}
 */
function vote(line, announce) {
  const { question, round } = line.seen,
    { first } = line.kept,
    status = el("p", { id: "told", class: "told" }),
    many = counts(),
    sure = confidence(line),
    body = el("div", {}, ...asked(question, line), ...answering(question, line), status, sure.node, many);
  let empty = ""; // what is said while nothing has been sent
  if (round === 2 && first?.question === question.number) {
    body.prepend(el("p", { class: "quiet" }, `Your first answer: ${told(question, first.answer, first.read)}`));
    empty = `${["choice", "cell"].includes(question.form) ? "Choose" : "Send"} it again to keep it, or change it.`;
  }
  /** @type {import("./kept.js").Vote} */
  let waiting = null; // on its way
  let late = 0;
  const say = (/** @type {string} */ sentence, kind = "") => {
    if (status.textContent === sentence) return;
    status.textContent = sentence;
    status.className = `told ${kind}`;
    if (!sentence) return;
    if (kind) announce(sentence);
    if (waiting) status.scrollIntoView({ block: "nearest" });
  };
  const update = () => {
    const { seen, kept, answer, failed, problem } = line,
      given = answer === null ? "" : plain(told(question, answer, line.read)),
      why = failed || "The server is slow.",
      unsent = () => say(`Not sent yet: ${ended(given)} ${why} It will be sent again automatically.`, "wrong");
    mark(body, answer);
    sure.update();
    many.textContent = `Answers so far: ${seen.voted} of ${seen.joined}.`;
    const other = waiting !== kept.vote;
    waiting = kept.vote;
    if (waiting && !failed && !other) return;
    clearTimeout(late);
    if (waiting && failed) unsent();
    else if (waiting) {
      late = setTimeout(unsent, SLOW);
      say(`Sending ${given} …`);
    } else if (problem) say(problem, "wrong");
    else if (seen.mine === null) say(empty);
    else say(`Your answer is stored: ${ended(given)} You can change it until the vote closes.`, "good");
  };
  const title = round === 2 ? `${heading(line)}: second vote` : heading(line);
  return { title, body: [body], update, end: () => clearTimeout(late) };
}

/** @param {Line} line */
const closed = (line) => between(line, "The vote is closed", "Wait for your teacher.");
/** @param {Line} line */
const talk = (line) =>
  between(line, "Talk about it", "Explain your answer to your neighbor, and listen to theirs. You will vote again.");

/**
 * @param {Line} line
 * @param {(sentence: string) => void} announce
 * @returns {View}
 */
function reveal(line, announce) {
  const { question, right, movie, mine } = line.seen,
    film = movie ? cinema(line, announce) : null,
    judged = mine !== null && (right ?? null) !== null,
    title = question.poll
      ? "What the class says"
      : !judged
        ? "The answer"
        : right
          ? "You are right"
          : "Not right this time";
  const body = [
    ...verdict(line),
    ...(film ? [film.node] : []),
    ...bars(line),
    el("h2", {}, heading(line)),
    ...asked(question),
  ];
  return { title, body, update: film?.update, end: film?.end };
}

export const phases = { lobby, vote, closed, talk, reveal };
