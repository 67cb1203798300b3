"""A parsed list, turned into sequences of numbers, words or feature vectors."""

from collections.abc import Iterable, Sequence
from itertools import chain

from packviz.errors import PackvizError
from packviz.inputs.parsing.lines import AS_WORDS, NUMBER, Parsed, ReadAs, are_numbers, number_refusal, split_words
from packviz.inputs.parsing.python import EXAMPLE, Atom, Group, list_refusal, position
from packviz.text import counted, quoted

_QUOTE_WORDS = "put quotes around every word"


def read_tree(text: str, root: Group, kind: ReadAs) -> Parsed:
    """Read the tree of a text: each sequence a list of numbers, of strings, or of lists of numbers; or a list of lines.

    Raises PackvizError, with the position, if its items are not all of one kind.
    """
    if not root.items:
        raise list_refusal(text, root.offset, "a list of sequences", "an empty list", f"write a list such as {EXAMPLE}")
    sequences = root.groups
    if not sequences:
        return _list_of_lines(text, root.atoms, kind)
    if len(sequences) < len(root.items):
        raise _mixture(text, root, "each sequence in its own brackets")
    if any(sequence.groups for sequence in sequences):
        if kind == "words":
            raise list_refusal(text, root.offset, "sequences of words", "feature vectors", "read the text as numbers")
        return _vectors(text, sequences)
    rows = [sequence.atoms for sequence in sequences]
    first = next(chain.from_iterable(rows), None)
    if kind == "words" or (kind == "auto" and first is not None and first.quoted):
        _check_words(text, chain.from_iterable(rows), bare_numbers=kind == "words")
        return Parsed("words", _texts(rows))
    _check_numbers(text, [*chain.from_iterable(rows)])
    return Parsed("numbers", _texts(rows))


def _list_of_lines(text: str, atoms: list[Atom], kind: ReadAs) -> Parsed:
    """Read each string of a flat list as a sequence of words; refuse a flat list of numbers and say how to fix it."""
    if all(atom.quoted for atom in atoms) and kind != "numbers":
        return Parsed("words", tuple(tuple(split_words(atom.text)) for atom in atoms))
    _check_numbers(text, atoms)
    flat = f"[{', '.join(atom.text for atom in atoms)}]"
    repair = f"[{flat}]" if len(flat) <= 40 else "[[1, 2, 3]], not [1, 2, 3]"
    fix = f"put a second pair of brackets around it: {repair}"
    raise PackvizError("text", expected="a list of lists, one for each sequence", got="a flat list", fix=fix)


def _vectors(text: str, sequences: list[Group]) -> Parsed:
    for sequence in sequences:
        if sequence.atoms:
            raise _mixture(text, sequence, "steps that are all numbers or all feature vectors")
        if deeper := [inner for step in sequence.groups for inner in step.groups]:
            expected = "at most 3 levels of brackets (sequences, steps, features)"
            raise list_refusal(text, deeper[0].offset, expected, "one more", f"remove brackets, as in {EXAMPLE}")
    batch = [[step.atoms for step in sequence.groups] for sequence in sequences]
    _check_numbers(text, [atom for steps in batch for step in steps for atom in step])
    features = next(len(steps[0]) for steps in batch if steps)
    expected = f"{counted(features, 'feature')} in every step, as in the first" if features else "at least one feature"
    for b, steps in enumerate(batch, 1):
        for t, step in enumerate(steps, 1):
            if len(step) != features or features == 0:
                got = f"{counted(len(step), 'feature') if step else 'no features'} in sequence {b}, step {t}"
                fix = "give every step the same number of features"
                raise PackvizError("text", expected=expected, got=got, fix=fix)
    return Parsed("vectors", _texts(chain.from_iterable(steps) for steps in batch), features=features)


def _texts(rows: Iterable[Iterable[Atom]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(atom.text for atom in row) for row in rows)


def _check_numbers(text: str, atoms: Sequence[Atom]) -> None:
    if are_numbers(atom.text for atom in atoms) and not any(atom.quoted for atom in atoms):
        return
    odd = next(atom for atom in atoms if atom.quoted or not are_numbers([atom.text]))
    if odd.quoted:
        fix = "remove the quotes" if NUMBER.fullmatch(odd.text) else "write a number there"
        raise list_refusal(text, odd.offset, "numbers only", f"the string {quoted(odd.text)}", fix)
    raise number_refusal(odd.text, f"at {position(text, odd.offset)}", f"{_QUOTE_WORDS}, or {AS_WORDS}")


def _check_words(text: str, atoms: Iterable[Atom], *, bare_numbers: bool) -> None:
    for atom in atoms:
        if not atom.quoted and not (bare_numbers and NUMBER.fullmatch(atom.text)):
            raise list_refusal(text, atom.offset, "strings only", quoted(atom.text), _QUOTE_WORDS)
        if not atom.text:
            raise list_refusal(text, atom.offset, "words", "an empty string", "write a word there, or remove it")


def _mixture(text: str, group: Group, expected: str) -> PackvizError:
    odd = group.atoms[0]
    return list_refusal(text, odd.offset, expected, quoted(odd.text), f"nest all of them alike, as in {EXAMPLE}")
