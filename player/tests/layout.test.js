// Which view of a scene is chosen for a place, and how wide it is drawn; where a tooltip has its place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inked } from "../ink.js";
import { bestView, USUAL, worth } from "../layout.js";
import { headingAt } from "../sizes.js";
import { placed } from "../tips.js";
import { chosenView } from "../views.js";

const view = { w: 4, h: 2, at: { x: [1, 0.5] }, breaks: {} };
const cell = (more) => ({ role: "token", p: "x", text: "", x: 0, y: 0, seq: 0, shown: true, ...more });

test("the view with the largest cells is chosen, and a unit is larger than 110 pixels only in a picture higher than 600", () => {
  const small = { w: 40, h: 20, at: { x: [0, 0] }, breaks: {} };
  const scene = { wide: [small, view], tall: [small] };
  assert.equal(bestView(scene, 800, 400).view, view);
  assert.equal(bestView(scene, 2000, 600).unit, 110);
  assert.equal(bestView(scene, 4000, 1200).unit, 220);
  assert.equal(bestView(scene, 300, 800).view, small);
});

/** A view of panels side by side, each with a row of words and a letter in the line above it. */
const sideBySide = (names, columns) => ({
  w: columns * names.length,
  h: 2,
  at: Object.fromEntries(names.map((name, i) => [name, [columns * i, 1]])),
  breaks: {},
});
/** The same, one panel above the other. */
const stacked = (names, columns) => ({
  w: columns,
  h: 2 * names.length,
  at: Object.fromEntries(names.map((name, i) => [name, [0, 1 + 2 * i]])),
  breaks: {},
});
const inkOf = (names, columns, text) =>
  inked([
    {
      states: names.flatMap((p) => [
        cell({ role: "label", p, y: -1, w: 1, h: 1, text: "A" }),
        ...Array.from({ length: columns }, (_, x) => cell({ p, x, w: 1, h: 1, text })),
      ]),
    },
  ]);

const FOUR = ["p", "q", "r", "s"],
  ROOM = { height: 400, columns: 6, text: "we" };
for (const [reason, given, chosen, facts] of [
  [
    "side by side in a low place, since that makes the larger cells",
    { width: 1400, height: 150, views: [sideBySide(FOUR, 6), stacked(FOUR, 6)] },
    { view: 0 },
    { fits: true, unit: 56 },
  ],
  [
    "one above the other in a place that is not as wide",
    { width: 500, height: 400, views: [sideBySide(FOUR, 6), stacked(FOUR, 6)] },
    { view: 1 },
    { fits: true, unit: 45 },
  ],
  [
    "all panels before cells of less than twice the size",
    { width: 700, views: [sideBySide(FOUR.slice(1), 6), sideBySide(FOUR, 6)] },
    { view: 1 },
    { fits: true, unit: 28 },
  ],
  [
    "all panels before such cells, even if some words are cut a little",
    { width: 510, views: [sideBySide(FOUR.slice(1), 6), sideBySide(FOUR, 6)] },
    { view: 1 },
    { spelled: false, unit: 20 },
  ],
  [
    "without some panels if their words are whole then, and hardly any of each has room otherwise",
    { width: 500, text: "again", views: [sideBySide(FOUR, 6), sideBySide(["p"], 6)] },
    { view: 1 },
    { spelled: true, unit: 70 },
  ],
  [
    "words with nearly all their room before somewhat larger cells with words that are cut",
    { width: 600, height: 100, text: "again", views: [sideBySide(FOUR, 6), stacked(FOUR.slice(0, 2), 6)] },
    { view: 0 },
    { spelled: false, unit: 24 },
  ],
  [
    "lower cells whose words are whole before larger ones whose words are cut",
    {
      width: 600,
      height: 220,
      text: "understands",
      columns: 4,
      views: [sideBySide(["p", "q"], 4), stacked(["p", "q"], 4)],
    },
    { view: 1 },
    { fits: true, unit: 49 },
  ],
])
  test(reason, () => {
    const { width, height, columns, text, views, least } = { ...ROOM, ...given };
    const found = bestView({ wide: views, tall: views }, width, height, inkOf(FOUR, columns, text), { least });
    assert.equal(views.indexOf(found.view), chosen.view);
    for (const [name, value] of Object.entries(facts))
      if (name === "unit") assert.ok(found.unit >= value, `${found.unit}`);
      else assert.equal(found[name], value);
  });

test("lines of text as large as wanted are worth more than larger cells with smaller lines", () => {
  const of = (unit, across) =>
    worth(
      { view, unit, wide: across / unit },
      { height: 720, least: 21.6, limits: USUAL },
      { needed: 0, wanted: 0 },
      1,
    );
  assert.ok(of(29, 16) > of(22, 40)); // 0.77 * 22 pixels are less than 21.6
});

test("room for all words is worth more than somewhat larger cells in which letters replace some", () => {
  const of = (unit, across) =>
    worth(
      { view, unit, wide: across / unit },
      { height: 400, least: 11, limits: USUAL },
      { needed: 20, wanted: 30 },
      1,
    );
  assert.ok(of(22, 30) > of(25, 25));
  assert.ok(of(22, 30) < of(27, 27));
});

test("in a narrow place a picture is as wide as its numbers need, in a wide one as its place", () => {
  const long = { w: 12, h: 3, at: { x: [0, 0] }, breaks: {} };
  const of = (width, v = -0.5) => {
    const numbers = Array.from({ length: 12 }, (_, x) => cell({ role: "value", x, y: 1, w: 1, h: 1, text: "", v }));
    return chosenView({ wide: [long], tall: [] }, width, 240, inked([{ states: numbers }]));
  };
  assert.ok(of(340).room > 12 * 34);
  assert.equal(of(340, 0.5).room, 340); // without a minus they are narrower
  assert.ok(of(340).unit * of(340).wide > 34);
  assert.equal(of(900).room, 900);
});

test("in a narrow place words beside the letter of their row need less room than others, which are bold", () => {
  const long = { w: 8, h: 3, at: { x: [0, 0] }, breaks: {} };
  const words = Array.from({ length: 8 }, (_, x) => cell({ x, y: 1, w: 1, h: 1, text: "sings" }));
  const of = (role) => {
    const beside = cell({ role, x: 0, y: 2, w: 1, h: 1, text: "A", v: 0 });
    return chosenView({ wide: [long], tall: [] }, 310, 240, inked([{ states: [beside, ...words] }]));
  };
  assert.equal(of("label").room, 310);
  assert.ok(of("value").room > 310);
});

test("a view for a tall screen that fits comes before a picture that scrolls", () => {
  const all = { w: 18, h: 3, at: { x: [0, 0], y: [9, 0] }, breaks: {} },
    some = { w: 9, h: 3, at: { x: [0, 0] }, breaks: {} };
  const words = (p) => Array.from({ length: 9 }, (_, x) => cell({ p, x, y: 1, w: 1, h: 1, text: "one" })),
    letter = (p) => cell({ role: "label", p, x: 0, y: 0, w: 1, h: 1, text: "A" });
  const ink = inked([{ states: ["x", "y"].flatMap((p) => [letter(p), ...words(p)]) }]);
  assert.equal(chosenView({ wide: [all], tall: [some] }, 340, 240, ink).view, some);
  assert.ok(chosenView({ wide: [all], tall: [all] }, 340, 240, ink).room > 340);
});

test("in full screen on a phone the text is as large as it can be in a picture that need not scroll", () => {
  const long = { w: 8, h: 3, at: { x: [0, 0] }, breaks: {} };
  const of = (text) => {
    const words = Array.from({ length: 8 }, (_, x) => cell({ x, y: 1, w: 1, h: 1, text }));
    const letter = cell({ role: "label", y: 2, w: 1, h: 1, text: "A" });
    return chosenView({ wide: [long], tall: [long] }, 390, 500, inked([{ states: [letter, ...words] }]), { least: 16 });
  };
  assert.deepEqual([of("a").least, of("a").room], [16, 390]);
  assert.ok(of("sings").least < 16 && of("sings").least > 11);
  assert.equal(of("sings").room, 390);
  assert.equal(of("understands").least, 11); // this one has to scroll, and shows most of it
  assert.ok(of("understands").room > 390);
});

test("on a phone text is up to 13 pixels large if no cell gets smaller for it, and elsewhere it is not", () => {
  const of = (columns, width) => {
    const row = { w: columns, h: 3, at: { x: [0, 0] }, breaks: {} },
      words = Array.from({ length: columns }, (_, x) => cell({ x, y: 1, w: 1, h: 1, text: "old" })),
      letter = cell({ role: "label", y: 2, w: 1, h: 1, text: "A" });
    return chosenView({ wide: [row], tall: [row] }, width, 300, inked([{ states: [letter, ...words] }])).least;
  };
  assert.equal(of(6, 390), 13);
  assert.equal(of(20, 390), 11);
  assert.equal(of(6, 560), 11);
});

test("in a narrow place rows grow into the height that is left, up to ten lines of text", () => {
  const low = { w: 12, h: 3, at: { x: [0, 0] }, breaks: {} };
  const of = (width, height) => {
    const words = Array.from({ length: 12 }, (_, x) => cell({ x, y: 1, w: 1, h: 1, text: "a" }));
    return chosenView({ wide: [low], tall: [low] }, width, height, inked([{ states: words }]));
  };
  const { unit, tall } = of(390, 500);
  assert.ok(unit < 33);
  assert.ok(Math.abs(tall - 4) < 1e-6); // no cell is more than 4 times as high as a unit is wide
  assert.ok(of(390, 60).tall < tall);
  assert.equal(of(900, 500).tall, 1);
});

test("in a place that is not narrow a picture scrolls only for the words of rows that are long and low", () => {
  const of = (width, { columns = 25, rows = 2, text = "again" } = {}) => {
    const scene = { w: columns, h: rows + 1, at: { x: [0, 0] }, breaks: {} };
    const words = Array.from({ length: columns * rows }, (_, n) =>
      cell({ x: n % columns, y: 1 + Math.floor(n / columns), w: 1, h: 1, text }),
    );
    const letter = cell({ role: "label", x: 0, y: 0, w: 1, h: 1, text: "A" });
    return chosenView({ wide: [scene], tall: [scene] }, width, 320, inked([{ states: [letter, ...words] }]));
  };
  const { room, unit, wide, spelled } = of(800);
  assert.ok(room > 880 && room < 1600 && spelled);
  assert.ok(unit * wide > 6 * 0.55 * 11 - 1);
  assert.equal(of(1000).room, 1000); // there all words fit, if they are not bold
  assert.equal(of(800, { rows: 8 }).room, 800);
  assert.equal(of(800, { columns: 160 }).room, 800); // they would not fit into five places
  assert.equal(of(800, { text: "a" }).room, 800);
});

test("a picture on a phone scrolls for a column, but not for the word before a length", () => {
  const scene = (columns) => {
    const grid = { w: 1.6 * columns + 3.1, h: 5, at: { x: [1.2, 1.6] }, breaks: {} };
    return { wide: [grid], tall: [grid] };
  };
  const ink = (columns, sub) => {
    const words = Array.from({ length: columns }, (_, t) => cell({ x: 1.6 * t, w: 1.6, h: 1, text: "quick" }));
    const length = cell({ role: "note", x: 1.6 * columns + 0.2, w: 1, h: 1, text: "len 9", sub });
    return inked([{ states: [cell({ role: "label", x: -1.1, w: 1, h: 1, text: "A" }), ...words, length] }]);
  };
  assert.equal(chosenView(scene(9), 356, 580, ink(9, "9")).room, 356);
  assert.ok(chosenView(scene(9), 356, 580, ink(9, "")).room > 356);
  assert.ok(chosenView(scene(11), 356, 580, ink(11, "9")).room > 356);
});

test("a tooltip covers neither its cell nor the counts below it", () => {
  const look = (more, x, y) => ({ state: cell({ i: x + y, ...more }), alpha: 1, rect: { x, y, w: 100, h: 20 } }),
    hit = look({ token: 0 }, 0, 40),
    count = look({ role: "count" }, 0, 60);
  const { left, top } = placed(hit, 0, { x: 50, y: 50 }, { w: 60, h: 30 }, { w: 400, h: 300 }, [hit, count]);
  assert.ok(top + 30 <= 40 || top >= 80 || left >= 100);
});

test("a tooltip does not cover the heading of the panel below, which is wider than its place", () => {
  const look = (more, x, y, w) => ({ state: cell({ i: x + y, ...more }), alpha: 1, rect: { x, y, w, h: 20 } }),
    hit = look({}, 100, 40, 60),
    title = look({ role: "title", p: "strip", text: "packed data (9, 4): 9 of 9 rows" }, 0, 76, 20);
  const { left, top } = placed(hit, null, { x: 130, y: 50 }, { w: 60, h: 30 }, { w: 400, h: 300 }, [hit, title]);
  assert.ok(left >= 160 || left + 60 <= 100 || top >= 60 || top + 30 <= 40, "it covers its cell");
  assert.ok(top + 30 <= 76 || top >= 96 || left >= 310, "it covers the heading");
});

test("a tooltip has a place before its cell has moved in", () => {
  const hit = { state: cell({ i: 0 }), alpha: 1, rect: { x: 0, y: 0, w: 10, h: 10 } };
  assert.ok(placed(hit, null, { x: 5, y: 5 }, { w: 60, h: 30 }, { w: 400, h: 300 }, []));
});

test("a heading of low rows is neither cut at the top of the picture nor on what is above it", () => {
  const px = 13,
    [unit, line] = [13.6, 13.6],
    half = 0.37 * px; // of its capital letters
  assert.ok(headingAt(0, line, unit, px, { y: -1.6, h: 1 }) >= half);
  const middle = headingAt(200, line, unit, px, { y: -1, h: 1 }); // its cells are right below it
  assert.ok(middle - half > 200 && middle + half < 200 + line);
  assert.ok(headingAt(200, line, unit, px, { y: -1.6, h: 1 }) < middle, "names are below it");
});
