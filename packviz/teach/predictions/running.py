"""Questions about the run, in both directions, and about the unpacked output."""

from collections.abc import Callable, Collection, Sequence

from packviz.teach.predictions.facts import MAX_FILMED, PACKING_QUESTIONS, Facts
from packviz.teach.predictions.kind import Draft, Given, Need, QuestionKind, once, spread
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
    names = {"cell": facts.cell, "t": t, "size": size, "before": t - 1, "after": t + 1, "mirrored": mirrored}
    return Draft(live, MovieMoment("run", t), mistakes, names, phrases={"only": "only"} if direction else {})


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
    names = {"t": t, "before": t - 1, "after": t + 1, "longer": t + 2, "these": these, "mirrored": mirrored}
    prompt = "prompt_forward" if facts.two_ways and not direction else "prompt"
    why, rule = "why" if these else "why_none", {"rule": "rule"}
    return Draft(now, MovieMoment("run", t), mistakes, names, prompt=(prompt,), why=(why,), phrases=rule)


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
    names, way = {"name": facts.letters[b], "length": length}, "_forward" if facts.two_ways else ""
    prompt, why, counts = (f"prompt{way}",), (f"why{way}",), {"counts": "counts"}
    return Draft(length - 1, MovieMoment("run", length - 1), mistakes, names, prompt=prompt, why=why, phrases=counts)


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
    names, moment = {"name": facts.letters[b], "length": length}, MovieMoment("backward", length - 1)
    prompt = ("prompt_forward" if facts.two_ways else "prompt",)
    return Draft(length - 1, moment, mistakes, names, prompt=prompt, phrases={"counts": "counts"})


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
    names = {"t": t, "size": len(live), "before": t - 1, "after": t + 1, "back": longest - 1 - t}
    prompt, why = "prompt_forward" if facts.two_ways else "prompt", "why_one" if len(live) == 1 else "why"
    moment, rule = MovieMoment("backward", t), {"rule": "rule"}
    return Draft(live, moment, mistakes, names, prompt=(prompt,), why=(why,), phrases=rule)


@PACKING_QUESTIONS.kind("choice", lambda facts: _first_pads(facts), needs=(_PADDED,))
def pad_gradient(facts: Facts, place: tuple[int, int]) -> Draft:
    """Ask for the gradient of x at a pad, if the batch is packed and the loss is the sum of the final states."""
    b, t = place
    length = facts.lengths[b]
    names = {"cell": facts.cell, "name": facts.letters[b], "length": length, "end": length - 1, "t": t}
    choices = ("zero", "passed", "last", "one")
    taken, moment = {"taken": "first_column" if length == 1 else "columns"}, MovieMoment("backward")
    if t < length:
        mistakes: dict[str, Given | None] = {"zero": "zero", "last_of_read": "last", "one_of_read": "one"}
        return Draft("passed", moment, mistakes, names, choices, why=("why_read",), phrases=taken)
    return Draft("zero", moment, names=names, choices=choices, phrases=taken)


@PACKING_QUESTIONS.kind("numbers", lambda facts: facts.sequences, direction=1, needs=(_BOTH_WAYS,))
def final_backward(facts: Facts, b: int) -> Draft:
    """Ask at which time step the state of one sequence is final, going backward."""
    length = facts.lengths[b]
    mistakes = {
        "first_step": length - 1,
        "longest": facts.longest - 1,
        "last_column": facts.T - 1,
        "length" if length > 1 else "length_one": length,
        "waits": facts.longest - length,
        "from_one": 1,
    }
    names = {"name": facts.letters[b], "begins": length - 1, "start": facts.longest - 1}
    why, hint = "why" if length > 1 else "why_one", "hint" if facts.longest > 1 else "hint_one"
    return Draft(0, MovieMoment("run", 0), mistakes, names, why=(why,), hint=(hint,))


@PACKING_QUESTIONS.kind("choice", lambda facts: _short_and_long(facts))
def last_column(facts: Facts, b: int) -> Draft:
    """Ask what is in the last column of one sequence's row of the output."""
    width, length = _width(facts), facts.lengths[b]
    full = "final" if not facts.two_ways else "both" if width == 1 else "half"
    states = ("both", "half") if full == "half" else (full,)
    names = {"cell": facts.cell, "name": facts.letters[b], "length": length, "last": length - 1, "end": width - 1}
    names["missing"] = width - length
    choices = ("filler", *states, "on_padding")
    if length < width:
        mistakes: dict[str, Given | None] = {{"both": "both_of_short"}.get(state, state): state for state in states}
        mistakes["after_one_step" if length == 1 else "after_its_steps"] = "on_padding"
        answer, why = "filler", "why_short_by_one" if width - length == 1 else "why_short"
    else:
        mistakes = {name: name for name in choices}
        answer, why = full, "why_half" if full == "half" else "why"
    phrases = {"has": "has", "reaches": "reaches"}
    return Draft(answer, _end_of_output(facts), mistakes, names, choices, why=(why,), hint=(), phrases=phrases)


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
    total, longest = facts.trace.total_length, facts.longest
    rule = {"rule": "as_longest" if total is None else "as_set"}
    prompt, why = "prompt" if total is None else "prompt_set", "why" if total in (None, longest) else "why_wider"
    names, moment = {"B": facts.B, "longest": longest, "total_length": total}, _end_of_output(facts, "width")
    return Draft(width, moment, mistakes, names, prompt=(prompt,), why=(why,), phrases=rule)


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
