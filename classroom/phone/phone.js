// The page for phones: the room, the name, and what is on it now.

import { Refusal } from "./connection.js";
import { base, button, counted, el } from "./dom.js";
import { item } from "./item.js";
import { Line } from "./line.js";
import { phases, SLOW } from "./phases.js";
import { player } from "./reveal.js";
import { toTeacher } from "./teacher.js";

/** @typedef {{ title: string, body: (Node | string)[], update?: () => void, end?: () => void }} View */

const CODE = /^[A-Z0-9]{6}$/,
  RULE = "A code has six letters and digits, such as K7QXWM.",
  EARLY = 20_000; // ms over which the phones of a class fetch the player ahead

const $ = (/** @type {string} */ id) => document.getElementById(id);
const main = $("main");

/** @type {Line} */
let line = null;
/** @type {View} */
let view = null;
let shown = "", // which view it is
  slow = 0;

/**
 * Say something to those who listen to the page.
 * @param {string} sentence
 */
function announce(sentence) {
  if ($("live").textContent !== sentence) $("live").textContent = sentence;
}

/** Show what the line knows. */
function render() {
  const key = line.over ? "over" : line.seen ? `${line.where} ${line.seen.phase} ${line.at}` : "joining";
  if (key !== shown) {
    const focused = main.contains(document.activeElement);
    view?.end?.();
    shown = key;
    view = line.over
      ? over()
      : line.seen
        ? (item(line, announce) ?? phases[line.seen.phase](line, announce))
        : joining();
    const title = el("h1", { tabindex: -1 }, view.title);
    main.replaceChildren(title, ...view.body);
    document.title = `${view.title} · ${line.code}`;
    if (focused) title.focus({ preventScroll: true });
    scrollTo(0, 0);
    if (line.seen) announce(view.title);
  }
  view.update?.();
  toTeacher(line);
  tellLine();
  tellName();
}

// ---- above and below

/** Say that the connection is lost, once that takes long enough to matter, and that it is back. */
function tellLine() {
  const lost = !line.live && !line.over,
    told = $("line");
  if (lost)
    slow ||= setTimeout(() => {
      told.hidden = false;
      announce(told.textContent);
    }, SLOW);
  else {
    clearTimeout(slow);
    slow = 0;
    if (!told.hidden && !line.over) announce("Connected again.");
    told.hidden = true;
  }
}

function tellName() {
  $("change").hidden = !line.seen || Boolean(line.over);
  if (line.seen && $("name").textContent !== line.seen.name) {
    $("name").textContent = line.seen.name;
    $("change").setAttribute("aria-label", `You are ${line.seen.name}. Change your name`);
  }
  $("code").textContent = line.code;
}

function rename() {
  const field = /** @type {HTMLInputElement} */ ($("new-name"));
  $("rename").hidden = false;
  $("change").setAttribute("aria-expanded", "true");
  field.value = line.seen.name;
  field.select();
}
function renamed() {
  $("rename").hidden = true;
  $("change").setAttribute("aria-expanded", "false");
  $("name-problem").textContent = "";
  $("change").focus();
}
$("change").addEventListener("click", () => ($("rename").hidden ? rename() : renamed()));
$("rename").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { value } = /** @type {HTMLInputElement} */ ($("new-name"));
  try {
    await line.join({ name: value });
    renamed();
    announce(`You are ${line.seen.name}.`);
  } catch (problem) {
    $("name-problem").textContent = problem instanceof Refusal ? problem.message : "There is no connection. Try again.";
  }
});

// ---- without a room

/**
 * The form that asks for a code.
 * @param {string} code
 * @param {string} problem what is wrong with the code that was typed
 */
function start(code = "", problem = "") {
  main.replaceChildren(/** @type {HTMLTemplateElement} */ ($("start")).content.cloneNode(true));
  const field = /** @type {HTMLInputElement} */ ($("room"));
  const refuse = (/** @type {string} */ sentence) => {
    field.setAttribute("aria-invalid", "true");
    $("room-problem").textContent = sentence;
    field.focus();
  };
  field.value = code;
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = field.value.toUpperCase().replace(/[\s-]/g, "");
    if (CODE.test(typed)) {
      history.pushState(null, "", new URL(`join/${typed}`, base));
      enter(typed);
    } else refuse(`${RULE} You typed ${typed ? counted(typed.length, "character") : "nothing"}.`);
  });
  $("change").hidden = $("rename").hidden = true;
  $("code").textContent = "";
  if (problem) refuse(problem);
}

/** @param {string} code */
function enter(code) {
  shown = "";
  view = null;
  line = new Line(base, code, render);
  render();
  line.run();
}

/** @returns {View} */
const joining = () => ({ title: `Joining room ${line.code} …`, body: [] });

/** @returns {View} */
function over() {
  const gone = line.over === "gone",
    leave = button("Join another room", () => location.assign(new URL("join", base)), { class: "main" });
  if (line.seen && gone)
    return {
      title: "This room has been deleted",
      body: [el("p", {}, "Its questions and answers are gone. Thank you for taking part."), leave],
    };
  const sentence = gone
    ? `There is no room with the code ${line.code}. Check it against the one on the screen; a room is deleted 24 hours after its last use.`
    : line.over;
  queueMicrotask(() => start(line.code, sentence));
  return { title: "Join your class", body: [] };
}

// ---- the page

/** Reconnect when the phone wakes up, or is online again. */
function wake() {
  if (line && !line.over && document.visibilityState === "visible") line.wake();
}
document.addEventListener("visibilitychange", wake);
addEventListener("pageshow", (event) => event.persisted && wake());
addEventListener("online", wake);
addEventListener("offline", wake);
addEventListener("popstate", () => location.reload());

const code = decodeURIComponent(location.pathname.match(/\/join\/([^/]*)$/)?.[1] ?? "").toUpperCase();
if (CODE.test(code)) enter(code);
else start(code, code && `${RULE} Check it against the one on the screen.`);
/** @type {any} */
const { connection } = navigator;
if (!connection?.saveData) setTimeout(() => player().catch(() => {}), EARLY * Math.random() + SLOW);
