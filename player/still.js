// Still pictures: the frames of a movie as lists of shapes, painted as the player does, without a browser
// (packviz/show/movie/stills.py runs it).

/** @import { Movie, Shape } from "./types" */

import { themed } from "./colour.js";
import { filmOf } from "./frames.js";
import { continued, neighbours } from "./neighbours.js";
import { Painter } from "./painter.js";
import { Recorder } from "./recorder.js";

const PLACE = { width: 960, height: 480 }, // pixels of the place that a picture is laid out for, at least; then it is scaled
  LARGEST = 2, // by how much it is enlarged at most
  TIMES = 4, // how often it is laid out anew, because it needs more room than it had
  LEGIBLE = 6; // pixels of the smallest text that is drawn, after the scaling

/**
 * The number of the step of each frame, from 1.
 * @param {number[]} ends the last frame of each step
 * @returns {number[]}
 */
const stepsOf = (ends) => ends.flatMap((end, i) => Array(end - (ends[i - 1] ?? -1)).fill(i + 1));

/**
 * What is before the first step, and then every frame: the number of its step, its scene, the cells that are not as before,
 * each with its number, and where some of them come from.
 * @param {Movie} movie
 */
export function moments(movie) {
  const { first, frames, ends } = filmOf(movie),
    steps = stepsOf(ends);
  const changes = frames.map(({ states, origins, scene }, n) => {
    const before = n ? frames[n - 1].states : first,
      changed = [...states.entries()].filter(([i, state]) => state !== before[i]);
    return [steps[n], scene, changed, [...origins]];
  });
  return [[0, frames[0].scene, [...first.entries()], []], ...changes];
}

export class Still {
  /**
   * @param {Movie} movie
   * @param {Record<string, string>} colours the style sheet's, by their names there
   * @param {(text: string) => number} ems how wide a text is, in multiples of its size
   */
  constructor(movie, colours, ems) {
    this.film = filmOf(movie);
    this.theme = themed((name) => colours[name], "");
    this.ems = ems;
    /** @type {Map<string, { painter: Painter, scale: number }>} */
    this.set = new Map();
  }

  /** The number of the step of each frame, from 1. */
  get steps() {
    return stepsOf(this.film.ends);
  }

  /**
   * A frame as shapes, in a picture of this size.
   * @param {number} index
   * @param {number} width
   * @param {number} height
   * @returns {Shape[]}
   */
  shapes(index, width, height) {
    const { scene } = this.film.frames[index],
      { painter, scale } = this.laidOut(scene, width, height),
      canvas = new Recorder(this.ems);
    canvas.scale(scale);
    const paper = painter.paperOn(/** @type {any} */ (canvas), scene),
      looks = painter.looksAt(index),
      names = continued(looks, painter.view(scene));
    painter.paintFrame(paper, index, [...looks, ...names], neighbours(looks));
    painter.paintLegend(paper, scene);
    return canvas.shapes.filter((shape) => shape.kind !== "text" || shape.px >= LEGIBLE);
  }

  /**
   * What paints a scene, and the scale of its pictures: so small that all that it needs has room in them.
   * @param {string} scene
   * @param {number} width
   * @param {number} height
   */
  laidOut(scene, width, height) {
    const key = `${scene} ${width} ${height}`;
    if (this.set.has(key)) return this.set.get(key);
    const painter = new Painter();
    painter.load(this.film);
    painter.dress(this.theme);
    let scale = Math.min(width / PLACE.width, height / PLACE.height, LARGEST);
    for (let times = 0; times < TIMES; times++) {
      painter.fit(width / scale, height / scale);
      const { room } = painter.view(scene);
      if (room <= painter.width + 1) break;
      scale = width / room;
    }
    const made = { painter, scale };
    this.set.set(key, made);
    return made;
  }
}
