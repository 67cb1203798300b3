// What the player is given, as packviz/show/movie/ makes it (schema.json there), and what it makes of it.

import type { Brush } from "./brush.js";

/** Its name: a movie lists those that it has. */
export type Stage = string;
export type Role =
  | "token"
  | "ghost"
  | "pad"
  | "value"
  | "vector"
  | "output"
  | "label"
  | "axis"
  | "note"
  | "title"
  | "count"
  | "bracket"
  | "focus"
  | "ring"
  | "thread"
  | "mark"
  | "flag";
export type Tone = "" | "now" | "good" | "wrong";
export type Scale = "input" | "state";
export type Numbers = (number | null)[];

/** A cell; i: its number in the movie, in the order in which they are painted. f: its group. k: its number in that. */
export interface Cell {
  i: number;
  role: Role;
  p: string;
  x: number;
  y: number;
  w: number;
  h: number;
  text: string;
  sub: string;
  seq?: number;
  token?: number | null;
  v?: number;
  vec?: Numbers;
  scale: Scale;
  tone: Tone;
  shown: boolean;
  f?: number;
  k?: number;
}
export type Origin = [panel: string, x: number, y: number];
/** One value for all, one for each, runs that grow evenly (first, step, how many, ...), or [the number of a list]. */
export type Column = unknown[] | { runs: number[] } | string | number | boolean | null;
/** Marks of one kind: n of them, if there are several; of each field a column. tip: the number of what they say. */
export type Group = [
  role: Role,
  p: Column,
  x: Column,
  y: Column,
  more: Record<string, Column> & { n?: number; tip?: number },
];
/**
 * What changes: the number of a group, or of several; in which beats; in each of them how many of their marks and which
 * (null: all); and of each field a column, mark after mark and beat after beat.
 */
export type Block = [
  group: number | number[],
  beats: Column,
  counts: Column,
  marks: Column,
  columns: Record<string, Column> & { from?: Column[] },
];
export interface Token {
  b: number;
  t: number;
  n: number | null;
  tip: string;
}
export type CodeLine = [text: string, shape: string];

/** beats: how many frames it has, or 2. */
export interface Step {
  caption: string;
  beats?: number;
  /** If it is not that of the step before. */
  stage?: Stage;
  detail?: CodeLine[];
  tone?: Tone;
  error?: string;
  scene?: string;
}
export interface View {
  w: number;
  h: number;
  at: Record<string, [x: number, y: number]>;
  breaks?: Record<string, number[]>;
}
export interface Scene {
  wide: View[];
  tall: View[];
}
/** How many layers and directions there are, and which of them the run shows; 1 is backward. */
export interface Stack extends Watched {
  layers: number;
  directions: number;
}
export interface Watched {
  layer: number;
  direction: number;
}
export interface Movie {
  format: 2;
  title: string;
  stages: Partial<Record<Stage, string>>;
  groups: Group[];
  /** What cells say when pointed at: of each line its wordings, with blanks. */
  tips: string[][][];
  /** Lists that several columns have in common. */
  columns: unknown[][];
  changes: Block[];
  /** The rows that cells show as stripes, by their numbers, in ten-thousandths. */
  numbers: Numbers[];
  steps: Step[];
  /** Of each stage its line of the code. */
  lines: Record<Stage, number>;
  views: [w: number, h: number, at: View["at"], breaks?: View["breaks"]][];
  /** Views by their numbers, on a desk and in a hand. */
  scenes: Record<string, [wide: number[], tall?: number[]]>;
  code: CodeLine[];
  sequences: [label: string, hue: number, lap: number][];
  /** Columns of the tokens, and what they say, with blanks. */
  tokens: Record<"b" | "t" | "n" | "said" | "offsets", Column> & {
    count: number;
    tip: string;
    typed: string;
    address: string;
  };
  scales: Record<Scale, number>;
  notes: string[];
  proof: string;
  exact: boolean;
  stack?: Stack;
  questions?: Question[];
}
/** A prediction to make before the movie shows the answer, from its first step to its step. sealed: its Solution, not to be read by chance. */
export interface Question {
  prompt: string;
  form: "numbers" | "letters" | "choice";
  example: string;
  choices: string[];
  first: number;
  step: number;
  sealed: string;
}
/** Answers as one would type them; slips: those given by mistake, each with its reason. */
export interface Solution {
  answer: string;
  why: string;
  hint: string;
  slips: [answer: string, reason: string][];
}
export interface Verdict {
  right: boolean;
  reason: string;
}

/** A movie with its steps, scenes, numbers and tokens in full, and for each group the lines that its cells say. */
export type Read = Omit<Movie, "steps" | "views" | "scenes" | "tokens"> & {
  steps: (Step & { stage: Stage; code: number; beats: number })[];
  scenes: Record<string, Scene>;
  tokens: Token[];
  families: string[][][];
};

/** All cells at one moment, and where some of them start from on their way to it. */
export interface Frame {
  states: Cell[];
  origins: Map<number, Origin>;
  scene: string;
}
export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}
export interface Size {
  w: number;
  h: number;
}
/** A view on this screen: pixels of a unit, and of its corner. squeeze: the share of the room that text needs. */
export interface Standing {
  view: View;
  unit: number;
  wide?: number;
  squeeze?: number;
  left: number;
  top: number;
}
/** How numbers are written: pixels, decimals, and whether they do without a leading zero. */
export interface Digits {
  px: number;
  many: number;
  bare: boolean;
}
/**
 * What is ever seen in a panel: the box around its cells, where its texts begin and how many letters long they are, how many
 * letters a unit of its cells has at most, and whether these are to be read whole.
 */
export interface Inked {
  left: number;
  top: number;
  right: number;
  bottom: number;
  texts: Map<number, number>;
  letters: number;
  whole: boolean;
}
export interface Ink {
  panels: Record<string, Inked>;
  scales: Set<Scale>;
}
/** A cell as it is drawn; without a rectangle where its panel is not in view. */
export interface Look {
  state: Cell;
  alpha: number;
  rect: Rect | null;
  v?: number;
  vec?: Numbers;
  origin?: boolean;
  least?: number; // pixels of its smallest text, if that is not READABLE
}
export interface Placed extends Look {
  rect: Rect;
}
export interface Motion {
  from: Look[];
  to: Look[];
  moving: number[];
  at: (i: number, t: number) => Look;
  unit: (t: number) => number;
  beats: number;
  there: boolean;
}
export interface Tint {
  fill: string;
  text: string;
}
export interface Hue extends Tint {
  edge: string;
  ghost: string;
  ghostText: string;
}
type Named =
  | "background"
  | "surface"
  | "text"
  | "quiet"
  | "line"
  | "hair"
  | "pad"
  | "pad-hatch"
  | "now"
  | "good"
  | "wrong";
export type Theme = Record<Named | "font", string> & { hues: Hue[]; ramp: Tint[] };
export type Rgb = number[];
export type Ctx = CanvasRenderingContext2D;
export type Paint = (this: Brush, ctx: Ctx, rect: Rect, state: Cell, look: Placed, unit: number) => void;

export interface Picked {
  role: Role;
  seq: number | null;
  k: number | null;
  step: number;
  token: number | null;
}
export interface Options {
  step?: number;
  /** Whether keys are for it only while it has the focus. */
  focused?: boolean;
  onStep?: (step: number, stage: Stage) => void;
  onPick?: ((picked: Picked) => void) | false;
  /** Where the last step leads, if it leads somewhere. */
  onward?: { label: string; go: () => void };
  onWatch?: ((watched: Watched) => void) | false;
  /** A question has been answered, or given up. */
  onAnswered?: () => void;
  question?: number; // that is asked first, from 1
  onAsk?: (question: number) => void;
}
export type Axis = "x" | "y";
export type Side = "w" | "h";
/** Cells that go from one place on an axis to another together. */
export interface Row {
  cells: number[];
  from: number;
  to: number;
}
/** Where a cell steps aside, how wide it is there, and whether it is not seen there. */
export interface Aside {
  x: Axis;
  w: Side;
  at: number;
  wide: number;
  fades: boolean;
}
export interface StreamlitData {
  movie: Movie;
  /** Of a loose player: where it stands. */
  step?: number;
  ask?: { number: number; step?: number; token?: number; look?: boolean };
  picks?: boolean;
  watches?: boolean;
  loose?: boolean;
  onward?: string;
  /** Whether the code is shown at first. */
  code?: boolean;
}
/** A motion on its way: the frames that it goes to, the one before them, those that come after it, and when it began. */
export interface Moving extends Motion {
  path: number[];
  before: number;
  rest: number[];
  forward: boolean;
  view: Standing;
  t: number;
  began: number | null;
  lasts: number;
}
export interface Sprite extends Rect {}
export interface Atlas {
  canvas: HTMLCanvasElement;
  sprites: Map<number, Sprite>;
  pad: number;
}
export interface Spot {
  x: number;
  y: number;
}
/** As packviz/teach/exercise.py has it. */
export interface Exercise {
  letters: string[];
  cells: { b: number; t: number; text: string; is_pad: boolean; name: string; unpacked: string }[];
  rows: { cell: number; found: string; later: string; other: string }[];
  sizes: { size: number; said: string[] }[];
  start: string;
  back: string;
  cleared: string;
  done: string;
}
export type Trigger = (name: string, value: unknown) => void;
/** What the component remembers of a place on the page: the step it was given last, what it was asked for, what it told. */
export interface There {
  given: number;
  asked?: number;
  changed?: number;
  told?: Stage;
  player?: import("./player.js").Player | null;
}
