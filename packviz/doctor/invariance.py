"""check_invariance(): what a model makes of a sequence may depend neither on padding nor on the other sequences."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Literal

import torch
from torch import Tensor

from packviz.doctor.leaves import Leaves, scale_of, unit_of
from packviz.doctor.models import NormalizingAsInTraining, evaluated
from packviz.doctor.outputs import Difference, Output, as_alone, beside_alone, leaves_of, moved
from packviz.doctor.samples import WatchedRun, random_states_kept, said_by
from packviz.doctor.variations import other_order
from packviz.errors import PackvizError
from packviz.rules.finding import Fault, Findings, worded
from packviz.rules.padding_value import fits_at_its_edges, inside
from packviz.rules.preconditions import check_tensor, described, known_lengths, refusal_of
from packviz.text import counted, joined, letters, two_digits
from packviz.validate import choice, is_number, number

__all__ = ["check_invariance"]

EXTRA = 3  # pads that are added
Call = Callable[[Any, Tensor, Any], object]


@dataclass(frozen=True, eq=False)
class _Batch:
    """The batch with its sequences first, (B, T) or (B, T, ...), and how the model is run over it."""

    model: Any  # what takes the grid and the lengths, as one tuple, while it is checked
    call: Call
    grid: Tensor
    ends: list[int]
    lengths: object  # as they were given
    batch_first: bool
    on_left: bool

    def run(self, grid: Tensor, sequences: Sequence[int] | None = None) -> Leaves:
        """Run the model over rows of (B, T) or (B, T, ...), which are these sequences."""
        ends = self.ends if sequences is None else [self.ends[b] for b in sequences]
        lengths = self.lengths.new_tensor(ends) if isinstance(self.lengths, Tensor) else [*ends]
        x = grid if self.batch_first else grid.transpose(0, 1)
        result = self.model((x.clone(memory_format=torch.contiguous_format), lengths))
        leaves = dict(leaves_of(result, "output", self.on_left))
        if not leaves:
            fix = "return tensors from call=lambda model, batch, lengths: model(...)"
            raise PackvizError("model", expected="tensors in what it returns", got="none", fix=fix)
        return leaves

    def copies(self, b: int, count: int) -> Leaves:
        """Run the model over copies of sequence b, without padding."""
        row, end = self.grid[b : b + 1], self.ends[b]
        row = row[:, row.size(1) - end :] if self.on_left else row[:, :end]
        return self.run(row.expand(count, *row.shape[1:]), [b] * count)

    def wider(self, padding_value: float | None) -> Tensor:
        """Return the grid with more pads: padding_value if given, else the existing pad, else 0."""
        pads = self.grid[~self.tokens(self.grid)]
        cell = pads[0] if len(pads) else torch.zeros_like(self.grid[0, 0])
        cell = cell if padding_value is None else torch.full_like(cell, padding_value)
        more = cell.expand(len(self.grid), EXTRA, *self.grid.shape[2:])
        return torch.cat([more, self.grid] if self.on_left else [self.grid, more], 1)

    def tokens(self, grid: Tensor) -> Tensor:
        """Return (B, T) bool: True at the tokens of the grid, or of one with more pads."""
        mask = inside(self.ends, grid.size(1), grid.device)
        return mask.flip(1) if self.on_left else mask

    def refilled(self, grid: Tensor) -> Tensor:
        """Return the grid with tokens of the batch, drawn at random, in the place of its pads."""
        mask, refilled = self.tokens(grid), grid.clone()
        tokens, pads = grid[mask], int((~mask).sum())
        refilled[~mask] = tokens[torch.randint(len(tokens), (pads,), device=grid.device)]
        return refilled


def check_invariance(
    model: Callable[..., object],
    batch: Tensor,
    lengths: Tensor | Sequence[int],
    *,
    batch_first: bool = False,
    call: Call | None = None,
    padding_value: float | None = None,
    padding_side: Literal["right", "left"] = "right",
    tolerance: float | None = None,
    ignore: str | Collection[str] = (),
) -> Findings:
    """Run a model over a batch in several ways that must not change its result for any sequence.

    It is run twice as it is, with each sequence alone and without padding, in another order, with more padding, and
    with other values in the pads; its batch normalization also as in training. Outputs at the steps that a sequence
    has when it is run alone, and final states, must agree. The model may return tensors (B, ...) or with the
    sequences in another dimension, as h_n, PackedSequences, lists of a tensor for each sequence, or tuples, lists and
    dicts of these. If all tokens are in one dimension, their order is not compared.

    batch, lengths  (T, B) or (T, B, F), with batch_first=True (B, T) or (B, T, F); (B,), at least two sequences
    call            how the model is called: call(model, batch, lengths); None for model(batch, lengths)
    padding_value   of the batch, if the model may find the pads by their value: then pads keep it
    padding_side    where the pads are
    tolerance       the largest difference that counts as rounding. None: 1,024 units of the dtype's precision, times
                    the largest number of the output or 1: another batch size sums matrix products in another order,
                    which moves them by about the square root of F * T units. In bfloat16, float16 and, on a GPU,
                    TensorFloat-32, which round every step, 16 units: to see small leaks, use float32 on the CPU
    ignore          keys of findings that are left out

    A copy of the model is run, with its parameters shared, without gradients and in evaluation mode: `call` gets the
    copy, and the model is as before, for other threads, too. Random states are put back if the model draws. Errors of
    the model on the batch itself are passed on. Raises PackvizError for unsupported inputs.
    """
    given = _checked(model, batch, lengths, batch_first, call, padding_side)
    if padding_value is not None:
        number("padding_value", padding_value)
    if tolerance is not None and not (is_number(tolerance) and tolerance >= 0):
        raise refusal_of("tolerance", "a number of at least 0", tolerance, "leave it out, or give one such as 1e-5")
    with evaluated(model, batch) as own, random_states_kept(lambda arguments: given.call(own, *arguments)) as run:
        faults = [*_faults(replace(given, model=run), padding_value, tolerance)]
    return Findings(worded(fault, None) for fault in faults).ignoring(ignore)


def _checked(
    model: object, batch: object, lengths: object, batch_first: bool, call: Call | None, padding_side: str
) -> _Batch:
    if not callable(model):
        raise refusal_of("model", "a module or a function", model, "give the model that takes the batch")
    if not (call is None or callable(call)):
        raise refusal_of("call", "a function", call, "give call=lambda model, batch, lengths: model(...)")
    if not isinstance(batch, Tensor) or batch.dim() < 2:
        fix = "pad the sequences; what the model itself takes goes into call=lambda model, batch, lengths: model(...)"
        raise refusal_of("batch", "a padded tensor of sequences and time steps", batch, fix)
    check_tensor("batch", batch, on_meta=False)
    grid, ends = batch if batch_first else batch.transpose(0, 1), known_lengths("lengths", lengths)
    B, T = grid.shape[:2]
    if len(ends) != B or not all(1 <= end <= T for end in ends):
        expected = f"{counted(B, 'length')} from 1 to {T}, with batch_first={batch_first}"
        fix = "check lengths and batch_first"
        raise PackvizError("lengths", expected=expected, got=str(ends), fix=fix)
    if B < 2:
        raise PackvizError("batch", expected="at least two sequences", got=described(batch), fix="give a larger batch")
    on_left = choice("padding_side", padding_side, ("right", "left")) == "left"
    # rows that begin with as many zeros as the lengths leave, and end with tokens
    if not on_left and min(ends) < T and fits_at_its_edges(grid.flip(1), ends, batch_first=True, given=0.0):
        got, fix = "'right' for rows that begin with zeros and end with tokens", "give padding_side='left'"
        raise PackvizError("padding_side", expected="the side where the pads are", got=got, fix=fix)
    return _Batch(model, call or _called, grid.detach(), ends, lengths, batch_first, on_left)


def _called(model: Any, batch: Tensor, lengths: Any) -> object:
    try:
        return model(batch, lengths)
    except TypeError as error:
        error.add_note(
            "It was called as model(batch, lengths); for another call, give call=lambda model, batch, lengths: ..."
        )
        raise


def _faults(given: _Batch, padding_value: float | None, tolerance: float | None) -> Iterator[Fault]:
    """Run the model in every way, and yield what differs."""
    run: WatchedRun = given.model
    outputs = [
        Output(name, leaf, None, [], given.on_left, *_rounding(leaf, tolerance))
        for name, leaf in given.run(given.grid).items()
    ]
    if again := _all(outputs, given.run(given.grid), ()):
        run.differs = True
        yield _fault("run_differs", again, {"drawn": run.draws()})
        return
    for copies in (1, len(given.ends)):  # copies, if the model cannot be run over one sequence
        alone, failure = _alone(given, outputs, copies)
        if not failure:
            beside = [beside_alone(one, alone, copies) for one in outputs]
            others = copies > 1 and not all(one.is_same_in_all_copies(alone) for one in beside)
            aligned = [one.in_its_place(alone) for one in beside] if others else beside
            if others and not any(True for one in aligned for _ in one.from_alone()):
                yield Fault("others_kept", severity="note")
                yield from _varied(given, aligned, padding_value, in_order=True)
                return
            yield from _varied(given, beside, padding_value)
            return
        yield Fault("alone_fails", None, [len(alone)], severity="note", failure=failure, copies=copies)
    yield from _varied(given, [as_alone(one, given.ends, given.grid.size(1)) for one in outputs], padding_value)


def _rounding(leaf: Tensor, tolerance: float | None) -> tuple[float, float | None]:
    return (unit_of(leaf), scale_of(leaf)) if tolerance is None else (tolerance, None)


def _alone(given: _Batch, outputs: list[Output], copies: int) -> tuple[list[Leaves], str]:
    """Return what the model returns for each sequence alone, and why it cannot be run so."""
    done: list[Leaves] = []
    for b in range(len(given.ends)):
        try:
            leaves = given.copies(b, copies)
        except Exception as error:  # of the model, whatever it raises
            return done, f"the model raises {said_by(error)}"
        for one in outputs:
            if one.name not in leaves or leaves[one.name].dim() != one.whole.dim():
                got = tuple(leaves[one.name].shape) if one.name in leaves else "missing"
                return done, f"{one.name} is {got}; over the whole batch it is {tuple(one.whole.shape)}"
        done.append(leaves)
    return done, ""


def _varied(
    given: _Batch, outputs: list[Output], padding_value: float | None, *, in_order: bool = False
) -> Iterator[Fault]:
    """Yield what differs from each sequence alone, in another order, and with other padding, and what causes it."""
    B, T = given.grid.shape[:2]
    orders = _other_orders(given.ends)
    wide = given.wider(padding_value)
    filled = given.refilled(given.grid if min(given.ends) < T else wide)
    runs = [("order_differs", given.grid[order], order) for order in orders if not in_order]
    runs.append(("padding_differs", wide, [*range(B)]))
    if padding_value is None:
        runs.append(("pads_differ", filled, [*range(B)]))
    failed = set[str]()
    found = {"alone_differs": [found for one in outputs for found in one.from_alone()]}
    for key, grid, rows in runs:
        if found.get(key):
            continue  # in the order before
        try:
            found[key] = _all(outputs, given.run(grid, rows), rows)
        except Exception as error:  # of the model: it may want sorted lengths, or one width
            if key in failed:
                continue
            failed.add(key)
            yield Fault("variation_fails", severity="note", run=key, failure=said_by(error))
    if len(found) == 1 and not any(one.is_compared_alone for one in outputs):
        yield Fault("nothing_compared", severity="error")
        return
    values = {"extra": EXTRA, "cause": _cause(found, moved(outputs) is not None, [end == T for end in given.ends])}
    for key, each in found.items():
        if each:
            yield _fault(key, each, values)
    if not (found.get("padding_differs") or found.get("pads_differ")):
        yield from _in_training(
            given, outputs, [run for run in runs if run[0] in found and run[2] == [*range(B)]], values
        )


def _cause(found: Mapping[str, Sequence[Difference]], is_moved: bool, full: Sequence[bool]) -> str:
    """Return the cause that fits the runs that differ; full: whether each sequence is without pads."""
    own = {one.sequence for one in found["alone_differs"]}
    if is_moved:
        return "moved"
    if found.get("order_differs"):
        return "flows" if own and 0 not in own else "mixed"
    if found.get("padding_differs") or found.get("pads_differ"):
        return "pads_read" if found.get("pads_differ", True) else "number_of_pads"
    return "others" if any(full[b] for b in own if b is not None) else "steps_after"


def _in_training(given: _Batch, outputs: list[Output], runs: Any, values: Mapping[str, object]) -> Iterator[Fault]:
    """Yield what other padding changes if batch normalization takes the statistics of the batch."""
    with NormalizingAsInTraining() as norms:  # type: ignore[no-untyped-call]
        trained = given.run(given.grid)
        again = [replace(one, whole=trained[one.name]) for one in outputs if norms.seen]
        each = [one for _, grid, rows in runs for one in _all(again, given.run(grid, rows), rows)]
    if each:
        yield _fault("batch_norm_pads", each, values)


def _other_orders(ends: list[int]) -> list[list[int]]:
    """Return other orders that no sort undoes: by length and moved by one, if that is one, and one that moves all."""
    order: list[int] = torch.tensor(ends).argsort(descending=True, stable=True).roll(1).tolist()
    moved, all_moved = [ends[b] for b in order], other_order(ends, 0)
    if order == [*range(len(ends))] or moved in (sorted(ends), sorted(ends, reverse=True)):
        return [all_moved]
    return [order, all_moved] if any(b == at for at, b in enumerate(order)) else [order]


def _all(outputs: list[Output], other: Leaves, order: Sequence[int]) -> list[Difference]:
    return [found for one in outputs for found in one.differences(other, order)]


def _fault(key: str, found: list[Difference], values: Mapping[str, object]) -> Fault:
    """Return the fault: each sequence with its first time step, if it has one, and by how much each output differs."""
    told: list[str] = []
    for name in dict.fromkeys(one.name for one in found):
        sizes = [one.size for one in found if one.name == name]
        told.append(f"{name} in its shape" if any(map(isnan, sizes)) else f"{name} by up to {two_digits(max(sizes))}")
    rows = sorted({one.sequence for one in found if one.sequence is not None})
    timed = [[one.step for one in found if one.sequence == b and one.step is not None] for b in rows]
    first = [min(steps) for steps in timed] if all(timed) else ()
    many, whose = len(rows) > 1, f" of {letters(rows)}" if rows else ""
    change = f"the result{'s' * many}{whose} {'change' if many else 'changes'}: {joined(told)}."
    return Fault(key, None, rows, first, severity="silent", **values, told=joined(told), change=change)
