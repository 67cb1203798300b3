// A page inside another page's frame: it reports its height and step to that page, and accepts a step from it.
//
// docs/engineers.md describes the messages. They go to any host, which sees no more in them than in the frame itself.

import { here, noteFrame } from "./shared.js";

const OFTEN = 200; // ms between two checks
const LEAST = 200; // pixels: a lower page is still loading
/** @type {Record<string, string>} */
const GROUNDS = { light: "#ffffff", dark: "#12141b" }; // of pages, as in packviz/show/theme.py
const HEIGHT = "clamp(240px, 42vw, 560px)"; // of a picture whose frame follows it, so it must not follow the frame

/**
 * Exchange messages with the enclosing page, if any; `embed=true` or `#fit` in the address asks it to fit the frame. Only
 * for a page with movies in a file, and for one of the app, where it waits until Streamlit has drawn the page.
 */
export function framed() {
  if (window.parent === window) return;
  const page = document.querySelector("main.pv-page, .stApp");
  if (!page) {
    setTimeout(framed, OFTEN);
    return;
  }
  const fits =
    /[?&]embed=true\b/.test(location.search) || /[#&]fit\b/.test(location.hash) || page.matches("[data-fit]");
  if (fits) document.documentElement.style.setProperty("--packviz-height", HEIGHT);
  noteFrame(fits);
  let sent = "";
  setInterval(() => {
    const now = { packviz: { height: fits ? height() : undefined, step: player()?.step } },
      text = JSON.stringify(now);
    if (text === sent || text === '{"packviz":{}}' || document.fullscreenElement) return;
    sent = text;
    window.parent.postMessage(now, "*");
  }, OFTEN);
  window.addEventListener("message", ({ source, data }) => {
    const request = source === window.parent && data?.packviz;
    if (!request) return;
    sent = ""; // always answer a request
    if (Number.isInteger(request.step)) player()?.go(request.step);
    const ground = GROUNDS[request.theme];
    if (ground) document.documentElement.style.setProperty("--st-background-color", ground);
    for (const each of here.players) each.retheme();
  });
}

const player = () => (here.players.has(here.last) ? here.last : [...here.players][0]);

function height() {
  const page = document.querySelector(".stMainBlockContainer, main.pv-page"),
    high = Math.ceil(page?.getBoundingClientRect().height ?? 0);
  return high < LEAST ? undefined : high;
}
