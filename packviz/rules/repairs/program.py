"""What the repairs are written with: lines of a program, and code that depends on the layout or on what is packed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packviz.rules.case import Case


Repair = Callable[..., str]  # of the case, and by name of the fields of the fault

PACK_X = "pack_padded_sequence(x, lengths, batch_first=batch_first, enforce_sorted=False)"
RUN_PACKED = "packed = pack_padded_sequence(x, lengths, batch_first=module.batch_first, enforce_sorted=False)"
IMPORT_PACK = "from torch.nn.utils.rnn import pack_padded_sequence"
IMPORT_BOTH = "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence"
TURN = ".transpose(0, 1)"


def program(*lines: str) -> str:
    """Return the lines as a program; a line may be several, and an empty one separates."""
    return "\n".join(lines).strip("\n")


def always(*lines: str) -> Repair:
    """Return the repair that is the same program in every case."""
    return lambda _case, **_about: program(*lines)


def turn(case: Case) -> str:
    """Return the code that brings x to sequences first, or back."""
    return "" if case.batch_first else TURN


def on_data(case: Case, before: str, after: str) -> str:
    if case.packed is None:
        return f"x = {before}x{after}"
    return f"packed = packed._replace(data={before}packed.data{after})"
