"""A Python or JSON list: sequences of numbers, of words, or of feature vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from packviz.errors import PackvizError
from packviz.inputs.parsing.brackets import EXAMPLE, Atom, Group, list_refusal, position, read_brackets
from packviz.inputs.parsing.limits import Limits
from packviz.inputs.parsing.lines import split_words
from packviz.inputs.parsing.numbers import AS_WORDS, NUMBER, are_numbers, number_refusal
from packviz.inputs.parsing.record import Parsed, ReadAs
from packviz.text import quoted

__all__ = ["is_list", "read_list", "read_tree"]

_QUOTE_WORDS = "put quotes around every word"
_LIST = re.compile(r"\s*(?:\[|\(\s*\[|\(\s*\(\s*[-+.\d'\"\[(])")


def is_list(text: str) -> bool:
    """Tell whether a text is meant as a list: it starts with a bracket (a round one only if a second follows)."""
    return _LIST.match(text) is not None


def read_list(text: str, kind: ReadAs, limits: Limits) -> Parsed:
    """Read a list of sequences: each a list of numbers, of strings, or of lists of numbers; or a list of lines.

    Raises PackvizError, with the place, where the list is broken, its items are not all of one kind, or there are more
    than the limits; of a list of lines, the limits are not checked.
    """
    return read_tree(text, read_brackets(text, limits), kind)


def read_tree(text: str, root: Group, kind: ReadAs) -> Parsed:
    """Read the tree of a text's brackets as `read_list` does; the limits are not checked."""
    if not root.items:
        raise list_refusal(text, root.offset, "a list of sequences", "an empty list", f"write one such as {EXAMPLE}")
    atoms = [item for item in root.items if isinstance(item, Atom)]
    if atoms and len(atoms) == len(root.items):
        return _list_of_lines(text, atoms, kind)
    if atoms:
        raise _mixture(text, root, "sequences, each in brackets of its own")
    sequences = [item for item in root.items if isinstance(item, Group)]
    if any(isinstance(step, Group) for sequence in sequences for step in sequence.items):
        if kind == "words":
            raise list_refusal(text, root.offset, "sequences of words", "feature vectors", "read the text as numbers")
        return _vectors(text, sequences)
    return _tokens(text, sequences, kind)


def _list_of_lines(text: str, atoms: list[Atom], kind: ReadAs) -> Parsed:
    """Read a flat list of strings as one sequence of words each; refuse one of numbers, with its repair."""
    if all(atom.quoted for atom in atoms) and kind != "numbers":
        return Parsed("words", tuple(tuple(split_words(atom.text)) for atom in atoms))
    _check_numbers(text, atoms)
    flat = f"[{', '.join(atom.text for atom in atoms)}]"
    repair = f"[{flat}]" if len(flat) <= 40 else "[[1, 2, 3]], not [1, 2, 3]"
    raise PackvizError(
        "text",
        expected="a list of sequences, each a list",
        came="a flat list",
        mend=f"put a second pair of brackets around it: {repair}",
    )


def _tokens(text: str, sequences: list[Group], kind: ReadAs) -> Parsed:
    """Read sequences of strings as words, of numbers as numbers."""
    rows = [[item for item in sequence.items if isinstance(item, Atom)] for sequence in sequences]
    first = next((row[0] for row in rows if row), None)
    words = kind == "words" or (kind == "auto" and first is not None and first.quoted)
    atoms = list(chain.from_iterable(rows))
    if words:
        _check_words(text, atoms, bare_numbers=kind == "words")
    else:
        _check_numbers(text, atoms)
    return Parsed("words" if words else "numbers", _texts(rows))


def _vectors(text: str, sequences: list[Group]) -> Parsed:
    """Read sequences of feature vectors, all of the same length."""
    batch = [_steps(text, sequence) for sequence in sequences]
    _check_numbers(text, [atom for steps in batch for step in steps for atom in step])
    features = next(len(steps[0]) for steps in batch if steps)
    for b, steps in enumerate(batch, 1):
        for t, step in enumerate(steps, 1):
            if len(step) != features or features == 0:
                raise _unequal_features(b, t, len(step), features)
    return Parsed("vectors", _texts(chain.from_iterable(steps) for steps in batch), features=features)


def _steps(text: str, sequence: Group) -> list[list[Atom]]:
    if any(isinstance(step, Atom) for step in sequence.items):
        raise _mixture(text, sequence, "steps that are all numbers or all feature vectors")
    groups = [step for step in sequence.items if isinstance(step, Group)]
    return [[atom for atom in group.items if isinstance(atom, Atom)] for group in groups]


def _texts(rows: Iterable[Iterable[Atom]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(atom.text for atom in row) for row in rows)


def _check_numbers(text: str, atoms: Sequence[Atom]) -> None:
    if are_numbers(atom.text for atom in atoms) and not any(atom.quoted for atom in atoms):
        return
    odd = next(atom for atom in atoms if atom.quoted or not are_numbers([atom.text]))
    if odd.quoted:
        mend = "remove the quotes" if NUMBER.fullmatch(odd.text) else "write a number there"
        raise list_refusal(text, odd.offset, "numbers only", f"the string {quoted(odd.text)}", mend)
    raise number_refusal(odd.text, f"at {position(text, odd.offset)}", f"{_QUOTE_WORDS}, or {AS_WORDS}")


def _check_words(text: str, atoms: Iterable[Atom], *, bare_numbers: bool) -> None:
    for atom in atoms:
        if not atom.quoted and not (bare_numbers and NUMBER.fullmatch(atom.text)):
            raise list_refusal(text, atom.offset, "strings only", quoted(atom.text), _QUOTE_WORDS)
        if not atom.text:
            raise list_refusal(text, atom.offset, "words", "an empty string", "write a word there, or remove it")


def _mixture(text: str, group: Group, expected: str) -> PackvizError:
    odd = next(item for item in group.items if isinstance(item, Atom))
    return list_refusal(text, odd.offset, expected, quoted(odd.text), f"bring all to the same depth, as in {EXAMPLE}")


def _unequal_features(b: int, t: int, came: int, expected: int) -> PackvizError:
    return PackvizError(
        "text",
        expected=f"{_features(expected)} in every step, as in the first" if expected else "at least one feature",
        came=f"{_features(came)} in sequence {b}, step {t}",
        mend="give every step the same number of features",
    )


def _features(count: int) -> str:
    return f"{count or 'no'} feature{'' if count == 1 else 's'}"
