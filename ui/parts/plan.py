"""The lesson plan: a list of movie steps, questions and slides, and what a room shows of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Struct

from classroom.question import Question
from classroom.questions import question
from classroom.specs import MAX_NOTE as MAX_TOLD
from classroom.state import RefusedError
from packviz.inputs.batch import ReadAs
from packviz.inputs.examples import example
from ui.state.address import MAX_LENGTH
from ui.state.kinds import APP_KINDS, PACKING, MovieStage
from ui.state.names import WATCHED, default, watched
from ui.state.runs import Request
from ui.state.text import Source

MAX_ITEMS = 100
MAX_NOTE = 500  # characters


class Item(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One item of a plan: a movie step or another page of the app, a question, or both."""

    note: Annotated[str, Meta(max_length=MAX_NOTE)] = ""  # the teacher's own
    page: str = ""  # of the app, by its name in the address; "" for a question alone
    stages: tuple[MovieStage, ...] | None = None  # of the movie; None for all stages
    example: str = ""  # this and the next two as in `ui.state.runs.Source`
    sequences: str | None = None
    read_as: ReadAs = "auto"
    kind: str = PACKING.name  # of run
    settings: dict[str, Any] | None = None  # those of its config that differ from the defaults
    layer: int | None = None
    direction: int = 0
    head: int = 0
    step: Annotated[int, Meta(ge=1)] = 1
    question: dict[str, Any] | None = None  # as classroom/specs.py has it
    link: Annotated[str, Meta(max_length=MAX_LENGTH)] | None = None  # the query of the address, if it has no movie
    slide: str = ""  # Markdown, as classroom/specs.py has it

    @property
    def request(self) -> Request | None:
        """Return the run whose movie the item shows; None if it shows none."""
        if not self.page or self.link is not None:
            return None
        source = Source(self.example, self.sequences, self.read_as)
        settings = tuple((self.settings or {}).items())
        watched = {name: getattr(self, name) for name in WATCHED}
        return Request(source, settings, stages=self.stages, kind=APP_KINDS[self.kind], **watched)


@dataclass
class Plan:
    """A visitor's lesson plan, or a ready one.

    goal: what students can do afterwards. minutes: how long it takes; 0 if nobody has said so. problem: why a file was
    refused. touched: whether it was changed in this session.
    """

    items: tuple[Item, ...] = ()
    title: str = ""
    goal: str = ""
    minutes: int = 0
    problem: str = ""
    touched: bool = False


def item_of(page: str, request: Request, step: int, note: str = "") -> Item:
    """Return what a page shows as an item of a plan."""
    source = request.source
    return Item(
        note=note,
        page=page,
        stages=request.stages,
        example=source.example,
        sequences=source.text,
        read_as=source.read_as,
        kind=request.kind.name,
        settings=dict(request.settings),
        step=step,
        **request.watched,
    )


def about(request: Request) -> dict[str, Any] | None:
    """Return the batch and the settings of a run as a question has them; None for a batch of tensors."""
    source = request.source
    text = example(source.example).text if source.text is None else source.text
    if text is None:
        return None
    return {"sequences": text, "settings": _settings_of_spec(request)}


def _settings_of_spec(request: Request) -> dict[str, object]:
    """Return the settings that are not the defaults, and what is watched, as class questions name them."""
    kind = request.kind
    names = {WATCHED[part.argument]: part.name for part in kind.computes.watched}
    others = {names.get(name, name): value for name, value in _beside_settings(request).items()}
    return {name: value for name, value in request.settings if value != kind.defaults[name]} | others


def settings_of(request: Request) -> dict[str, object]:
    """Return the settings of a run that are not the defaults, by their names in the address."""
    settings = {request.kind.names[name]: value for name, value in request.settings}
    return {name: value for name, value in settings.items() if value != default(name)} | _beside_settings(request)


def _beside_settings(request: Request) -> dict[str, object]:
    """Return how the text is read, and what of the run is watched, if that is not the default."""
    given = {"read_as": request.source.read_as, **watched(request.watched)}
    return {name: value for name, value in given.items() if value != default(name)}


def shown_of(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return a plan as a room shows it: steps and questions with their notes.

    An item that is both is a question whose movie comes with its answer. What a room cannot show, a page without a
    movie or a batch of tensors, becomes part of the note before it.
    """
    shown = list[dict[str, Any]]()
    for item in items:
        spec, note = _as_shown(item), item.note
        if spec is None:
            note = ": ".join(filter(None, (heading(item), note)))
            spec = shown.pop() if shown else None
        if spec is not None:
            note = " · ".join(filter(None, (spec.get("note", ""), note)))[:MAX_TOLD]
            shown.append({**spec, **({"note": note} if note else {})})
    return shown


def _as_shown(item: Item) -> dict[str, Any] | None:
    if item.question is not None:
        return dict(item.question)
    if item.slide:
        return {"slide": item.slide}
    if item.request is None or (base := about(item.request)) is None:
        return None
    stage = {"stage": item.stages[0]} if item.stages else {}
    kind = {"kind": item.kind} if item.kind != PACKING.name else {}
    return {"step": {**base, **kind, **stage, "number": item.step}}


STARTER = tuple(
    Item(question={"kind": kind, "sequences": text})
    for kind, text in (
        ("pad_count", "1 2 3 4 5\n6 7\n8 9 10"),
        ("sorted_indices", "1 2\n3 4 5 6\n7 8 9"),
        ("batch_sizes", "1 2 3 4\n5 6\n7 8 9"),
        ("packed_row", "1 2 3\n4 5\n6 7 8 9"),
        ("alive", "1 2 3 4\n5 6\n7 8 9"),
        ("last_column", "1 2 3\n4 5\n6 7 8 9"),
    )
)  # a first lesson, one question for each idea


def asked_in(items: Sequence[Item]) -> list[Question]:
    """Return the questions of a plan that can be asked and have a right answer, as a test needs."""
    return [asked for asked in map(question_of, items) if asked is not None and not asked.poll]


def question_of(item: Item) -> Question | None:
    """Return the question of an item; None if it has none, or one that cannot be asked."""
    try:
        return None if item.question is None else question(item.question)
    except RefusedError:
        return None


def heading(item: Item) -> str:
    """Return a short heading for an item."""
    if not item.page:
        return "Slide" if item.slide else "Question"
    return item.page.title() if item.link is not None else f"{item.page.title()}, step {item.step}"
