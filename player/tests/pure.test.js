// The pure half of the player, each fact by an example that can be checked by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asking } from "../answers.js";
import { channels, contrast, luminance, textOn } from "../colour.js";
import { coming } from "../coming.js";
import { framesOf, read } from "../frames.js";
import { motionTo } from "../motion.js";
import { inDigits } from "../numbers.js";
import { looks, rectOf } from "../rects.js";
import { draw } from "../roles.js";
import { tipLines } from "../tips.js";

const view = { w: 4, h: 2, at: { x: [1, 0.5] }, breaks: {} };
const standing = { view, unit: 10, left: 5, top: 7 };
const cell = (more) => ({ role: "token", p: "x", text: "", x: 0, y: 0, seq: 0, shown: true, ...more });
const movie = (groups, ...steps) => ({
  groups,
  numbers: [[1], [2]],
  steps: steps.map((frames) => ({ stage: "pad", frames })),
});

test("a step has all of its frames, and ends with the last of them", () => {
  const { frames, ends } = framesOf(movie([cell()], [[]], [[[0, null, { x: 1 }]], [[0, null, { x: 2 }]]]));
  assert.deepEqual(ends, [0, 2]);
  assert.deepEqual(
    frames.map(({ states }) => states[0].x),
    [0, 1, 2],
  );
});

test("a change leaves the frames before it as they were, and shares what it does not touch", () => {
  const { frames } = framesOf(movie([cell(), cell()], [[]], [[[0, null, { text: "new" }]]]));
  assert.equal(frames[0].states[0].text, "");
  assert.equal(frames[1].states[0].text, "new");
  assert.equal(frames[0].states[1], frames[1].states[1]);
});

test("where a cell starts from belongs to its frame alone", () => {
  const { frames } = framesOf(movie([cell()], [[[0, null, { x: 3, from: ["x", 1, 1] }]]], [[]]));
  assert.deepEqual(frames[0].origins.get(0), ["x", 1, 1]);
  assert.equal(frames[1].origins.size, 0);
});

test("a step without a scene of its own shows its stage", () => {
  const data = movie([cell()], [[]], [[]]);
  data.steps[1].scene = "other";
  assert.deepEqual(
    framesOf(data).frames.map(({ scene }) => scene),
    ["pad", "other"],
  );
});

test("a cell stands at its panel's place, in pixels of a unit", () => {
  assert.deepEqual(rectOf(standing, "x", 2, 1, 1, 1), { x: 35, y: 22, w: 10, h: 10 });
  assert.equal(rectOf(standing, "elsewhere", 0, 0, 1, 1), null);
});

test("rows that grow leave the texts above them as high as they were, and as near", () => {
  const [text, row] = [-1, 0].map((y) => rectOf({ ...standing, tall: 3, kept: 3 }, "x", 0, y, 1, 1));
  assert.deepEqual([text.h, row.h, row.y - text.y], [10, 30, 10]);
});
test("a strip goes on below where it breaks, and no cell reaches over the break", () => {
  const broken = { ...standing, view: { ...view, breaks: { x: [1.5, 0, 3] } } };
  assert.deepEqual(rectOf(broken, "x", 0, 0, 1, 1), { x: 15, y: 12, w: 10, h: 10 });
  assert.deepEqual(rectOf(broken, "x", 3, 0, 1, 1), { x: 15, y: 27, w: 10, h: 10 });
  assert.ok(rectOf(broken, "x", 2.5, 0, 1, 1).w < 5);
});

test("what is hidden, or stands in no panel of the view, is not drawn", () => {
  const { frames } = framesOf(movie([cell(), cell({ shown: false }), cell({ p: "no" })], [[]]));
  assert.deepEqual(
    looks(frames[0], standing).map(({ alpha }) => alpha),
    [1, 0, 0],
  );
});

test("a cell that moves is halfway at half the time, and where it belongs at the end", () => {
  const { frames } = framesOf(movie([cell(), cell({ y: 1 })], [[]], [[[0, null, { x: 2 }]]]));
  const motion = motionTo(looks(frames[0], standing), standing, frames[1], standing, true, { w: 100, h: 100 });
  assert.deepEqual(motion.moving, [0]);
  assert.equal(motion.at(0, 0.5).rect.x, 25);
  assert.equal(motion.to[0].rect.x, 35);
  assert.ok(motion.there);
});

test("what appears has its own text from the beginning, not the one that it had before it went", () => {
  const { frames } = framesOf(
    movie([cell({ shown: false, text: "old" })], [[]], [[[0, null, { shown: true, text: "new" }]]]),
  );
  const motion = motionTo(looks(frames[0], standing), standing, frames[1], standing, true, { w: 100, h: 100 });
  assert.equal(motion.at(0, 0.3).state.text, "new");
});

test("text on a cell of any colour has a contrast of 4.5:1", () => {
  const levels = Array.from({ length: 18 }, (_, i) => 15 * i);
  for (const r of levels)
    for (const g of levels)
      for (const b of levels) assert.ok(contrast(channels(textOn([r, g, b])), [r, g, b]) >= 4.5, `${[r, g, b]}`);
});

test("colours are read as the browser writes them", () => {
  assert.deepEqual(channels("#ff8000"), [255, 128, 0]);
  assert.deepEqual(channels("rgb(1, 2, 3)"), [1, 2, 3]);
  assert.equal(luminance([255, 255, 255]), 1);
  assert.equal(luminance([0, 0, 0]), 0);
});

test("a tip is the first wording of each line whose blanks can be filled", () => {
  const families = [[["{token}", "sequence {seq}"], ["h, unit {k}: {number}"], ["{vec}"]]];
  const data = { families, sequences: [["A", 0, 0]], tokens: [{ tip: "the token", address: "" }] };
  const said = (more) => tipLines(data, { f: 0, k: 3, seq: 0, text: "", ...more });
  assert.deepEqual(said({ v: -0.5 }), ["sequence A", "h, unit 3: −0.5000"]);
  assert.deepEqual(said({ token: 0, v: 0.25 }), ["the token", "h, unit 3: 0.2500"]);
  assert.deepEqual(said({ vec: [0.5, -0.4862] }).at(-1), "[0.5000, −0.4862]");
  assert.deepEqual(said({ token: null, text: "inf" }), ["sequence A", "h, unit 3: inf"]);
  assert.deepEqual(said({ vec: [1, null] }), ["sequence A", "h, unit 3: nan", "[1, nan]"]);
  assert.deepEqual(tipLines({ ...data, families: [[["sequence {seq}"]]] }, { f: 0, text: "" }), []);
});

test("a tip names the packed row of a token only from the stage on that packs", () => {
  const data = { families: [[["{token}"]]], sequences: [["A"]], tokens: [{ tip: "A", address: ", packed row 3" }] },
    said = (stage) => tipLines(data, { f: 0, seq: 0, token: 0 }, stage)[0];
  assert.deepEqual(["pad", "sort", "pack", "two"].map(said), ["A", "A", "A, packed row 3", "A, packed row 3"]);
});

test("a field has one value for all marks, or a list with one for each", () => {
  const groups = [cell({ n: 2, x: [0, 0.5], text: ["one", "two"], vec: [0, null], v: 5000, tip: 0 }), cell({ x: 2 })];
  const hidden = [
    [0, null, { shown: false }],
    [1, null, { shown: false }],
  ];
  const { frames } = framesOf(movie(groups, [[]], [[...hidden, [0, [1], { x: 6, vec: 1 }]]]));
  const told = (frame) => frame.states.map(({ i, x, text, shown, vec, v, f }) => [i, x, text, shown, vec, v, f]);
  assert.deepEqual(told(frames[0]), [
    [0, 0, "one", true, [1], 0.5, 0],
    [1, 0.5, "two", true, undefined, 0.5, 0],
    [2, 2, "", true, undefined, undefined, undefined],
  ]);
  assert.deepEqual(told(frames[1]), [
    [0, 0, "one", false, [1], 0.5, 0],
    [1, 6, "two", false, [2], 0.5, 0],
    [2, 2, "", false, undefined, undefined, undefined],
  ]);
  const { origins } = framesOf(movie(groups, [[[0, null, { from: [["x", "y"], 0, [4, 5]] }]]])).frames[0];
  assert.deepEqual(
    [...origins],
    [
      [0, ["x", 0, 4]],
      [1, ["y", 0, 5]],
    ],
  );
});

test("a large number keeps its exponent, and a small one its zero if there is room", () => {
  const [wide, narrow] = [
    { many: 2, bare: false },
    { many: 1, bare: true },
  ];
  assert.deepEqual(
    [1.3e38, -2e5, 9999, -0.001, 0.25].map((v) => inDigits(v, wide)),
    ["1.3e38", "−2.0e5", "9999.00", "0.00", "0.25"],
  );
  assert.deepEqual(
    [1.3e38, -0.25].map((v) => inDigits(v, narrow)),
    ["1.3e38", "−.3"],
  );
});

test("what the data abbreviate is expanded: tokens, steps, scenes, numbers", () => {
  const given = {
    groups: [cell({ tip: 1 }), cell()],
    numbers: [[5000, null]],
    views: [
      [2, 1, { x: [0, 0] }],
      [1, 2, { strip: [0, 0] }, { strip: [3, 0, 5] }],
    ],
    scenes: { pad: [[1], [0, 1]], run: [[0]] },
    lines: { pad: 0, run: 2 },
    steps: [{ stage: "pad" }, { caption: "still there" }, { stage: "run" }],
    tips: [[["a"]], [["b"]]],
    sequences: [["A", 0, 0]],
    tokens: {
      b: [0, 0],
      t: [0, 1],
      n: [3, -1],
      said: ["go", ""],
      offsets: [2, 4],
      tip: "sequence {seq}, time step {t}",
      typed: "“{said}”, ",
      address: ", packed row {n}: data[{offset} + {position}]",
    },
  };
  const { tokens, families, steps, scenes, numbers } = read(given);
  assert.deepEqual(tokens, [
    { b: 0, t: 0, n: 3, tip: "“go”, sequence A, time step 0", address: ", packed row 3: data[2 + 1]" },
    { b: 0, t: 1, n: null, tip: "sequence A, time step 1", address: "" },
  ]);
  assert.deepEqual(families, [[["b"]], []]);
  assert.deepEqual(steps, [
    { stage: "pad", code: 0 },
    { caption: "still there", stage: "pad", code: 0 },
    { stage: "run", code: 2 },
  ]);
  const first = { w: 2, h: 1, at: { x: [0, 0] }, breaks: undefined },
    second = { w: 1, h: 2, at: { strip: [0, 0] }, breaks: { strip: [3, 0, 5] } };
  assert.deepEqual(scenes, {
    pad: { wide: [second], tall: [first, second] },
    run: { wide: [first], tall: [first] },
  });
  assert.deepEqual(numbers, [[0.5, null]]);
});

for (const role of ["ring", "mark"]) {
  test(`a ${role} stays inside its own rectangle, whatever the size of the cell`, () => {
    const theme = { text: "t", now: "n", wrong: "w", background: "b", hues: [{ fill: "f" }] };
    for (const tone of ["", "wrong"]) {
      for (const rect of [5, 11, 12, 58].map((h) => ({ x: 20, y: 30, w: 2 * h, h }))) {
        let box,
          lines = 0;
        const ctx = {
          beginPath() {},
          setLineDash() {},
          roundRect(...drawn) {
            box = drawn;
          },
          stroke() {
            const [x, y, w, h] = box,
              out = this.lineWidth / 2;
            lines++;
            assert.ok(x - out >= rect.x && y - out >= rect.y);
            assert.ok(x + w + out <= rect.x + rect.w && y + h + out <= rect.y + rect.h);
          },
        };
        const paper = { ctx, theme, movie: { sequences: [["A", 0, 0]] }, high: 400 };
        draw(paper, { state: { role, tone, seq: 0 }, alpha: 1, rect }, 58);
        assert.equal(lines, 2);
      }
    }
  });
}

test("an outline that stays is painted again after what moves below it", () => {
  const groups = [cell(), cell({ role: "mark" })];
  const { frames } = framesOf(movie(groups, [[[1, null, { shown: true }]], [[0, null, { text: "new" }]]]));
  const motion = motionTo(looks(frames[0], standing), standing, frames[1], standing, true, { w: 40, h: 20 });
  assert.deepEqual(motion.moving, [0, 1]);
});

test("what flies past an outline that stays is painted over it", () => {
  const groups = [cell(), cell({ role: "mark", x: 1 })];
  const { frames } = framesOf(movie(groups, [[[1, null, { shown: true }]], [[0, null, { x: 2 }]]]));
  const motion = motionTo(looks(frames[0], standing), standing, frames[1], standing, true, { w: 40, h: 20 });
  assert.deepEqual(motion.moving, [1, 0]);
});

test("what comes into the place of something else comes when that is gone", () => {
  const groups = [cell(), cell({ shown: false }), cell({ x: 1, shown: false })];
  const change = [[0, null, { shown: false }], ...[1, 2].map((i) => [i, null, { shown: true }])];
  const { frames } = framesOf(movie(groups, [[], change]));
  const motion = motionTo(looks(frames[0], standing), standing, frames[1], standing, true, { w: 40, h: 20 });
  const alphas = (t) => [0, 1, 2].map((i) => motion.at(i, t).alpha);
  assert.ok(alphas(0.4)[0] > 0 && alphas(0.4)[1] === 0 && alphas(0.4)[2] > 0);
  assert.ok(alphas(0.6)[0] === 0 && alphas(0.6)[1] > 0);
});

test("a panel that is filled later is outlined with its name, without its shape", () => {
  const size = { w: 1, h: 1 },
    title = cell({ ...size, role: "title", p: "y", y: -1, text: "data (9, 4): 9 rows" }),
    filled = [cell({ ...size, p: "y" }), cell({ ...size, p: "y", x: 1 })],
    at = { ...standing, view: { ...view, at: { x: [1, 0.5], y: [0, 1.5] } } };
  const later = { states: [cell(size), title, ...filled], origins: new Map(), scene: "pack" };
  const hidden = (states) => ({ ...later, states: states.map((state) => ({ ...state, shown: state.p === "x" })) });
  assert.deepEqual(coming(hidden(later.states), [later], at), [
    { rect: { x: 5, y: 22, w: 20, h: 10 }, name: "data", at: { x: 5, y: 12, w: 10, h: 10 } },
  ]);
  assert.deepEqual(coming(later, [later], at), []);
  const begun = { ...later, states: later.states.map((state, i) => ({ ...state, shown: i < 3 })) };
  const outlined = [{ rect: { x: 15, y: 22, w: 10, h: 10 }, name: "", at: null }];
  assert.deepEqual(coming(begun, [later], at), outlined);
  const moved = { ...later, states: later.states.map((state) => ({ ...state, y: state.y + 1 })) };
  assert.deepEqual(coming(begun, [later, moved], at), outlined);
});

test("of a prompt, the sentence that asks is shown in one line: the one with a question mark, or else the last one", () => {
  assert.equal(asking("What is `batch_sizes`? Type one number for each time step."), "What is `batch_sizes`?");
  assert.equal(asking("Row 0 holds A (3), then B (2). How many keys does it read?"), "How many keys does it read?");
  assert.equal(asking("The 3 sequences stand in one row. Type the `cu_seqlens`."), "Type the `cu_seqlens`.");
});
