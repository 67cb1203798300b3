// The prediction inside the player: asked before the movie shows the answer, and then answered by the movie. Here is which
// question is asked, and what was answered; answers.js judges, and keeps what was answered on this page before.

/** @import { Question } from "./types" */

import { asking, counts, judge, keep, kept, LONGEST, readAnswer, solutionOf } from "./answers.js";
import { button, el, icon } from "./dom.js";
import { written } from "./terms.js";

const TRIES = 2,
  WAITING = "Answer first. The movie then shows why.",
  HELD = "Play waits for your answer. Press Play again to go on without one.";

/** The mark of an answer, and how it is read aloud. */
const MARKS = { good: ["✓", "The answer: "], wrong: ["✗", "Your answer, which is wrong: "] };

/** @param {"good" | "wrong"} tone */
function markOf(tone) {
  const [sign, said] = MARKS[tone];
  return [el("span", { class: "pv-sign", "aria-hidden": "true" }, sign), el("span", { class: "pv-live" }, said)];
}

export class Prediction {
  #given = ""; // the questions as they were given
  /** @type {Question[]} */
  #questions = [];
  /** @type {number | undefined} */
  #number; // of the one that is asked
  /** @type {(string | null)[]} */
  #tried = [];
  #told = 0; // the step that showed why
  #unfolded = 0; // the step at which it was shown again, having been skipped
  #held = 0; // the step at which Play waits for an answer; −1 once it has waited
  #prompt = el("p", { class: "pv-prompt" });
  #field = el("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    enterkeyhint: "done",
    maxlength: LONGEST,
  });
  #crossed = el("span", { class: "pv-crossed", "aria-hidden": "true" }, "✗"); // the field says it with aria-invalid
  #solved = el("span", { class: "pv-solved" });
  #choices = el("fieldset", { class: "pv-choices", "aria-label": "Answers" });
  #check = button("Check", () => this.#answer(this.#field.value));
  #reveal = button("Show me", () => this.#showMe());
  #another = button(
    [icon("again"), el("span", {}, "Another")], // on a phone the sign, if the answers are long
    () => this.#ask(this.#number + 1),
    { class: "pv-another", "aria-label": "Another" },
  );
  #back = button("Go back and answer", () => this.#goBack(), { class: "pv-back" });
  #said = el("p", { class: "pv-verdict", role: "status" });
  #asked = el("span"); // what the prompt asks

  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.#field.addEventListener("keydown", (event) => this.#key(event));
    this.#field.addEventListener("input", () => this.#markField(""));
    const tools = [this.#field, this.#solved, this.#check, this.#reveal, this.#another],
      answers = el("div", { class: "pv-answer" }, this.#crossed, ...tools),
      line = button([this.#asked, el("b", {}, "Answer")], () => this.#unfold(), { class: "pv-asked" });
    this.root = el(
      "div",
      { class: "pv-ask", role: "group", "aria-label": "Prediction", "data-testid": "packviz-prediction" },
      ...[line, this.#prompt, this.#choices, answers, this.#said],
    );
  }

  /**
   * New questions start over; the same ones keep their answers.
   * @param {Question[]} questions
   */
  load(questions) {
    const given = JSON.stringify(questions);
    if (given === this.#given) return;
    this.#given = given;
    this.#questions = questions;
    this.root.hidden = !questions.length;
    const { question = 1 } = this.player.options;
    if (questions.length) this.#put(this.#number === undefined && question <= questions.length ? question - 1 : 0);
    else this.player.screen.fit();
  }
  /** @param {number} number */
  #ask(number) {
    const next = number % this.#questions.length;
    keep(this.#questions[next], []);
    this.#put(next);
    this.player.go(1, { quick: true });
  }
  /** @param {number} number */
  #put(number) {
    const { prompt, form, example, choices } = this.#questions[number];
    this.#number = number;
    this.#tried = [];
    this.#told = this.#held = 0;
    this.root.dataset.form = form;
    this.#prompt.replaceChildren(el("strong", {}, "Predict."), " ", ...written(prompt));
    this.#asked.replaceChildren(el("strong", {}, "Still open:"), " ", ...written(asking(prompt), (part) => [part]));
    this.#field.value = "";
    this.#field.placeholder = example;
    this.#field.setAttribute("aria-label", prompt.replaceAll("`", ""));
    this.#field.autocapitalize = form === "letters" ? "characters" : "off";
    this.#choices.replaceChildren(
      ...choices.map((choice) => {
        const node = button("", () => this.#answer(choice));
        node.append(...written(choice, (part) => [part])); // a button must not contain focusable elements
        return node;
      }),
    );
    this.#field.hidden = this.#check.hidden = form === "choice";
    this.#take(true);
    this.#markField("");
    this.#solved.replaceChildren();
    this.#another.hidden = this.#questions.length === 1;
    this.#tell("", WAITING);
    this.player.options.onAsk?.(number + 1);
    for (const said of kept(this.#questions[number])) said === null ? this.#showMe(true) : this.#answer(said, true);
  }

  /**
   * @param {string} typed
   * @param {boolean} [again] whether it was answered before, and the movie has shown it
   */
  #answer(typed, again = false) {
    if (!this.open) return;
    const question = this.#questions[this.#number];
    if (!typed.trim()) return this.#tell("unread", `⚠ The answer is empty. Type one, ${question.example}.`);
    let given;
    try {
      given = readAnswer(question, typed);
    } catch (reason) {
      return this.#tell("unread", `⚠ ${/** @type {Error} */ (reason).message}`);
    }
    const { right, reason } = judge(question, given);
    if (!counts(question, given)) return this.#tell("shown", `${reason} Try again.`);
    if (counts(question, given, this.#tried)) this.#remember(given);
    const last = right || this.#tried.length >= TRIES;
    this.#take(!last);
    if (question.form === "choice") this.#markChoice(given, right ? "good" : "wrong");
    else if (again) this.#field.value = typed;
    this.#markField(question.form === "choice" ? "" : right ? "good" : "wrong");
    if (last && !right) this.#markAnswer();
    if (right) this.#tell("good", "✓ Right.", reason);
    else this.#tell("wrong", "✗ Not quite.", `${reason} ${last ? this.#solution() : "Try once more."}`);
    if (last && !again) this.#show();
  }
  /** Whether it still waits for an answer. */
  get open() {
    return !this.root.hidden && this.root.hasAttribute("data-open");
  }
  /** Whether Play waits here, once for each question: the way to its answer comes next, or the end of one that began at once. */
  holds() {
    if (!this.open || this.#held) return false;
    const { first, step } = this.#questions[this.#number];
    if (this.player.step + 1 !== (first > 2 ? first : step)) return false;
    this.#held = this.#unfolded = this.player.step;
    this.player.screen.fit();
    return true;
  }
  /** @param {boolean} open whether it takes an answer, or the answer is known */
  #take(open) {
    this.root.toggleAttribute("data-open", open);
    this.#field.readOnly = this.#check.disabled = this.#choices.disabled = !open;
  }
  #showMe(again = false) {
    this.#take(false);
    if (this.#questions[this.#number].form !== "choice") {
      this.#field.value = this.#tried.at(-1) ?? ""; // what was judged, not what was typed since
      this.#markField("wrong");
    }
    this.#markAnswer();
    this.#tell("shown", this.#solution(), solutionOf(this.#questions[this.#number]).why);
    this.#remember(null);
    if (!again) this.#show();
  }
  /** Show a skipped question again, at the step where the reader is. */
  #unfold() {
    this.#unfolded = this.player.step;
    this.player.screen.fit();
    this.#focus();
  }
  /** Go back to where the answer has not been shown. */
  #goBack() {
    this.player.go(this.#questions[this.#number].first - 1, { quick: true });
    this.#focus();
  }
  #focus() {
    const first = this.#field.hidden ? this.#choices.firstElementChild : this.#field;
    /** @type {HTMLElement} */ (first).focus({ preventScroll: true });
  }
  /**
   * Show what there is room for: all of it, at every step, so that the picture keeps its place. With little room it is the
   * question on the first step, without a verdict, even if the way to the answer begins there. Where the movie has gone on
   * without an answer, it is one line, until that is clicked; once it is answered, the verdict, on the way to the answer.
   * @param {boolean} little
   * @param {boolean} lined whether there is room for that line
   */
  fit(little, lined) {
    const { step } = this.player,
      { first, step: last } = this.#questions[this.#number] ?? {};
    const answered = Boolean(this.#told) && step === this.#told && step < this.player.steps;
    this.player.note({ answered: String(answered) }); // from here Play goes on
    if (step !== this.#unfolded) this.#unfolded = 0;
    if (this.#held && step !== this.#held) this.#held = -1;
    if (!little) this.root.dataset.seen = "all";
    else if (step === 1 || this.#unfolded) this.root.dataset.seen = "question";
    else if (this.open) this.root.dataset.seen = lined ? "line" : "nothing";
    else this.root.dataset.seen = step <= this.#told && step >= first ? "verdict" : "nothing";
    if (this.open && ["", "passed"].includes(this.#said.dataset.tone ?? "")) this.#remind(step, last, little);
  }
  /**
   * Say that the question waits, or Play for it, or, where the movie has gone on without an answer, which step shows it. Once
   * it has shown it, the question takes none until one steps back, unless one is being typed or, with little room, asks for it.
   * @param {number} step
   * @param {number} last the one that shows why
   * @param {boolean} little
   */
  #remind(step, last, little) {
    const late = step > last && !little && !this.#field.value;
    this.#field.disabled = this.#choices.disabled = late;
    const where = step < last ? `Step ${last} shows` : step === last ? "This step shows" : `Step ${last} showed`;
    const said = step === 1 ? WAITING : step === this.#held ? HELD : `${where} the answer.`;
    this.#said.dataset.tone = step === 1 ? "" : "passed";
    const line = late ? [said, " ", this.#back] : [said];
    if (this.#said.childNodes.length !== line.length || this.#said.firstChild.textContent !== said)
      this.#said.replaceChildren(...line);
  }
  // ---- marks: a wrong answer stays there as the visitor's own, and the right one stands beside it

  /**
   * @param {string} choice
   * @param {"good" | "wrong"} tone
   */
  #markChoice(choice, tone) {
    const node = this.#choices.children[this.#questions[this.#number].choices.indexOf(choice)];
    if (!node.hasAttribute("data-tone")) node.prepend(...markOf(tone));
    node.setAttribute("data-tone", tone);
  }
  /** @param {"" | "good" | "wrong"} tone */
  #markField(tone) {
    this.#crossed.hidden = tone !== "wrong";
    this.#field.dataset.tone = tone;
    this.#field.setAttribute("aria-invalid", String(tone === "wrong"));
  }
  #markAnswer() {
    const { answer } = solutionOf(this.#questions[this.#number]);
    if (this.#questions[this.#number].form === "choice") return this.#markChoice(answer, "good");
    this.#solved.replaceChildren(...markOf("good"), answer);
    this.#check.hidden = true; // its room is the answer's; Enter still checks
  }
  /** @param {string | null} said */
  #remember(said) {
    this.#tried.push(said);
    keep(this.#questions[this.#number], this.#tried);
  }
  #solution() {
    const { answer } = solutionOf(this.#questions[this.#number]);
    return `The answer: ${answer}${/[.?]$/.test(answer) ? "" : "."}`;
  }
  #show() {
    const { player } = this;
    player.root.focus({ preventScroll: true }); // now the movie gets the keys, and a phone's keyboard closes
    const { first, step } = this.#questions[this.#number],
      { step: at } = player;
    this.#told = Math.max(step, at);
    player.screen.keepPlace(() => {
      if (at < first) player.show(step, first);
      else if (at < step) player.clock.play(step);
      else player.screen.fit(); // a late answer: the movie stays where the reader is
    });
    player.options.onAnswered?.();
  }

  /**
   * @param {"" | "good" | "wrong" | "shown" | "unread"} tone
   * @param {string} first
   * @param {string} [more]
   */
  #tell(tone, first, more) {
    this.#reveal.hidden = !this.#tried.length || !this.root.hasAttribute("data-open");
    this.#said.dataset.tone = tone;
    const before = this.#said.textContent;
    this.#said.replaceChildren(
      ...(more ? [el("strong", {}, ...written(first)), " ", ...written(more)] : written(first)),
    );
    if (this.#said.textContent === before) this.#said.append("\u00a0"); // so that the same words are announced again
    this.player.screen.fit();
  }
  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing) return;
    if (event.key === "Enter") this.#answer(this.#field.value);
    else if (event.key === "Escape") this.player.root.focus({ preventScroll: true });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
