"""The lesson plan as a file: JSON that is read again, from anybody, and HTML for students."""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from msgspec import DecodeError as NotJson
from msgspec import Meta, Struct, ValidationError, convert, json, structs, to_builtins

from classroom.decoding import field_and_problem
from classroom.slide import prompt_html, slide_html
from classroom.specs import check_plan, checked, checked_item
from classroom.state import RefusedError
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.limits import limited_batch
from packviz.show.movie.page import assets, compressed
from packviz.teach.pages import PAGES
from packviz.text import markup
from packviz.validate import choice, integer
from ui.parts.plan import MAX_ITEMS, MAX_NOTE, Item, Plan, heading, question_of
from ui.state.kinds import APP_KINDS, BESIDE
from ui.state.runs import Request, run

MAX_BYTES = 2_000_000  # of a file: a plan within the limits of classroom/specs.py has fewer
NAMES = tuple(page.address for page in PAGES)
_VERSION = 1
_UTF8 = b"\xef\xbb\xbf"  # a mark at the beginning of a file, which some editors write
_PLANS = Path(__file__).parents[1] / "plans"
_PAGE = Path(__file__).parent / "plan.html"


class _PlanFile(Struct, frozen=True, omit_defaults=True):
    """A plan as a file. packviz: what the file is."""

    packviz: str
    version: int
    items: list[Any]
    title: Annotated[str, Meta(max_length=100)] = ""
    goal: Annotated[str, Meta(max_length=MAX_NOTE)] = ""
    minutes: Annotated[int, Meta(ge=0, le=600)] = 0


def as_file(plan: Plan) -> str:
    """Return a plan as JSON."""
    items = [to_builtins(item) for item in plan.items]
    file = _PlanFile("lesson plan", _VERSION, items, plan.title, plan.goal, plan.minutes)
    return json.format(json.encode(file), indent=1).decode()


@cache
def ready_lessons() -> tuple[Plan, ...]:
    """Return the lessons that come with the app."""
    return tuple(_plan(convert(tomllib.loads(path.read_text("utf-8")), _PlanFile)) for path in sorted(_PLANS.iterdir()))


def from_file(data: bytes) -> Plan:
    """Return the plan of a file, checked but not run; raises PackvizError or RefusedError for anything else."""
    try:
        plan = json.decode(data.removeprefix(_UTF8), type=_PlanFile) if len(data) <= MAX_BYTES else None
    except (NotJson, RecursionError):
        plan = None
    if plan is None or plan.packviz != "lesson plan":
        fix = "choose a file that this page has saved"
        raise PackvizError("plan", expected="a lesson plan of packviz", got="another file", fix=fix)
    integer("version", plan.version, 1, _VERSION, fix="open it with a newer version of packviz")
    integer("plan", len(plan.items), 0, MAX_ITEMS, what="a number of items", fix="split the plan in two")
    check_plan(plan.items)
    return _plan(plan)


def _plan(file: _PlanFile) -> Plan:
    items = tuple(_item(f"item {i}", given) for i, given in enumerate(file.items, 1))
    return Plan(items, file.title, file.goal, file.minutes)


def as_html(title: str, items: Sequence[Item]) -> str:
    """Return one page with the questions, movies and slides of a plan, without the notes: it may go to students.

    It works without a server or a network.
    """
    css, js = assets()
    films = [None if item.request is None else compressed(run(item.request).film.to_dict()) for item in items]
    questions = list(map(question_of, items))
    texts = [
        slide_html(item.slide) if item.slide else "" if asked is None else prompt_html(asked)
        for item, asked in zip(items, questions, strict=True)
    ]
    parts = zip(items, map(heading, items), questions, texts, films, strict=True)
    return markup(_PAGE, title=title, css=css, js=js, parts=parts)


def _item(name: str, given: object) -> Item:
    """Return an item as it was read; raises PackvizError or RefusedError, with its place, if something is wrong."""
    try:
        item = convert(given, Item)
        if item.question is not None:
            item = structs.replace(item, question=checked(item.question))
        choice("page", item.page, ("", *NAMES))
        choice("kind", item.kind, tuple(APP_KINDS))
        if item.slide:
            checked_item({"slide": item.slide})
        if item.request is not None:
            _check(item, item.request)
        elif item.question is None and not item.page and not item.slide:
            raise PackvizError(
                "item", got="none of them", expected="a page, a question or a slide", fix="add one, or remove the item"
            )
    except ValidationError as error:
        field, problem = field_and_problem(error)
        place = ", ".join(filter(None, (name, field.strip("`"))))
        raise RefusedError(400, f"{place}: {problem}.") from None
    except RefusedError as refusal:
        raise RefusedError(refusal.status, f"{name}: {refusal.sentence}") from None
    except PackvizError as problem:
        raise PackvizError(
            f"{name}, {problem.parameter}", got=problem.got, expected=problem.expected, fix=problem.fix
        ) from None
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
    most = {part.argument: len(part.values(config)) - 1 for part in kind.computes.watched}
    for name, number in request.watched.items():
        integer(name, number or 0, 0, most.get(name, 0))
