// The teacher's page in the browser: the teacher's room, the keys of a remote, a blank screen, and the step of the movie.
// The teacher's secret is kept here and in the fragment of the address, which browsers never send to a server.

const KEPT = "packviz room"; // in localStorage: its code and the teacher's secret
const SPACE = " ";
const WAY = { PageDown: "next", PageUp: "back" }; // the keys of a remote
const REAL = { bubbles: true, cancelable: true, composed: true }; // like a real key press

/** Use the browser's storage; null if there is none: then the address has to do. */
function stored(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

function remember({ code, host }) {
  const url = new URL(window.location.href);
  url.searchParams.set("room", code);
  url.hash = `host=${host}`;
  if (url.href !== window.location.href) window.history.replaceState(window.history.state, "", url);
  stored((kept) => kept.setItem(KEPT, `${code}${SPACE}${host}`));
}

/** Put the secret back into the address: Streamlit leaves the fragment out whenever it writes a setting there. */
function complete({ code, host }) {
  const url = new URL(window.location.href);
  if (url.hash || url.searchParams.get("room") !== code) return;
  url.hash = `host=${host}`;
  window.history.replaceState(window.history.state, "", url);
}

function forget() {
  const url = new URL(window.location.href);
  url.searchParams.delete("room");
  url.hash = "";
  window.history.replaceState(window.history.state, "", url);
  stored((kept) => kept.removeItem(KEPT));
}

/** The room that the address or this browser knows. */
function known() {
  const url = new URL(window.location.href),
    code = url.searchParams.get("room") ?? "";
  const host = new URLSearchParams(url.hash.slice(1)).get("host");
  if (code && host) return { code, host };
  const [last, secret] = (stored((kept) => kept.getItem(KEPT)) ?? "").split(SPACE);
  return last && secret && (!code || code === last) ? { code: last, host: secret } : null;
}

// A switch that was just clicked has the focus, but no use for these keys: the lesson goes on.
const NEEDS_KEYS =
  "input:not([type=button], [type=checkbox], [type=radio]), textarea, select, [contenteditable]:not([contenteditable=false])";
const needsKeys = (node) => node.matches?.(NEEDS_KEYS);

/** Keep the room in the address and in this browser, and tell the server which it is; returns what ends that. */
function keepRoom({ data, parentElement, setStateValue }) {
  const { code, host, forget: over, projector } = data,
    room = over || projector ? null : code ? { code, host } : known();
  if (over) forget();
  else if (code) remember(room);
  if (room?.code !== parentElement.room) setStateValue("room", room); // for this server, and for its replacement
  parentElement.room = room?.code;
  const telling = room && !code && setInterval(() => setStateValue("room", room), 1500), // while it cannot be read
    completing = code && setInterval(complete, 500, data);
  return () => {
    clearInterval(telling);
    clearInterval(completing);
  };
}

/** Blank the screens, and pass the keys of a remote from the projector's window on to the teacher's. */
function blankByKeys({ code, projector }, cover, signal) {
  // All windows of this browser are blanked together: the keys go to the teacher's, the class sees the projector's.
  const windows = new BroadcastChannel(`packviz class ${new URL(window.location.href).searchParams.get("room")}`);
  windows.onmessage = ({ data: { on, turn } }) => {
    if (!turn) cover.hidden = !on;
    else if (code) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: turn, ...REAL }));
  };
  const blank = (on) => {
    cover.hidden = !on;
    windows.postMessage({ on });
  };
  const onKey = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.composedPath().some(needsKeys)) return;
    if (projector && WAY[event.key]) {
      // this window follows the teacher's, so it passes the remote's keys on to that
      if (!event.repeat) windows.postMessage({ turn: event.key });
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if (document.fullscreenElement) return; // in full screen the player blanks its own picture
    const wasBlank = !cover.hidden,
      blanks = event.key === "b" || event.key === "B" || event.key === ".";
    if (blanks || (wasBlank && event.key === "Escape")) {
      blank(!wasBlank);
      event.preventDefault();
      event.stopImmediatePropagation(); // otherwise the player would blank its picture, too
    } else if (wasBlank) blank(false);
  };
  window.addEventListener("keydown", onKey, { signal, capture: true });
  return () => windows.close();
}

/** Go on and back with the keys of a remote. */
function turnByKeys({ code, place }, setTriggerValue, signal) {
  const onTurn = (event) => {
    // after the player, which uses these keys while it has steps left
    if (event.defaultPrevented || event.repeat || event.composedPath().some(needsKeys)) return;
    const way = WAY[event.key];
    if (!way || !code) return;
    event.preventDefault();
    setTriggerValue("key", { way, place });
  };
  window.addEventListener("keydown", onTurn, { signal });
}

/** Bring what a click unfolds into view. */
function scrollToUnfolded(signal) {
  const onClick = ({ target }) => {
    const unfolds = target.closest(".st-key-class-new summary") && !target.closest("details").open;
    if (!unfolds && !target.closest(".st-key-class-first")) return;
    setTimeout(() => document.querySelector(".st-key-class-new")?.scrollIntoView(), 300); // once it is unfolded
  };
  document.addEventListener("click", onClick, { signal, capture: true }); // before the click unfolds anything
}

/** Send the step of the movie to the class, and follow another window of the teacher; returns what ends that. */
function shareSteps(data, parentElement, signal) {
  // step: the last one that this window has sent or received. revision: of the room at that time.
  const last = (parentElement.last ??= { step: 0, revision: 0 });
  let waiting = null,
    sent = 0,
    follows = false; // while players move because the class has
  const send = async () => {
    const step = waiting;
    try {
      const reply = await fetch(new URL(`api/rooms/${data.code}/host`, document.baseURI), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ host: data.host, action: "step", step }),
      });
      last.revision = (await reply.json()).revision ?? last.revision;
    } catch {} // the next step sends the position again
    if (waiting === step) waiting = null;
    else sent = setTimeout(send, 200);
  };
  const onStep = ({ detail }) => {
    if (!data.revealed || follows || detail === last.step) return;
    if (waiting === null) sent = setTimeout(send, 200);
    waiting = last.step = detail;
  };
  const onClass = ({ detail: { step, revision } }) => {
    // another window of the teacher may have moved on
    if (!data.revealed || waiting !== null || revision < last.revision || step === last.step) return;
    last.step = step;
    follows = true; // the movie before may still be there, and goes no further than to its own end
    for (const player of window[Symbol.for("packviz")]?.players ?? []) player.go(step); // player/shared.js
    follows = false;
  };
  document.addEventListener("packviz step", onStep, { signal });
  document.addEventListener("packviz class", onClass, { signal });
  return () => clearTimeout(sent);
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  parentElement.end?.(); // Streamlit calls this again for new data, and cleans up only at the end
  if (data.asked > (parentElement.asked ?? data.asked)) {
    document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 }); // to the new question
  }
  parentElement.asked = data.asked;
  const listening = new AbortController(),
    { signal } = listening;
  const ends = [
    keepRoom({ data, parentElement, setStateValue }),
    blankByKeys(data, parentElement.querySelector(".cover"), signal),
    shareSteps(data, parentElement, signal),
  ];
  turnByKeys(data, setTriggerValue, signal);
  scrollToUnfolded(signal);
  parentElement.end = () => {
    for (const end of ends) end();
    listening.abort();
  };
  return () => parentElement.end();
}
