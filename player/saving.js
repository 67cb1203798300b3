// A picture saved as a PNG, without its empty margins.

/** @import { Ctx, Rgb } from "./types" */

import { fontOf } from "./canvas.js";
import { channels } from "./colour.js";
import { el } from "./dom.js";
import { continued, neighbours } from "./neighbours.js";

/**
 * @param {import("./player.js").Player} player
 * @param {{ captioned: boolean }} how captioned: with the caption and a description below
 */
export function savePicture(player, { captioned }) {
  const { picture, step, steps, movie } = player,
    { theme } = picture;
  const scale = 2,
    edge = 20;
  const whole = drawn(player, scale),
    { left, top, right, bottom } = inkOf(whole, channels(theme.background));
  const paper = document.createElement("canvas"),
    ctx = paper.getContext("2d");
  const wide = Math.max((right - left) / scale, captioned ? 480 : 0) + 2 * edge,
    high = (bottom - top) / scale + 2 * edge;
  ctx.font = fontOf(theme, 16);
  const caption = captioned ? linesOf(ctx, player.caption.text, wide - 2 * edge) : [],
    foot = captioned ? 22 * caption.length + 34 : 0;
  paper.width = Math.round(wide * scale);
  paper.height = Math.round((high + foot) * scale);
  ctx.fillStyle = theme.background;
  ctx.fillRect(0, 0, paper.width, paper.height);
  const across = (paper.width - (right - left)) / 2;
  ctx.drawImage(whole, left, top, right - left, bottom - top, across, edge * scale, right - left, bottom - top);
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.textBaseline = "alphabetic";
  ctx.font = fontOf(theme, 16);
  ctx.fillStyle = theme.text;
  caption.forEach((line, i) => ctx.fillText(line, edge, high + 12 + i * 22));
  ctx.font = fontOf(theme, 12);
  ctx.fillStyle = theme.quiet;
  const about = `packviz · step ${step} / ${steps} · ${movie.title} · ${movie.proof}`;
  if (captioned) ctx.fillText(about, edge, high + foot - 12, wide - 2 * edge);
  paper.toBlob((blob) => {
    const link = el("a", { href: URL.createObjectURL(blob), download: `packviz-step-${step}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

/**
 * The step as it stands, on a canvas of its own.
 * @param {import("./player.js").Player} player
 * @param {number} scale
 */
function drawn({ picture, film, end }, scale) {
  const canvas = document.createElement("canvas"),
    ctx = canvas.getContext("2d"),
    { scene } = film.frames[end],
    shown = picture.looksAt(end);
  canvas.width = picture.view(scene).room * scale;
  canvas.height = picture.height * scale;
  const paper = picture.paperOn(ctx, scene);
  picture.clear(ctx);
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
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
