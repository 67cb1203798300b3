"""A row of documents in the spellings that models take, and the tokens in it that may be changed."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.documents import (
    ALIASES,
    FIELDS,
    cu_seqlens_of,
    document_mask_of,
    position_ids_of,
    seq_idx_of,
)
from packviz.text import listed

RowCall = Callable[[Any, "Row"], object]


@dataclass(frozen=True, eq=False)
class Row:
    """Documents one after another, in the spellings that models take.

    input_ids     (1, N) int64, or (1, N, F) values
    position_ids  (1, N) int64: begins with 0 in each document; seq_idx: (1, N) int64, the number of the document
    cu_seqlens    (D + 1,) int32; max_seqlen: the longest document
    mask          (1, 1, N, N) bool: True where the query (row) may read the key (column): not later, same document
    documents     the documents themselves
    """

    input_ids: Tensor
    position_ids: Tensor
    seq_idx: Tensor
    cu_seqlens: Tensor
    max_seqlen: int
    mask: Tensor
    documents: tuple[Tensor, ...]


def row_of(documents: Sequence[Tensor]) -> Row:
    """Return the row of these documents."""
    lengths = [len(one) for one in documents]
    device = documents[0].device
    return Row(
        torch.cat([*documents])[None],
        position_ids_of(lengths)[None].to(device),
        seq_idx_of(lengths)[None].to(device),
        cu_seqlens_of(lengths).to(device),
        max(lengths),
        document_mask_of(lengths)[None, None].to(device),
        tuple(documents),
    )


def called(model: Any, row: Row) -> object:
    """Call the model with the fields of the row that its parameters are named after; the first gets the tokens."""
    target = model.forward if isinstance(model, torch.nn.Module) else model
    positional, named = [], {}
    for at, one in enumerate(inspect.signature(target).parameters.values()):
        name = FIELDS.get(one.name, "input_ids" if at == 0 else "")
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) or (not name and one.default is not one.empty):
            continue
        if not name:
            fix = f"give call=lambda model, row: model(row.input_ids, {one.name}=...)"
            expected = f"parameters named {listed([*ALIASES], 7)}"
            raise PackvizError("model", expected=expected, got=one.name, fix=fix)
        if one.kind is one.POSITIONAL_ONLY:
            positional.append(getattr(row, name))
        else:
            named[one.name] = getattr(row, name)
    return model(*positional, **named)


def changed_tokens(documents: Sequence[Tensor], most: int, drawn: Random) -> Iterator[tuple[int, int, Tensor]]:
    """Yield (document, token, the document with another value there), for each token that may be changed.

    Ids that begin or end every document stay. Of more than `most` tokens, the last and first ones of documents come
    first, then others.
    """
    changes = _changes(documents, drawn)
    if len(changes) > most:
        edges = [(d, at) for d, one in enumerate(documents) for at in (len(one) - 1, 0)]
        first = [place for place in dict.fromkeys(edges) if place in changes]
        rest = [place for place in changes if place not in first]
        drawn.shuffle(rest)
        changes = {place: changes[place] for place in [*first, *rest][:most]}
    for (d, at), value in changes.items():
        other = documents[d].clone()
        other[at] = value
        yield d, at, other


def _changes(documents: Sequence[Tensor], drawn: Random) -> dict[tuple[int, int], Tensor]:
    """Return another value for each token that may be changed, by its document and its place there."""
    keys = {(d, at): tuple(one[at].flatten().tolist()) for d, one in enumerate(documents) for at in range(len(one))}
    whole = not (documents[0].is_floating_point() or documents[0].is_complex())
    edges = [{keys[d, at % len(one)] for d, one in enumerate(documents)} for at in (0, -1)]
    fixed = {key for ends in edges if len(ends) == 1 for key in ends} if whole else set()
    pool = [place for place, key in keys.items() if key not in fixed and (not whole or min(key) > 0)]
    changes: dict[tuple[int, int], Tensor] = {}
    for place, key in keys.items():
        others = [other for other in pool if keys[other] != key]
        if key not in fixed and others:
            d, at = drawn.choice(others)
            changes[place] = documents[d][at]
    return changes
