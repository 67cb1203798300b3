// The menu that saves the picture as a PNG, without its empty margins. The phones of a class go without it.

/** @import { Ctx, Rgb } from "./types" */

import { fontOf } from "./canvas.js";
import { channels } from "./colour.js";
import { button, el, icon } from "./dom.js";
import { Menu } from "./menu.js";
import { continued, neighbours } from "./neighbours.js";

const SCALE = 2, // pixels of the file for each of the page
  EDGE = 20, // pixels around the picture,
  NARROWEST = 480, // and the width of one with a caption, at least
  TEXT = 16, // the size of the caption,
  LINE = 22, // of its lines,
  ABOVE = 12, // of what is above the first one,
  SMALL = 12, // of the description below it,
  FOOT = 34, // and of what that takes
  KEPT = 1000; // ms until the file is forgotten

/** @param {import("./player.js").Player} player */
export function savingMenu(player) {
  const choice = (/** @type {string} */ name, /** @type {boolean} */ captioned) =>
    button(name, () => {
      menu.show(false);
      savePicture(player, captioned);
    });
  const label = "Save this picture",
    toggle = button(icon("image"), () => {}, { "aria-label": label, title: label }),
    choices = [choice("PNG with caption", true), choice("PNG, picture only", false)],
    menu = new Menu(toggle, label, "pv-saving", choices);
  return menu;
}

/**
 * @param {import("./player.js").Player} player
 * @param {boolean} captioned with the caption and a description below
 */
function savePicture(player, captioned) {
  const { picture, step, caption } = player,
    { theme } = picture,
    whole = drawn(player),
    { left, top, right, bottom } = inkOf(whole, channels(theme.background));
  const paper = document.createElement("canvas"),
    ctx = paper.getContext("2d"),
    wide = Math.max((right - left) / SCALE, captioned ? NARROWEST : 0) + 2 * EDGE,
    high = (bottom - top) / SCALE + 2 * EDGE;
  ctx.font = fontOf(theme, TEXT);
  const lines = captioned ? linesOf(ctx, caption.text, wide - 2 * EDGE) : [],
    foot = captioned ? LINE * lines.length + FOOT : 0;
  paper.width = Math.round(wide * SCALE);
  paper.height = Math.round((high + foot) * SCALE);
  ctx.fillStyle = theme.background;
  ctx.fillRect(0, 0, paper.width, paper.height);
  const across = (paper.width - (right - left)) / 2;
  ctx.drawImage(whole, left, top, right - left, bottom - top, across, EDGE * SCALE, right - left, bottom - top);
  if (captioned) describe(ctx, player, lines, { wide, high, foot });
  paper.toBlob((blob) => {
    const link = el("a", { href: URL.createObjectURL(blob), download: `packviz-step-${step}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
  });
}

/**
 * Write the caption and a description below the picture.
 * @param {Ctx} ctx
 * @param {import("./player.js").Player} player
 * @param {string[]} lines of the caption
 * @param {{ wide: number, high: number, foot: number }} size of the picture, and the height of this
 */
function describe(ctx, { picture: { theme }, step, steps, movie }, lines, { wide, high, foot }) {
  ctx.setTransform(SCALE, 0, 0, SCALE, 0, 0);
  ctx.textBaseline = "alphabetic";
  ctx.font = fontOf(theme, TEXT);
  ctx.fillStyle = theme.text;
  lines.forEach((line, i) => ctx.fillText(line, EDGE, high + ABOVE + i * LINE));
  ctx.font = fontOf(theme, SMALL);
  ctx.fillStyle = theme.quiet;
  const about = `packviz · step ${step} / ${steps} · ${movie.title} · ${movie.proof}`;
  ctx.fillText(about, EDGE, high + foot - SMALL, wide - 2 * EDGE);
}

/**
 * The step as it stands, on a canvas of its own.
 * @param {import("./player.js").Player} player
 */
function drawn({ picture, film, end }) {
  const canvas = document.createElement("canvas"),
    ctx = canvas.getContext("2d"),
    { scene } = film.frames[end],
    shown = picture.looksAt(end);
  canvas.width = picture.view(scene).room * SCALE;
  canvas.height = picture.height * SCALE;
  const paper = picture.paperOn(ctx, scene);
  picture.clear(ctx);
  ctx.setTransform(SCALE, 0, 0, SCALE, 0, 0);
  picture.paintFrame(paper, end, [...shown, ...continued(shown, picture.view(scene))], neighbours(shown));
  picture.paintLegend(paper, scene);
  return canvas;
}

/**
 * A text in lines of at most this width in pixels.
 * @param {Ctx} ctx
 * @param {string} text
 * @param {number} width
 */
function linesOf(ctx, text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (ctx.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/**
 * The part of a picture that is not background.
 * @param {HTMLCanvasElement} picture
 * @param {Rgb} background
 */
function inkOf(picture, background) {
  const { width, height } = picture,
    { data } = picture.getContext("2d").getImageData(0, 0, width, height);
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 4) {
      if (background.every((channel, c) => data[i + c] === channel)) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = y + 1;
    }
  return right > left ? { left, top, right, bottom } : { left: 0, top: 0, right: width, bottom: height };
}
