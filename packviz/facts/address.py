"""Where a token stands in packed data, and which token stands in a row of it."""

from __future__ import annotations

from dataclasses import dataclass

from packviz.compute.record import Trace
from packviz.errors import PackvizError
from packviz.text import sequence_label, shown
from packviz.validate import integer, is_integer

__all__ = ["Address", "row_of", "token_of"]


@dataclass(frozen=True)
class Address:
    """Hold the place of one packed row: row n = offset + position.

    b, t      the sequence and the column of the padded grid that the row came from
    n         the packed row
    offset    the first packed row of time step t
    position  the place of b among the sequences that are live at t
    """

    b: int
    t: int
    n: int
    offset: int

    @property
    def position(self) -> int:
        """Return n - offset."""
        return self.n - self.offset

    @property
    def told(self) -> str:
        """Return the arithmetic in a line: ``data[offset[2] + 1] = data[6 + 1] = data[7]``."""
        return f"data[offset[{self.t}] + {self.position}] = data[{self.offset} + {self.position}] = data[{self.n}]"


def row_of(trace: Trace, b: int, t: int) -> Address:
    """Return where the cell of sequence b and time step t stands in packed data.

    Raises PackvizError where there is no such sequence, or where it has ended before t.
    """
    packed, lengths = trace.packed, trace.padded.lengths
    b = integer("b", b, 0, len(lengths) - 1, what="a sequence", mend="choose a sequence of this batch")
    length = int(lengths[b])
    if not is_integer(t, 0, length - 1):
        name = sequence_label(b)
        raise PackvizError(
            "t",
            expected=f"a time step from 0 to {length - 1}, for {name} has length {length}",
            came=shown(t),
            mend=f"choose a smaller t: what stands after the first {length} of {name}'s cells is not packed",
        )
    row = (packed.sequence == b) & (packed.timestep == t)  # (N,)
    return token_of(trace, int(row.nonzero()))


def token_of(trace: Trace, n: int) -> Address:
    """Return which sequence and time step packed row n came from.

    Raises PackvizError where there is no such row.
    """
    packed = trace.packed
    N = len(packed.data)
    n = integer("n", n, 0, N - 1, what="a packed row", mend=f"choose one of the {N} rows of data")
    t = int(packed.timestep[n])
    return Address(int(packed.sequence[n]), t, n, int(packed.offsets[t]))
