// What the player is given, as packviz/show/movie/ makes it (schema.json there), and what it makes of it.

import type { Brush } from "./brush.js";

export type Stage = "pad" | "embed" | "sort" | "pack" | "run" | "unpack";
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

/** A cell; i: its number in the movie. f: its family. k: its number in that. */
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
/** What a beat changes in the cell with the number c, and where that starts from on its way. */
export type Change = Partial<Cell> & { c: number; from?: Origin };
/** Several records: of each field one value for all of them, or a list with one for each; n: how many, if c does not say so. */
export type Block = Record<string, unknown> & { c?: number[]; n?: number };
export type CodeLine = [text: string, shape: string];

export interface Step {
  stage: Stage;
  caption: string;
  code: number;
  beats: Block[][];
  detail?: CodeLine[];
  tone?: Tone;
  error?: string;
  scene?: string;
}
export interface View {
  w: number;
  h: number;
  at: Record<string, [x: number, y: number]>;
  breaks: Record<string, number[]>;
}
export interface Scene {
  wide: View[];
  tall: View[];
}
export interface Movie {
  format: 1;
  title: string;
  stages: Partial<Record<Stage, string>>;
  cells: Block[];
  /** Of each family, the lines that its cells say: of each line its wordings, with blanks. */
  families: string[][][];
  steps: Step[];
  scenes: Record<string, Scene>;
  code: CodeLine[];
  sequences: [label: string, hue: number, lap: number][];
  tokens: [b: number, t: number, n: number | null, tip: string][];
  scales: Record<Scale, number>;
  notes: string[];
  proof: string;
  exact: boolean;
}

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
/** A view on this screen: pixels of a unit, and of its corner. */
export interface Standing {
  view: View;
  unit: number;
  left: number;
  top: number;
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
  cell: number;
  step: number;
  token: number | null;
}
export interface Options {
  step?: number;
  onStep?: (step: number, stage: Stage) => void;
  onPick?: ((picked: Picked) => void) | false;
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
  step: number;
  ask?: { number: number; step?: number; token?: number; look?: boolean };
  picks?: boolean;
  loose?: boolean;
}
/** A motion on its way: the frames that come after it, and when it began. */
export interface Moving extends Motion {
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
export type Trigger = (name: string, value: unknown) => void;
/** What the component remembers of a place on the page: the step it was given last, what it was asked for, what it told. */
export interface There {
  given: number;
  asked?: number;
  told?: Stage;
  player?: import("./player.js").Player | null;
}
