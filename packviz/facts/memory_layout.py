"""One batch in three memory layouts: the padded grid, the packed rows, and torch's jagged nested tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from packviz.compute.determinism import seeded
from packviz.compute.record import Trace
from packviz.inputs.torch_answers import ask

__all__ = ["Layout", "Memory", "memory", "sequence_error"]

_PAD = -1  # no cell has this number


@dataclass(frozen=True)
class Layout:
    """Hold one layout: which token stands in each row of F numbers, in the order in which they lie in memory.

    cells        (b, t) of the padded grid for each row, None for a pad
    bytes        of the values
    index_bytes  of the int64 tensors that are kept beside them, without which the tokens could not be found
    """

    cells: tuple[tuple[int, int] | None, ...]
    bytes: int
    index_bytes: int


@dataclass(frozen=True)
class Memory:
    """Hold the same batch three times.

    padded   B * T rows, in the order of batch_first; beside them the lengths
    packed   N rows, time-major; beside them batch_sizes, sorted_indices and unsorted_indices
    jagged   the sum of the lengths, sequence-major; beside them offsets
    offsets  (B + 1): where each sequence begins in the jagged rows, and where the last one ends
    """

    padded: Layout
    packed: Layout
    jagged: Layout
    offsets: tuple[int, ...]


def memory(trace: Trace) -> Memory:
    """Read from torch how a batch lies in memory: cell numbers go the same way as the values.

    Raises PackvizError where torch refused to pack the batch.
    """
    fields, T = trace.packed_sequence, trace.padded.mask.size(1)
    numbers, offsets = _jagged(_cell_numbers(trace))
    values, _ = _jagged(_sequences(trace))
    return Memory(
        padded=Layout(_cells(_padded(trace), T), trace.padded.values.nbytes, trace.padded.lengths.nbytes),
        packed=Layout(_packed(trace), fields.data.nbytes, sum(part.nbytes for part in fields[1:] if part is not None)),
        jagged=Layout(_cells(numbers, T), values.nbytes, offsets.nbytes),
        offsets=tuple(offsets.tolist()),
    )


def sequence_error(trace: Trace) -> str | None:
    """Return what torch says when this batch, as a jagged nested tensor, enters the trace's kind of module.

    The module has batch_first=True, as a nested tensor (B, T, F) asks for; None where torch takes it.
    """
    values = torch.nested.nested_tensor(_sequences(trace), layout=torch.jagged, device="cpu")
    cell = {"LSTM": nn.LSTM, "GRU": nn.GRU}.get(trace.module.mode, nn.RNN)
    with seeded(0), torch.no_grad():
        module = cell(values.size(2), 1, batch_first=True, dtype=values.dtype, device="cpu")
        return ask(lambda: module(values)).last_line


def _cell_numbers(trace: Trace) -> list[Tensor]:
    """Return for each sequence the numbers b * T + t of its cells in the padded grid, (length,) int64 each."""
    mask = trace.padded.mask
    numbers = torch.arange(mask.numel(), device="cpu").view(mask.shape)
    return [row[own] for row, own in zip(numbers, mask, strict=True)]


def _padded(trace: Trace) -> Tensor:
    """Return (B * T,) int64: the cell number in each place of the padded grid's memory, -1 for a pad."""
    padded, numbers = trace.padded, _cell_numbers(trace)
    if trace.config is not None:
        return pad_sequence(numbers, padded.batch_first, _PAD, trace.config.padding_side).flatten()
    grid = torch.full(padded.mask.shape, _PAD, device="cpu")  # it came padded, perhaps wider than the longest length
    grid[padded.mask] = torch.cat(numbers)
    return (grid if padded.batch_first else grid.t()).flatten()


def _packed(trace: Trace) -> tuple[tuple[int, int] | None, ...]:
    packed = trace.packed
    cells = zip(packed.sequence.tolist(), packed.timestep.tolist(), trace.packed_is_pad.tolist(), strict=True)
    return tuple(None if is_pad else (b, t) for b, t, is_pad in cells)


def _cells(numbers: Tensor, T: int) -> tuple[tuple[int, int] | None, ...]:
    return tuple(None if number == _PAD else divmod(number, T) for number in numbers.tolist())


def _sequences(trace: Trace) -> list[Tensor]:
    return [row[own] for row, own in zip(trace.padded.grid, trace.padded.mask, strict=True)]


def _jagged(sequences: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return values() and offsets() of torch's jagged nested tensor of these sequences.

    Making one imports torch._dynamo, hundreds of modules; the two tensors it keeps need none of them.
    """
    lengths = torch.tensor([0, *map(len, sequences)], device="cpu")
    return torch.cat(list(sequences)), lengths.cumsum(0)
