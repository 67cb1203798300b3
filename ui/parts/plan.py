"""The lesson plan: a list of movie steps and questions, saved as one JSON file and exported as one HTML file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args

from classroom.questions import MAX_NOTE as MAX_TOLD
from classroom.questions import checked, question
from classroom.state import RefusedError
from packviz.errors import PackvizError
from packviz.inputs.batch import ReadAs
from packviz.inputs.config import Config
from packviz.inputs.examples import example
from packviz.show.movie import STAGES
from packviz.show.movie.page import assets, packed
from packviz.teach.questions import PAGES
from packviz.text import markup
from packviz.validate import choice, integer
from ui.state.address import MAX_LENGTH, default
from ui.state.runs import BESIDE, Request, Source, View, run

NAMES = tuple(page.address for page in PAGES)
MAX_ITEMS = 100
MAX_BYTES = 1_000_000  # of a file
MAX_NOTE = 500  # characters
_VERSION = 1
_PAGE = Path(__file__).parent / "plan.html"
_TYPES = {"settings": dict, "question": dict, "stages": list, "layer": int, "direction": int}
_TYPES |= dict.fromkeys(("note", "page", "example", "link", "sequences"), str)
_STAGES = (*STAGES, *BESIDE)


@dataclass(frozen=True)
class Item:
    """Hold one item of a plan: a movie step or another page of the app, a question, or both."""

    note: str = ""  # the teacher's own
    page: str = ""  # of the app, by its name in the address; "" for a question alone
    stages: tuple[View, ...] | None = None  # of the movie; None for all stages
    example: str = ""  # this and the next two as in `ui.runs.Source`
    sequences: str | None = None
    read_as: ReadAs = "auto"
    settings: Mapping[str, object] | None = None  # those of a `packviz.Config` that differ from the defaults
    layer: int | None = None
    direction: int = 0
    step: int = 1
    question: Mapping[str, Any] | None = None  # as classroom/questions.py has it
    link: str | None = None  # the query of the address, for a page without a movie

    @property
    def request(self) -> Request | None:
        """Return the run whose movie the item shows; None if it shows none."""
        if not self.page or self.link is not None:
            return None
        source = Source(self.example, self.sequences, self.read_as)
        return Request(source, tuple((self.settings or {}).items()), self.layer, self.direction, self.stages)

    @property
    def asks(self) -> dict[str, Any] | None:
        """Return its question with the note, as a room receives it; None for a step alone."""
        return next(iter(asked_of((self,))), None)


@dataclass
class Plan:
    """A visitor's lesson plan. problem: why a file was refused. touched: whether it was changed in this session."""

    items: tuple[Item, ...] = ()
    problem: str = ""
    touched: bool = False


def item_of(page: str, request: Request, step: int, note: str = "") -> Item:
    """Return what a page shows as an item of a plan."""
    source = request.source
    return Item(
        note, page, request.stages, source.example, source.text, source.read_as, dict(request.settings),
        request.layer, request.direction, step,
    )  # fmt: skip


def about(request: Request) -> dict[str, Any] | None:
    """Return the batch and the settings of a run as a question has them; None for a batch of tensors."""
    source = request.source
    text = example(source.example).text if source.text is None else source.text
    if text is None:
        return None
    return {"sequences": text, "settings": settings_of(request)}


def settings_of(request: Request) -> dict[str, object]:
    """Return the settings of a run that are not the defaults, by their names in the address."""
    way = "backward" if request.direction else "forward"
    watched = {"read_as": request.source.read_as, "layer": request.layer, "direction": way}
    return {name: value for name, value in (dict(request.settings) | watched).items() if value != default(name)}


def asked_of(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return the questions of a plan, as a room receives them; steps without one become part of the previous note."""
    specs, notes = list[Mapping[str, Any]](), [list[str]()]
    for item in items:
        if item.question is not None:
            notes += [[]] if specs else []
            specs.append(item.question)
        notes[-1] += [": ".join(filter(None, ("" if item.question else heading(item), item.note)))]
    told = [" · ".join(filter(None, each))[:MAX_TOLD] for each in notes]
    return [{**spec, **({"note": note} if note else {})} for spec, note in zip(specs, told, strict=False)]


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


def as_file(items: Sequence[Item]) -> str:
    """Return a plan as JSON."""
    bare = asdict(Item())
    told = [{name: value for name, value in asdict(item).items() if value != bare[name]} for item in items]
    return json.dumps({"packviz": "lesson plan", "version": _VERSION, "items": told}, indent=1, ensure_ascii=False)


def from_file(data: bytes) -> tuple[Item, ...]:
    """Return the items of a plan file; raises PackvizError for anything else. It computes each run with torch."""
    try:
        plan = json.loads(data.decode("utf-8-sig")) if len(data) <= MAX_BYTES else None
    except (UnicodeDecodeError, ValueError, RecursionError):
        plan = None
    if not isinstance(plan, dict) or plan.get("packviz") != "lesson plan" or not isinstance(plan.get("items"), list):
        fix = "choose a file that this page has saved"
        raise PackvizError("plan", expected="a lesson plan of packviz", got="another file", fix=fix)
    integer("version", plan.get("version"), 1, _VERSION, fix="open it with a newer version of packviz")
    integer("plan", len(plan["items"]), 0, MAX_ITEMS, what="a number of items", fix="split the plan in two")
    return tuple(_item(f"item {i}", given) for i, given in enumerate(plan["items"], 1))


def as_html(title: str, items: Sequence[Item]) -> str:
    """Return one page with the notes, questions and movies of a plan; it works without a server or a network."""
    css, js = assets()
    asked = [None if item.question is None else question(item.question) for item in items]
    films = [None if item.request is None else packed(run(item.request).film.to_dict()) for item in items]
    parts = zip(items, map(heading, items), asked, films, strict=True)
    return markup(_PAGE, title=title, css=css, js=js, parts=parts)


def heading(item: Item) -> str:
    """Return a short heading for an item."""
    if not item.page:
        return "Question"
    return item.page.title() if item.link is not None else f"{item.page.title()}, step {item.step}"


def _item(name: str, given: object) -> Item:
    """Return an item as it was read; raises PackvizError, with the item's place, where something is wrong with it."""
    try:
        item = Item(**_typed(given))
        if item.question is not None:
            item = replace(item, question=checked(dict(item.question)))
        if item.request is not None:
            integer("step", item.step, 1, len(run(item.request).film.steps))
        elif item.question is None and not item.page:
            raise PackvizError("item", "neither", "a page or a question", "add one, or remove the item")
    except RefusedError as refusal:
        got = refusal.sentence.rstrip(".")
        raise PackvizError(name, got, "a question that can be asked", "change it") from None
    except PackvizError as problem:
        raise PackvizError(f"{name}, {problem.parameter}", problem.got, problem.expected, problem.fix) from None
    return item


def _typed(given: object) -> dict[str, Any]:
    """Return the fields of an item with the types that they should have."""
    if not isinstance(given, dict):
        raise PackvizError("item", "another type", "what this page has saved", "remove it")
    for name in given:
        choice("field", name, [each.name for each in fields(Item)])
    kept = {name: value for name, value in given.items() if value not in (None, [])}
    for name, kind in _TYPES.items():
        if not isinstance(kept.get(name, kind()), kind):
            raise PackvizError(name, expected="what this page has saved", got="another type", fix="save the plan again")
    known = [each.name for each in fields(Config)]
    for name, among in (("settings", known), ("stages", _STAGES)):
        for one in kept.get(name, ()):
            choice(name, one, among)
    choice("page", kept.get("page", ""), ("", *NAMES))
    choice("read_as", kept.get("read_as", "auto"), get_args(ReadAs))
    integer("step", kept.get("step", 1), 1)
    for name, most in (("note", MAX_NOTE), ("link", MAX_LENGTH)):
        integer(name, len(kept.get(name, "")), 0, most, what="a number of characters", fix="shorten it")
    return kept | {"stages": tuple(kept["stages"])} if "stages" in kept else kept
