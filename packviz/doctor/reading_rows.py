"""What people paste of a row of documents: a printed dict, or lines such as `position_ids: 0 1 2 0 1`; never run."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from packviz.doctor.collated import ARGUMENTS
from packviz.doctor.examining_rows import documents_from
from packviz.doctor.reading import IN_BRACKETS, MAX_CHARACTERS, are_words, read_lengths, read_nested, read_tensor
from packviz.errors import PackvizError
from packviz.inputs.borders import BORDER_RULES, document_ids
from packviz.inputs.documents import cu_seqlens_of, position_ids_of, seq_idx_of
from packviz.text import listed, quoted, quoted_line
from packviz.validate import is_integer

__all__ = ["SPELLINGS", "Reading", "WrittenRows", "conversions", "read_rows", "readings"]

_NAMES = {**ARGUMENTS, "mask": "attention_mask", "eos": "eos", "eos_token_id": "eos"}
# 'name': in a printed dict, or name: and name = at the beginning of a line
_NAME = re.compile(r"(?:^|[{,])[ \t]*+(?:'(\w++)'|\"(\w++)\")[ \t]*+:|^[ \t]*+(\w++)[ \t]*+[:=]", re.MULTILINE)
_EXAMPLE = "position_ids: 0 1 2 0 1 0"
# What can say where the documents of a row begin.
SPELLINGS = ("position_ids", "cu_seqlens", "seq_idx", "attention_mask")
_WRITTEN = 64  # places of a row whose numbers are written out
_RULES = {"rises_by_one": "does not rise by 1", "falls": "falls", "zero": "is 0"}


@dataclass(frozen=True)
class WrittenRows:
    """What was read: the arguments of examine_rows(), the ids that end a document, and the names that are neither."""

    given: Mapping[str, Any]
    eos: tuple[int, ...]
    others: tuple[str, ...]


def read_rows(text: str) -> WrittenRows:
    """Return the parts of a row, or of several, that a text writes. Raises PackvizError for the part that is not clear.

    >>> read_rows("position_ids: 0 1 2 0 1").given
    {'position_ids': [0, 1, 2, 0, 1]}
    """
    if len(text) > MAX_CHARACTERS:
        got, fix = f"{len(text):,} characters", "give one row"
        raise PackvizError("text", expected=f"at most {MAX_CHARACTERS:,} characters", got=got, fix=fix)
    found = [*_NAME.finditer(text)]
    before = text[: found[0].start()].strip(" \t\n{(") if found else text.strip()
    known = any(name in _NAMES for each in found for name in each.groups())
    if (before and not before.isidentifier()) or (not known and are_words(text)):
        expected = f"a name before the numbers: {listed([*SPELLINGS, 'input_ids', 'labels', 'eos'], 7)}"
        got = quoted_line(before or text.strip(), 40)
        raise PackvizError("text", expected=expected, got=got, fix=f"write it as in {_EXAMPLE}")
    stops = [*(each.start() for each in found[1:]), len(text)][: len(found)]
    given: dict[str, Any] = {}
    others: list[str] = []
    for each, stop in zip(found, stops, strict=True):
        written = next(name for name in each.groups() if name)
        value = text[each.end() : stop].strip().rstrip("}, \t\n;")
        name = _NAMES.get(written, "")
        if name and name not in given:
            given[name] = _value(name, value)
        elif value:
            others.append(written)
    eos = given.pop("eos", ())
    return WrittenRows(given, tuple(eos), tuple(others))


def _value(name: str, text: str) -> Any:
    in_brackets = "[" in text or "(" in text
    try:
        if name == "documents":
            documents = read_nested(text if "[" in text else f"[{text}]")
            documents_from(documents)
            return documents
        if name in ("eos", "max_seqlen"):
            found = read_lengths(text)
            numbers = found.flatten().tolist() if isinstance(found, Tensor) else found
            if not numbers or not all(map(is_integer, numbers)) or (name == "max_seqlen" and len(numbers) > 1):
                raise PackvizError(name, got=quoted(text, 40), expected="an integer", fix="write it as a number")
            if not all(is_integer(number, -(2**63), 2**63 - 1) for number in numbers):
                raise PackvizError(
                    name, got=quoted(text, 40), expected="an integer that fits int64", fix="write a smaller number"
                )
            return numbers if name == "eos" else numbers[0]
        if in_brackets:
            value = read_tensor(text)
            return value if text.endswith(")") else value.tolist()
        lines = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
        rows = [f"[{', '.join(line)}]" for line in lines]
        return read_tensor(rows[0] if len(rows) == 1 else f"[{', '.join(rows)}]").tolist()
    except PackvizError as problem:
        if in_brackets or problem.expected not in (IN_BRACKETS, "numbers"):
            raise PackvizError(name, got=problem.got, expected=problem.expected, fix=problem.fix) from None
        raise PackvizError(name, got=problem.got, expected="numbers", fix=f"write it as in {_EXAMPLE}") from None


@dataclass(frozen=True)
class Reading:
    """What one rule finds in a row: the document of each place, (N,), -1 at pads; and the numbers that it read."""

    rule: str
    ids: Tensor
    numbers: Sequence[int] = ()

    @property
    def lengths(self) -> list[int]:
        """Return the lengths of the documents."""
        return [count for count in self.ids[self.ids >= 0].bincount().tolist() if count]


def readings(row: Mapping[str, Any], eos: Sequence[int] = ()) -> list[Reading]:
    """Return what each public rule finds in one row, by the spellings that it has; what no rule can read is left out.

    row   what examine_rows() takes, of one row; position_ids are read by every rule, and without what looks like pads
    """
    ways: list[tuple[str, str, dict[str, Any]]] = []
    for name in SPELLINGS:
        if name == "position_ids" and name in row:
            ways += [(_RULES[rule], name, {name: row[name], "rule": rule}) for rule in BORDER_RULES]
            ways.append(("no pads", name, {name: row[name]}))
        elif name in row:
            ways.append((name.removeprefix("attention_"), name, {name: row[name]}))
    if "input_ids" in row and eos:
        ways.append(("end tokens", "input_ids", {"input_ids": row["input_ids"], "eos": eos}))
    found = []
    for rule, name, given in ways:
        with suppress(PackvizError):  # examine_rows() says why
            ids = document_ids(**given)
            own = name != "cu_seqlens" and torch.as_tensor(row[name], device="cpu").numel() == len(ids)
            found.append(Reading(rule, ids, torch.as_tensor(row[name], device="cpu").flatten().tolist() if own else ()))
    return found


def conversions(lengths: Sequence[int], N: int) -> str:
    """Return code that makes each spelling of these documents in a row of N places: written out if it is short."""
    if N <= _WRITTEN:
        borders = f"cu_seqlens = torch.tensor({cu_seqlens_of(lengths).tolist()}, dtype=torch.int32)"
        positions = f"torch.tensor([{position_ids_of(lengths, N).tolist()}])"
        numbers = f"torch.tensor([{seq_idx_of(lengths, N).tolist()}])"
    else:
        ends = f"[None], (0, {N - sum(lengths)})"
        borders = "cu_seqlens = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)"
        positions = f"torch.nn.functional.pad(torch.cat([torch.arange(length) for length in lengths]){ends})"
        repeated = "torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))"
        numbers = f"torch.nn.functional.pad({repeated}{ends}, value=-1)"
    return "\n".join(
        [
            "import torch",
            "",
            f"lengths = {[*lengths]}",
            borders,
            f"max_seqlen = {max(lengths)}",
            f"position_ids = {positions}",
            f"seq_idx = {numbers}",
            "attention_mask = seq_idx + 1  # the number of the document, 0 at pads",
            "same = (seq_idx[:, :, None] == seq_idx[:, None]) & (seq_idx >= 0)[:, None]",
            "mask = same.tril()[:, None]  # (1, 1, N, N), causal: True where the query (row) may read the key (column)",
        ]
    )
