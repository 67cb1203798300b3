"""Typed or pasted text, read into plain records of tokens."""

from __future__ import annotations

import re
from dataclasses import replace

from packviz.errors import PackvizError
from packviz.inputs.parsing.limits import Limits
from packviz.inputs.parsing.lines import read_lines
from packviz.inputs.parsing.lists import is_list, read_list, read_tree
from packviz.inputs.parsing.python import is_python, read_python, without_prompts
from packviz.inputs.parsing.record import Kind, Parsed, ReadAs

__all__ = ["Kind", "Limits", "Parsed", "ReadAs", "parse"]

_NO_LIMITS = Limits()
_MINUS = re.compile(r"\N{MINUS SIGN}(?=\.?[0-9])")  # as the pictures write it


def parse(text: str, kind: ReadAs, limits: Limits = _NO_LIMITS) -> Parsed:
    """Read a text: a list if it starts with a bracket, or a list a line, or Python code; else one sequence a line.

    As words, a text is a list only if it is a whole one; otherwise its brackets are words too.
    Sequences of length 0 are left in. Raises PackvizError where there is nothing, something that cannot be read, or
    more than the limits.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if kind != "words":
        text = _MINUS.sub("-", text)
    if not text.strip():
        raise PackvizError(
            "text",
            expected="one sequence a line",
            came="nothing",
            mend="type numbers such as 1 2 3, or words such as on your mark",
        )
    parsed = _read(text, kind, limits)
    limits.check(parsed.lengths, parsed.lines)
    return parsed


def _in_one_list(text: str) -> str:
    """Put brackets around lines that are a whole list each: `[1, 2]` over `[3]` is meant as `[[1, 2], [3]]`."""
    lines = [line.strip().removesuffix(",").rstrip() for line in text.split("\n") if line.strip()]
    whole = all(line.startswith("[") and line.endswith("]") and line.count("[") == line.count("]") for line in lines)
    return f"[{', '.join(lines)}]" if len(lines) > 1 and whole else text


def _read(text: str, kind: ReadAs, limits: Limits) -> Parsed:
    if kind != "words" and is_python(code := without_prompts(text)):
        root, notes = read_python(code)
        return replace(read_tree(code, root, kind), notes=notes)
    text = _in_one_list(text)
    if not is_list(text):
        return read_lines(text, kind, limits)
    if kind != "words":
        return read_list(text, kind, limits)
    try:
        return read_list(text, kind, _NO_LIMITS)
    except PackvizError:
        return read_lines(text, kind, limits)
