// A page in a frame of another page: it tells that page how high it is and which step it shows, and takes a step from it.
//
// docs/engineers.md describes what is told. It is for any host: whoever shows the frame sees as much anyway.

import { here } from "./keys.js";

const OFTEN = 200; // ms between two looks
const LEAST = 200; // pixels: less is a page that is still being filled
const HEIGHT = "clamp(240px, 42vw, 560px)"; // of a picture whose frame follows it: it cannot follow the frame, too

/** Talk with the page around this one, if there is one; `embed=true` or `#fit` in the address: it makes the frame as high as we are. */
export function framed() {
  if (window.parent === window) return;
  const page = document.querySelector("main.pv-page, .stApp");
  if (!page) {
    setTimeout(framed, OFTEN); // the script may come before the page; a notebook, with a widget in it, is none
    return;
  }
  const fits =
    /[?&]embed=true\b/.test(location.search) || /[#&]fit\b/.test(location.hash) || page.matches("[data-fit]");
  if (fits) document.documentElement.style.setProperty("--packviz-height", HEIGHT);
  let told = "";
  setInterval(() => {
    const now = { packviz: { height: fits ? height() : undefined, step: player()?.step } },
      text = JSON.stringify(now);
    if (text === told || text === '{"packviz":{}}' || document.fullscreenElement) return;
    told = text;
    window.parent.postMessage(now, "*");
  }, OFTEN);
  window.addEventListener("message", ({ source, data }) => {
    const asked = source === window.parent && data?.packviz;
    if (!asked) return;
    told = ""; // who asks is told again
    if (Number.isInteger(asked.step)) player()?.go(asked.step);
    const ground = { light: "#ffffff", dark: "#12141b" }[/** @type {string} */ (asked.theme)];
    if (ground) document.documentElement.style.setProperty("--st-background-color", ground);
    for (const each of here.players) each.attempt(() => each.retheme());
  });
}

const player = () => (here.players.has(here.last) ? here.last : [...here.players][0]);

function height() {
  const page = document.querySelector(".stMainBlockContainer, main.pv-page"),
    high = Math.ceil(page?.getBoundingClientRect().height ?? 0);
  return high < LEAST ? undefined : high;
}
