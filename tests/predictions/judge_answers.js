// Reads answers and judges them as the player does. stdin: [{ question, typed: [...] }, ...], the answers in their order;
// stdout: of each how it is read, what the player says, and whether it counts as a try.

import { readFileSync } from "node:fs";
import { counts, judge, readAnswer } from "../../player/answers.js";

const said = ({ question, typed }) => {
  const before = [];
  return typed.map((text) => {
    try {
      const given = readAnswer(question, text),
        { right, reason } = judge(question, given),
        counted = counts(question, given, before);
      before.push(given);
      return [given, right, reason, counted];
    } catch (refusal) {
      return ["", null, refusal.message, false];
    }
  });
};
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(said)));
