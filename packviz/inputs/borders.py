"""find_documents(): where the documents in a row begin, read from the spelling that a library has, and by its rule."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from packviz.errors import PackvizError, first_line
from packviz.text import listed, shown
from packviz.validate import as_python, choice, is_integer

__all__ = [
    "BORDER_RULES",
    "Lengths",
    "Rule",
    "document_ids",
    "find_documents",
    "mask_rows_from",
    "row_from",
    "rows_from",
    "segment_ids_from",
    "starts_by",
    "where_rules_disagree",
]

Rule = Literal["rises_by_one", "falls", "zero"]
BORDER_RULES: tuple[Rule, ...] = get_args(Rule)
Lengths = tuple[int, ...]
_INT64 = torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max
RowLike = Tensor | Sequence[int] | Sequence[Sequence[int]]  # (N,) or (1, N)


def find_documents(
    *,
    position_ids: RowLike | None = None,
    cu_seqlens: RowLike | None = None,
    seq_idx: RowLike | None = None,
    attention_mask: RowLike | None = None,
    input_ids: RowLike | None = None,
    eos: int | Collection[int] | None = None,
    rule: Rule | None = None,
) -> Lengths:
    """Return the lengths of the documents in a row, read from one of its spellings; pads and empty documents left out.

    position_ids    (N,) or (1, N): positions in the documents
    cu_seqlens      (D + 1,): where each document begins, and N
    seq_idx         (N,) or (1, N): the number of the document; negative at pads. If it begins with 1, 0 is a pad, too
    attention_mask  (N,) or (1, N): 0 at pads, else 1, or the number of the document from 1; or (N, N) or (1, 1, N, N),
                    True where the query (row) may read the key (column). A 0/1 mask may stand beside position_ids,
                    seq_idx or input_ids, and says where the pads are; alone it is one document
    input_ids, eos  (N,) or (1, N), and the token, or tokens, that end a document. Several at the end of the row are
                    one end, and pads
    rule            what a library finds in position_ids that begins a document "rises_by_one": wherever a position is
                    not the one before plus 1; "falls": where it is smaller; "zero": where it is 0. None is the best
                    reading: "rises_by_one" without the pads. Without a mask nothing marks these, so they are assumed:
                    two or more equal positions that end the row, or begin it with another position than the longest
                    document begins with. One alone is a document, and so are all of a row that has no others

    Raises PackvizError for unsupported inputs.

    >>> find_documents(position_ids=[0, 1, 2, 0, 1, 0])
    (3, 2, 1)
    >>> find_documents(position_ids=[0, 1, 2, 0, 1, 0, 0])
    (3, 2)
    >>> find_documents(position_ids=[0, 1, 2, 0, 1, 0, 0], attention_mask=[1] * 7)
    (3, 2, 1, 1)
    >>> find_documents(position_ids=[0, 1, 2, 0, 0, 0, 1], rule="falls")
    (3, 4)
    """
    others: dict[str, Any] = {"position_ids": position_ids, "seq_idx": seq_idx, "input_ids": input_ids}
    others |= {"attention_mask": attention_mask, "rule": rule}
    if cu_seqlens is not None and all(other is None for other in others.values()):  # however long its row is
        return tuple(length for length in _lengths_of(row_from("cu_seqlens", cu_seqlens)).tolist() if length)
    ids = document_ids(cu_seqlens=cu_seqlens, eos=eos, **others)
    return tuple(count for count in ids[ids >= 0].bincount().tolist() if count)


def document_ids(
    *, attention_mask: object = None, eos: object = None, rule: Rule | None = None, **given: object
) -> Tensor:
    """Return the number of the document of each place in a row, (N,) int64, -1 at pads.

    The arguments are those of find_documents().

    >>> document_ids(position_ids=[0, 1, 2, 0, 1, 0, 0]).tolist()
    [0, 0, 0, 1, 1, -1, -1]
    """
    name = _only([name for name, value in given.items() if value is not None], attention_mask is not None, rule)
    if name == "attention_mask":
        return _of_mask(_tensor(name, attention_mask))
    row = row_from(name, given[name])
    if name == "cu_seqlens":
        return _of_offsets(row)
    is_token = _is_token(attention_mask, len(row)) if attention_mask is not None else torch.ones_like(row).bool()
    read: dict[str, Callable[[Tensor], Tensor]] = {
        "position_ids": partial(_of_positions, rule=rule, masked=attention_mask is not None),
        "seq_idx": _of_ids,
        "input_ids": partial(_of_ends, eos=eos),
    }
    return torch.full_like(row, -1).masked_scatter(is_token, read[name](row[is_token]))


def where_rules_disagree(position_ids: RowLike) -> dict[int, tuple[Rule, ...]]:
    """Return the places where only some of the rules begin a document, each with the rules that do.

    >>> where_rules_disagree([0, 1, 0, 0, 1])
    {3: ('rises_by_one', 'zero')}
    """
    row = row_from("position_ids", position_ids)
    begins = torch.stack([starts_by(row, rule) for rule in BORDER_RULES])  # (3, N)
    places = (begins.any(0) & ~begins.all(0)).nonzero().flatten().tolist()
    return {n: tuple(rule for rule, begun in zip(BORDER_RULES, begins[:, n], strict=True) if begun) for n in places}


def starts_by(position_ids: Tensor, rule: Rule) -> Tensor:
    """Return (N,) bool: True where the rule begins a document in position_ids (N,)."""
    before, after = position_ids[:-1], position_ids[1:]
    first = torch.ones_like(position_ids[:1], dtype=torch.bool)
    if rule == "zero":
        return position_ids == 0
    return torch.cat([first, after != before + 1 if rule == "rises_by_one" else after < before])


def _only(named: list[str], masked: bool, rule: object) -> str:
    """Return the name of the spelling to read, the only one that is given."""
    if masked and named in ([], ["cu_seqlens"]):
        named = [*named, "attention_mask"]
    if len(named) != 1:
        expected = "one of position_ids, cu_seqlens, seq_idx, attention_mask and input_ids"
        raise PackvizError("find_documents", expected=expected, got=listed(named) or "none", fix="give one of them")
    if rule is not None:
        choice("rule", rule, BORDER_RULES)
        if named != ["position_ids"]:
            raise PackvizError(
                "rule", got=named[0], expected="position_ids, which the rules read", fix="leave rule out"
            )
    return named[0]


def _tensor(name: str, value: object) -> Tensor:
    """Return integers or bools on the CPU, int64."""
    fix = "give a list of integers or an int64 tensor"
    fix += "; for a mask of 0 and -inf, attention_mask == 0" if name == "attention_mask" else ""
    try:
        given = value.detach() if isinstance(value, Tensor) else torch.as_tensor(value, device="cpu")
        if given.is_floating_point() or given.is_complex() or not given.numel():
            got = str(given.dtype) if given.numel() else "none"
            raise PackvizError(name, expected="integers", got=got, fix=fix)
        return given.to("cpu", torch.int64)
    except (TypeError, ValueError, RuntimeError, OverflowError, NotImplementedError) as error:
        if isinstance(error, PackvizError):
            raise
        raise PackvizError(name, expected="integers", got=first_line(error), fix=fix) from None


def row_from(name: str, value: object) -> Tensor:
    """Return (N,) int64 from (N,) or (1, N). Raises PackvizError for anything else."""
    rows = rows_from(name, value)
    if len(rows) == 1:
        return rows[0]
    expected, fix = "shape (N,) or (1, N)", f"give one row at a time: {name}[:1]"
    raise PackvizError(name, expected=expected, got=str(tuple(rows.shape)), fix=fix)


def rows_from(name: str, value: object) -> Tensor:
    """Return (R, N) int64 from (N,) or (R, N). Raises PackvizError for anything else."""
    given = _tensor(name, value)
    if given.dim() in (1, 2):
        return given if given.dim() == 2 else given[None]
    fix = f"give {name} of one batch"
    if name == "position_ids" and given.dim() == 3:
        fix = "of positions with three numbers for each token (mRoPE), give those of the text: position_ids[0]"
    raise PackvizError(name, expected="shape (N,) or (R, N)", got=str(tuple(given.shape)), fix=fix)


def mask_rows_from(value: object, shape: tuple[int, ...] | None) -> Tensor:
    """Return (R, N) int64 from an attention mask: as it is if it has this shape, else the documents of block masks."""
    given = _tensor("attention_mask", value)
    square = given.dim() in (2, 4) and given.size(-1) == given.size(-2) > 1
    if square and (tuple(given.shape) != shape if given.dim() == 2 else given.size(1) == 1):
        return torch.stack([segment_ids_from(one != 0) for one in given.reshape(-1, *given.shape[-2:])])
    return rows_from("attention_mask", given)


def _is_token(attention_mask: object, N: int) -> Tensor:
    """Return (N,) bool from a 0/1 mask that stands beside the row."""
    mask = row_from("attention_mask", attention_mask)
    if len(mask) != N or bool(((mask != 0) & (mask != 1)).any()):
        got = f"{len(mask)} values, the largest {int(mask.max())}"
        raise PackvizError(
            "attention_mask", got=got, expected=f"{N} values, 0 at pads and 1 at tokens", fix="give only one of the two"
        )
    return mask == 1


def _of_positions(row: Tensor, rule: Rule | None, *, masked: bool) -> Tensor:
    """Return the documents of positions (N,): by a rule, or without what is assumed to be pads, or is negative.

    masked: whether a mask has said which are pads, so that nothing is assumed.
    """
    if rule is not None:
        return starts_by(row, rule).cumsum(0) - 1
    is_token = row >= 0
    begins = starts_by(row[is_token], "rises_by_one")
    piece = begins.cumsum(0) - 1
    left, right = (0, 0) if masked else _pads(row[is_token][begins].tolist(), piece.bincount().tolist())
    ids = torch.where((piece >= left) & (piece < int(begins.sum()) - right), piece - left, -1)
    return torch.full_like(row, -1).masked_scatter(is_token, ids)


def _pads(first: Sequence[int], lengths: Sequence[int]) -> tuple[int, int]:
    """Return how many pieces are assumed to be pads on the left and on the right: see rule in find_documents()."""
    left, right = _equal(first, lengths), _equal(first[::-1], lengths[::-1])
    if left == len(lengths):
        return 0, 0  # all are alike: one-token documents
    base = first[lengths.index(max(lengths))]  # where the documents begin to count
    return left if left > 1 and first[0] != base else 0, right if right > 1 else 0


def _equal(first: Sequence[int], lengths: Sequence[int]) -> int:
    """Return how many one-token documents with the same position there are before any other."""
    others = (d for d, length in enumerate(lengths) if length != 1 or first[d] != first[0])
    return next(others, len(lengths))


def _of_offsets(offsets: Tensor) -> Tensor:
    lengths = _lengths_of(offsets)
    return torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths)


def _lengths_of(offsets: Tensor) -> Tensor:
    lengths = offsets.diff()
    falls = bool((lengths < 0).any())
    if int(offsets[0]) != 0 or falls:
        fix = "put a 0 before them" if not falls else "if these are lengths, give [0, *itertools.accumulate(lengths)]"
        got = listed(offsets.tolist(), 8)
        raise PackvizError("cu_seqlens", expected="offsets from 0 that do not fall", got=got, fix=fix)
    return lengths


def _of_ids(ids: Tensor) -> Tensor:
    """Return the number of the run of equal numbers at each place, -1 in runs of pads."""
    numbers, run = torch.unique_consecutive(ids, return_inverse=True)
    live = numbers[numbers >= 0][:1]
    is_pad = (numbers < 0) | ((numbers == 0) & bool((live == 1).any()))
    return torch.where(is_pad, -1, (~is_pad).cumsum(0) - 1)[run]


def _of_mask(mask: Tensor) -> Tensor:
    if mask.dim() == 4 and mask.shape[:2] == (1, 1):
        mask = mask[0, 0]
    if mask.dim() == 2 and mask.size(0) == mask.size(1) > 1:
        return segment_ids_from(mask != 0) - 1
    mask = row_from("attention_mask", mask)
    if bool((mask < 0).any()):
        fix = "give the mask before it was made additive"
        raise PackvizError("attention_mask", expected="0 at pads, else 1 or more", got=str(int(mask.min())), fix=fix)
    return mask - 1 if int(mask.max()) <= 1 else _of_ids(torch.where(mask == 0, -1, mask))


def segment_ids_from(mask: Tensor) -> Tensor:
    """Return the number of each token's document from 1, and 0 at pads, (N,), from a block mask (N, N).

    A document goes on while a token reads the one before it; pads read nothing, or are not read. A mask by which no
    token reads itself says what is hidden.
    """
    mask = mask if bool(mask.diagonal().any()) else ~mask
    goes_on = torch.cat([mask.new_zeros(1), mask.diagonal(-1)])
    is_token = mask.any(0) & mask.any(1)
    _, number = torch.unique_consecutive((~goes_on)[is_token].cumsum(0), return_inverse=True)
    return torch.zeros(len(mask), dtype=torch.int64, device=mask.device).masked_scatter(is_token, number + 1)


def _of_ends(ids: Tensor, eos: object) -> Tensor:
    """Return the documents that end with these tokens; several at the end of the row are one end, and pads."""
    given = as_python(eos)
    ends = [*map(as_python, given)] if isinstance(given, Collection) and not isinstance(given, Tensor) else [given]
    wrong = [end for end in ends if not is_integer(end, *_INT64)]
    if wrong or not ends:
        fix, got = "give eos=tokenizer.eos_token_id", shown(wrong[0] if wrong else eos)
        raise PackvizError("eos", expected="the id of the token that ends a document", got=got, fix=fix)
    is_end = torch.isin(ids, torch.tensor(ends, device=ids.device))
    others = (~is_end).nonzero().flatten()
    N = int(others[-1]) + 2 if len(others) else 1
    return torch.where(torch.arange(len(ids), device=ids.device) < N, is_end.cumsum(0) - is_end.long(), -1)
