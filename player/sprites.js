// Moving cells as sprites: if there are many that keep their size and look on the way, each is drawn once and then copied,
// because text is expensive to draw.

/** @import { Atlas, Look, Motion, Neighbours, Paper, Sprite, Standing } from "./types" */

import { BODIES } from "./between.js";
import { draw } from "./roles.js";

const MANY = 60, // such cells: fewer are drawn each time
  PAD = 3, // pixels around a cell, for the lines at its edge
  WIDE = 2048, // pixels of the canvas with all of them,
  HIGHEST = 8192, // and of its height: some browsers have no higher ones
  THERE = 0.9; // the opacity from which a cell is as it will be

/** @type {(a: Look, b: Look) => boolean} */
const sameSize = ({ rect: p }, { rect: q }) => Math.abs(p.w - q.w) < 0.5 && Math.abs(p.h - q.h) < 0.5;
/** @type {(a: Look, b: Look) => boolean} */
const sameLook = (a, b) =>
  a.state === b.state ||
  b.origin ||
  (a.state.text === b.state.text && a.state.tone === b.state.tone && a.vec === b.vec);

/**
 * Whether a cell looks the same from the beginning of its motion to the end.
 * @type {(a: Look, b: Look) => boolean}
 */
function isRigid(a, b) {
  const { role } = b.state;
  if (!BODIES.has(role) || role === "label" || a.alpha <= THERE || b.alpha !== 1 || !a.rect) return false;
  return sameSize(a, b) && sameLook(a, b) && a.v === b.v;
}

/**
 * Where on their canvas the sprites of these cells are, line by line, and its height.
 * @param {Look[]} looks
 * @param {number[]} cells
 * @param {number} ratio pixels of the screen ÷ pixels of the page
 */
function placed(looks, cells, ratio) {
  /** @type {Map<number, Sprite>} */
  const sprites = new Map();
  let x = 0,
    y = 0,
    line = 0;
  for (const i of cells) {
    const w = Math.ceil((looks[i].rect.w + 2 * PAD) * ratio),
      h = Math.ceil((looks[i].rect.h + 2 * PAD) * ratio);
    if (x + w > WIDE) {
      x = 0;
      y += line;
      line = 0;
    }
    sprites.set(i, { x, y, w, h });
    x += w;
    line = Math.max(line, h);
  }
  return { sprites, height: y + line };
}

/**
 * The sprites of a motion; null if its cells are drawn instead.
 * @param {Motion & { view: Standing }} motion
 * @param {{ ratio: number, paper: Paper, near: Neighbours }} picture
 * @returns {Atlas | null}
 */
export function atlasOf({ from, to, moving, view: { unit } }, { ratio, paper, near }) {
  const rigid = moving.filter((i) => isRigid(from[i], to[i]));
  if (rigid.length < MANY) return null;
  const { sprites, height } = placed(to, rigid, ratio);
  if (height > HIGHEST) return null;
  const canvas = document.createElement("canvas");
  canvas.width = WIDE;
  canvas.height = height;
  const ctx = canvas.getContext("2d");
  for (const [i, at] of sprites) {
    ctx.setTransform(ratio, 0, 0, ratio, at.x + PAD * ratio, at.y + PAD * ratio);
    draw({ ...paper, ctx }, { ...to[i], rect: { ...to[i].rect, x: 0, y: 0 } }, unit, near);
  }
  return { canvas, sprites, pad: PAD };
}
