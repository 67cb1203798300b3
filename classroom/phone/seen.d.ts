// What a phone sees of a room: classroom/seen.py, as `make player` writes it.

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
  number?: number;
  html?: string;
}

export interface Reason {
  answer: string;
  reason: string;
}

export interface Bar {
  sure?: number[];
  guessing?: number[];
  answer: string | null;
  right: boolean;
  before: number;
  after: number;
  reason: string;
}

export interface MovieLink {
  path: string;
  steps: number | null;
}
