"""The lesson plan: steps of movies and questions in an order, kept as one JSON file, and exported as one HTML file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from pathlib import Path
from string import Template
from typing import Any, get_args

from classroom.questions import checked, question
from classroom.refusal import RefusedError
from packviz.errors import PackvizError
from packviz.inputs.batch import ReadAs
from packviz.inputs.config import Config
from packviz.inputs.examples import example
from packviz.show.movie.page import assets, packed
from packviz.text import html, quoted
from packviz.validate import choice, integer
from ui.address import MAX_LENGTH
from ui.path import NAMES
from ui.runs import Request, Source, View, run

PAGES = ("overview", *NAMES)
MAX_ITEMS = 100
MAX_BYTES = 1_000_000  # of a file
MAX_NOTE = 500  # characters
_VERSION = 1
_PAGE = Path(__file__).parent / "plan.html"
_TEXTS = ("note", "page", "example", "link")
_STAGES = ("pad", "embed", "sort", "pack", "run", "unpack", "beside")


@dataclass(frozen=True)
class Item:
    """Hold one item of a plan: a step of a movie, another page of the app, a question, or a question with one of them.

    note: the teacher's own. page: of the app, by its name in the address; "" for a question alone.
    link: what follows the page in the address, where it is one without a movie; None where it has one.
    stages: whose movie it is; None for the whole way. example, sequences, read_as: as in `ui.runs.Source`.
    settings: those of a `packviz.Config` that are not the defaults. question: as classroom/questions.py has it.
    """

    note: str = ""
    page: str = ""
    stages: tuple[View, ...] | None = None
    example: str = ""
    sequences: str | None = None
    read_as: ReadAs = "auto"
    settings: Mapping[str, object] | None = None
    layer: int | None = None
    direction: int = 0
    step: int = 1
    question: Mapping[str, Any] | None = None
    link: str | None = None

    @property
    def request(self) -> Request | None:
        """Return the run whose movie it shows; None where it shows none."""
        if not self.page or self.link is not None:
            return None
        source = Source(self.example, self.sequences, self.read_as)
        return Request(source, tuple((self.settings or {}).items()), self.layer, self.direction, self.stages)

    @property
    def asks(self) -> dict[str, Any] | None:
        """Return its question with the note, as a room gets it; None for a step alone."""
        return None if self.question is None else {**self.question, **({"note": self.note} if self.note else {})}


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
    settings: dict[str, object] = dict(request.settings)
    settings |= {"read_as": source.read_as} if source.read_as != "auto" else {}
    settings |= {"layer": request.layer} if request.layer is not None else {}
    settings |= {"direction": "backward"} if request.direction else {}
    return {"sequences": text, "settings": settings}


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
    """Return the items of a plan's file; raises PackvizError for anything else. It computes each run with torch."""
    try:
        plan = json.loads(data.decode("utf-8-sig")) if len(data) <= MAX_BYTES else None
    except (UnicodeDecodeError, ValueError, RecursionError):
        plan = None
    if not isinstance(plan, dict) or plan.get("packviz") != "lesson plan" or not isinstance(plan.get("items"), list):
        fix = "choose a file that this page has saved"
        raise PackvizError("plan", expected="a lesson plan of packviz", got="another file", fix=fix)
    integer("version", plan.get("version"), 1, _VERSION, fix="open it with a newer packviz")
    integer("plan", len(plan["items"]), 0, MAX_ITEMS, what="a number of items", fix="split the plan in two")
    return tuple(_item(f"item {i}", given) for i, given in enumerate(plan["items"], 1))


def as_html(title: str, items: Sequence[Item]) -> str:
    """Return one page with the notes, questions and movies of a plan, which plays without a server or a network."""
    css, js = assets()
    parts = "".join(_part(i, item) for i, item in enumerate(items, 1))
    return Template(_PAGE.read_text("utf-8")).substitute(title=escape(title), css=css, js=js, parts=parts)


def _part(i: int, item: Item) -> str:
    request, asked = item.request, item.question
    lines = [f"<h2>{i}. {escape(heading(item))}</h2>"]
    if item.note:
        lines.append(f'<p class="note">{escape(item.note)}</p>')
    if asked is not None:
        lines.append(_asked(asked))
    if request is not None:
        film = packed(run(request).film.to_dict())
        lines.append(f'<main class="pv-page" data-step="{item.step}"></main><script type="text/plain">{film}</script>')
    return f"<section>{''.join(lines)}</section>"


def heading(item: Item) -> str:
    """Return what an item is, in a few words."""
    if not item.page:
        return "Question"
    return item.page.title() if item.link is not None else f"{item.page.title()}, step {item.step}"


def _asked(spec: Mapping[str, Any]) -> str:
    """Return a question with its answer folded."""
    asked = question(spec)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in asked.rows)
    settings = " ".join(f"<code>{escape(each)}</code>" for each in asked.settings)
    options = "".join(f"<li>{html(option)}</li>" for option in asked.options)
    answer = html(f"{asked.solution} {asked.why}".strip())
    parts = [f"<p><b>{html(asked.prompt)}</b></p>"]
    parts += [f"<table>{rows}</table>"] if rows else []
    parts += [f"<p>{settings}</p>"] if settings else []
    parts += [f'<ol type="A">{options}</ol>'] if options else []
    return f"{''.join(parts)}<details><summary>Answer</summary><p>{answer}</p></details>"


def _item(name: str, given: object) -> Item:
    """Return an item as it was read; raises PackvizError, with the item's place, where something is wrong with it."""
    if not isinstance(given, dict) or (unknown := set(given) - set(Item.__dataclass_fields__)):
        got = f"{quoted(min(map(str, unknown)))}" if isinstance(given, dict) else "something else"
        raise PackvizError(
            name, expected="note, page, link, stages, sequences, settings, step or question", got=got, fix="remove it"
        )
    try:
        item = replace(Item(), **_typed(given))
        if item.question is not None:
            item = replace(item, question=checked(dict(item.question)))
        if item.request is not None:
            film = run(item.request).film
            integer("step", item.step, 1, len(film.steps))
        elif item.question is None and not item.page:
            raise PackvizError(
                "item", expected="a page or a question", got="neither", fix="add one, or remove the item"
            )
    except RefusedError as refusal:
        raise PackvizError(
            name, expected="a question that can be asked", got=refusal.sentence.rstrip("."), fix="change it"
        ) from None
    except PackvizError as problem:
        raise PackvizError(f"{name}, {problem.parameter}", problem.got, problem.expected, problem.fix) from None
    return item


def _typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an item with the types that they should have."""
    wrong = [
        name
        for name, kind in (("settings", dict), ("question", dict), *((name, str) for name in _TEXTS))
        if given.get(name) is not None and not isinstance(given[name], kind)
    ]
    known = [each.name for each in fields(Config)]
    for name in given.get("settings") or {} if "settings" not in wrong else {}:
        choice("settings", name, known)
    stages = given.get("stages")
    if stages is not None and not (isinstance(stages, list) and stages and set(map(str, stages)) <= set(_STAGES)):
        wrong.append("stages")
    if wrong or not isinstance(given.get("sequences", ""), str):
        name = (wrong or ["sequences"])[0]
        raise PackvizError(name, expected="what this page has saved", got="another type", fix="save the plan again")
    choice("page", given.get("page", ""), ("", *PAGES))
    choice("read_as", given.get("read_as", "auto"), get_args(ReadAs))
    integer("step", given.get("step", 1), 1)
    integer("note", len(given.get("note", "")), 0, MAX_NOTE, what="a number of characters")
    integer("link", len(given.get("link", "")), 0, MAX_LENGTH, what="a number of characters")
    kept = {name: value for name, value in given.items() if value is not None}
    return kept if stages is None else kept | {"stages": tuple(stages)}
