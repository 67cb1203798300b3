"""QuestionKind: the places of a run at which one kind of question can be asked, the answer, and the wording.

The wording is in a TOML file for each kind of run, with a table for each kind of question: sentences for its prompt,
why and hint, phrases that they share, a reason for each of its `mistakes`, and for a choice its `choices`. The function
of the kind chooses among them, and passes what fills their blanks: a template decides nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from packviz.compute.runs import RunKind
from packviz.teach.predictions.prediction import Answer, Form, MovieMoment, Prediction, Slip
from packviz.text import filled

MAX_TRIED = 60  # places compared to find the most instructive one
Given = int | str | Sequence[int]  # a number; the name of a choice; several numbers, or the sequences b of the letters


class Numbers(Protocol):
    """The numbers of a run.

    letters: of all sequences. ranked: by kind, the ordered questions about this run, cached when first asked.
    """

    letters: tuple[str, ...]
    ranked: "dict[str, list[Draft]]"


F = TypeVar("F", bound=Numbers)


def spread(places: Sequence[Any]) -> Sequence[Any]:
    """Return at most MAX_TRIED places, evenly spaced from the first on."""
    return places[:: max(1, -(-len(places) // MAX_TRIED))]


@dataclass(frozen=True)
class Draft:
    """One question before it is worded."""

    answer: Given  # what torch says
    moment: MovieMoment  # where a movie shows why
    # by the name of the reason, the answers given by mistake; None if the mistake is impossible
    mistakes: Mapping[str, Given | None] = field(default_factory=dict)
    names: Mapping[str, object] = field(default_factory=dict)  # what fills the blanks of the texts
    choices: tuple[
        str, ...
    ] = ()  # the names of the choices; without mistakes, every wrong one has a reason of its name
    words: str = ""  # the table of the wording, if not that of the kind
    # the sentences of that table, or of `any`
    prompt: tuple[str, ...] = ("prompt",)
    why: tuple[str, ...] = ("why",)
    hint: tuple[str, ...] = ("hint",)
    # by the name of a blank, the phrase of that table that fills it; each can use those before it
    phrases: Mapping[str, str] = field(default_factory=dict)
    place: Any = None  # set by the kind


class Need(NamedTuple):
    """What a kind of question needs of a run, and how to change a run that does not have it."""

    met: Callable[[Any], object]  # of the run's facts
    fix: str


@dataclass(frozen=True, eq=False)
class Subject(Generic[F]):
    """What the questions about one kind of run share.

    run     the kind of run
    facts   the numbers of its record
    code    the settings of its record as code, by name
    words   the wording: a table for each kind of question, and `any`, sentences that several kinds share
    fix     how to change a run that has everything a kind of question needs, but no place for it
    """

    run: RunKind
    facts: Callable[[Any], F]
    code: Callable[[Any], Mapping[str, str]]
    words: Mapping[str, Any]
    fix: str

    def kind(
        self,
        form: Form,
        places: Callable[[F], Sequence[Any]],
        *,
        single: bool = False,
        possible: Callable[[F], Sequence[Any]] | None = None,
        direction: int = 0,
        needs: tuple[Need, ...] = (),
    ) -> "Callable[[Callable[[F, Any], Draft]], QuestionKind[F]]":
        """Turn the function that returns a question at one place into a kind; its key is the function's name."""
        return lambda case: QuestionKind(case.__name__, form, places, case, self, single, possible, direction, needs)


@dataclass(frozen=True)
class QuestionKind(Generic[F]):
    """Ask one kind of question."""

    key: str
    form: Form
    # the places worth asking about: sequences, time steps or packed rows, as `case` takes them; () if there is none
    places: Callable[[F], Sequence[Any]]
    case: Callable[[F, Any], Draft]  # returns the question at one of these places
    subject: Subject[F]
    single: bool = False  # whether it asks for one letter
    # all places that it can be asked about, even if a mistake gives the right answer; None for the same ones
    possible: Callable[[F], Sequence[Any]] | None = None
    direction: int = 0  # of the run that it is about, 1 is backward
    needs: tuple[Need, ...] = ()  # a run without them has no places

    def __call__(self, run: Any, number: int = 0, *, anyhow: bool = False) -> Prediction | None:
        """Return the number-th question about a run, or None if there is nothing to ask.

        anyhow: whether to ask even if it is possible but not worth asking.
        """
        if not isinstance(run, self.subject.run.records):
            return None
        facts = self.subject.facts(run)
        if anyhow and self.possible is not None and not self.asked_at(facts):
            return replace(self, places=self.possible).question(facts, number)
        return self.question(facts, number)

    def asked_at(self, facts: F) -> Sequence[Any]:
        """Return the places worth asking about; () if there is none."""
        return self.places(facts) if all(need.met(facts) for need in self.needs) else ()

    def fix(self, run: Any) -> str:
        """Return how to change a run about which this kind cannot be asked, in a sentence."""
        facts = self.subject.facts(run)
        return next((need.fix for need in self.needs if not need.met(facts)), self.subject.fix)

    def question(self, facts: F, number: int) -> Prediction | None:
        """Return the number-th question about a run, cyclically, or None if there is nothing to ask.

        The questions that distinguish the most mistakes come first; among equals those at t = 0, where most sequences
        are alike, come last.
        """
        if self.key not in facts.ranked:
            cases = [replace(self.case(facts, place), place=place) for place in spread(self.asked_at(facts))]
            cases.sort(key=lambda case: (-len(self._slips(facts, case)), case.moment.timestep == 0))
            facts.ranked[self.key] = cases
        cases = facts.ranked[self.key]
        return self._worded(facts, cases[number % len(cases)]) if cases else None

    def _slips(self, facts: F, case: Draft) -> dict[Answer, str]:
        """Return, by answer, the name of each mistake whose answer differs from the right one and from the others."""
        right, slips = self._answer(facts, case.answer), dict[Answer, str]()
        mistakes = case.mistakes or {name: name for name in case.choices}
        for name, given in mistakes.items():
            wrong = right if given is None else self._answer(facts, given)
            if wrong != right and (wrong or name == "nobody"):
                slips.setdefault(wrong, name)
        return slips

    def _answer(self, facts: F, given: Given) -> Answer:
        if isinstance(given, str):
            return given
        numbers = (given,) if isinstance(given, int) else tuple(given)
        return tuple(facts.letters[b] for b in sorted(numbers)) if self.form == "letters" else numbers

    def _worded(self, facts: F, case: Draft) -> Prediction:
        table = self.subject.words["any"] | self.subject.words[case.words or self.key]
        reasons = self.subject.words["any"] | table.get("mistakes", {})
        right = self._answer(facts, case.answer)
        names = {**case.names, "answer": _for_templates(right)}
        for name, phrase in case.phrases.items():
            names[name] = filled(table[phrase], names)
        for name, sentences in (("prompt", case.prompt), ("why", case.why), ("hint", case.hint)):
            names[name] = " ".join(filled(table[sentence], names) for sentence in sentences)
        choices = {name: filled(table["choices"][name], names) for name in case.choices}
        slips = self._slips(facts, case).items()
        return Prediction(
            key=self.key,
            prompt=str(names["prompt"]),
            form="choice" if choices else self.form,
            answer=choices.get(str(right), right),
            slips=tuple(
                Slip(choices.get(str(wrong), wrong), filled(reasons[name], {**names, "given": _for_templates(wrong)}))
                for wrong, name in slips
            ),
            moment=case.moment,
            why=str(names["why"]),
            hint=str(names["hint"]),
            choices=tuple(choices.values()),
            letters=facts.letters if self.form == "letters" else (),
            single=self.single,
            place=case.place,
        )


def once(condition: Callable[[Any], object]) -> Callable[[Any], Sequence[None]]:
    """Return the places of a question that is the same everywhere: one if the condition holds, else none."""
    return lambda facts: (None,) if condition(facts) else ()


def _for_templates(answer: Answer) -> object:
    """Return an answer in the form that templates use: a single number as a number."""
    return answer[0] if isinstance(answer, tuple) and len(answer) == 1 and isinstance(answer[0], int) else answer
