// What is drawn between two steps, by the player's own functions: questions as JSON come in, the samples go out.

import { readFileSync } from "node:fs";
import { filmOf } from "../../player/frames.js";
import { bestView } from "../../player/layout.js";
import { motionTo } from "../../player/motion.js";
import { Painter } from "../../player/painter.js";
import { looks } from "../../player/rects.js";

const { movie, ways, only } = JSON.parse(readFileSync(0, "utf8"));
const film = filmOf(movie), { frames, ends } = film;

function sample({ size: [w, h], from, to, times, most, fitted }) {
  const painter = new Painter(), views = {};
  painter.load(film);
  painter.fit(w, h);
  const best = (scene) => (views[scene] ??= { ...bestView(film.movie.scenes[scene], w, h), room: w });
  const viewOf = ({ scene }) => (fitted ? painter.view(scene) : best(scene)), forward = to === from + 1, seen = [];
  const path = forward ? [...frames.keys()].slice(ends[from] + 1, ends[to] + 1) : [ends[to]];
  let standing = viewOf(frames[ends[from]]), shown = looks(frames[ends[from]], standing);
  while (path.length && seen.length < most * times.length) {
    const frame = frames[path[0]], view = viewOf(frame);
    const motion = motionTo(shown, standing, frame, view, forward, { w: view.room, h });
    const moving = new Set(motion.moving);
    for (const t of times) {
      const told = [];
      const still = motion.to.map((_, i) => i).filter((i) => !moving.has(i)); // they are drawn first
      for (const i of [...still, ...moving]) {
        const { state, alpha, rect: r } = moving.has(i) ? motion.at(i, t) : motion.to[i];
        const { role, p } = state;
        if (alpha > 0.02 && r && only.includes(role)) told.push([i, role, p, alpha, r.x, r.y, r.w, r.h]);
      }
      seen.push([motion.there, t, told]);
    }
    if (motion.there) path.shift();
    [shown, standing] = [motion.to, view];
  }
  return seen;
}
console.log(JSON.stringify(ways.map(sample)));
