// Reads answers and judges them as the player does. stdin: [{ question, typed: [...] }, ...]; stdout: of each how it is read and what it says.

import { readFileSync } from "node:fs";
import { judge, readAnswer } from "../../player/answers.js";

const said = ({ question, typed }) =>
  typed.map((text) => {
    try {
      const given = readAnswer(question, text),
        { right, reason } = judge(question, given);
      return [given, right, reason];
    } catch (refusal) {
      return ["", null, refusal.message];
    }
  });
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(said)));
