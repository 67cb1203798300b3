// A movie: packviz/show/movie/format.py. Written by `make player`.

export type Role = "token" | "ghost" | "pad" | "value" | "vector" | "output" | "label" | "axis" | "note" | "title" | "count" | "bracket" | "focus" | "ring" | "thread" | "mark" | "flag";

export type Tone = "" | "now" | "good" | "wrong";

export type Scale = "input" | "state" | "influence" | "weight" | "gradient";

/**
 * A movie.
 *
 * stages: their names, in order. groups: marks of one kind each, in painting order. tips: tooltips: for each line its
 * wordings, of which the first whose blanks can all be filled is shown. numbers: the rows that marks show as stripes,
 * in ten-thousandths; null stands for NaN and infinities. lines: for each stage the number of its line of the code.
 * views: width and height in units, where each panel is, and for each strip that is broken its pitch and where its
 * lines start. scenes: the numbers of the views for a desktop and, if they differ, a phone. sequences: the label of
 * each, its hue, and how often the hues have been used up before it. scales: the numbers at which the diverging scale
 * ends. notes: what is not shown, and other remarks. proof: how the numbers compare with torch's own. exact: whether
 * they are the same.
 */
export interface MovieData {
  format: 4;
  title: string;
  stages: Record<string, string>;
  groups: GroupData[];
  tips: string[][][];
  tokens: TokensData;
  numbers: ((number | null)[])[];
  steps: StepData[];
  lines: Record<string, number>;
  views: [number, number, Record<string, [number, number]>, Record<string, number[]>?][];
  scenes: Record<string, number[][]>;
  code: [string, string][];
  sequences: [string, number, number][];
  scales: Record<Scale, number>;
  notes: string[];
  proof: string;
  exact: boolean;
  stack?: StackData;
  questions?: QuestionData[];
}

/**
 * One mark at one moment, with what it is unless the data say otherwise.
 *
 * p: its panel; x, y, w, h: its place and size there, in units. sub: a second line; for a note, the text that is shown
 * if there is no room for all of it. token: its number. v: a number. vec: a row of numbers, with null for NaN and
 * infinities. seq: its sequence. k: its last key, such as a time step, if its role or its tooltip needs it.
 */
export interface Cell {
  role: Role;
  p: string;
  x: number;
  y: number;
  w: number;
  h: number;
  text: string;
  sub: string;
  token?: number | null;
  v?: number | null;
  vec?: (number | null)[] | null;
  scale: Scale;
  tone: Tone;
  shown: boolean;
  seq?: number | null;
  k?: number | null;
}

/**
 * What a run shows of its layers, directions (1 is backward) and heads of attention.
 */
export interface WatchedData {
  layer: number;
  direction: number;
  head?: number;
}

/**
 * The answer to a question, and why it is right.
 *
 * slips: typical wrong answers as they are typed, each with its reason. otherwise, miscounted: the reply to any other
 * one, also if it has too few or too many parts.
 */
export interface SolutionData {
  answer: string;
  why: string;
  slips: [string, string][];
  otherwise: string;
  miscounted: string;
}

/**
 * Marks of one kind, n of them if there are several, before the first step. tip: which of the tips, if any.
 */
export interface GroupData {
  p?: string | string[];
  x?: number | number[];
  y?: number | number[];
  w?: number | number[];
  h?: number | number[];
  text?: string | string[];
  sub?: string | string[];
  token?: number | null | (number | null)[];
  v?: number | number[];
  vec?: number | null | (number | null)[];
  scale?: Scale | Scale[];
  tone?: Tone | Tone[];
  shown?: boolean | boolean[];
  role: Role;
  n?: number;
  seq?: number | null | (number | null)[];
  k?: number | null | (number | null)[];
  tip?: number;
}

/**
 * Columns of the tokens, and their tooltips, with blanks.
 *
 * b, t, n: the sequence of each, its time step, and its packed row (-1 if it was not packed). said: what was typed, if
 * that was text. offsets: the packed row at which each time step begins.
 */
export interface TokensData {
  b: number[];
  t: number[];
  n: number[];
  said?: string[];
  offsets: number[];
  tip: string;
  typed: string;
  address: string;
}

/**
 * A step. stage: absent if it is that of the previous step. frames: what changes in each of them.
 *
 * A change is the number of a group, which of its marks change (null: all of them), and their new values.
 */
export interface StepData {
  stage?: string;
  caption: string;
  detail?: [string, string][];
  tone?: "wrong";
  error?: string;
  scene?: string;
  frames: [number, number[] | null, ChangedData][][];
}

/**
 * How many layers, directions and heads there are, and which of them the run shows; heads: if several.
 */
export interface StackData {
  layer: number;
  direction: number;
  head?: number;
  layers: number;
  directions: number;
  heads?: number;
}

/**
 * A prediction to make before the movie shows the answer, from its step `first` to its step `step`.
 *
 * sealed: a SolutionData as base64 of JSON.
 */
export interface QuestionData {
  prompt: string;
  form: "numbers" | "letters" | "choice";
  example: string;
  choices: string[];
  parts: PartsData;
  first: number;
  step: number;
  sealed: string;
}

/**
 * The new values of what changes. from: where the marks come from: panel, x and y.
 */
export interface ChangedData {
  p?: string | string[];
  x?: number | number[];
  y?: number | number[];
  w?: number | number[];
  h?: number | number[];
  text?: string | string[];
  sub?: string | string[];
  token?: number | null | (number | null)[];
  v?: number | number[];
  vec?: number | null | (number | null)[];
  scale?: Scale | Scale[];
  tone?: Tone | Tone[];
  shown?: boolean | boolean[];
  from?: [string | string[], number | number[], number | number[]];
}

/**
 * How a typed answer is read.
 *
 * skipped, one: regular expressions of what stands between its parts, and of a part. words: what other words mean.
 * unread: the message for anything else. single: whether it is one letter.
 */
export interface PartsData {
  skipped: string;
  one: string;
  words: Record<string, string[]>;
  unread: string;
  single: boolean;
}
