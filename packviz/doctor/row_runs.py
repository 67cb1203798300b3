"""A row of documents, run whole, document by document, and with one token after another changed."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import inf, nan
from random import Random
from typing import Any

import torch
from torch import Tensor

from packviz.compute.verify import apart
from packviz.doctor.leaves import Leaves, leaves_of, scale_of, unit_of
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

Call = Callable[[Any, "Row"], object]


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


@dataclass(frozen=True, eq=False)
class Tokens:
    """Compares the outputs of rows token by token.

    axes       by output: the dimension that counts the tokens, and how many it lacks: 1 where the last token of a row
               has no entry, as of losses whose labels are shifted
    tolerance  what counts as rounding; None: by dtype
    """

    axes: Mapping[str, tuple[int, int]]
    tolerance: float | None

    def of(self, leaves: Leaves, name: str) -> Tensor:
        """Return (N, ...): an output token by token."""
        return leaves[name].movedim(self.axes[name][0], 0)

    def moved(self, whole: Leaves, other: Leaves, *, faintly: bool = False) -> dict[int, float]:
        """Return by how much the outputs of each token differ in another run of the row, if it is not rounding.

        faintly   also what may be rounding
        """
        found: dict[int, float] = {}
        for name in self.axes:
            if name not in other or other[name].shape != whole[name].shape:
                return dict.fromkeys(range(len(self.of(whole, name))), nan)
            for n, size in self.apart(self.of(whole, name), self.of(other, name), faintly=faintly).items():
                found[n] = max(size, found.get(n, 0.0))
        return found

    def beside_alone(self, whole: Leaves, own: Leaves, start: int, length: int) -> dict[int, float]:
        """Return by how much each token of a document differs from the same token when the document is alone."""
        found: dict[int, float] = {}
        for name, (_, lacks) in self.axes.items():
            ours, theirs = self.of(whole, name)[start : start + length - lacks], self.of(own, name)
            for other in range(1, ours.dim()):  # attention weights have the tokens in two dimensions
                if ours.size(other) != theirs.size(other):
                    if theirs.size(other) != length or ours.size(other) < start + length:
                        return dict.fromkeys(range(start, start + length), nan)
                    ours = ours.narrow(other, start, length)
            for n, size in self.apart(ours, theirs).items():
                found[start + n] = max(size, found.get(start + n, 0.0))
        return found

    def apart(self, one: Tensor, two: Tensor, *, faintly: bool = False) -> dict[int, float]:
        """Return by how much entries of the first dimension differ, if it is more than rounding."""
        if not one.numel():
            return {}
        far = apart(one, two).nan_to_num(nan=inf).reshape(len(one), -1).amax(1)
        limit = unit_of(one) * scale_of(one) if self.tolerance is None else self.tolerance
        limit = 0.0 if faintly else limit
        return {n: float(far[n]) for n in (far > limit).nonzero().flatten().tolist()}


def tokens_in(
    whole: Leaves, N: int, alone: Mapping[int, Leaves], lengths: Sequence[int], tolerance: float | None
) -> Tokens:
    """Return where the tokens are. Raises PackvizError if no output has an entry for each of them."""
    axes: dict[str, tuple[int, int]] = {}
    for name, leaf in whole.items():
        for lacks, axis in product((0, 1), range(leaf.dim())):
            fits = all(
                name in own and own[name].dim() == leaf.dim() and own[name].size(axis) == lengths[d] - lacks
                for d, own in alone.items()
            )
            if leaf.size(axis) == N - lacks and fits:
                axes.setdefault(name, (axis, lacks))
    if not axes:
        shapes = listed([f"{name} {tuple(leaf.shape)}" for name, leaf in whole.items()])
        fix = "return what belongs to single tokens: call=lambda model, row: model(row.input_ids, ...)"
        raise PackvizError("model", expected=f"an output with {N} tokens in one dimension", got=shapes, fix=fix)
    return Tokens(axes, tolerance)


@dataclass(eq=False)
class RowEvidence:
    """What the runs of a row showed.

    alone      by token: how far its outputs are from those of its document alone; nan for another shape
    influence  by (k, q): how far the outputs of token q move if token k changes; only across documents
    tried      the tokens that were changed
    """

    documents: Sequence[Tensor]
    alone: dict[int, float] = field(default_factory=dict)
    influence: dict[tuple[int, int], float] = field(default_factory=dict)
    faint: dict[tuple[int, int], float] = field(default_factory=dict)  # as influence, also what may be rounding
    again: dict[int, float] = field(default_factory=dict)
    tried: list[int] = field(default_factory=list)
    compared_alone: int = 0
    failure: BaseException | None = None
    moved: bool = False  # whether the documents' results are those alone, but sorted by length
    unit: float = 0.0
    forwards: int = 0

    @property
    def owner(self) -> list[int]:
        """Return the document of each token."""
        return [d for d, one in enumerate(self.documents) for _ in range(len(one))]

    @property
    def starts(self) -> list[int]:
        """Return where each document begins, and N."""
        return [int(offset) for offset in cu_seqlens_of([len(one) for one in self.documents])]


def collect_row(
    run: Callable[[Sequence[Tensor]], object],
    documents: Sequence[Tensor],
    seed: int,
    budget: int,
    tolerance: float | None,
) -> RowEvidence:
    """Run the row, each document alone, and the row with changed tokens, and return what differs."""
    done = RowEvidence(documents)

    def leaves(given: Sequence[Tensor]) -> Leaves:
        done.forwards += 1
        return leaves_of(run([one.clone() for one in given]))

    N, whole, again = done.starts[-1], leaves(documents), leaves(documents)
    alone: dict[int, Leaves] = {}
    for d in _some(range(len(documents)), (budget - 2) // 2, seed):
        try:
            alone[d] = leaves([documents[d]])
        except Exception as error:  # of the model, whatever it raises
            done.failure = error
            break
    tokens = tokens_in(whole, N, alone, [len(one) for one in documents], tolerance)
    done.unit = max(unit_of(whole[name]) for name in tokens.axes) if tolerance is None else tolerance
    done.again = tokens.moved(whole, again)
    if done.again:
        return done
    done.compared_alone = len(alone)
    for d, own in alone.items():
        done.alone |= tokens.beside_alone(whole, own, done.starts[d], len(documents[d]))
    done.moved = bool(done.alone) and _is_sorted(tokens, whole, alone, documents)
    _change(done, leaves, tokens, whole, Random(seed), budget)
    return done


def _change(
    done: RowEvidence,
    leaves: Callable[[Sequence[Tensor]], Leaves],
    tokens: Tokens,
    whole: Leaves,
    drawn: Random,
    budget: int,
) -> None:
    """Change one token after another, and note which outputs of other documents move."""
    documents, owner = done.documents, done.owner
    changes = _changes(documents, drawn)
    for n in _order(done, [*changes], budget - done.forwards, drawn):
        d = owner[n]
        other = documents[d].clone()
        other[n - done.starts[d]] = changes[n]
        try:
            changed = leaves([*documents[:d], other, *documents[d + 1 :]])
        except Exception as error:  # of the model, whatever it raises
            done.failure = error
            continue
        done.tried.append(n)
        for found, faintly in ((done.influence, False), (done.faint, True)):
            moved = tokens.moved(whole, changed, faintly=faintly)
            found |= {(n, q): size for q, size in moved.items() if owner[q] != d}


def _order(done: RowEvidence, changes: list[int], most: int, drawn: Random) -> list[int]:
    """Return the tokens to change: all if that is not too many, else the last and first of documents, and others."""
    if len(changes) <= most:
        return changes
    edges = [n for start, stop in pairwise(done.starts) for n in (stop - 1, start)]
    first = [n for n in dict.fromkeys(edges) if n in changes]
    rest = [n for n in changes if n not in first]
    drawn.shuffle(rest)
    return [*first, *rest][:most]


def _changes(documents: Sequence[Tensor], drawn: Random) -> dict[int, Tensor]:
    """Return another value for each token that may be changed; ids that begin or end every document stay."""
    row = torch.cat([*documents])
    keys = [tuple(one.flatten().tolist()) for one in row]
    whole = not (row.is_floating_point() or row.is_complex())
    starts = [n for n, _ in pairwise(cu_seqlens_of([len(one) for one in documents]).tolist())]
    edges = [{keys[n] for n in starts}, {keys[n - 1] for n in [*starts[1:], len(keys)]}]
    fixed = {key for ends in edges if len(ends) == 1 and len(starts) > 1 for key in ends} if whole else set()
    pool = [n for n, key in enumerate(keys) if key not in fixed and (not whole or min(key) > 0)]
    changes: dict[int, Tensor] = {}
    for n, key in enumerate(keys):
        others = [other for other in pool if keys[other] != key]
        if key not in fixed and others:
            changes[n] = row[drawn.choice(others)]
    return changes


def _some(numbers: Sequence[int], most: int, seed: int) -> Sequence[int]:
    return numbers if len(numbers) <= most else sorted(Random(seed).sample(numbers, most))


def _is_sorted(tokens: Tokens, whole: Leaves, alone: Mapping[int, Leaves], documents: Sequence[Tensor]) -> bool:
    """Return whether the row has the results of the documents alone, sorted by their lengths."""
    name = next(iter(tokens.axes))
    parts = {d: tokens.of(own, name) for d, own in alone.items()}
    ours = tokens.of(whole, name)
    if len(alone) < len(documents) or len({part.shape[1:] for part in (ours, *parts.values())}) > 1:
        return False
    orders = [sorted(parts, key=lambda d: sign * len(documents[d])) for sign in (1, -1)]
    rows = [torch.cat([parts[d] for d in order]) for order in orders]
    return any(len(row) == len(ours) and not tokens.apart(ours, row) for row in rows)
