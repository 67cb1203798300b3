// Exercises: exercise.py and filling.py in packviz/teach/. Written by `make player`.

/**
 * What a visitor packs, and torch's result.
 */
export interface Exercise {
  letters: string[];
  cells: GridCell[];
  rows: PackedRow[];
  sizes: Size[];
  start: string;
  back: string;
  cleared: string;
  done: string;
}

/**
 * What a visitor puts into rows, and the number of rows that best fit needs.
 */
export interface Filling {
  documents: Document[];
  capacity: number;
  rows: number;
  start: string;
  pick: string;
  back: string;
  done: string[];
}

/**
 * One cell of the padded grid.
 */
export interface GridCell {
  b: number;
  t: number;
  text: string;
  is_pad: boolean;
  name: string;
  unpacked: string;
}

/**
 * One packed row.
 */
export interface PackedRow {
  cell: number;
  found: string;
  later: string;
  other: string;
}

/**
 * One of the batch_sizes, and the reply to each answer: said[i] to i + 1.
 */
export interface Size {
  size: number;
  said: string[];
}

/**
 * One document, and the reply when it is put into a row: said[room] with that many free cells.
 */
export interface Document {
  letter: string;
  length: number;
  name: string;
  picked: string;
  said: string[];
}
