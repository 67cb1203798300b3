"""What the caller of a movie asks for, and what the movie says about its run as a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

from packviz.compute.backward import Loss
from packviz.compute.runs import SEQUENCES, STEPS
from packviz.errors import PackvizError
from packviz.show.movie.marks import Stage
from packviz.text import shown


class Asked(NamedTuple):
    """What the caller of a movie asked for.

    layer, direction, head: what is watched; a layer of None is the default of the run. deep: the stages that are shown
    with all their explanations. sequences, steps: at most how many are shown. stages: those of the movie. loss: the one
    whose gradients are shown. micro_batch: how many documents a micro-batch has; None: so many that it matters.
    """

    layer: int | None = None
    direction: int = 0
    deep: frozenset[Stage] = frozenset()
    sequences: int = SEQUENCES
    steps: int = STEPS
    head: int = 0
    stages: frozenset[Stage] = frozenset()
    loss: Loss = Loss()
    micro_batch: int | None = None

    def check_without(self, *names: str, kind: str) -> None:
        """Raise PackvizError if something was asked for that a run of this kind does not have."""
        given, defaults = ({**asked._asdict(), **asked.loss._asdict()} for asked in (self, Asked()))
        for name in names:
            value, default = given[name], defaults[name]
            same = value is None if default is None else isinstance(value, Integral | str) and value == default
            if not same:
                raise PackvizError(name, expected=f"no value for {kind}", got=shown(value), fix=f"leave {name} out")


@dataclass(frozen=True)
class About:
    """What a movie says about its run as a whole.

    run: its record. layer, direction: what is watched. sequences: how many the batch has. tokens: their columns and
    tooltips, in the form of the data. numbers: the rows that marks show as stripes, in ten-thousandths. scales: the
    numbers at which the diverging scale ends, `input` for what enters and `state` for the states; if they are shown,
    `weight` for weights of losses and `gradient` for sizes of gradients. notes: what is not shown, and other remarks.
    proof: how the numbers compare with torch's own. exact: whether they are bitwise equal to those of torch's own run,
    and no padding was packed; of rows, whether the results of every stage shown come from torch's own functions.
    stack: how many layers, directions and heads there are and which of them is shown, if there are several. stages: all
    that a run of its kind can have, in order.
    """

    run: Any
    title: str
    layer: int
    direction: int
    sequences: int
    tokens: Mapping[str, Any]
    numbers: Sequence[Sequence[int | None]]
    scales: Mapping[str, float]
    notes: tuple[str, ...]
    proof: str
    exact: bool
    stack: Mapping[str, int]
    stages: tuple[Stage, ...] = ()
