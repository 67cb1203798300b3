// A question as a phone shows it: its prompt, the batch, and what it is answered with.

/** @import { Line } from "./line.js" */
/** @import { PublicQuestion } from "./seen" */

import { button, el, letter, markdown, rich } from "./dom.js";

const HUES = 10; // of sequences (packviz/show/theme.py); the eleventh has the first one again

/**
 * An answer as one says it: as the server read it, or as it was sent.
 * @param {PublicQuestion} question
 * @param {any} answer
 * @param {string | null} [read]
 */
export function told({ form, options }, answer, read) {
  if (form === "choice") return options[answer] ?? String(answer);
  if (form === "cell") return `${letter(answer[0])}, t = ${answer[1]}`;
  return form !== "text" && read ? read : Array.isArray(answer) ? answer.join(" ") : String(answer);
}

/**
 * The prompt, the settings and the batch; its cells are buttons where one of them is the answer.
 * @param {PublicQuestion} question
 * @param {Line} [line] to vote with, while the vote is open
 */
export function asked(question, line) {
  const { prompt, html, rows = [], settings = [] } = question,
    parts = [html ? markdown(html) : el("p", { class: "prompt" }, ...rich(prompt))];
  if (settings.length)
    parts.push(el("p", { class: "settings" }, ...settings.flatMap((each) => [el("code", {}, each), " "])));
  if (rows.length) parts.push(batch(rows, question.form === "cell" ? line : undefined));
  return parts;
}

/**
 * @param {string[][]} rows
 * @param {Line} [line]
 */
function batch(rows, line) {
  const steps = Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, t) => t);
  const cell = (/** @type {string} */ text, /** @type {number} */ b, /** @type {number} */ t) => {
    const hue = `hue${b % HUES}`;
    if (!line) return el("td", { class: hue }, text);
    const label = `${letter(b)}, t = ${t}: ${text}`;
    const node = button("", () => line.vote([b, t]), {
      class: hue,
      "aria-label": label,
      "data-answer": JSON.stringify([b, t]),
    });
    node.textContent = text;
    return el("td", {}, node);
  };
  const table = el(
    "table",
    {},
    el("caption", { class: "unseen" }, "The batch: a row for each sequence"),
    el("thead", {}, el("tr", {}, el("td", {}, "t ="), ...steps.map((t) => el("th", { scope: "col" }, String(t))))),
    el(
      "tbody",
      {},
      ...rows.map((row, b) =>
        el("tr", {}, el("th", { scope: "row" }, letter(b)), ...row.map((text, t) => cell(text, b, t))),
      ),
    ),
  );
  return el("div", { class: "batch", tabindex: 0, role: "region", "aria-label": "The batch" }, table);
}

/**
 * What the question is answered with, where that is not the batch itself.
 * @param {PublicQuestion} question
 * @param {Line} line
 */
export function answering(question, line) {
  if (question.form === "cell") return [];
  if (question.form !== "choice") return [typed(question, line)];
  const options = question.options.map((option, i) => button(option, () => line.vote(i), { "data-answer": String(i) }));
  return [el("div", { class: "options", role: "group", "aria-label": "Your answer" }, ...options)];
}

/**
 * Show which of the buttons below a node is the answer.
 * @param {HTMLElement} node
 * @param {unknown} answer
 */
export function mark(node, answer) {
  const given = JSON.stringify(answer);
  for (const each of node.querySelectorAll("[data-answer]"))
    each.setAttribute("aria-pressed", String(each.getAttribute("data-answer") === given));
}

/**
 * @param {PublicQuestion} question
 * @param {Line} line
 */
function typed(question, line) {
  const { form, letters = [], single = false, example = "" } = question,
    { kept, at, answer } = line,
    first = kept.first?.question === question.number ? told(question, kept.first.answer, kept.first.read) : "",
    before = answer === null ? first : told(question, answer, line.read);
  const field = el("input", {
    id: "answer",
    autocomplete: "off",
    autocapitalize: form === "text" ? "sentences" : "characters",
    spellcheck: "false",
    maxlength: 200,
    inputmode: form === "number" ? "decimal" : form === "numbers" ? "numeric" : "text",
    placeholder: example || "At most 200 characters",
    enterkeyhint: "send",
    "aria-describedby": "told",
  });
  field.value = kept.draft?.at === at ? kept.draft.text : before;
  const typing = () => line.save({ draft: { at, text: field.value } });
  field.addEventListener("input", typing);
  const write = (/** @type {string} */ text) => {
    field.value = text;
    typing();
  };
  const space = button("Space", () => write(`${field.value} `)); // not every keyboard of numbers has it
  space.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  const names = letters.length && !single ? [...letters, "none"] : letters;
  const pick = names.map((name) => button(name, () => write(toggled(field.value, name, letters, single))));
  const sheet = el(
    "form",
    {},
    el("label", { for: "answer" }, "Your answer"),
    el("div", { class: "row" }, field, ...(form === "numbers" ? [space] : [])),
    ...(pick.length ? [el("div", { class: "row picks", role: "group", "aria-label": "Letters" }, ...pick)] : []),
    el("button", { class: "main" }, "Send"),
  );
  sheet.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text) line.vote(text);
    else field.focus();
  });
  return sheet;
}

/**
 * The letters in a text, in the order of the batch, with one more or without it.
 * @param {string} text
 * @param {string} name
 * @param {string[]} letters
 * @param {boolean} single
 */
function toggled(text, name, letters, single) {
  if (single || name === "none") return name;
  const words = text
    .toUpperCase()
    .split(/[\s,]+/)
    .filter((word) => word && word !== "NONE");
  if (!words.every((word) => letters.includes(word))) return `${text.trim()} ${name}`; // typed in another way, such as AC
  const chosen = new Set(words);
  chosen.has(name) ? chosen.delete(name) : chosen.add(name);
  return letters.filter((each) => chosen.has(each)).join(" ");
}
