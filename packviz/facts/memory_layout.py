"""Where a token is: its packed row, and its place in memory in three layouts, padded, packed and jagged."""

from dataclasses import dataclass

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.facts.padded_run import a_sequence
from packviz.facts.words import sentence
from packviz.text import Brief, sequence_label
from packviz.validate import integer

__all__ = ["Address", "Layout", "Memory", "indices_outweigh", "memory", "row_of", "token_of"]


@dataclass(frozen=True)
class Address:
    """The place of one packed row: row n = offset + position.

    position  the rank of b among the sequences that are live at t
    """

    b: int  # the sequence that the row came from
    t: int  # its column of the padded grid
    n: int  # the packed row
    offset: int  # the first packed row of time step t

    @property
    def position(self) -> int:
        """Return n - offset."""
        return self.n - self.offset

    @property
    def sentence(self) -> str:
        """Return the arithmetic on one line: ``data[offset[2] + 1] = data[6 + 1] = data[7]``."""
        return sentence("address.arithmetic", it=self)


def row_of(trace: Trace, b: int, t: int) -> Address:
    """Return the packed row of sequence b at time step t.

    Raises PackvizError if there is no such sequence, or if it ended before t.
    """
    packed = trace.packed
    b = a_sequence(trace, b)
    name, length = sequence_label(b), int(trace.padded.lengths[b])
    what = f"a time step of {name} (length {length})"
    fix = f"choose t below {length}: the cells of {name} from there on are not packed"
    t = integer("t", t, 0, length - 1, what=what, fix=fix)
    return token_of(trace, int(((packed.sequence == b) & (packed.timestep == t)).nonzero()))


def token_of(trace: Trace, n: int) -> Address:
    """Return which sequence and time step packed row n came from.

    Raises PackvizError if there is no such row.
    """
    packed = trace.packed
    N = len(packed.data)
    n = integer("n", n, 0, N - 1, what="a packed row", fix=f"choose one of the {N} rows of data")
    t = int(packed.timestep[n])
    return Address(int(packed.sequence[n]), t, n, int(packed.offsets[t]))


@dataclass(frozen=True, eq=False, repr=False)
class Layout(Brief):
    """One layout: the token in each row of F numbers, in the order of the rows in memory."""

    grid_cells: Tensor  # (R, 2), b and t in the padded grid for each row
    real: Tensor  # (R,), False for a pad
    bytes: int  # of the values
    index_bytes: int  # of the int64 tensors needed to locate the tokens

    @property
    def rows(self) -> int:
        """Return the number of rows, pads included."""
        return len(self.real)

    @property
    def pads(self) -> int:
        """Return the number of pads."""
        return self.rows - int(self.real.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Memory(Brief):
    """The same batch in three layouts."""

    padded: Layout  # B * T rows, in the order of batch_first; with the lengths
    packed: Layout  # N rows, time-major; with batch_sizes, sorted_indices and unsorted_indices
    jagged: Layout  # N rows, sequence-major; with offsets
    offsets: tuple[int, ...]  # (B + 1): where each sequence begins in the jagged rows, and where the last one ends


def indices_outweigh(padded: int, packed: int, indices: int) -> str:
    """Return why packed is larger than padded; "" if it is not.

    padded, packed: the total bytes of each; packed includes those of its `indices`.
    """
    return sentence("memory.indices", padded=padded, packed=packed, indices=indices) if packed > padded else ""


def memory(trace: Trace) -> Memory:
    """Return how a batch lies in memory.

    The jagged layout is counted, not built: a nested tensor imports torch._dynamo, hundreds of modules.
    Raises PackvizError if torch refused to pack the batch.
    """
    padded, packed, (data, *indices) = trace.padded, trace.packed, trace.packed_sequence
    B, T = padded.mask.shape
    every = torch.ones(B, T, device="cpu").nonzero().view(B, T, 2)  # (b, t) of each cell
    offsets = torch.nn.functional.pad(padded.lengths.cumsum(0), (1, 0))
    in_order = (every, padded.mask) if padded.batch_first else (every.transpose(0, 1), padded.mask.t())
    return Memory(
        _layout(*in_order, padded.values, padded.lengths),
        _layout(torch.stack([packed.sequence, packed.timestep], 1), ~trace.packed_is_pad, data, *indices),
        _layout(every[padded.mask], padded.mask[padded.mask], padded.grid[padded.mask], offsets),
        tuple(offsets.tolist()),
    )


def _layout(cells: Tensor, real: Tensor, values: Tensor, *beside: Tensor | None) -> Layout:
    """Return the layout of cells (..., 2); real (...) is False at pads."""
    index_bytes = sum(part.nbytes for part in beside if part is not None)
    return Layout(cells.flatten(0, -2), real.flatten(), values.nbytes, index_bytes)
