"""Questions about the run, in both directions, and about the output that is unpacked from it."""

from collections.abc import Callable, Collection, Sequence
from functools import partial

from packviz.teach.predictions.kind import MAX_FILMED, Case, Facts, Kind, kind, once, spread
from packviz.teach.predictions.prediction import Moment

MAX_TYPED = 8  # nobody types more letters than these for one answer


def _short_steps(facts: Facts) -> list[int]:
    return [t for t in facts.timesteps if facts.batch_sizes[t] <= MAX_TYPED]


def _fed(facts: Facts, t: int, direction: int = 0) -> Case:
    """Ask which sequences are live at a time step."""
    live, size, longest = facts.step(t, direction).live, facts.batch_sizes[t], facts.longest
    mirrored = longest - 1 - t
    mistakes = {
        "others": _others(facts, live),
        "mirrored": facts.step(mirrored, direction).live if direction else None,
        "from_a": range(size),
        "at_least": facts.where(range(t, longest + 1)),
        "above": facts.where(range(t + 2, longest + 1)),
        "everybody": range(facts.B),
    }
    return Case(live, Moment("run", t), mistakes, {"t": t, "size": size, "mirrored": mirrored})


def _turning(facts: Facts, t: int, direction: int = 0) -> Case:
    """Ask whose last step a time step is; going backward, whose first."""
    now, live, longest = _turning_at(facts, t, direction), facts.step(t, direction).live, facts.longest
    mirrored = longest - 1 - t
    mistakes = {
        "longer": facts.where(range(t + 2, longest + 1)),
        "one_shorter": facts.where(range(t, t + 1)),
        "one_longer": facts.where(range(t + 2, t + 3)),
        "others": _others(facts, live),
        "mirrored": _turning_at(facts, mirrored, direction) if direction else None,
        "everybody": range(facts.B) if direction else None,
        "live": live,
        "up_to": facts.where(range(t + 2)),
        "nobody": (),
    }
    these = [facts.letters[b] for b in facts.where(range(t + 1, t + 2))]
    return Case(now, Moment("run", t), mistakes, {"t": t, "these": these, "mirrored": mirrored})


@kind("numbers", lambda facts: [b for b in facts.sequences if facts.lengths[b] - 1 in facts.timesteps])
def final_step(facts: Facts, b: int) -> Case:
    """Ask at which time step the state of one sequence is final."""
    length = facts.lengths[b]
    mistakes = {
        "length": length,
        "longest": facts.longest - 1,
        "last_column": facts.T - 1,
        "too_early": length - 2 if length > 1 else None,
    }
    return Case(length - 1, Moment("run", length - 1), mistakes, {"name": facts.letters[b], "length": length})


@kind("numbers", lambda facts: facts.sequences if facts.two_ways else [])
def final_backward(facts: Facts, b: int) -> Case:
    """Ask at which time step the state of one sequence is final, going backward."""
    length = facts.lengths[b]
    mistakes = {
        "first_step": length - 1,
        "longest": facts.longest - 1,
        "last_column": facts.T - 1,
        "length": length,
        "waits": facts.longest - length,
        "from_one": 1,
    }
    return Case(0, Moment("run", 0), mistakes, {"name": facts.letters[b], "length": length})


@kind("choice", lambda facts: _short_and_long(facts))
def last_column(facts: Facts, b: int) -> Case:
    """Ask what is in the last column of one sequence's row of the output."""
    width, length = _width(facts), facts.lengths[b]
    full = "final" if not facts.two_ways else "both" if width == 1 else "half"
    states = ("both", "half") if full == "half" else (full,)
    names = {"name": facts.letters[b], "length": length, "end": width - 1}
    answer = "filler" if length < width else full
    return Case(answer, _end_of_output(facts), names=names, choices=("filler", *states, "on_padding"))


@kind("numbers", once(lambda facts: facts.packed))
def unpacked_width(facts: Facts, _: None) -> Case:
    """Ask how many time steps the unpacked output has."""
    width = _width(facts)
    mistakes = {
        "padded": facts.T,
        "shortest": facts.shortest,
        "rows": facts.N,
        "sequences": facts.B,
        "features": facts.trace.unpacked.output.size(2),
        "last_step": width - 1,
    }
    return Case(width, _end_of_output(facts, "width"), mistakes, {"total_length": facts.trace.total_length})


def _turning_steps(facts: Facts, direction: int) -> list[int]:
    """Return the steps of which few sequences begin or end at, those of no sequence last."""
    steps = [t for t in facts.timesteps if len(_turning_at(facts, t, direction)) <= MAX_TYPED]
    return sorted(steps, key=lambda t: not _turning_at(facts, t, direction))


def _turning_at(facts: Facts, t: int, direction: int) -> tuple[int, ...]:
    """Return the sequences that end at time step t, or begin, going backward."""
    step = facts.step(t, direction)
    return step.began if direction else step.ended


def _others(facts: Facts, sequences: Collection[int]) -> list[int]:
    return [b for b in range(facts.B) if b not in sequences]


def _width(facts: Facts) -> int:
    return facts.trace.unpacked.output.size(1 if facts.trace.padded.batch_first else 0)


def _end_of_output(facts: Facts, name: str = "") -> Moment:
    return Moment("unpack", min(_width(facts), MAX_FILMED) - 1, name)


def _short_and_long(facts: Facts) -> Sequence[int]:
    """Return the sequences: the shortest, the longest, the second shortest, and so on."""
    rising = sorted(spread(facts.sequences), key=lambda b: facts.lengths[b])
    return [rising[i // 2] if i % 2 == 0 else rising[-1 - i // 2] for i in range(len(rising))]


def _backward(key: str, case: Callable[[Facts, int, int], Case], places: Callable[[Facts], Sequence[int]]) -> Kind:
    """Return a kind of question about going backward, which only a run in two directions answers."""
    possible = partial(_of_two_ways, _every_step)
    return Kind(key, "letters", partial(_of_two_ways, places), lambda facts, t: case(facts, t, 1), possible=possible)


def _of_two_ways(places: Callable[[Facts], Sequence[int]], facts: Facts) -> Sequence[int]:
    return places(facts) if facts.two_ways else ()


def _every_step(facts: Facts) -> Sequence[int]:
    return facts.timesteps


alive = Kind("alive", "letters", _short_steps, _fed, possible=_every_step)
ended = Kind("ended", "letters", partial(_turning_steps, direction=0), _turning, possible=_every_step)
fed_backward = _backward("fed_backward", _fed, _short_steps)
joins_backward = _backward("joins_backward", _turning, partial(_turning_steps, direction=1))
