"""The case: what examine() or trace_module() was given. A rule: a condition on it, and when that is asked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.inputs.packed_rows import packed_lengths
from packviz.rules.finding import Fault, Finding
from packviz.rules.padded_grid import peaks
from packviz.rules.preconditions import read_lengths


@dataclass(frozen=True, eq=False, kw_only=True)
class Case:
    """What is examined: a padded x or a packed sequence, perhaps a module, and what is given with them.

    The fields are named like the arguments of examine().
    """

    x: Tensor | None = None
    packed: PackedSequence | None = None
    lengths: object = None
    module: nn.RNNBase | None = None
    batch_first: bool = False  # of x: (B, T) or (B, T, F) if True, else (T, B) or (T, B, F)
    enforce_sorted: bool = True
    hx: object = None
    mask: Tensor | None = None
    targets: Tensor | PackedSequence | None = None
    target_lengths: object = None
    output: Tensor | None = None
    state: Tensor | None = None
    ids: Tensor | None = None
    padding_value: float | None = None
    lengths_device: str = "cpu"  # where the lengths were, if they were printed and read back
    starts: Tensor | None = None  # laid out as x, without its features: True where an episode starts
    done: Tensor | None = None  # or where one ends
    traced: bool = False  # whether trace_module() is to run it: then nothing is converted, as autocast would

    @property
    def data(self) -> Tensor:
        """Return x, or the packed data."""
        return cast(Tensor, self.x) if self.packed is None else self.packed.data

    @property
    def layer(self) -> nn.RNNBase:
        """Return the module, if one was given."""
        return cast(nn.RNNBase, self.module)

    @property
    def weight(self) -> Tensor:
        """Return the first weight of the module: its dtype and device are those of all of them."""
        return cast(Tensor, self.layer.weight_ih_l0)

    @property
    def kind(self) -> str:
        """Return the kind of the module: "RNN", "GRU" or "LSTM"."""
        return self.layer.mode.partition("_")[0]

    @property
    def module_name(self) -> str:
        """Return the name of the module's class: its kind, or the name of a subclass."""
        return type(self.layer).__name__

    @property
    def runs_packed_lstm(self) -> bool:
        """Return whether a packed sequence goes to an LSTM, of which torch checks neither features nor states."""
        return self.layer.mode == "LSTM" and (self.packed is not None or self.lengths is not None)

    @property
    def is_unbatched(self) -> bool:
        """Return whether x is one sequence (T, F), as a module takes it."""
        return self.module is not None and self.lengths is None and self.x is not None and self.x.dim() == 2

    @property
    def states(self) -> tuple[Any, ...]:
        """Return hx as a tuple of its states."""
        return tuple(self.hx) if isinstance(self.hx, tuple | list) else (self.hx,)

    @cached_property
    def by_sequence(self) -> Tensor:
        """Return x with the sequences first: (B, T) or (B, T, F)."""
        x = cast(Tensor, self.x)
        if self.is_unbatched:
            return x.unsqueeze(0)
        return x if self.batch_first else x.transpose(0, 1)

    @cached_property
    def peaks(self) -> Tensor:
        """Return the largest magnitude of each step of x, (B, T): see packviz.rules.padded_grid.peaks()."""
        return peaks(self.by_sequence)

    @cached_property
    def begins(self) -> Tensor:
        """Return where an episode starts, (B, T) bool: after each end, if the ends are given."""
        flags = cast(Tensor, self.done if self.starts is None else self.starts).detach() != 0
        flags = flags.unsqueeze(0) if self.is_unbatched else flags if self.batch_first else flags.transpose(0, 1)
        return flags if self.starts is not None else torch.nn.functional.pad(flags[:, :-1], (1, 0))

    @property
    def B(self) -> int:
        """Return the number of sequences."""
        return self.by_sequence.size(0) if self.packed is None else int(self.packed.batch_sizes[0])

    @property
    def T(self) -> int:
        """Return the number of time steps."""
        return self.by_sequence.size(1) if self.packed is None else len(self.packed.batch_sizes)

    @property
    def steps_axis(self) -> int:
        """Return the dimension of x that counts the time steps."""
        return 1 if self.batch_first else 0

    @property
    def batch_axis(self) -> int:
        """Return the dimension of x that counts the sequences."""
        return 1 - self.steps_axis

    @property
    def other_batch_first(self) -> bool:
        """Return the other batch_first, with which x may be right."""
        return not self.batch_first

    @property
    def axes(self) -> str:
        """Return the dimensions of x."""
        return "(B, T, F)" if self.batch_first else "(T, B, F)"

    @property
    def data_name(self) -> str:
        """Return the name of the data in an error."""
        return "x" if self.packed is None else "x.data"

    @cached_property
    def has_plain_lengths(self) -> bool:
        """Return whether the lengths are a list of integers, which needs no tensor: most are, and tensors take time."""
        given = self.lengths
        return type(given) is list and all(type(length) is int and abs(length) < 2**62 for length in given)

    @cached_property
    def lengths_tensor(self) -> Tensor:
        """Return the lengths beside a padded x."""
        return read_lengths("lengths", self.lengths)

    @cached_property
    def are_shares(self) -> bool:
        """Return whether the lengths are shares of the longest, as some toolkits have them: 0 < share <= 1."""
        given = self.lengths_tensor
        if not given.is_floating_point() or len(given) != self.B or self.T == 1:
            return False
        return bool((given > 0).all()) and 1 - 1e-3 <= float(given.max()) <= 1 and bool((given != 1).any())

    @cached_property
    def whole_lengths(self) -> list[int] | None:
        """Return the lengths as integers, as torch reads them; None if torch cannot, or if they are shares."""
        if self.has_plain_lengths:
            return cast(list[int], self.lengths)
        given = self.lengths_tensor
        if given.dim() != 1 or given.device.type != "cpu" or self.are_shares or not bool(given.isfinite().all()):
            return None
        return cast(list[int], given.to(torch.int64).tolist())

    @cached_property
    def valid_lengths(self) -> list[int]:
        """Return the lengths (B,), one of 1 to T for each sequence; none if they are unknown or wrong."""
        if self.packed is not None:
            back = self.packed.unsorted_indices
            return [] if back is not None and back.is_meta else packed_lengths(self.packed)
        whole = (None if self.lengths is None else self.whole_lengths) or []
        return whole if len(whole) == self.B and min(whole) >= 1 and max(whole) <= self.T else []


Condition = Callable[[Any], Iterable[Fault]]
Requirement = Callable[[Any, Sequence[Finding]], bool]  # of the case and of what was found before


def has_numbers(case: Case, _: Sequence[Finding]) -> bool:
    """Return whether the data hold numbers, which empty ones and those on the meta device do not."""
    return (
        not any(isinstance(one, Tensor) and one.is_meta for one in case.packed or (case.x,)) and case.data.numel() > 0
    )


def has_valid_lengths(case: Case, _: Sequence[Finding]) -> bool:
    """Return whether there is a length from 1 to T for each sequence."""
    return bool(case.valid_lengths)


def has_no_wrong_lengths(case: Case, _: Sequence[Finding]) -> bool:
    """Return whether there are no lengths, or valid ones."""
    return case.lengths is None or bool(case.valid_lengths)


def has_one_length_each(case: Case, _: Sequence[Finding]) -> bool:
    """Return whether there is an integer for each sequence, whatever its value."""
    return case.whole_lengths is not None and len(case.whole_lengths) == case.B


def has_this_layout(_: Case, found: Sequence[Finding]) -> bool:
    """Return whether nothing suggests that batch_first is wrong."""
    return all(one.key != "batch_first" for one in found)


def can_be_packed(_: Case, found: Sequence[Finding]) -> bool:
    """Return whether torch packs the batch, at least with enforce_sorted=False."""
    return all(one.severity != "error" or one.key == "unsorted" for one in found)


@dataclass(frozen=True, eq=False)
class Rule:
    """A condition that yields faults, and when it is asked. Its words are in findings.toml, its repair in repairs/."""

    condition: Condition
    of: type  # of case: a Case, or a RowCase
    given: frozenset[str]  # fields of the case that must not be None
    needs: tuple[Requirement, ...]  # what else must be true
    stops: bool  # whether a fault ends the examination, because no later rule could be judged
    refuses: bool  # whether trace_module() refuses what it finds


def rule(
    *given: str, of: type = Case, needs: Iterable[Requirement] = (), stops: bool = False, refuses: bool = False
) -> Callable[[Condition], Rule]:
    """Return a decorator that makes a rule of a condition; the arguments are the fields of Rule."""
    return lambda condition: Rule(condition, of, frozenset(given), tuple(needs), stops, refuses)
