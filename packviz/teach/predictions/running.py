"""Questions about the run, in both directions, and about the unpacked output."""

from collections.abc import Callable, Collection, Sequence

from packviz.teach.predictions.facts import MAX_FILMED, PACKING_QUESTIONS, Facts
from packviz.teach.predictions.kind import Draft, Need, QuestionKind, once, spread
from packviz.teach.predictions.prediction import MovieMoment

MAX_TYPED = 8  # at most this many letters to type for one answer

_BOTH_WAYS = Need(lambda facts: facts.two_ways, "Set bidirectional to true.")
_PADDED = Need(lambda facts: not facts.trace.padded.mask.all(), "Choose different lengths: here nothing is padded.")


def _fed(facts: Facts, t: int, direction: int) -> Draft:
    """Ask which sequences are live at a time step."""
    live, size, longest = _live_at(facts, t, direction), facts.batch_sizes[t], facts.longest
    mirrored = longest - 1 - t
    mistakes = {
        "others": _others(facts, live),
        "mirrored": _live_at(facts, mirrored, direction) if direction else None,
        "from_a": range(size),
        "at_least": facts.where(range(t, longest + 1)),
        "above": facts.where(range(t + 2, longest + 1)),
        "everybody": range(facts.B),
    }
    return Draft(live, MovieMoment("run", t), mistakes, {"t": t, "size": size, "mirrored": mirrored})


def _turning(facts: Facts, t: int, direction: int) -> Draft:
    """Ask whose last step a time step is; going backward, whose first."""
    now, live, longest = _turning_at(facts, t, direction), _live_at(facts, t, direction), facts.longest
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
    return Draft(now, MovieMoment("run", t), mistakes, {"t": t, "these": these, "mirrored": mirrored})


@PACKING_QUESTIONS.kind(
    "numbers", lambda facts: [b for b in facts.sequences if facts.lengths[b] - 1 in facts.timesteps]
)
def final_step(facts: Facts, b: int) -> Draft:
    """Ask at which time step the state of one sequence is final."""
    length = facts.lengths[b]
    mistakes = {
        "length": length,
        "longest": facts.longest - 1,
        "last_column": facts.T - 1,
        "too_early": length - 2 if length > 1 else None,
    }
    return Draft(length - 1, MovieMoment("run", length - 1), mistakes, {"name": facts.letters[b], "length": length})


@PACKING_QUESTIONS.kind(
    "numbers", lambda facts: [b for b in facts.sequences if facts.lengths[b] - 1 in facts.timesteps]
)
def gradient_enters(facts: Facts, b: int) -> Draft:
    """Ask at which time step the gradient of one sequence enters, if the loss is the sum of the final states."""
    length = facts.lengths[b]
    mistakes = {
        "length": length,
        "longest": facts.longest - 1,
        "last_column": facts.T - 1,
        "first_step": 0,
    }
    return Draft(
        length - 1, MovieMoment("backward", length - 1), mistakes, {"name": facts.letters[b], "length": length}
    )


def _going_back(facts: Facts, t: int, direction: int) -> Draft:
    """Ask which sequences have a gradient at a time step, if the loss is the sum of the final states."""
    live, longest = _live_at(facts, t, direction), facts.longest
    mistakes = {
        "others": _others(facts, live),
        "entering": _turning_at(facts, t, direction),
        "everybody": range(facts.B),
        "from_the_end": _live_at(facts, longest - 1 - t, direction),
        "from_a": range(len(live)),
        "at_least": facts.where(range(t, longest + 1)),
        "above": facts.where(range(t + 2, longest + 1)),
    }
    return Draft(live, MovieMoment("backward", t), mistakes, {"t": t, "size": len(live), "back": longest - 1 - t})


@PACKING_QUESTIONS.kind("choice", lambda facts: _first_pads(facts), needs=(_PADDED,))
def pad_gradient(facts: Facts, place: tuple[int, int]) -> Draft:
    """Ask for the gradient of x at a pad, if the batch is packed and the loss is the sum of the final states."""
    b, t = place
    length = facts.lengths[b]
    answer = "passed" if t < length else "zero"
    names = {"name": facts.letters[b], "length": length, "t": t}
    return Draft(answer, MovieMoment("backward"), names=names, choices=("zero", "passed", "last", "one"))


@PACKING_QUESTIONS.kind("numbers", lambda facts: facts.sequences, direction=1, needs=(_BOTH_WAYS,))
def final_backward(facts: Facts, b: int) -> Draft:
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
    return Draft(0, MovieMoment("run", 0), mistakes, {"name": facts.letters[b], "length": length})


@PACKING_QUESTIONS.kind("choice", lambda facts: _short_and_long(facts))
def last_column(facts: Facts, b: int) -> Draft:
    """Ask what is in the last column of one sequence's row of the output."""
    width, length = _width(facts), facts.lengths[b]
    full = "final" if not facts.two_ways else "both" if width == 1 else "half"
    states = ("both", "half") if full == "half" else (full,)
    names = {"name": facts.letters[b], "length": length, "end": width - 1}
    answer = "filler" if length < width else full
    return Draft(answer, _end_of_output(facts), names=names, choices=("filler", *states, "on_padding"))


@PACKING_QUESTIONS.kind("numbers", once(lambda facts: facts.packed))
def unpacked_width(facts: Facts, _: None) -> Draft:
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
    return Draft(width, _end_of_output(facts, "width"), mistakes, {"total_length": facts.trace.total_length})


def _first_pads(facts: Facts) -> Sequence[tuple[int, int]]:
    """Return the sequence and the column of the first pad that a movie shows of each sequence that has one."""
    columns = (~facts.trace.padded.mask[:, :MAX_FILMED]).tolist()
    return [(b, columns[b].index(True)) for b in facts.sequences if any(columns[b])]


def _live_at(facts: Facts, t: int, direction: int) -> tuple[int, ...]:
    return facts.step(t, direction).live


def _turning_at(facts: Facts, t: int, direction: int) -> tuple[int, ...]:
    """Return the sequences that end at time step t, or begin there going backward."""
    step = facts.step(t, direction)
    return step.began if direction else step.ended


def _others(facts: Facts, sequences: Collection[int]) -> list[int]:
    return [b for b in range(facts.B) if b not in sequences]


def _width(facts: Facts) -> int:
    return facts.trace.unpacked.output.size(1 if facts.trace.padded.batch_first else 0)


def _end_of_output(facts: Facts, name: str = "") -> MovieMoment:
    return MovieMoment("unpack", min(_width(facts), MAX_FILMED) - 1, name)


def _short_and_long(facts: Facts) -> Sequence[int]:
    """Return the sequences in the order shortest, longest, second shortest, and so on."""
    rising = sorted(spread(facts.sequences), key=lambda b: facts.lengths[b])
    return [rising[i // 2] if i % 2 == 0 else rising[-1 - i // 2] for i in range(len(rising))]


def _about_steps(
    key: str,
    direction: int,
    case: Callable[[Facts, int, int], Draft],
    asked: Callable[[Facts, int, int], Sequence[int]],
) -> QuestionKind[Facts]:
    """Return a kind of question about time steps of one direction; `asked` gives the sequences that answer it.

    It is worth asking if these are few; the first are those with any.
    """

    def places(facts: Facts) -> Sequence[int]:
        steps = [t for t in facts.timesteps if len(asked(facts, t, direction)) <= MAX_TYPED]
        return sorted(steps, key=lambda t: not asked(facts, t, direction))

    return QuestionKind(
        key,
        "letters",
        places,
        lambda facts, t: case(facts, t, direction),
        PACKING_QUESTIONS,
        possible=lambda facts: facts.timesteps,
        direction=direction,
        needs=(_BOTH_WAYS,) if direction else (),
    )


alive = _about_steps("alive", 0, _fed, _live_at)
live_going_back = _about_steps("live_going_back", 0, _going_back, _live_at)
ended = _about_steps("ended", 0, _turning, _turning_at)
fed_backward = _about_steps("fed_backward", 1, _fed, _live_at)
joins_backward = _about_steps("joins_backward", 1, _turning, _turning_at)
