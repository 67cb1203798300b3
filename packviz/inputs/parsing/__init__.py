"""Typed or pasted text, read into plain records of tokens."""

import re
from dataclasses import replace

from packviz.errors import PackvizError
from packviz.inputs.parsing.lines import STEPS, Kind, Parsed, ReadAs, read_lines
from packviz.inputs.parsing.lists import read_tree
from packviz.inputs.parsing.python import PYTHON, Reader
from packviz.text import counted

__all__ = ["STEPS", "Kind", "Parsed", "ReadAs", "parse"]

_MINUS = re.compile(r"\N{MINUS SIGN}(?=\.?[0-9])")  # as the pictures show it
_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ", re.MULTILINE)  # of Python's own shell
_LIST = re.compile(r"\s*(?:\[|\(\s*\[|\(\s*\(\s*[-+.\d'\"\[(])")  # `[`, `([` or `((`


def parse(text: str, kind: ReadAs, max_sequences: int | None = None, max_steps: int | None = None) -> Parsed:
    """Parse a text: a list (bracketed, or one per line), Python code, or else one sequence per line.

    As words, a text is read as a list only if all of it is one list; otherwise its brackets belong to the words.
    Sequences of length 0 are kept. Raises PackvizError if the text is empty, cannot be read, or exceeds the limits.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if kind != "words":
        text = _MINUS.sub("-", text)
    if not text.strip():
        fix = 'type words such as "on your mark", or numbers such as 1 2 3'
        raise PackvizError("text", expected="at least one sequence", got="nothing", fix=fix)
    parsed = _read(text, kind)
    longest = max(parsed.lengths, default=0)
    if max_sequences is not None and len(parsed.rows) > max_sequences:
        limit, got = (counted(number, "sequence") for number in (max_sequences, len(parsed.rows)))
        less = "remove some"
    elif max_steps is not None and longest > max_steps:
        step = STEPS[parsed.kind]
        limit, less = f"{counted(max_steps, step)} in each sequence", "shorten this sequence"
        got = f"{counted(longest, step)} in {parsed.place(parsed.lengths.index(longest))}"
    else:
        return parsed
    fix = f"{less}, or use packviz.Batch.parse in Python, which has no such limit"
    raise PackvizError("text", expected=f"at most {limit}", got=got, fix=fix)


def _read(text: str, kind: ReadAs) -> Parsed:
    code = _PROMPT.sub("", text)
    python = kind != "words" and PYTHON.search(code)
    code = code if python else _in_one_list(code)
    if python or _LIST.match(code):
        try:
            reader = Reader(code)
            if kind != "words" or reader.is_one_list:
                root, notes = reader.batch()
                return replace(read_tree(code, root, kind), notes=notes)
        except PackvizError:
            if kind != "words":
                raise
    return read_lines(text, kind)


def _in_one_list(text: str) -> str:
    """Put brackets around lines that are one list each: the lines `[1, 2]` and `[3]` mean `[[1, 2], [3]]`."""
    lines = [line.strip().removesuffix(",").rstrip() for line in text.split("\n") if line.strip()]
    whole = all(line.startswith("[") and line.endswith("]") and line.count("[") == line.count("]") for line in lines)
    return f"[{', '.join(lines)}]" if len(lines) > 1 and whole else text
