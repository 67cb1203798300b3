"""Specs: what a teacher may put into a room or a plan, as plain data that is checked here without being run.

A spec is kept in the room's events; the same spec makes the same question everywhere. A question is one of

    {"prompt": "...", "options": ["...", "..."], "answer": 1}     the teacher's own; may have "reasons", one for each
                                                                  option ("" for none), and "why". Without "answer" it
                                                                  is a poll
    {"prompt": "...", "kind": "number", "answer": 6}              the same, answered by a number, or "text" by a text;
                                                                  texts without a right one are "shown" as a "list"
                                                                  or as counted "words". A prompt is Markdown, as a
                                                                  slide is
    {"kind": "batch_sizes", "sequences": "1 2\\n3", "settings": {"cell": "gru"}, "number": 0, "tap": false}
                                                                  a prediction on a batch; only `kind` is needed
    {"level": 1, "round": 77, "question": 0}                      one of the ten questions of a round of the quiz

and an item of a plan is a question,

    {"slide": "Markdown"}                                         with code, math, and one picture as a data: address
    {"step": {"stage": "pack", "number": 3, "sequences": "1 2\\n3", "settings": {}}}
                                                                  a movie at a step; of all stages without a `stage`;
                                                                  with "kind": "rows" it is a movie of rows

Settings are those of `packviz.Config`, and read_as, layer and direction; in questions and steps about rows they are
those of `packviz.RowConfig`, and read_as, watched_layer and watched_head. Each item may have a `note`, which only the
teacher sees; and a question `seen`: true asks it once more after its movie.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct, to_builtins

from classroom.decoding import decoded
from classroom.slide import PICTURE, rendered
from classroom.state import RefusedError
from packviz.compute.runs import PACKING_RUN, RUN_KINDS, RunKind
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch, ReadAs
from packviz.inputs.examples import EXAMPLES
from packviz.inputs.limits import limited_batch
from packviz.show.movie.kinds import MOVIE_KINDS
from packviz.show.movie.possible import BESIDE
from packviz.teach.predictions import KINDS
from packviz.teach.quiz import LAST_ROUND, LEVELS
from packviz.text import quoted, visible
from packviz.validate import choice

Spec = Mapping[str, Any]

MAX_PROMPT, MAX_OPTION, MAX_OPTIONS, MAX_NOTE = 500, 200, 6, 2000  # characters, and how many options
MAX_QUESTION, MAX_SLIDE = 2000, 8000  # characters of a prompt and of a slide, without the picture
MAX_PICTURE, MAX_PICTURES = 300_000, 700_000  # bytes of one, and of all pictures of a plan or a room
MAX_PLAN = 128 * 1024  # characters of a plan as JSON, without its pictures
MAX_CELLS = (
    10_000  # lines times the most bars in one: a short row of a table is filled up, so few characters become many
)
MAX_HTML = 100_000  # characters of Markdown as HTML, which is in every phone's snapshot

_STAGES: dict[str, tuple[str | None, ...]] = {  # of a step, by the name of its kind of run
    run.name: (None, *(stage.name for stage in movie.stages))
    for run in RUN_KINDS.values()
    for movie in MOVIE_KINDS
    if movie.records == run.records
}
_STAGES[PACKING_RUN.name] += (BESIDE,)
_Text = Annotated[str, Meta(max_length=MAX_PROMPT)]


class _Spec(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What every spec may have."""

    note: Annotated[str, Meta(max_length=MAX_NOTE)] = ""


class Own(_Spec, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A question of the teacher's own. answer: the option's index, a number or a text; None for a poll."""

    prompt: str
    kind: Literal["choice", "number", "text"] = "choice"
    shown: Literal["list", "words"] = "list"
    options: list[Annotated[str, Meta(max_length=MAX_OPTION)]] = []
    answer: int | float | str | None = None
    reasons: list[_Text] = []
    why: _Text = ""
    seen: bool = False


class Predicted(_Spec, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A prediction. number: which row, step or sequence it asks about. tap: whether it is answered by tapping."""

    kind: str
    sequences: str = EXAMPLES[0].text or ""
    settings: dict[str, Any] = {}
    number: Annotated[int, Meta(ge=0, le=1000)] = 0
    tap: bool = False
    seen: bool = False


class OfQuiz(_Spec, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A question of a round of the quiz."""

    level: Annotated[int, Meta(ge=1, le=len(LEVELS))]
    round: Annotated[int, Meta(ge=1, le=LAST_ROUND)] = 1
    question: Annotated[int, Meta(ge=0, le=9)] = 0
    seen: bool = False


class Slide(_Spec, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A slide of the teacher's own, in Markdown."""

    slide: str


class StepSpec(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A step of a movie.

    kind: of run. stage: None for all. number: of the step in that movie, counted from 1.
    """

    kind: str = PACKING_RUN.name
    stage: str | None = None
    number: Annotated[int, Meta(ge=1, le=100_000)] = 1
    sequences: str = EXAMPLES[0].text or ""
    settings: dict[str, Any] = {}


class StepItem(_Spec, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A step of a movie as an item of a plan."""

    step: StepSpec


_QUESTIONS: Mapping[str, type[_Spec]] = {"prompt": Own, "kind": Predicted, "level": OfQuiz}  # by the first name present
_ITEMS: Mapping[str, type[_Spec]] = {"slide": Slide, "step": StepItem, **_QUESTIONS}


def checked(given: object) -> dict[str, Any]:
    """Return the spec of a question, without defaults and with its texts as they are shown.

    Raises RefusedError for anything else. The batch and the settings are read, but not run: `questions.question` may
    still refuse it.
    """
    return _checked(given, _QUESTIONS, "A question needs `prompt`, or `kind`, or `level` and `round`.")


def checked_item(given: object) -> dict[str, Any]:
    """Return the spec of an item of a plan: a question, a slide or a step; raises RefusedError for anything else."""
    return _checked(given, _ITEMS, "An item needs `slide`, `step`, `prompt`, `kind`, or `level` and `round`.")


def check_plan(items: object) -> None:
    """Check the size of a plan as it came, before each of its items is read; raises RefusedError."""
    try:
        text = json.dumps(items, ensure_ascii=False)
    except RecursionError:
        raise RefusedError(400, "The items are nested too deeply.") from None
    if len(PICTURE.sub("", text)) > MAX_PLAN:
        raise RefusedError(413, f"The plan is too large: at most {MAX_PLAN // 1024} kB without its pictures. Split it.")
    _check_pictures(text)


def check_pictures(specs: Sequence[Spec]) -> None:
    """Check the size of all pictures of a plan or a room in sum; raises RefusedError."""
    _check_pictures("".join(f"{spec.get('slide', '')}{spec.get('prompt', '')} " for spec in specs))


def _check_pictures(text: str) -> None:
    size = sum(len(data) for _, data in PICTURE.findall(text)) * 3 // 4
    if size > MAX_PICTURES:
        most = MAX_PICTURES // 1000
        raise RefusedError(
            413, f"All pictures together have {size // 1000} kB, of at most {most} kB. Make them smaller."
        )


def is_question(item: Spec) -> bool:
    """Return whether an item is a question."""
    return not {"slide", "step"} & set(item)


def is_poll(item: Spec) -> bool:
    """Return whether an item is a question without a right answer."""
    return "prompt" in item and item.get("answer") is None


def run_of(spec: Spec) -> RunKind:
    """Return the kind of run that a prediction is about."""
    return KINDS[spec["kind"]].subject.run


def batch_and_config(about: Spec, run: RunKind) -> tuple[Batch, Any]:
    """Return the batch and the settings of a prediction or a step, within the limits; raises PackvizError."""
    settings, names = about.get("settings", {}), set(asdict(run.config()))
    if unknown := sorted(set(settings) - names - {"read_as", *(each.name for each in run.watched)}):
        raise PackvizError("settings", got=quoted(str(unknown[0])), expected="names of settings", fix="leave it out")
    config = run.config(**{name: value for name, value in settings.items() if name in names})
    run.watching(settings, config)
    read_as = choice("read_as", settings.get("read_as", "auto"), get_args(ReadAs))
    batch = limited_batch(about.get("sequences", EXAMPLES[0].text), read_as)
    run.check(batch, config)
    return batch, config


def _checked(given: object, kinds: Mapping[str, type[_Spec]], otherwise: str) -> dict[str, Any]:
    head = next((name for name in kinds if isinstance(given, dict) and name in given), None)
    if head is None:
        raise RefusedError(400, otherwise)
    spec = decoded(given, kinds[head], "The question")
    known: dict[str, Any] = to_builtins(spec)
    try:
        match spec:
            case Own():
                known |= _own(spec)
            case Slide():
                _check_markdown("slide", spec.slide, MAX_SLIDE)
                _check_html("slide", spec.slide)
            case Predicted():
                choice("kind", spec.kind, tuple(KINDS))
                batch_and_config(known, run_of(known))
            case StepItem():
                choice("kind", spec.step.kind, tuple(RUN_KINDS))
                choice("stage", spec.step.stage, _STAGES[spec.step.kind])
                batch_and_config(known["step"], RUN_KINDS[spec.step.kind])
    except PackvizError as problem:
        raise RefusedError(400, str(problem)) from None
    return known


def _own(spec: Own) -> dict[str, Any]:
    """Return the texts of a teacher's own question, as they are shown; raises RefusedError for what does not fit."""
    texts = [_shown(option) for option in spec.options]
    _check_markdown("prompt", spec.prompt, MAX_QUESTION)
    _check_html("prompt", prompt := _lines(spec.prompt))
    if spec.kind == "choice":
        if not 2 <= len(texts) <= MAX_OPTIONS or not all(texts):
            raise RefusedError(400, f"`options` must be a list of 2 to {MAX_OPTIONS} texts that are not empty.")
        if len(set(texts)) < len(texts):
            raise RefusedError(400, "Two of the options are the same. Change one of them.")
        if spec.answer is not None and not (type(spec.answer) is int and 0 <= spec.answer < len(texts)):
            raise RefusedError(400, f"`answer` must be the index of the right option, from 0 to {len(texts) - 1}.")
    elif spec.options:
        raise RefusedError(400, "Only a choice has `options`.")
    elif spec.kind == "number" and isinstance(spec.answer, str):
        raise RefusedError(400, "`answer` must be a number.")
    elif spec.kind == "text" and not (spec.answer is None or (isinstance(spec.answer, str) and spec.answer.strip())):
        raise RefusedError(400, "`answer` must be a text.")
    if len(spec.reasons) not in (0, len(texts)):
        raise RefusedError(400, "`reasons` must be a list of one text for each option, which may be empty.")
    known: dict[str, Any] = {"prompt": prompt}
    if texts:
        known["options"] = texts
    if any(spec.reasons):
        known["reasons"] = [_shown(reason) for reason in spec.reasons]
    return known | ({"why": _shown(spec.why)} if spec.why else {})


def _shown(text: str) -> str:
    """Return a text as it is shown: on one line, with what cannot be seen made visible."""
    return visible(" ".join(text.split()))


def _lines(text: str) -> str:
    """Return Markdown as it is shown: with what cannot be seen made visible in each of its lines."""
    return "\n".join(visible(line) if line.strip() else "" for line in text.expandtabs(4).strip("\r\n").splitlines())


def _check_markdown(name: str, text: str, most: int) -> None:
    """Check the length of Markdown and the size of its picture; raises RefusedError. name: of the field."""
    pictures = PICTURE.findall(text)
    if len(pictures) > 1:
        raise RefusedError(400, f"`{name}` can have one picture, and this one has {len(pictures)}.")
    if len(PICTURE.sub("", text)) > most or not text.strip():
        raise RefusedError(400, f"`{name}` must be Markdown of 1 to {most} characters, with at most one picture.")
    for _kind, data in pictures:
        try:
            size = len(base64.b64decode(data, validate=True))
        except binascii.Error:
            raise RefusedError(400, f"The picture in `{name}` is not valid base64.") from None
        if size > MAX_PICTURE:
            most_kb = MAX_PICTURE // 1000
            raise RefusedError(400, f"The picture has {size // 1000} kB. Choose one of at most {most_kb} kB.")


def _check_html(name: str, text: str) -> None:
    """Check the size of Markdown as HTML; raises RefusedError. It is kept as it is rendered here."""
    lines = text.replace("\r", "\n").split("\n")
    if len(lines) * max(line.count("|") for line in lines) > MAX_CELLS:
        raise RefusedError(400, f"The tables in `{name}` have too many cells. Make them smaller.")
    if (size := len(rendered(text, ""))) > MAX_HTML:
        most = MAX_HTML // 1000
        raise RefusedError(400, f"`{name}` becomes {size // 1000} kB of HTML, of at most {most} kB. Use less math.")
