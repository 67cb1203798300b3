// What a phone sees of a room: classroom/seen.py. Written by `make player`.

/**
 * What a phone may see of a room; in JavaScript, `make player` writes the same types to phone/seen.d.ts.
 *
 * For everybody:
 *     item    the place in the list of what is on the screen, from 0; None if it is not from the list
 *     kind, shown     of what is on the screen: what it is, and its number among all that was shown, from 1
 *     question        None if it is a slide or a movie, and before the first item
 *     slide, html     Markdown of a slide, and the same as HTML
 *     step            of the movie; None if none is shown
 *     wonder          the question from a student that the teacher shows
 *     channels        which of pace, wonder and confidence the phones offer
 *     mine, read      the token's answer in this round, as it was sent and as the server read it
 * For a phone:
 *     following       whether it follows the teacher's steps
 *     pace            what it says about the pace
 *     right, reason   of its answer, in the phase reveal; right: None in a poll
 * For the teacher at any time, for others in the phase reveal:
 *     answer          as it would be sent: an index or a text for a choice, a number, a list or text for numbers, a
 *                     text for letters and for a text, [sequence, t] for a cell. solution: as the server reads it
 *     why, reasons    why it is right; why others are wrong
 *     bars, rounds    how often each answer was given; how many rounds count
 *     movie           None for a question of the teacher's own
 */
export interface ForPhones {
  code?: string;
  revision?: number;
  phase?: "lobby" | "vote" | "closed" | "talk" | "reveal";
  round?: 1 | 2;
  item?: number | null;
  kind?: "question" | "slide" | "step" | null;
  shown?: number | null;
  question?: PublicQuestion | null;
  voted?: number;
  joined?: number;
  slide?: string;
  html?: string;
  step?: number | null;
  wonder?: string | null;
  channels?: string[];
  mine?: number | string | (number | string)[] | null;
  read?: string | null;
  following?: boolean;
  name?: string;
  confidence?: "sure" | "guessing" | null;
  pace?: "slow" | "fast" | "lost" | null;
  right?: boolean | null;
  reason?: string;
  answer?: number | string | (number | string)[] | null;
  solution?: string;
  why?: string;
  reasons?: Reason[];
  bars?: Bar[];
  rounds?: number;
  movie?: MovieLink | null;
}

/**
 * What everybody may see of a question: the fields of Question that are not empty, and in a room two more.
 *
 * number: among the questions of the room, counted from 1. html: the prompt, if it is the teacher's Markdown.
 */
export interface PublicQuestion {
  kind: string;
  prompt: string;
  form: "choice" | "number" | "numbers" | "letters" | "cell" | "text";
  options?: string[];
  rows?: string[][];
  settings?: string[];
  letters?: string[];
  example?: string;
  single?: boolean;
  poll?: boolean;
  collects?: boolean;
  number?: number;
  html?: string;
}

/**
 * Why an answer is wrong.
 */
export interface Reason {
  answer: string;
  reason: string;
}

/**
 * How often an answer was given before and after the talk; answer: None counts all others.
 */
export interface Bar {
  sure?: number[];
  guessing?: number[];
  answer: string | null;
  right: boolean;
  before: number;
  after: number;
  reason: string;
}

/**
 * The path of a movie, which needs &token=, and how many steps it has; None before it was made.
 */
export interface MovieLink {
  path: string;
  steps: number | null;
}
