"""The lesson plan: a list of movie steps and questions, saved as one JSON file and exported as one HTML file."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from msgspec import DecodeError as NotJson
from msgspec import Meta, Struct, ValidationError, convert, json, structs, to_builtins

from classroom.decoding import told
from classroom.question import Question
from classroom.questions import question
from classroom.slide import prompt_html, slide_html
from classroom.specs import MAX_NOTE as MAX_TOLD
from classroom.specs import checked, checked_item
from classroom.state import RefusedError
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch, ReadAs
from packviz.inputs.examples import example
from packviz.inputs.limits import limited_batch
from packviz.show.movie.page import assets, packed
from packviz.teach.questions import PAGES
from packviz.text import markup
from packviz.validate import choice, integer
from ui.state.address import MAX_LENGTH
from ui.state.kinds import BESIDE, KINDS, PACKING, ROWS, MovieStage
from ui.state.names import default
from ui.state.runs import Request, Source, run

NAMES = tuple(page.address for page in PAGES)
MAX_ITEMS = 100
MAX_BYTES = 1_000_000  # of a file
MAX_NOTE = 500  # characters
_VERSION = 1
_UTF8 = b"\xef\xbb\xbf"  # a mark at the beginning of a file, which some editors write
_SAVED = "what this page has saved"
_LESSONS = Path(__file__).parents[1] / "lessons"
_PAGE = Path(__file__).parent / "plan.html"


class Item(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One item of a plan: a movie step or another page of the app, a question, or both."""

    note: Annotated[str, Meta(max_length=MAX_NOTE)] = ""  # the teacher's own
    page: str = ""  # of the app, by its name in the address; "" for a question alone
    stages: tuple[MovieStage, ...] | None = None  # of the movie; None for all stages
    example: str = ""  # this and the next two as in `ui.runs.Source`
    sequences: str | None = None
    read_as: ReadAs = "auto"
    kind: str = PACKING.name  # of run
    settings: dict[str, Any] | None = None  # those of its config that differ from the defaults
    layer: int | None = None
    direction: int = 0
    head: int = 0
    step: Annotated[int, Meta(ge=1)] = 1
    question: dict[str, Any] | None = None  # as classroom/questions.py has it
    link: Annotated[str, Meta(max_length=MAX_LENGTH)] | None = None  # the query of the address, if it has no movie
    slide: str = ""  # Markdown, as classroom/specs.py has it

    @property
    def request(self) -> Request | None:
        """Return the run whose movie the item shows; None if it shows none."""
        if not self.page or self.link is not None:
            return None
        source = Source(self.example, self.sequences, self.read_as)
        settings = tuple((self.settings or {}).items())
        return Request(source, settings, self.layer, self.direction, self.stages, KINDS[self.kind], self.head)

    @property
    def asks(self) -> dict[str, Any] | None:
        """Return its question with the note, as a room receives it; None for a step or a slide."""
        noted = {"note": self.note} if self.note else {}
        return None if self.question is None else {**self.question, **noted}


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


class _PlanFile(Struct, frozen=True, omit_defaults=True):
    """A plan as a file. packviz: what the file is."""

    packviz: str
    version: int
    items: list[Any]
    title: Annotated[str, Meta(max_length=100)] = ""
    goal: Annotated[str, Meta(max_length=MAX_NOTE)] = ""
    minutes: Annotated[int, Meta(ge=0, le=600)] = 0


def item_of(page: str, request: Request, step: int, note: str = "") -> Item:
    """Return what a page shows as an item of a plan."""
    source = request.source
    return Item(
        note, page, request.stages, source.example, source.text, source.read_as, request.kind.name,
        dict(request.settings), request.layer, request.direction, request.head, step,
    )  # fmt: skip


def about(request: Request) -> dict[str, Any] | None:
    """Return the batch and the settings of a run as a question has them; None for a batch of tensors."""
    source = request.source
    text = example(source.example).text if source.text is None else source.text
    if text is None:
        return None
    return {"sequences": text, "settings": _settings_of_spec(request)}


def _settings_of_spec(request: Request) -> dict[str, object]:
    """Return the settings that are not the defaults, and what is watched, as class questions name them."""
    kind, watched = request.kind, _watched(request)
    if kind is ROWS and "layer" in watched:  # which is also the name of a setting
        watched["watched_layer"] = watched.pop("layer")
    return {name: value for name, value in request.settings if value != kind.defaults[name]} | watched


def settings_of(request: Request) -> dict[str, object]:
    """Return the settings of a run that are not the defaults, by their names in the address."""
    settings = {request.kind.names[name]: value for name, value in request.settings}
    return {name: value for name, value in settings.items() if value != default(name)} | _watched(request)


def _watched(request: Request) -> dict[str, object]:
    """Return how the text is read, and what of the run is watched, if that is not the default."""
    way = "backward" if request.direction else "forward"
    watched = {
        "read_as": request.source.read_as,
        "layer": request.layer,
        "direction": way,
        "watched_head": request.head,
    }
    return {name: value for name, value in watched.items() if value != default(name)}


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


def as_file(plan: Plan) -> str:
    """Return a plan as JSON."""
    items = [to_builtins(item) for item in plan.items]
    file = _PlanFile("lesson plan", _VERSION, items, plan.title, plan.goal, plan.minutes)
    return json.format(json.encode(file), indent=1).decode()


@cache
def ready_lessons() -> tuple[Plan, ...]:
    """Return the lessons that come with the app."""
    return tuple(
        _plan(convert(tomllib.loads(path.read_text("utf-8")), _PlanFile)) for path in sorted(_LESSONS.iterdir())
    )


def from_file(data: bytes) -> Plan:
    """Return the plan of a file, checked but not run; raises PackvizError for anything else."""
    try:
        plan = json.decode(data.removeprefix(_UTF8), type=_PlanFile) if len(data) <= MAX_BYTES else None
    except (NotJson, RecursionError):
        plan = None
    if plan is None or plan.packviz != "lesson plan":
        fix = "choose a file that this page has saved"
        raise PackvizError("plan", expected="a lesson plan of packviz", got="another file", fix=fix)
    integer("version", plan.version, 1, _VERSION, fix="open it with a newer version of packviz")
    integer("plan", len(plan.items), 0, MAX_ITEMS, what="a number of items", fix="split the plan in two")
    return _plan(plan)


def _plan(file: _PlanFile) -> Plan:
    items = tuple(_item(f"item {i}", given) for i, given in enumerate(file.items, 1))
    return Plan(items, file.title, file.goal, file.minutes)


def as_html(title: str, items: Sequence[Item]) -> str:
    """Return one page with the questions, movies and slides of a plan, without the notes: it may go to students.

    It works without a server or a network.
    """
    css, js = assets()
    films = [None if item.request is None else packed(run(item.request).film.to_dict()) for item in items]
    questions = list(map(_asked, items))
    texts = [
        slide_html(item.slide) if item.slide else "" if asked is None else prompt_html(asked)
        for item, asked in zip(items, questions, strict=True)
    ]
    parts = zip(items, map(heading, items), questions, texts, films, strict=True)
    return markup(_PAGE, title=title, css=css, js=js, parts=parts)


def asked_in(items: Sequence[Item]) -> list[Question]:
    """Return the questions of a plan that can be asked and have a right answer, as a test needs."""
    return [asked for asked in map(_asked, items) if asked is not None and not asked.is_poll]


def _asked(item: Item) -> Question | None:
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


def _item(name: str, given: object) -> Item:
    """Return an item as it was read; raises PackvizError, with the item's place, if something is wrong with it."""
    try:
        item = convert(given, Item)
        if item.question is not None:
            item = structs.replace(item, question=checked(item.question))
        choice("page", item.page, ("", *NAMES))
        choice("kind", item.kind, tuple(KINDS))
        if item.slide:
            checked_item({"slide": item.slide})
        if item.request is not None:
            _check(item, item.request)
        elif item.question is None and not item.page and not item.slide:
            raise PackvizError("item", "none of them", "a page, a question or a slide", "add one, or remove the item")
    except ValidationError as error:
        field, problem = told(error)
        raise PackvizError(
            ", ".join(filter(None, (name, field.strip("`")))), problem, _SAVED, "save it again"
        ) from None
    except RefusedError as refusal:
        got = refusal.sentence.rstrip(".")
        raise PackvizError(name, got, "what a room can show", "change it") from None
    except PackvizError as problem:
        raise PackvizError(f"{name}, {problem.parameter}", problem.got, problem.expected, problem.fix) from None
    return item


def _check(item: Item, request: Request) -> None:
    """Check the batch and the settings of a run that is not made yet; raises PackvizError."""
    kind = request.kind
    for setting in item.settings or ():
        choice("settings", setting, tuple(kind.names))
    for stage in item.stages or ():
        choice("stages", stage, (*kind.stages, *BESIDE))
    source, config = request.source, request.config
    batch = Batch.example(source.example) if source.text is None else limited_batch(source.text, source.read_as)
    kind.computes.check(batch, config)
    integer("layer", item.layer or 0, 0, config.num_layers - 1)
    integer("direction", item.direction, 0, 1)
    integer("head", item.head, 0, getattr(config, "num_heads", 1) - 1)
