"""Attention over a row: what the mask and the positions change for every document."""

import math
from dataclasses import dataclass

from packviz.compute.row_record import RowsTrace
from packviz.compute.rows import rerun
from packviz.facts.row_leaks import leak_in, rounding_of
from packviz.inputs.row_config import Positions
from packviz.text import joined, sequence_label, two_digits

__all__ = ["Switched", "moved_by_positions", "switched"]


@dataclass(frozen=True)
class Switched:
    """The run with other settings of the mask and the positions.

    isolate, reset_positions, positions  the settings, as in RowConfig
    largest                              the largest difference of any document from the same document alone
    documents                            that of each document that differs by more than rounding, as text
    """

    isolate: bool
    reset_positions: bool
    positions: Positions
    largest: float
    documents: str


def switched(run: RowsTrace) -> list[Switched]:
    """Return the run with its mask and positions right, with each of them wrong, for every kind of positions."""
    kinds: list[Positions] = ["learned", "rope"] if run.config.head_dim % 2 == 0 else ["learned"]
    found = []
    for positions in kinds:
        for isolate, reset in ((True, True), (False, True), (True, False)):
            other = rerun(run, positions=positions, isolate=isolate, reset_positions=reset)
            far = [
                (b, float(each.max()))
                for pieces, row in zip(run.rows.rows, other.difference, strict=True)
                for (b, _, _), each in zip(pieces, row, strict=True)
            ]
            rounding = rounding_of(run.config.dtype, other.output)
            named = [f"{sequence_label(b)} {two_digits(largest)}" for b, largest in sorted(far) if largest > rounding]
            documents = joined(named) if named else "none: rounding only"
            found.append(Switched(isolate, reset, positions, max(largest for _, largest in far), documents))
    return found


def moved_by_positions(run: RowsTrace, row: int) -> float:
    """Return up to how far outputs of a row differ from alone if the mask is right but positions run on.

    It is 0.0 if they differ by rounding only, if no positions are learned, and if the numbers are not finite.
    """
    if run.config.layer != "attention" or run.config.positions != "learned":
        return 0.0
    found = leak_in(rerun(run, row=row, isolate=True, reset_positions=False), 0)
    largest = float(found.difference[-1].max())
    return largest if bool(found.differs[-1].any()) and math.isfinite(largest) else 0.0
