"""The words of findings.toml: the table, and the functions that its texts call."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, Template

from packviz.text import ENVIRONMENT, counted, dtype_name, letters, listed, numbers, sequence_label, shown

Cause = Literal[  # the sentences of [causes] in findings.toml
    "draws_in_evaluation",
    "draws_in_training",
    "keeps_a_state",
    "moved",
    "mixed",
    "flows",
    "number_of_pads",
    "pads_read",
    "others",
    "steps_after",
    "sorted_by_length",
    "labels_shifted",
    "recurrent_layer",
    "statistics",
    "attention_reads_over",
    "earlier_changed",
    "some_borders",
    "no_borders",
    "first_differs",
    "first_is_right",
    "dropout_between_layers",
]

Said = Literal[  # the texts by name, of which a rule says some
    "all_padded", "all_taken", "alone", "another", "assumed", "at_the_end", "batched", "convolves", "copies",
    "counted", "differs", "divided", "drops", "early", "given", "keeps", "keeps_and_drops", "late", "later",
    "longest", "mixed", "moves", "not_counted", "not_parted", "not_run", "not_shifted", "number", "numbers", "one",
    "one_direction", "one_sequence", "one_state", "other_number", "other_width", "packed", "padded", "parted",
    "printed", "raises", "rest", "run", "several", "shifted", "some_full", "some_lost", "state", "stays", "too_few",
    "too_large", "too_many", "two_directions", "two_states", "unbatched", "unseen", "weights",
]  # fmt: skip

FIELDS = ("key", "found", "where", "silently", "parameter", "expected", "got", "fix")
MAX_PLACES = 4

Texts = dict[str, str]  # of a field, by name; "always" is said whatever the rule says


def places(sequences: Sequence[int], timesteps: Sequence[int] = ()) -> str:
    """Return places in words, the first few of them.

    >>> places((1, 2), (3, 0))
    'sequence B at t = 3, sequence C at t = 0'
    """
    steps = [f" at t = {t}" for t in timesteps[:MAX_PLACES]] or [""] * MAX_PLACES
    named = [f"sequence {sequence_label(b)}{step}" for b, step in zip(sequences[:MAX_PLACES], steps, strict=False)]
    more = f" and {len(sequences) - MAX_PLACES} more" if len(sequences) > MAX_PLACES else ""
    return ", ".join(named) + more


def documents(numbers: Sequence[int]) -> str:
    """Return documents by their letters: "document B", "documents B and C"."""
    return f"document{'' if len(numbers) == 1 else 's'} {letters(numbers)}"


def for_sequences(values: Sequence[object], rows: Sequence[int]) -> str:
    """Return values with the sequences that have them: "0, -1 for sequences A and C"."""
    return f"{listed(values)} for sequence{'' if len(rows) == 1 else 's'} {letters(rows)}"


def lengths_of(rows: Sequence[int], values: Sequence[object]) -> str:
    """Return which sequences have which lengths: "Sequence A has length 5", "Sequences A and C have lengths 5, 6"."""
    several = len(rows) > 1
    return f"Sequence{'s' * several} {letters(rows)} {'have lengths' if several else 'has length'} {listed(values)}"


def cells(steps: Sequence[int]) -> str:
    """Return places of a row: "cell 3", "cells 0, 1, 2, 3, 4 and 2 more"."""
    return f"cell{'' if len(steps) == 1 else 's'} {listed(steps, 5)}"


def grouped(number: int, noun: str = "") -> str:
    """Return a number with its thousands apart, and its noun if there is one: "1,000 rows"."""
    return f"{number:,}{counted(number, noun).removeprefix(str(number)) if noun else ''}"


def readings(found: Mapping[str, Sequence[int]]) -> str:
    """Return which documents each of several spellings has."""
    return ", ".join(f"{name} has documents of lengths {numbers([*lengths])}" for name, lengths in found.items())


def layout(case: Any) -> str:
    """Return the dimensions that the data of a case must have."""
    if case.packed is not None:
        return "two dimensions, (N, F)"
    module = "" if case.module is None else f", since the module has batch_first={case.batch_first}"
    return f"{case.axes}{module}"


def _named(texts: str | Texts) -> Texts:
    return {"always": texts} if isinstance(texts, str) else texts


@cache
def _table() -> tuple[Environment, Texts, dict[str, dict[str, Texts]]]:
    """Return what fills the words, the sentences of [causes], and the texts of each fault by their fields."""
    environment = ENVIRONMENT.overlay()
    environment.filters = {**ENVIRONMENT.filters, "general": "{:g}".format}
    own = (cells, documents, dtype_name, for_sequences, grouped, layout, lengths_of, numbers, places, readings, shown)
    environment.filters |= {each.__name__: each for each in own}
    environment.globals = {**ENVIRONMENT.globals, "places": places, "tuple": tuple}
    written = tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))
    causes = written.pop("causes")
    table: dict[str, dict[str, Texts]] = {}
    for name, entry in written.items():
        shared = {field: _named(texts) for field, texts in entry.items() if field in FIELDS}
        group = {key: words for key, words in entry.items() if key not in FIELDS}
        for key, words in (group or {name: {}}).items():
            table[key] = {**shared}
            for field, texts in words.items():  # those of the group come after its own
                named = _named(texts)
                table[key][field] = named | shared.get(field, {}) | named
    return environment, causes, table


def key_of(name: str) -> str:
    """Return the key of the finding that a fault of this name becomes."""
    return _table()[2][name].get("key", {"always": name})["always"]


@cache
def keys() -> frozenset[str]:
    """Return the keys of all findings."""
    return frozenset(map(key_of, _table()[2]))


@cache
def cause_template(name: Cause) -> Template:
    """Return the template of a cause."""
    environment, causes, _ = _table()
    return environment.from_string(causes[name])


@cache
def templates(name: str, says: tuple[Said, ...]) -> dict[str, list[Template]]:
    """Return the templates of a fault that says these texts, by field. Raises KeyError for a text that it lacks."""
    environment, _, table = _table()
    fields = {"key": {"always": name}, "silently": {"always": "accepts it without an error"}, **table[name]}
    if unknown := {*says} - {text for texts in fields.values() for text in texts}:
        raise KeyError(f"{name} has no text {unknown}")
    said = {field: [text for of, text in texts.items() if of in ("always", *says)] for field, texts in fields.items()}
    return {field: [*map(environment.from_string, texts)] for field, texts in said.items() if texts}
