// The types of the player. Those of a movie and of exercises are made of Python's records (movie.d.ts, teach.d.ts).

import type * as Format from "./movie";
import type * as Teach from "./teach";

export type Role = Format.Role;
export type Scale = Format.Scale;
export type Movie = Format.MovieData;
export type Step = Format.StepData;
export type Stack = Format.StackData;
export type Watched = Format.WatchedData;
export type Question = Format.QuestionData;
export type Solution = Format.SolutionData;
export type CodeLine = Format.StepData["detail"][number];
/** Its name; a movie lists its stages. */
export type Stage = string;
/** A row of numbers. */
export type Numbers = Format.MovieData["numbers"][number];
/** A cell; i: its number in the movie, in painting order. f: its group, if this has a tooltip. */
export interface Cell extends Format.Cell {
  i: number;
  f?: number;
}
export type Origin = [panel: string, x: number, y: number];
export interface Token {
  b: number;
  t: number;
  n: number | null;
  tip: string;
  address: string;
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
export interface Verdict {
  right: boolean;
  reason: string;
}

/** A movie with its steps, scenes, numbers and tokens expanded, and for each group the tooltip lines of its cells. */
export type Read = Omit<Movie, "steps" | "views" | "scenes" | "tokens"> & {
  steps: (Step & { stage: Stage; code: number })[];
  scenes: Record<string, Scene>;
  tokens: Token[];
  families: string[][][];
};

/**
 * A movie and its frames. first: the cells before the first step. ends: the last frame of each step. stages: the first step
 * of each stage.
 */
export type Film = Readonly<{
  movie: Read;
  first: Cell[];
  frames: Frame[];
  ends: number[];
  stages: Map<Stage, number>;
}>;
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
/** A panel that is still empty: the box of what will be there, its name, and where its heading will be. */
export interface Coming {
  rect: Rect;
  name: string;
  at: Rect | null;
}
/**
 * A view on this screen: the pixels of a unit and of its corner. wide, tall: a unit's width and height ÷ unit. squeeze: the
 * share of the room that text needs. kept: tall, where the texts above rows do not grow with them. room: the width of the picture. least: the smallest text. fits: whether it has all
 * panels, and room for the words and numbers in them. spelled: the latter alone. headed: whether its headings do not meet.
 */
export interface Standing {
  view: View;
  unit: number;
  room?: number;
  least?: number;
  line?: number;
  fits?: boolean;
  spelled?: boolean;
  headed?: boolean;
  wide?: number;
  tall?: number;
  kept?: number;
  squeeze?: number;
  left: number;
  top: number;
}
/** How numbers are written: pixels, decimals, and whether the leading zero is left out; which of FORMS that is. */
export interface Digits {
  form: number;
  px: number;
  many: number;
  bare: boolean;
}
/**
 * What is ever visible in a panel: the box around its cells, where its texts and titles begin and their lengths in letters (briefs: in short), the maximum
 * number of letters per unit of its cells, whether these must be shown in full, how wide its numbers are, and whether any of them is negative.
 */
export interface Inked {
  left: number;
  top: number;
  right: number;
  bottom: number;
  texts: Map<number, number>;
  briefs: Map<number, number>;
  titles: Map<number, { y: number; letters: number }>;
  letters: number;
  whole: boolean;
  lettered: boolean;
  numbers: Set<number>;
  signed: boolean;
  scales: Set<Scale>;
}
export interface Ink {
  panels: Record<string, Inked>;
}
/** How close things may be in a picture, to fit into its place. */
export interface Limits {
  edge: number; // pixels on either side
  line: number; // pixels of a line of text beside cells, if that fits
  aspect: number; // maximum width ÷ height of a cell, or height ÷ width, if its text needs that
  tight: number; // the height of text ÷ that of a row that is stretched for it
  bold: number; // the width of a letter ÷ its height in a word,
  beside: number; // and in one whose row has its letter beside it
  numbers: boolean; // whether all numbers must have room, too
  row: number; // to how many lines of text a row grows if there is height left,
  slender: number; // and to how many widths of a unit
  kept: boolean; // whether the texts above it stay as they are then
  higher: number; // height ÷ width of its cells, if there is height left
  above: number; // the share of the height left over that is above it
}
/** Where a picture is drawn: its width and height in pixels, the part of the height it may use, its smallest text, and a line beside cells. */
export interface Place {
  width: number;
  height: number;
  room: number;
  least: number;
  line: number;
  limits: Limits;
}
/**
 * The width of a unit in pixels at which texts fit into their cells. needed: the words that no letter can replace. wanted: all
 * words. spaced: these, and numbers that keep clear of a line around their cells.
 */
export interface Needs {
  needed: number;
  wanted: number;
  spaced: number;
}
/** A cell as drawn; without a rectangle if its panel is not in view. */
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
  over: Set<number>;
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
  ghostFlat: string; // of a cell without an outline
  ghostEdge?: string; // none on a light page
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
/** The texts of all cells: the longest word, of all and by family, and the longest label of each family of axis labels. */
export interface CellTexts {
  lettered: Set<string>; // panels with letters beside their rows
  limit: number; // letters of the longest word that has room
  longest: string; // cells have room for it beside their letters, or no cell has its letter
  words: Map<number, string>;
  longer: Map<number, string>; // the same with words somewhat longer than has room everywhere
  axes: Map<number, string>; // axis labels are thinned out by family
  stacked: Set<number>; // families of them that are stacked vertically
}
/** The letter of a row or the name of a line: where it is written and how wide, and where the cells of its line end. */
export interface Head {
  head: Look;
  x: number;
  w: number;
  end: number;
}
/** What every drawing function needs, the same for all marks of a picture. */
export type Paper = Readonly<{
  ctx: Ctx;
  theme: Theme;
  movie: Read;
  texts: CellTexts;
  widths: Map<string, number>; // of texts measured so far
  room: number; // the picture's width and height in pixels
  high: number;
  edge: number; // pixels by which it is scrolled
  least: number; // the minimum size of a number in pixels, if it fits
  line: number; // and of a line of text beside cells
  apart: number; // pixels between the letters of two rows, and more of them between a heading and text below it
  form: number; // that of all numbers in the picture,
  signed: boolean; // and whether any of them is negative
  halo?: boolean;
}>;
/** What the marks of a frame need to know about each other. */
export interface Neighbours {
  counts: Map<string, Rect>; // the lowest count of each panel
  turned: boolean; // whether counts are below each other, beside a transposed grid
  nows: Map<number, number>; // which of the thinned-out labels of a family is current: its neighbours make room for it
  ends: Map<string, number>; // where the cells of each panel end
  titles: Look[];
  firsts: Map<number, number>; // the position of each family's first length, if they are side by side
}
export type Paint = (paper: Paper, look: Placed, unit: number, near: Neighbours) => void;

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
  /** The menu that saves the picture; without it, the bundle for a class's phones leaves that out. */
  saving?: typeof import("./saving.js").savingMenu;
  onStep?: (step: number, stage: Stage) => void;
  onPick?: ((picked: Picked) => void) | false;
  /** Where the last step leads, if anywhere. */
  onward?: { label: string; go: () => void }[];
  onWatch?: ((watched: Watched) => void) | false;
  /** A question was answered or given up. */
  onAnswered?: () => void;
  question?: number; // the one asked first, from 1
  onAsk?: (question: number) => void;
}
/** What some keys do. */
export interface Shortcut {
  /** Their names in `aria-keyshortcuts`. */
  keys: string[];
  run: (player: import("./player.js").Player, key: string) => void;
  /** Whether the player takes the key now; without it, always. */
  when?: (player: import("./player.js").Player, key: string, onButton: boolean) => boolean;
  /** Its text in the menu, which leaves it out if it has none. */
  does?: string;
  /** The keys in the menu, if not all of them. */
  listed?: string[];
  /** Whether it is in the line of the one before it in the menu. */
  beside?: boolean;
  /** Whether Shift may be held. */
  shift?: boolean;
  /** Whether it hides the picture or shows it again; all others show it. */
  blanks?: boolean;
}
export type Axis = "x" | "y";
export type Side = "w" | "h";
/** Cells that move together from one place on an axis to another. */
export interface Row {
  cells: number[];
  from: number;
  to: number;
}
/** Where a cell moves aside to, its width there, and whether it is hidden there. */
export interface Aside {
  x: Axis;
  w: Side;
  at: number;
  wide: number;
  fades: boolean;
}
export interface StreamlitData {
  movie: Movie;
  /** The step to show, at first and whenever it changes; without it, the first one is that in the address. */
  step?: number;
  /** How often an example was chosen; each time it begins at its first step. */
  chosen?: number;
  ask?: { number: number; step?: number; token?: number; look?: boolean };
  picks?: boolean;
  watches?: boolean;
  /** Whether it leaves the address alone and tells Python neither stage nor question. */
  loose?: boolean;
  onward?: string[];
  /** Whether the code is shown initially. */
  code?: boolean;
}
/** A motion in progress: its path of frames, the frame before them, the remaining ones, and when it began. */
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
/** What is drawn on a list: a box or lines, and then shapes with their colours; alpha: how opaque. */
export interface Path {
  box: (Rect & { round: number }) | null;
  lines: Spot[][];
}
interface Tile extends Rect {
  kind: "tile";
  round: number;
  fill?: string;
  edge?: string;
  width?: number;
  dashed?: boolean;
  alpha: number;
}
interface Written extends Spot {
  kind: "text";
  text: string;
  px: number;
  bold: boolean;
  left: boolean;
  fill: string;
  alpha: number;
}
interface Strokes {
  kind: "lines" | "area";
  lines: Spot[][];
  fill?: string;
  edge?: string;
  width?: number;
  alpha: number;
}
export type Shape = Tile | Written | Strokes;
export interface Spot {
  x: number;
  y: number;
}
/** What every exercise by hand has: its first message, and the one when a move is taken back. */
export interface Data {
  start: string;
  back: string;
}
/** From the index of a source to the index of a target. */
export type Move = [source: number, target: number];
/** A move, judged. */
export interface Judged {
  accepted: boolean;
  said: string;
}
export type PackingData = Teach.Exercise;
export type FillingData = Teach.Filling;
export type Trigger = (name: string, value: unknown) => void;
/** The component's state for a place on the page: the last step it was given, the last request, what it told Python. */
export interface Slot {
  given: number;
  chosen?: number;
  asked?: number;
  changed?: number;
  told?: Stage;
  player?: import("./player.js").Player | null;
}
