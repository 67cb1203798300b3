// The packviz player: moves a movie from step to step and decides nothing.
//
// A movie is pure data (packviz/movie/model.py). Cells are drawn on a canvas; a frame is the list of all cells' states,
// so that any step can be shown at once and going back is free. Three places use this file as it is: the app (the
// default export is a Streamlit component), a notebook, and a page of its own (`mount`).

const BEAT = 560; // ms that one beat takes at speed 1
const DWELL = 800, READING = 26; // ms that a step stands still while playing, and ms for each letter of its caption
const SPEEDS = [0.5, 1, 2, 4];
const NAMES = { pad: "Pad", embed: "Embed", sort: "Sort", pack: "Pack", run: "Run", unpack: "Unpack" };
const MAX_UNIT = 58; // pixels of a cell, at most
const READABLE = 11; // pixels of the smallest text
const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M12 3v10L4 8z", play: "M4 2.5v11L13.5 8z", pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M4 3v10l8-5z", last: "M11 3h2v10h-2zM3 3v10l7-5z", full: "M2 2h5v2H4v3H2zM9 2h5v5h-2V4H9zM2 9h2v3h3v2H2zM12 9h2v5H9v-2h3z",
  image: "M2 3h12v10H2zm2 2v5l2.5-2.5L9 10l1.5-1.5L12 10V5z",
};

// ---- the data: frames ------------------------------------------------------------------------------------------------

function framesOf(movie) {
  const last = (id) => Number(id.slice(id.lastIndexOf(":") + 1)) || 0;
  let states = movie.cells.map((cell) => ({ w: 1, h: 1, text: "", sub: "", scale: "state", tone: "", shown: true, ...cell, k: last(cell.id) }));
  const frames = [], ends = [];
  for (const step of movie.steps) {
    for (const beat of step.beats.length ? step.beats : [[]]) {
      const origins = new Map();
      states = states.slice();
      for (const { c, from, ...change } of beat) {
        states[c] = { ...states[c], ...change };
        if (from) origins.set(c, from);
      }
      frames.push({ states, origins, scene: step.scene ?? step.stage });
    }
    ends.push(frames.length - 1);
  }
  return { frames, ends };
}

// ---- colours ---------------------------------------------------------------------------------------------------------

function channels(colour) {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour.trim());
  if (hex) return [0, 2, 4].map((i) => parseInt(hex[1].slice(i, i + 2), 16));
  const numbers = colour.match(/[\d.]+/g);
  return numbers ? numbers.slice(0, 3).map(Number) : [255, 255, 255];
}
function luminance(rgb) {
  const [r, g, b] = rgb.map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const css = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;
const mix = (a, b, share) => a.map((v, i) => v + (b[i] - v) * share);
const textOn = (rgb) => (luminance(rgb) > 0.179 ? "#000000" : "#ffffff");

function readTheme(root) {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(`--pv-${name}`).trim();
  const theme = Object.fromEntries(["background", "surface", "text", "quiet", "line", "hair", "pad", "pad-hatch", "now", "good", "wrong"].map((n) => [n, read(n)]));
  const background = channels(theme.background), ink = channels(theme.text);
  const stops = read("diverging").split(",").map(channels);
  theme.hues = read("hues").split(",").map((colour) => {
    const rgb = channels(colour), ghost = mix(background, rgb, 0.3);
    return { fill: css(rgb), text: textOn(rgb), edge: css(mix(rgb, ink, 0.35)), ghost: css(ghost), ghostText: css(mix(ghost, ink, 0.78)) };
  });
  theme.ramp = Array.from({ length: 129 }, (_, i) => {
    const at = (i / 128) * (stops.length - 1), low = Math.min(stops.length - 2, Math.floor(at));
    const rgb = mix(stops[low], stops[low + 1], at - low);
    return { fill: css(rgb), text: textOn(rgb) };
  });
  theme.font = style.fontFamily;
  return theme;
}

// ---- where things are ------------------------------------------------------------------------------------------------

function frameView(scene, width, height) {
  const size = ({ w, h }) => Math.min((width - 20) / w, (height - 14) / h, MAX_UNIT);
  const panels = ({ at }) => Object.keys(at).length, views = width / height > 1.12 ? scene.wide : scene.tall;
  const most = Math.max(...views.map(panels)), worth = (view) => size(view) * (panels(view) < most ? 0.8 : 1); // better all panels than large cells
  const view = views.reduce((best, other) => (worth(other) > worth(best) + 0.01 ? other : best));
  const unit = size(view);
  return { view, unit, left: (width - view.w * unit) / 2, top: Math.max(4, (height - view.h * unit) / 2) };
}
function inStrip(starts, x) {
  let line = 1;
  while (line + 1 < starts.length && starts[line + 1] <= x + 1e-6) line++;
  return [x - starts[line], (line - 1) * starts[0], starts[line + 1]];
}
function rectOf(frame, panel, x, y, w, h) {
  const { view, unit, left, top } = frame, at = view.at[panel];
  if (!at) return null;
  const starts = view.breaks[panel];
  if (starts) {
    const [inLine, down, end] = inStrip(starts, x);
    if (end !== undefined && x + w > end + 1e-6) w = end - x - 0.1;
    x = inLine; y += down;
  }
  return { x: left + (at[0] + x) * unit, y: top + (at[1] + y) * unit, w: w * unit, h: h * unit };
}
function looks(frame, view) {
  return frame.states.map((state) => {
    const rect = rectOf(view, state.p, state.x, state.y, state.w, state.h);
    return { state, alpha: rect && state.shown ? 1 : 0, rect, v: state.v, vec: state.vec };
  });
}
const lerp = (a, b, t) => a + (b - a) * t;
function between(a, b, t) {
  const from = (a.alpha && a.rect) || b.rect || a.rect, to = b.rect ?? a.rect; // what was hidden appears where it belongs
  if (!from) return b;
  const sameVec = a.vec && b.vec && a.vec.length === b.vec.length;
  return {
    state: t < 0.5 && !b.origin ? a.state : b.state,
    alpha: lerp(a.alpha, b.alpha, b.alpha > a.alpha ? Math.min(1, t * 4) : t),
    rect: { x: lerp(from.x, to.x, t), y: lerp(from.y, to.y, t), w: lerp(from.w, to.w, t), h: lerp(from.h, to.h, t) },
    v: a.v != null && b.v != null && a.alpha ? lerp(a.v, b.v, t) : b.v,
    vec: sameVec && a.alpha && a.vec !== b.vec ? b.vec.map((v, i) => lerp(a.vec[i], v, t)) : b.vec,
  };
}
function differ(a, b) {
  if (a.alpha !== b.alpha) return true;
  if (!b.alpha) return false;
  const { rect: p } = a, { rect: q } = b;
  return a.state !== b.state || !p || p.x !== q.x || p.y !== q.y || p.w !== q.w || p.h !== q.h || a.v !== b.v || a.vec !== b.vec;
}
const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - (2 - 2 * t) ** 3 / 2);

// ---- the brush: how each role looks ----------------------------------------------------------------------------------

const family = ({ id }) => id.slice(0, id.lastIndexOf(":"));

class Brush {
  constructor(theme, movie) {
    this.theme = theme;
    this.movie = movie;
    this.widths = new Map();
    this.longest = new Map(); // the longest text of each family of axis labels: they are thinned out alike
    for (const cell of movie.cells) {
      if (cell.role === "axis" && (cell.text ?? "").length > (this.longest.get(family(cell)) ?? "").length) this.longest.set(family(cell), cell.text);
    }
  }
  // Which of the thinned-out labels are now: their neighbours make room for them.
  see(looks) {
    this.nows = new Map(looks.filter(({ state }) => state.tone === "now" && state.shown).map(({ state }) => [family(state), state.k]));
    // Lengths side by side, below a grid that is turned: the place of each family's first one.
    const lengths = looks.filter(({ state }) => state.shown && /^u?length:/.test(state.id)).map(({ state }) => state);
    const level = lengths.filter((one) => lengths.some((two) => two !== one && two.p === one.p && two.y === one.y));
    this.firsts = new Map(level.sort((one, two) => two.x - one.x).map((one) => [family(one), one.x]));
  }
  hue(seq) {
    return this.theme.hues[this.movie.sequences[seq][1]];
  }
  ramp(v, scale) {
    if (v == null) return { fill: this.theme.pad, text: this.theme.text };
    const share = Math.max(-1, Math.min(1, v / this.movie.scales[scale]));
    return this.theme.ramp[Math.round((share + 1) * 64)];
  }
  measure(ctx, text) {
    const key = this.face + text; // reading ctx.font back is slow
    let width = this.widths.get(key);
    if (width === undefined) this.widths.set(key, (width = ctx.measureText(text).width));
    return width;
  }
  font(ctx, px, weight = 400) {
    ctx.font = this.face = `${weight} ${px}px ${this.theme.font}`;
  }
  // The text as large as it fits, shortened at the readable size, or nothing.
  write(ctx, text, x, y, w, { px, weight = 400, fill, align = "center" }) {
    if (!text) return;
    let size = px;
    this.font(ctx, size, weight);
    const wide = this.measure(ctx, text);
    if (wide > w) {
      size = Math.max(READABLE, Math.floor((px * w) / wide));
      this.font(ctx, size, weight);
      text = this.shorten(ctx, text, w);
    }
    if (!text) return;
    ctx.fillStyle = fill;
    ctx.textAlign = align;
    ctx.textBaseline = "middle";
    ctx.fillText(text, x, y + size * 0.06);
  }
  shorten(ctx, text, w) {
    if (this.measure(ctx, text) <= w) return text;
    const letters = [...text];
    for (let n = letters.length - 1; n >= 2; n--) {
      const short = letters.slice(0, n).join("") + "…";
      if (this.measure(ctx, short) <= w) return short;
    }
    return "";
  }
  tile(ctx, { x, y, w, h }, { fill, edge, width = 1, dash }) {
    const gap = Math.min(2, w * 0.06, h * 0.06);
    ctx.beginPath();
    if (h > 12 && w > 12) ctx.roundRect(x + gap, y + gap, w - 2 * gap, h - 2 * gap, Math.min(6, h * 0.16));
    else ctx.rect(x + gap, y + gap, Math.max(0.5, w - 2 * gap), Math.max(0.5, h - 2 * gap));
    if (fill) { ctx.fillStyle = fill; ctx.fill(); }
    if (edge && h > 7) {
      if (dash) ctx.setLineDash([3, 2]);
      ctx.strokeStyle = edge; ctx.lineWidth = width; ctx.stroke();
      if (dash) ctx.setLineDash([]);
    }
  }
  draw(ctx, look, unit) {
    const paint = this[look.state.role];
    if (!paint || look.alpha <= 0.01) return;
    ctx.globalAlpha = look.alpha;
    paint.call(this, ctx, look.rect, look.state, look, unit);
    ctx.globalAlpha = 1;
  }
  lap(ctx, { x, y, w, h }, seq, fill) {
    const laps = this.movie.sequences[seq][2];
    if (!laps || h < 9) return;
    const size = Math.min(9, h * 0.28);
    ctx.fillStyle = fill;
    for (let i = 0; i < Math.min(laps, 3); i++) {
      ctx.beginPath();
      ctx.moveTo(x + w - 3 - i * (size + 1), y + 3); ctx.lineTo(x + w - 3 - size - i * (size + 1), y + 3); ctx.lineTo(x + w - 3 - i * (size + 1), y + 3 + size);
      ctx.fill();
    }
  }
  stripes(ctx, { x, y, w, h }, vec, scale) {
    const across = w > 1.8 * h, n = vec.length, step = (across ? w : h) / n;
    for (let i = 0; i < n; i++) {
      ctx.fillStyle = this.ramp(vec[i], scale).fill;
      const start = Math.round(i * step), end = Math.round((i + 1) * step) - (step > 8 ? 1 : 0);
      if (across) ctx.fillRect(x + start, y, end - start, h);
      else ctx.fillRect(x, y + start, w, Math.max(0.6, end - start));
    }
  }
  typed(ctx, { x, y, w, h }, state, fill, weight) {
    if (h < READABLE + 2) return;
    const two = state.sub && h > 36, px = Math.min(18, Math.max(READABLE, h * 0.4));
    this.write(ctx, state.text, x + w / 2, y + h * (two ? 0.39 : 0.5), w - 7, { px, weight, fill });
    if (two) this.write(ctx, state.sub, x + w / 2, y + h * 0.74, w - 7, { px: 11.5, fill });
  }
  token(ctx, rect, state, look) {
    const hue = this.hue(state.seq);
    this.tile(ctx, rect, { fill: hue.fill, edge: hue.edge });
    if (look.vec && rect.h > 9) this.framed(ctx, rect, state, look, hue);
    else this.typed(ctx, rect, state, hue.text, 700);
    this.lap(ctx, rect, state.seq, hue.text);
  }
  framed(ctx, { x, y, w, h }, state, look, hue) {
    const head = h > 34 && state.text ? Math.max(14, h * 0.36) : Math.min(3, h * 0.12), side = Math.min(3.5, w * 0.12);
    if (head > 10) this.write(ctx, state.text, x + w / 2, y + head / 2 + 1, w - 6, { px: Math.min(14, head * 0.8), weight: 700, fill: hue.text });
    this.stripes(ctx, { x: x + side, y: y + head, w: w - 2 * side, h: h - head - side }, look.vec, state.scale);
  }
  output(ctx, rect, state, look) {
    const hue = this.hue(state.seq);
    this.tile(ctx, rect, { fill: hue.fill, edge: hue.edge });
    const side = Math.min(3.5, rect.w * 0.12, rect.h * 0.16);
    const inner = { x: rect.x + side, y: rect.y + side, w: rect.w - 2 * side, h: rect.h - 2 * side };
    this.stripes(ctx, inner, look.vec, state.scale);
    this.figures(ctx, inner, look.vec, state.scale);
  }
  // The numbers on their stripes, where these lie side by side and have room for them.
  figures(ctx, { x, y, w, h }, vec, scale) {
    const step = w / vec.length;
    if (w < 1.8 * h || step < 24 || h < READABLE + 2) return;
    vec.forEach((v, i) => v != null && this.write(ctx, this.decimals(ctx, v, step - 4), x + (i + 0.5) * step, y + h / 2, step - 3, { px: Math.min(15, h * 0.4), weight: 500, fill: this.ramp(v, scale).text }));
  }
  vector(ctx, rect, state, look) {
    this.tile(ctx, rect, { edge: this.theme.line });
    const side = Math.min(2.5, rect.h * 0.08);
    this.stripes(ctx, { x: rect.x + side, y: rect.y + side, w: rect.w - 2 * side, h: rect.h - 2 * side }, look.vec, state.scale);
  }
  ghost(ctx, rect, state) {
    const hue = this.hue(state.seq);
    this.tile(ctx, rect, { fill: hue.ghost });
    this.typed(ctx, rect, state, hue.ghostText, 400);
  }
  pad(ctx, rect, state, look) {
    const wrong = state.tone === "wrong", { x, y, w, h } = rect;
    this.tile(ctx, rect, { fill: this.theme.pad, edge: wrong ? this.theme.wrong : this.theme["pad-hatch"], width: wrong ? 3 : 1, dash: !wrong });
    if (h > 7) {
      ctx.save();
      ctx.beginPath(); ctx.rect(x + 3, y + 3, w - 6, h - 6); ctx.clip();
      ctx.strokeStyle = this.theme["pad-hatch"]; ctx.lineWidth = 0.7; ctx.globalAlpha *= 0.42;
      ctx.beginPath();
      for (let d = 7; d < w + h; d += 7) { ctx.moveTo(x + d, y); ctx.lineTo(x + d - h, y + h); }
      ctx.stroke();
      ctx.restore();
    }
    if (look.vec && h > 34) this.stripes(ctx, { x: x + 5, y: y + h * 0.4, w: w - 10, h: h * 0.5 }, look.vec, state.scale);
    if (h >= READABLE + 2) {
      const px = Math.min(15, Math.max(READABLE, h * 0.34)), middle = y + h * (look.vec && h > 34 ? 0.22 : 0.5);
      this.font(ctx, px, 600);
      const wide = Math.min(w - 6, this.measure(ctx, state.text) + 8);
      ctx.fillStyle = this.theme.pad;
      ctx.fillRect(x + (w - wide) / 2, middle - px * 0.62, wide, px * 1.24);
      this.write(ctx, state.text, x + w / 2, middle, w - 6, { px, weight: 600, fill: wrong ? this.theme.wrong : this.theme.quiet });
    }
  }
  value(ctx, rect, state, look) {
    const colour = this.ramp(state.text ? null : look.v, state.scale);
    this.tile(ctx, rect, { fill: colour.fill, edge: this.theme.line });
    if (rect.h < READABLE + 2) return;
    const text = this.number(ctx, state, rect.w - 3);
    this.write(ctx, text, rect.x + rect.w / 2, rect.y + rect.h / 2, rect.w - 3, { px: Math.min(15, Math.max(READABLE, rect.h * 0.36)), weight: 500, fill: colour.text });
  }
  // Numbers are never cut: where they do not fit all of them do without their leading zero, then with one decimal.
  decimals(ctx, v, w) {
    this.font(ctx, READABLE, 500);
    const fits = (text) => this.measure(ctx, text) <= w, plain = (digits) => v.toFixed(digits).replace(/^-(?=0\.0+$)/, "").replace("-", "−");
    if (fits("−0.00")) return plain(2);
    const text = (fits("−.00") ? plain(2) : fits("−.0") ? plain(1) : "").replace(/^(−?)0\./, "$1.");
    return fits(text) ? text : "";
  }
  number(ctx, state, w) {
    if (state.text) return state.text;
    return this.decimals(ctx, state.v, w);
  }
  label(ctx, { x, y, w, h }, state) {
    const hue = this.hue(state.seq), stride = Math.max(1, Math.ceil(15 / h));
    if (Math.round(state.y) % stride) return;
    const size = Math.max(15, Math.min(h * 0.62, 26)), wide = size * (0.6 + 0.4 * state.text.length);
    ctx.beginPath();
    ctx.roundRect(x + (w - wide) / 2, y + (h - size) / 2, wide, size, 5);
    ctx.fillStyle = hue.fill; ctx.fill();
    ctx.strokeStyle = hue.edge; ctx.lineWidth = 1; ctx.stroke();
    this.write(ctx, state.text, x + w / 2, y + h / 2, wide, { px: size * 0.68, weight: 700, fill: hue.text });
  }
  axis(ctx, { x, y, w, h }, state, look, unit) {
    const now = state.tone === "now", px = Math.min(14, Math.max(READABLE, unit * 0.32));
    this.font(ctx, px, now ? 700 : 400);
    const stride = Math.ceil((this.measure(ctx, this.longest.get(family(state)) ?? state.text) + 7) / Math.max(w, 1));
    const down = Math.ceil((px + 2) / Math.max(h, 1));
    const every = stride > 1 ? stride : Math.max(1, down);
    if (!now && (state.k % every || Math.abs(state.k - this.nows.get(family(state))) < every)) return;
    ctx.fillStyle = now ? this.theme.now : this.theme.quiet;
    ctx.textAlign = "center"; ctx.textBaseline = "middle";
    ctx.fillText(state.text, x + w / 2, y + h / 2);
  }
  note(ctx, { x, y, w, h }, state, look, unit) {
    const tone = { now: this.theme.now, good: this.theme.good, wrong: this.theme.wrong }[state.tone] ?? this.theme.quiet;
    const px = Math.min(15, Math.max(READABLE + 1, unit * 0.32));
    if (h < px && Math.round(state.y) % Math.ceil(px / h)) return;
    this.font(ctx, px, state.tone ? 700 : 400);
    ctx.fillStyle = tone; ctx.textAlign = "left"; ctx.textBaseline = "middle";
    const first = this.firsts.get(family(state)), [word, number] = state.text.split(" ");
    if (first === undefined || word !== "len" || this.measure(ctx, state.text) + 6 < w) return ctx.fillText(state.text, x, y + h / 2);
    ctx.textAlign = "center"; // no room for the word below each of them: the first one has it at its left
    ctx.fillText(number, x + w / 2, y + h / 2);
    if (state.x === first && !state.tone) ctx.fillText(word, x - unit * 0.7, y + h / 2);
  }
  // A heading may be wider than its panel; at the edge of the picture it moves in rather than being cut off.
  title(ctx, { x, y }, state, look, unit) {
    const px = Math.min(14.5, Math.max(12, unit * 0.34));
    this.font(ctx, px, 650);
    const left = Math.min(x, Math.max(2, this.room - this.measure(ctx, state.text) - 6));
    this.write(ctx, state.text, left, y + unit * 0.4, this.room - left, { px, weight: 650, fill: this.theme.text, align: "left" });
  }
  count(ctx, { x, y, w, h }, state, look, unit) {
    const now = state.tone === "now", px = Math.min(16, Math.max(READABLE, unit * 0.36));
    const bar = Math.max(2, Math.min(h * 0.5, 22) * look.v);
    ctx.fillStyle = now ? this.theme.now : this.theme.line;
    ctx.fillRect(x + w * 0.16, y, w * 0.68, bar);
    this.font(ctx, px, 700);
    const stride = Math.ceil((this.measure(ctx, state.text) + 5) / Math.max(w, 1));
    if (!now && (state.k % Math.max(1, stride) || Math.abs(state.k - this.nows.get(family(state))) < stride)) return;
    ctx.fillStyle = now ? this.theme.now : this.theme.text;
    ctx.textAlign = "center"; ctx.textBaseline = "middle";
    ctx.fillText(state.text, x + w / 2, y + Math.min(h * 0.5, 22) + px * 0.72);
  }
  bracket(ctx, { x, y, w, h }, state, look, unit) {
    const now = state.tone === "now", px = Math.min(14, Math.max(READABLE, unit * 0.32));
    this.write(ctx, state.text, x + w / 2, y + h * 0.3, Math.max(w, 26), { px, weight: now ? 700 : 400, fill: now ? this.theme.now : this.theme.quiet });
    ctx.strokeStyle = now ? this.theme.now : this.theme.line;
    ctx.lineWidth = now ? 2 : 1;
    ctx.beginPath();
    ctx.moveTo(x + 2, y + h * 0.95); ctx.lineTo(x + 2, y + h * 0.68); ctx.lineTo(x + w - 2, y + h * 0.68); ctx.lineTo(x + w - 2, y + h * 0.95);
    ctx.stroke();
  }
  focus(ctx, { x, y, w, h }) {
    ctx.strokeStyle = this.theme.now; ctx.lineWidth = 2.5;
    ctx.beginPath(); ctx.roundRect(x - 2, y - 2, w + 4, h + 4, 7); ctx.stroke();
  }
  ring(ctx, { x, y, w, h }, state) {
    const hue = this.hue(state.seq), small = h < 12, grow = small ? 0 : -0.5;
    ctx.beginPath(); ctx.roundRect(x - grow, y - grow, w + 2 * grow, h + 2 * grow, small ? 1 : 7);
    ctx.strokeStyle = this.theme.text; ctx.lineWidth = small ? 2 : 4; ctx.stroke();
    ctx.strokeStyle = hue.fill; ctx.lineWidth = small ? 1 : 2.4; ctx.stroke();
  }
  // Its height is how far down it leads: none, or less than none, as well.
  thread(ctx, { x, y, w, h }, state) {
    ctx.beginPath(); ctx.moveTo(x, y); ctx.bezierCurveTo(x + w / 2, y, x + w / 2, y + h, x + w, y + h);
    ctx.strokeStyle = this.theme.background; ctx.lineWidth = 5; ctx.stroke();
    ctx.strokeStyle = this.hue(state.seq).edge; ctx.lineWidth = 2.6; ctx.stroke();
  }
  mark(ctx, { x, y, w, h }, state) {
    const small = h < 12, grow = small ? 0.5 : 1.5;
    ctx.beginPath(); ctx.roundRect(x - grow, y - grow, w + 2 * grow, h + 2 * grow, small ? 1 : 7);
    ctx.strokeStyle = this.theme.background; ctx.lineWidth = small ? 3 : 6; ctx.stroke();
    ctx.strokeStyle = this.theme[state.tone] ?? this.theme.now; ctx.lineWidth = small ? 1.5 : 3;
    if (state.tone === "wrong") ctx.setLineDash([6, 3]);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  flag(ctx, rect, state) {
    const set = state.text !== "False", hue = this.hue(state.seq);
    this.tile(ctx, rect, set ? { fill: hue.ghost, edge: hue.edge } : { fill: this.theme.pad, edge: this.theme["pad-hatch"], dash: true });
    this.font(ctx, READABLE, 600);
    const text = this.measure(ctx, state.text) < rect.w - 7 ? state.text : state.text[0]; // T or F
    this.typed(ctx, rect, { ...state, text }, set ? hue.ghostText : this.theme.quiet, set ? 600 : 400);
  }
}

// ---- the player ------------------------------------------------------------------------------------------------------

const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const icon = (name) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16"); svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]); path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
};

class Player {
  constructor(host, options) {
    this.options = options;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.speed = 1;
    this.painted = 0;
    this.build(host);
    this.listen();
  }

  build(host) {
    const button = (name, label, action, extra = {}) => {
      const node = el("button", { type: "button", "aria-label": label, title: label, ...extra }, icon(name));
      node.addEventListener("click", action);
      return node;
    };
    this.canvas = el("canvas", { role: "img" });
    this.ctx = this.canvas.getContext("2d", { alpha: false });
    this.tip = el("div", { class: "pv-tip", hidden: "" });
    this.error = el("pre", { class: "pv-error", hidden: "" });
    this.stageBox = el("div", { class: "pv-stage" }, this.canvas, this.error, this.tip);
    this.stages = el("ol");
    this.notes = el("p", { class: "pv-notes" });
    this.code = el("ol");
    this.detail = el("ol", { class: "pv-detail" });
    this.proof = el("p", { class: "pv-proof", "data-testid": "packviz-proof" });
    this.caption = el("p", { class: "pv-caption", "data-testid": "packviz-caption" });
    const touch = matchMedia("(pointer: coarse)").matches;
    this.invite = el("button", { type: "button", class: "pv-invite" }, touch ? "Tap " : "Press ", el("kbd", {}, "→"), " to watch");
    this.invite.addEventListener("click", () => this.next());
    this.say = el("div", { class: "pv-say" }, this.caption, this.invite);
    this.range = el("input", { type: "range", min: "1", step: "1", "aria-label": "Step" });
    this.range.addEventListener("input", () => this.go(Number(this.range.value)));
    this.count = el("span");
    this.pace = el("select", { "aria-label": "Speed", title: "Speed" }, ...SPEEDS.map((s) => el("option", { value: s, ...(s === 1 ? { selected: "" } : {}) }, `${s}×`)));
    this.pace.addEventListener("change", () => { this.speed = Number(this.pace.value); });
    this.playButton = button("play", "Play (Space)", () => this.toggle(), { class: "pv-play" });
    this.firstButton = button("first", "First step (Home)", () => this.go(1), { class: "pv-end" });
    this.backButton = button("back", "Step back (←)", () => this.back());
    this.nextButton = button("next", "Step forward (→)", () => this.next());
    this.lastButton = button("last", "Last step (End)", () => this.go(this.steps), { class: "pv-end" });
    const transport = el("div", { class: "pv-transport" }, this.firstButton, this.backButton, this.playButton, this.nextButton, this.lastButton,
      el("div", { class: "pv-scrub" }, this.range), el("span", { class: "pv-count" }, el("span", { class: "pv-word" }, "Step "), this.count), this.pace,
      button("image", "Save this picture as PNG", () => this.save()), button("full", "Full screen (F)", () => this.fullscreen()));
    this.live = el("div", { class: "pv-live", "aria-live": "polite", role: "status" });
    const rail = el("nav", { class: "pv-rail", "aria-label": "Stages" }, this.stages, this.notes);
    const side = this.side = el("div", { class: "pv-code", tabindex: "0", role: "region", "aria-label": "PyTorch, line by line" }, el("h2", {}, "PyTorch, line by line"), this.code, el("h2", {}, "This step"), this.detail, this.proof);
    this.root = el("section", { class: "pv", "data-testid": "packviz-player", tabindex: "0", "aria-label": "packviz player" },
      el("div", { class: "pv-body" }, rail, this.stageBox, side, this.say, transport), this.live);
    host.append(this.root);
    this.fit();
  }

  listen() {
    this.off = new AbortController();
    const { signal } = this.off;
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    this.canvas.addEventListener("pointermove", (event) => this.point(event), { signal });
    this.canvas.addEventListener("pointerdown", (event) => this.point(event), { signal });
    this.canvas.addEventListener("click", () => this.pick(), { signal });
    this.canvas.addEventListener("pointerleave", () => this.pointAt(null), { signal });
    this.dark.addEventListener("change", () => this.retheme(), { signal });
    window.addEventListener("resize", () => this.fit(), { signal });
    this.side.addEventListener("scroll", () => this.tellMore(), { signal });
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(this.stageBox);
  }

  // How far down the page the player stands decides how high its picture can be.
  fit() {
    let node = this.root, above = node.getBoundingClientRect().top;
    while ((node = node.parentElement ?? node.getRootNode().host)) above += node.scrollTop;
    this.root.style.setProperty("--pv-above", `${Math.round(above)}px`);
  }

  // ---- data

  load(movie, step) {
    this.movie = movie;
    this.text = JSON.stringify(movie);
    Object.assign(this, framesOf(movie));
    this.steps = movie.steps.length;
    this.step = Math.min(this.steps, Math.max(1, Math.round(step) || 1));
    this.tip.hidden = true;
    this.hover = this.picked = this.hit_ = this.motion = this.shown = this.views = this.theme = null;
    this.layer = this.atlas = null;
    this.firstSteps = new Map();
    movie.steps.forEach(({ stage }, i) => this.firstSteps.has(stage) || this.firstSteps.set(stage, i + 1));
    this.root.setAttribute("aria-label", `packviz player: ${movie.title}`);
    this.stages.replaceChildren(...[...this.firstSteps].map(([stage, first], i) => this.railItem(stage, first, i)));
    this.notes.textContent = movie.notes.join(" · ");
    this.notes.hidden = !movie.notes.length;
    this.code.replaceChildren(...movie.code.map((line) => this.codeItem(line)));
    this.proof.textContent = (movie.exact ? "✓ " : "") + movie.proof;
    this.proof.dataset.exact = movie.exact;
    this.range.max = this.steps;
    Object.assign(this.root.dataset, { steps: this.steps, cells: movie.cells.length, stages: this.firstSteps.size });
    this.retheme();
    this.shown = this.looksAt(this.ends[this.step - 1]);
    this.tell(false);
    this.resize();
  }

  update(movie, { step } = {}) {
    if (JSON.stringify(movie) !== this.text) {
      this.stop();
      this.load(movie, step ?? this.sameStage(movie));
      this.options.onStep?.(this.step, this.root.dataset.stage);
    } else {
      this.retheme();
      if (step !== undefined && step !== this.step) this.go(step);
    }
  }

  // Where to go on in another movie: at the same step, if it shows the same tokens, else where the stage begins.
  sameStage({ steps, tokens }) {
    const { stage } = this.root.dataset, begins = steps.findIndex((step) => step.stage === stage) + 1;
    const same = steps[this.step - 1]?.stage === stage && JSON.stringify(tokens) === JSON.stringify(this.movie.tokens);
    return same ? this.step : begins || 1;
  }

  railItem(stage, first, i) {
    const node = el("button", { type: "button", "data-stage": stage, title: `${NAMES[stage]} (${i + 1})` }, `${i + 1} ${NAMES[stage]}`);
    node.addEventListener("click", () => this.go(first));
    return el("li", {}, node);
  }
  codeItem([text, shape]) {
    return el("li", {}, el("code", {}, text), el("span", { class: "pv-shape" }, shape));
  }

  retheme() {
    const page = getComputedStyle(this.root).getPropertyValue("--st-background-color").trim();
    const theme = (page ? luminance(channels(page)) < 0.3 : this.dark.matches) ? "dark" : "light";
    if (this.theme && this.root.dataset.theme === theme) return;
    this.root.dataset.theme = theme;
    this.theme = readTheme(this.root);
    this.brush = new Brush(this.theme, this.movie);
    this.writeCaption();
    if (this.motion) this.prepare(this.motion);
    this.paint();
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.stageBox;
    if (!w || !h || !this.movie) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.width !== w || this.height !== h || this.ratio !== ratio) {
      Object.assign(this, { width: w, height: h, ratio });
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
      this.views = null;
    }
    this.motion = null;
    this.shown = this.looksAt(this.ends[this.step - 1]);
    this.tellMore();
    this.paint();
  }

  view(scene) {
    this.views ??= {};
    return (this.views[scene] ??= frameView(this.movie.scenes[scene], this.width || 800, this.height || 400));
  }
  looksAt(index) {
    const frame = this.frames[index];
    return looks(frame, this.view(frame.scene));
  }

  // ---- going from step to step

  next() {
    if (this.step < this.steps) this.go(this.step + 1);
  }
  back() {
    this.go(this.step - 1);
  }
  toggle() {
    this.playing ? this.stop() : this.play();
  }
  play() {
    if (this.step === this.steps) this.go(1, { quick: true });
    this.playing = true;
    this.tellPlaying();
    this.next();
    this.rest();
  }
  rest() {
    clearTimeout(this.timer);
    if (!this.playing) return;
    this.timer = setTimeout(() => {
      if (this.motion) return this.rest();
      if (this.step === this.steps) return this.stop();
      this.go(this.step + 1);
      this.rest();
    }, this.motion ? 60 : (DWELL + READING * this.caption.textContent.length) / this.speed);
  }
  stop() {
    if (!this.playing) return;
    this.playing = false;
    clearTimeout(this.timer);
    this.tellPlaying();
  }

  go(step, { quick = false } = {}) {
    const target = Math.min(this.steps, Math.max(1, step));
    if (target === this.step) return;
    const forward = target === this.step + 1, from = this.ends[this.step - 1], to = this.ends[target - 1];
    if (this.motion) this.shown = this.looksAt(from); // who is in a hurry sees this step's end, and the next from there
    this.step = target;
    this.pointAt(null);
    const path = forward ? Array.from({ length: to - from }, (_, i) => from + 1 + i) : [to];
    if (quick || this.still.matches || document.hidden) this.settle(to);
    else this.start(path, forward);
    this.tell(true);
  }

  // Play the one step that shows something, from the step before it.
  show(step) {
    const target = Math.min(this.steps, Math.max(1, step));
    this.stop();
    if (target > 1) this.go(target - 1, { quick: true });
    this.go(target);
  }

  settle(index) {
    this.motion = null;
    this.shown = this.looksAt(index);
    this.paint();
  }

  // Tween to each frame of the path in turn. What does not move is drawn once, what moves is blitted.
  start(path, forward) {
    const [index, ...rest] = path, frame = this.frames[index], view = this.view(frame.scene);
    const to = looks(frame, view), from = this.shown.slice();
    if (forward) {
      for (const [c, [panel, x, y]] of frame.origins) {
        const { w, h } = frame.states[c], rect = rectOf(view, panel, x, y, w, h);
        if (rect && to[c].alpha) { from[c] = { ...to[c], rect, alpha: 0.999 }; to[c].origin = true; }
      }
    }
    const moving = [];
    for (let i = 0; i < to.length; i++) if (differ(from[i], to[i])) moving.push(i);
    this.motion = { from, to, moving, rest, forward, unit: view.unit, began: null, lasts: (forward ? BEAT : BEAT * 0.8) / this.speed };
    this.prepare(this.motion);
    this.tick();
  }
  prepare(motion) {
    this.brush.room = this.width;
    this.layer = this.stillLayer(motion.to, new Set(motion.moving), motion.unit);
    this.atlas = this.spriteAtlas(motion);
  }

  tick() {
    cancelAnimationFrame(this.raf);
    this.raf = requestAnimationFrame((now) => {
      const motion = this.motion;
      if (!motion) return;
      motion.began ??= now - 8;
      const t = Math.min(1, (now - motion.began) / motion.lasts);
      if (t >= 1) this.arrive(motion);
      else { motion.t = ease(t); this.paint(); }
      if (this.motion) this.tick();
    });
  }

  arrive(motion) {
    this.shown = motion.to.map(({ origin, ...look }) => look);
    this.motion = null;
    this.layer = this.atlas = null;
    if (motion.rest.length) this.start(motion.rest, motion.forward);
    this.paint();
  }

  // ---- painting

  surface() {
    const canvas = document.createElement("canvas");
    canvas.width = this.canvas.width; canvas.height = this.canvas.height;
    const ctx = canvas.getContext("2d");
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    return { canvas, ctx };
  }
  stillLayer(looksThere, moving, unit) {
    const { canvas, ctx } = this.surface();
    this.brush.see(looksThere);
    looksThere.forEach((look, i) => moving.has(i) || this.brush.draw(ctx, look, unit));
    return canvas;
  }

  // Many moving cells that keep their size and look are drawn once and then copied: text is what costs.
  spriteAtlas({ from, to, moving, unit }) {
    const plain = moving.filter((i) => {
      const a = from[i], b = to[i];
      return a.alpha > 0.9 && b.alpha === 1 && a.rect && Math.abs(a.rect.w - b.rect.w) < 0.5 && Math.abs(a.rect.h - b.rect.h) < 0.5 &&
        (a.state === b.state || b.origin || (a.state.text === b.state.text && a.state.tone === b.state.tone && a.vec === b.vec)) && a.v === b.v;
    });
    if (plain.length < 60) return null;
    const pad = 3, ratio = this.ratio, sprites = new Map(), wide = 2048;
    let x = 0, y = 0, line = 0;
    for (const i of plain) {
      const w = Math.ceil((to[i].rect.w + 2 * pad) * ratio), h = Math.ceil((to[i].rect.h + 2 * pad) * ratio);
      if (x + w > wide) { x = 0; y += line; line = 0; }
      sprites.set(i, { x, y, w, h });
      x += w; line = Math.max(line, h);
    }
    if (y + line > 8192) return null;
    const canvas = document.createElement("canvas");
    canvas.width = wide; canvas.height = y + line;
    const ctx = canvas.getContext("2d");
    for (const [i, at] of sprites) {
      ctx.setTransform(ratio, 0, 0, ratio, at.x + pad * ratio, at.y + pad * ratio);
      this.brush.draw(ctx, { ...to[i], rect: { x: 0, y: 0, w: to[i].rect.w, h: to[i].rect.h } }, unit);
    }
    return { canvas, sprites, pad };
  }

  paint(ctx = this.ctx) {
    if (!this.shown || !this.width || !this.brush) return;
    this.brush.room = this.width;
    const { ratio, motion } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = this.theme.background;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (motion) this.paintMotion(ctx, motion);
    else {
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      const { unit } = this.view(this.frames[this.ends[this.step - 1]].scene);
      this.brush.see(this.shown);
      for (const look of this.shown) this.brush.draw(ctx, look, unit);
      this.markHover(ctx);
    }
    if (ctx === this.ctx) this.root.dataset.painted = ++this.painted;
  }

  paintMotion(ctx, { from, to, moving, unit, t = 0 }) {
    const { ratio, atlas } = this, shown = from.slice();
    ctx.drawImage(this.layer, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const i of moving) {
      const look = (shown[i] = between(from[i], to[i], t)), at = atlas?.sprites.get(i);
      if (!at) { this.brush.draw(ctx, look, unit); continue; }
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.drawImage(atlas.canvas, at.x, at.y, at.w, at.h, Math.round((look.rect.x - atlas.pad) * ratio), Math.round((look.rect.y - atlas.pad) * ratio), at.w, at.h);
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.shown = shown;
  }

  // ---- pointing at a cell

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    this.pointAt({ x: event.clientX - box.left, y: event.clientY - box.top });
  }
  pointAt(spot) {
    const hit = spot && !this.motion ? this.hit(spot) : null, token = hit?.state.token ?? null;
    if (!hit && this.hover == null && this.tip.hidden) return;
    const same = hit && hit === this.hit_ && token === this.hover;
    this.hit_ = hit;
    this.hover = token;
    this.showTip(hit, spot);
    if (!same) this.paint();
  }
  // What has been clicked stays outlined, and whoever asked hears of it.
  pick() {
    const { id, token } = this.hit_?.state ?? {};
    if (!id || !this.options.onPick) return;
    this.picked = this.picked === id ? null : id;
    this.paint();
    if (this.picked) this.options.onPick({ cell: id, step: this.step, token: token ?? null });
  }
  // Light up a token wherever it stands, as if it were pointed at.
  light(token) {
    const look = this.shown.find(({ state, alpha, rect }) => alpha && rect && state.token === token);
    this.hover = token;
    this.hit_ = null;
    this.showTip(look, look && { x: look.rect.x + look.rect.w / 2, y: look.rect.y + look.rect.h / 2 });
    this.live.textContent = this.movie.tokens[token]?.[3] ?? "";
    this.paint();
  }
  hit({ x, y }) {
    const silent = { focus: 1, ring: 1, title: 1, thread: 1, mark: 1 };
    for (let i = this.shown.length - 1; i >= 0; i--) {
      const { state, alpha, rect } = this.shown[i];
      if (alpha && rect && !silent[state.role] && x >= rect.x && x < rect.x + rect.w && y >= rect.y && y < rect.y + rect.h) return this.shown[i];
    }
    return null;
  }
  showTip(hit, spot) {
    const lines = hit ? this.tipLines(hit.state) : [];
    this.tip.hidden = !lines.length;
    if (!lines.length) return;
    this.tip.replaceChildren(...lines.map((line) => el("p", { dir: "auto" }, line)));
    const { width } = this, left = Math.min(Math.max(6, spot.x + 14), Math.max(6, width - this.tip.offsetWidth - 6));
    const above = spot.y > this.height * 0.55;
    Object.assign(this.tip.style, { left: `${left}px`, top: above ? "auto" : `${spot.y + 18}px`, bottom: above ? `${this.height - spot.y + 12}px` : "auto" });
  }
  tipLines(state) {
    const [family_] = state.id.split(":");
    if (family_ === "sorted" || family_ === "unsorted") return [`${family_}_indices[${state.k}] = ${state.text}`, `sequence ${this.movie.sequences[state.seq][0]}`];
    const lines = [], number = (v) => (v == null ? "nan" : String(v).replace("-", "−"));
    const letter = state.seq == null ? "" : this.movie.sequences[state.seq][0];
    if (state.token != null) lines.push(this.movie.tokens[state.token][3]);
    else if (state.role === "pad") lines.push(`padding in sequence ${letter}: filler ${state.text}, not a token`);
    else if (state.role === "label") lines.push(`sequence ${letter}`);
    else if (state.role === "count") lines.push(`batch_sizes[${state.k}] = ${state.text}`);
    else if (letter) lines.push(`sequence ${letter}`);
    const [kind, gate] = state.id.split(":");
    if (state.role === "value") lines.push(`${{ hn: "h_n", gate: `${gate} of ${letter}`, was: `${gate} of ${letter} before` }[kind] ?? "h"}, unit ${state.k}: ${state.text || number(state.v)}`);
    if (state.vec) lines.push(`[${state.vec.map(number).join(", ")}]`);
    return lines.filter(Boolean);
  }
  markHover(ctx) {
    const same = this.hover == null ? this.hit_ : null;
    for (const look of this.shown) {
      const { state, alpha, rect } = look;
      if (!alpha || !rect || !(look === same || state.id === this.picked || (this.hover != null && state.token === this.hover))) continue;
      ctx.strokeStyle = this.theme.background; ctx.lineWidth = 5;
      ctx.beginPath(); ctx.roundRect(rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2, Math.min(7, rect.h * 0.2)); ctx.stroke();
      ctx.strokeStyle = this.theme.now; ctx.lineWidth = 3; ctx.stroke();
    }
  }
  // Walk through the tokens in packed order, from the keyboard.
  walk(by) {
    const order = this.movie.tokens.map((token, i) => i).sort((i, j) => (this.movie.tokens[i][2] ?? i) - (this.movie.tokens[j][2] ?? j));
    const at = this.hover == null ? (by > 0 ? -1 : 0) : order.indexOf(this.hover);
    const token = order[(at + by + order.length) % order.length];
    if (!this.motion && this.shown.some(({ state, alpha, rect }) => alpha && rect && state.token === token)) this.light(token);
  }

  // ---- saying where we are

  tell(moved) {
    const { stage, code, detail = [], tone, error } = this.movie.steps[this.step - 1];
    const { dataset } = this.root, newStage = dataset.stage !== stage;
    Object.assign(dataset, { step: this.step, stage });
    this.writeCaption();
    this.say.dataset.tone = tone ?? "";
    this.error.hidden = !error;
    this.error.textContent = error ?? "";
    this.invite.hidden = this.step !== 1 || this.steps === 1;
    this.range.value = this.step;
    this.range.setAttribute("aria-valuetext", `step ${this.step} of ${this.steps}, ${NAMES[stage]}`);
    this.count.textContent = `${this.step} / ${this.steps}`;
    this.firstButton.disabled = this.backButton.disabled = this.step === 1;
    this.nextButton.disabled = this.lastButton.disabled = this.step === this.steps;
    const stages = [...this.firstSteps.keys()];
    for (const node of this.stages.querySelectorAll("button")) {
      const here = node.dataset.stage === stage;
      here ? node.setAttribute("aria-current", "step") : node.removeAttribute("aria-current");
      node.toggleAttribute("data-done", stages.indexOf(node.dataset.stage) < stages.indexOf(stage));
    }
    [...this.code.children].forEach((node, i) => {
      i === code ? node.setAttribute("aria-current", "true") : node.removeAttribute("aria-current");
      node.lastChild.style.visibility = i > code || (i === code && this.step === 1 && this.steps > 1) ? "hidden" : ""; // not made yet
    });
    this.detail.replaceChildren(...detail.map((line) => this.codeItem(line)));
    this.tellMore();
    const spoken = `${this.caption.textContent} ${error ?? ""}`.trim();
    this.canvas.setAttribute("aria-label", `${this.movie.title}. Step ${this.step} of ${this.steps}, ${NAMES[stage]}. ${spoken}`);
    if (moved && (!this.playing || newStage)) this.live.textContent = spoken;
    if (moved) this.options.onStep?.(this.step, stage);
  }
  // Whether the code goes on below what is seen of it.
  tellMore() {
    const { scrollTop, scrollHeight, clientHeight } = this.side;
    this.side.toggleAttribute("data-more", scrollTop + clientHeight < scrollHeight - 4);
  }
  tellPlaying() {
    this.playButton.replaceChildren(icon(this.playing ? "pause" : "play"));
    const label = this.playing ? "Pause (Space)" : "Play (Space)";
    this.playButton.setAttribute("aria-label", label);
    this.playButton.title = label;
  }
  writeCaption() {
    const parts = this.movie.steps[this.step - 1].caption.split(/(\{[A-Z]+\}|\*\*.+?\*\*)/);
    this.caption.replaceChildren(...parts.map((part) => {
      if (part.startsWith("**")) return el("strong", {}, part.slice(2, -2));
      const found = /^\{([A-Z]+)\}$/.exec(part), seq = found && this.movie.sequences.find(([label]) => label === found[1]);
      if (!seq) return part;
      const hue = this.theme.hues[seq[1]];
      return el("span", { class: "pv-chip", style: `background:${hue.fill};color:${hue.text}` }, seq[0]);
    }));
  }

  // ---- keyboard, full screen, picture

  key(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const target = event.composedPath()[0], mine = event.composedPath().includes(this.root);
    if (target.matches?.("input:not([type=range]), textarea, select, [contenteditable]") || (!mine && target !== document.body && target !== document.documentElement)) return;
    const onButton = target.matches?.("button, [role=button], summary, a"), onRange = target === this.range;
    const stages = [...this.firstSteps.values()];
    const actions = {
      ArrowRight: () => this.next(), ArrowLeft: () => this.back(), Home: () => this.go(1), End: () => this.go(this.steps),
      " ": onButton ? null : () => this.toggle(), f: () => this.fullscreen(), F: () => this.fullscreen(),
      ".": () => this.walk(1), ",": () => this.walk(-1), Escape: this.tip.hidden ? null : () => this.pointAt(null),
    };
    const action = /^[1-9]$/.test(event.key) ? stages[event.key - 1] && (() => this.go(stages[event.key - 1])) : actions[event.key];
    if (!action || (onRange && /^(Arrow|Home|End)/.test(event.key)) || (event.shiftKey && event.key !== "F")) return;
    event.preventDefault();
    action();
  }
  fullscreen() {
    const full = document.fullscreenElement;
    if (full) return void document.exitFullscreen();
    this.root.requestFullscreen?.().catch(() => this.root.toggleAttribute("data-full"));
  }
  save() {
    const scale = 2, foot = 74, picture = document.createElement("canvas");
    const keep = { ratio: this.ratio, canvas: this.canvas };
    picture.width = this.width * scale; picture.height = (this.height + foot) * scale;
    const ctx = picture.getContext("2d");
    this.canvas = picture; this.ratio = scale;
    const moving = this.motion;
    this.motion = null;
    this.paint(ctx);
    Object.assign(this, { ...keep, motion: moving });
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    this.brush.font(ctx, 16);
    ctx.fillStyle = this.theme.text; ctx.textAlign = "left"; ctx.textBaseline = "alphabetic";
    this.lines(ctx, this.caption.textContent, this.width - 36).forEach((line, i) => ctx.fillText(line, 18, this.height + 18 + i * 22));
    this.brush.font(ctx, 12);
    ctx.fillStyle = this.theme.quiet;
    ctx.fillText(`packviz · step ${this.step} / ${this.steps} · ${this.movie.title} · ${this.movie.proof}`, 18, this.height + foot - 10);
    picture.toBlob((blob) => {
      const link = el("a", { href: URL.createObjectURL(blob), download: `packviz-step-${this.step}.png` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
  lines(ctx, text, width) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (ctx.measureText(longer).width <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines.slice(0, 2);
  }

  destroy() {
    this.stop();
    cancelAnimationFrame(this.raf);
    this.motion = null;
    this.off.abort();
    this.sizes.disconnect();
    this.root.remove();
  }
}

export function mount(host, movie, options = {}) {
  const player = new Player(host, options);
  player.load(movie, options.step ?? 1);
  return player;
}

// ---- Streamlit -------------------------------------------------------------------------------------------------------

const players = new WeakMap();

function keepStepInAddress(step) {
  const url = new URL(window.location.href);
  if (step === 1) url.searchParams.delete("step");
  else url.searchParams.set("step", step);
  window.history.replaceState(window.history.state, "", url);
}

// The step in the address is the one on screen: after the player has been mounted anew, too.
function stepInAddress(otherwise) {
  const step = new URL(window.location.href).searchParams.get("step");
  return /^[0-9]{1,9}$/.test(step ?? "") ? Number(step) : otherwise;
}

// Python hears which stage is on screen: once a movie has been painted, and whenever another stage comes; and what is
// clicked. It may ask for a step or a token, `data.ask`, each time with another number. A `data.loose` player leaves the
// address to others and tells nothing.
export default function ({ data, parentElement, setTriggerValue }) {
  const there = players.get(parentElement) ?? { given: data.step, asked: data.ask?.number };
  const tell = (stage) => data.loose || setTriggerValue("shown", (there.told = stage));
  if (there.player) {
    const step = data.step !== there.given ? data.step : undefined;
    there.given = data.step;
    there.player.update(data.movie, { step });
  } else {
    const onStep = (step, stage) => {
      if (!data.loose) keepStepInAddress(step);
      if (there.told && stage !== there.told) tell(stage);
    };
    const asked = data.loose ? data.step : stepInAddress(data.step);
    const step = Math.min(Math.max(1, asked), data.movie.steps.length);
    if (step !== asked && !data.loose) keepStepInAddress(step);
    there.player = mount(parentElement, data.movie, { step, onStep, onPick: data.picks && ((picked) => setTriggerValue("picked", picked)) });
    players.set(parentElement, there);
  }
  if (data.ask && data.ask.number !== there.asked) {
    there.asked = data.ask.number;
    if (data.ask.step) there.player.show(data.ask.step);
    if (data.ask.token != null) there.player.light(data.ask.token);
    if (data.ask.look) there.player.root.scrollIntoView({ block: "center" });
  }
  requestAnimationFrame(() => setTimeout(() => tell(there.player.root.dataset.stage)));
  return () => {
    players.get(parentElement)?.player.destroy();
    players.delete(parentElement);
  };
}
