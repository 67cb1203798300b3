"""Kind: one kind of question: the places of a batch at which it can be asked, the answer, and the wording.

The wording is in predictions.toml, a table for each kind: its `prompt`, `why` and `hint`, a reason for each of its
`mistakes`, and for a choice its `choices`. Any other text of the table is a phrase that later texts can use.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from packviz.compute.record import Refusal, Trace
from packviz.compute.recurrence import Step
from packviz.show.movie.packing.view import Window
from packviz.teach.predictions.prediction import Answer, Form, Moment, Prediction, Slip
from packviz.text import filled, sequence_label

MAX_FILMED = Window().steps  # shown in a movie
MAX_TRIED = 60  # places compared to find the most instructive one
_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("predictions.toml").read_text(encoding="utf-8"))
Given = int | str | Sequence[int]  # a number; the name of a choice; several numbers, or the sequences b of the letters


class Facts:
    """Hold the numbers of a trace, under the names used in the templates.

    Those after the sort are empty if torch refused to pack.

    packed, two_ways      whether torch packed the batch, and whether the module is bidirectional
    embedded, pads_packed whether the tokens were embedded, and whether pads are among the packed rows
    B, T, N               the sequences and the columns of the padded grid, and the sum of the lengths
    lengths               B numbers, in the original order of the sequences
    sequences, timesteps  the sequences that torch packed, and the packed time steps that a movie shows
    order, rank           the sequence in each row of the sorted batch, and the row of each sequence
    tied                  for each sequence, whether another has the same length
    ranked                by kind, the ordered questions about this trace, cached when first asked
    """

    def __init__(self, trace: Trace | Refusal) -> None:
        self.trace = trace
        self.cell, self.two_ways = trace.module.mode.split("_")[0], trace.module.bidirectional
        self.batch_first, self.embedded = trace.padded.batch_first, trace.padded.embedding is not None
        self.packed = isinstance(trace, Trace)
        self.pads_packed = self.packed and bool(trace.packed_is_pad.any())
        self.B, self.T = trace.padded.mask.shape
        self.lengths: list[int] = trace.padded.lengths.tolist()
        self.letters = tuple(map(sequence_label, range(self.B)))
        self.longest, self.shortest, self.N = max(self.lengths), min(self.lengths), sum(self.lengths)
        self.sorted_lengths = sorted(self.lengths, reverse=True)
        self.sequences = range(self.B if self.packed else 0)
        self.timesteps = range(min(self.longest, MAX_FILMED) if self.packed else 0)
        self.batch_sizes: list[int] = trace.packed.batch_sizes.tolist() if self.packed else []
        self.offsets: list[int] = trace.packed.offsets.tolist() if self.packed else []
        self.order: list[int] = trace.sorted.order.tolist() if self.packed else []
        self.rank: list[int] = trace.sorted.rank.tolist() if self.packed else []
        how_often = Counter(self.lengths)
        self.tied = [how_often[length] > 1 for length in self.lengths]
        self.ranked: dict[str, list[Case]] = {}

    @cached_property
    def placed(self) -> list[int]:
        """The sequences whose sorted row follows from the lengths, or from a stable sort if ties kept their order."""
        pairs = zip(self.order, self.order[1:], strict=False)
        stable = all(a < b for a, b in pairs if self.lengths[a] == self.lengths[b])
        return [b for b in self.sequences if stable or not self.tied[b]]

    @cached_property
    def placed_rows(self) -> list[int]:
        """The packed rows of these sequences that a movie shows."""
        placed, origins = set(self.placed), self.trace.packed.origins if self.packed else []
        return [n for n, (b, t) in enumerate(origins) if b in placed and t in self.timesteps]

    def step(self, t: int, direction: int) -> Step:
        """Return the step of the top layer at time step t."""
        return self.trace.layers[-1][direction].step(self.longest - 1 - t if direction else t)

    def owner_of(self, n: int, order: Sequence[int]) -> int:
        """Return the sequence of the n-th token, reading the sequences one after another in this order."""
        return [b for b in order for _ in range(self.lengths[b])][n]

    def where(self, lengths: range) -> list[int]:
        """Return the sequences whose length is in a range."""
        return [b for b, length in enumerate(self.lengths) if length in lengths]


def spread(places: Sequence[Any]) -> Sequence[Any]:
    """Return at most MAX_TRIED places, evenly spaced from the first on."""
    return places[:: max(1, -(-len(places) // MAX_TRIED))]


@dataclass(frozen=True)
class Case:
    """Hold one question before it is worded."""

    answer: Given  # what torch says
    moment: Moment  # where a movie shows why
    # by name, the answers given by mistake; None if the mistake is impossible
    mistakes: Mapping[str, Given | None] = field(default_factory=dict)
    names: Mapping[str, object] = field(default_factory=dict)  # values for this kind's templates only
    choices: tuple[str, ...] = ()  # the names of the choices; every wrong one is a mistake
    words: str = ""  # the table of the wording, if not that of the kind


@dataclass(frozen=True)
class Kind:
    """Ask one kind of question."""

    key: str
    form: Form
    # where it is worth asking: sequences, time steps or packed rows, as `case` takes them; () if nowhere
    places: Callable[[Facts], Sequence[Any]]
    case: Callable[[Facts, Any], Case]  # returns the question at one of these places
    single: bool = False  # whether it asks for one letter
    # where it can be asked at all, even if a mistake gives the right answer; None for the same places
    possible: Callable[[Facts], Sequence[Any]] | None = None

    def __call__(self, trace: Trace | Refusal, number: int = 0, *, anyhow: bool = False) -> Prediction | None:
        """Return the number-th question about a trace, or None if there is nothing to ask.

        anyhow: whether to ask even where it is possible but not worth asking.
        """
        facts = Facts(trace)
        if anyhow and self.possible is not None and not self.places(facts):
            return replace(self, places=self.possible).question(facts, number)
        return self.question(facts, number)

    def question(self, facts: Facts, number: int) -> Prediction | None:
        """Return the number-th question about a trace, cyclically, or None if there is nothing to ask.

        The questions that distinguish the most mistakes come first; among equals those at t = 0, where most sequences
        are alike, come last.
        """
        if self.key not in facts.ranked:
            cases = [self.case(facts, place) for place in spread(self.places(facts))]
            cases.sort(key=lambda case: (-len(self._slips(facts, case)), case.moment.timestep == 0))
            facts.ranked[self.key] = cases
        cases = facts.ranked[self.key]
        return self._worded(facts, cases[number % len(cases)]) if cases else None

    def _slips(self, facts: Facts, case: Case) -> dict[Answer, str]:
        """Return, by answer, the name of each mistake whose answer differs from the right one and from the others."""
        right, slips = self._answer(facts, case.answer), dict[Answer, str]()
        mistakes = case.mistakes or {name: name for name in case.choices}
        for name, given in mistakes.items():
            wrong = right if given is None else self._answer(facts, given)
            if wrong != right and (wrong or name == "nobody"):
                slips.setdefault(wrong, name)
        return slips

    def _answer(self, facts: Facts, given: Given) -> Answer:
        if isinstance(given, str):
            return given
        numbers = (given,) if isinstance(given, int) else tuple(given)
        return tuple(facts.letters[b] for b in sorted(numbers)) if self.form == "letters" else numbers

    def _worded(self, facts: Facts, case: Case) -> Prediction:
        table = _WORDS[case.words or self.key]
        reasons = {**_WORDS["any"], **table.get("mistakes", {})}
        right = self._answer(facts, case.answer)
        names = {**vars(facts), **case.names, "answer": _told(right)}
        for name, template in table.items():
            if isinstance(template, str):
                names[name] = filled(template, names)
        choices = {name: filled(table["choices"][name], names) for name in case.choices}
        slips = self._slips(facts, case).items()
        return Prediction(
            key=self.key,
            prompt=str(names["prompt"]),
            form="choice" if choices else self.form,
            answer=choices.get(str(right), right),
            slips=tuple(
                Slip(choices.get(str(wrong), wrong), filled(reasons[name], {**names, "given": _told(wrong)}))
                for wrong, name in slips
            ),
            moment=case.moment,
            why=str(names["why"]),
            hint=str(names.get("hint", "")),
            choices=tuple(choices.values()),
            letters=facts.letters if self.form == "letters" else (),
            single=self.single,
        )


def kind(
    form: Form,
    places: Callable[[Facts], Sequence[Any]],
    *,
    single: bool = False,
    possible: Callable[[Facts], Sequence[Any]] | None = None,
) -> Callable[[Callable[[Facts, Any], Case]], Kind]:
    """Turn the function that returns a question at one place into a kind; its key is the function's name."""
    return lambda case: Kind(case.__name__, form, places, case, single, possible)


def once(condition: Callable[[Facts], object]) -> Callable[[Facts], Sequence[None]]:
    """Return the places of a question that is the same everywhere: one if the condition holds, else none."""
    return lambda facts: (None,) if condition(facts) else ()


def _told(answer: Answer) -> object:
    """Return an answer in the form that templates use: a single number as a number."""
    return answer[0] if isinstance(answer, tuple) and len(answer) == 1 and isinstance(answer[0], int) else answer
