"""Questions: from what a teacher asks for to a prompt, a judge with reasons, and the movie of the answer.

A spec is plain data, kept in the room's events; the same spec makes the same question everywhere. There are three:

    {"prompt": "...", "options": ["...", "..."], "answer": 1}     a question of the teacher's own; may have "reasons",
                                                                  one for each option ("" for none)
    {"kind": "batch_sizes", "sequences": "1 2\\n3", "settings": {"cell": "gru"}, "number": 0, "tap": false}
                                                                  a prediction on a batch; only `kind` is needed
    {"level": 1, "round": 77, "question": 0}                      one of the ten questions of a round of the quiz

Settings have the names of the app's address: those of `packviz.Config`, and read_as, layer and direction.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from random import Random
from typing import Any, Literal, get_args

from classroom.refusal import RefusedError
from classroom.tapping import Tap, tapped
from packviz.compute.record import Trace
from packviz.compute.trace import trace
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch, ReadAs
from packviz.inputs.config import Config
from packviz.inputs.examples import EXAMPLES
from packviz.show.movie import movie
from packviz.teach.predictions import KINDS, Prediction, spelled
from packviz.teach.quiz import LEVELS, questions
from packviz.text import quoted, visible
from packviz.validate import choice, integer

__all__ = ["Film", "Form", "Question", "Spec", "checked", "film", "question", "twin"]

Spec = Mapping[str, Any]
Form = Literal["choice", "number", "numbers", "letters", "cell"]

MAX_SEQUENCES, MAX_STEPS, MAX_FEATURES = 64, 64, 64
MAX_PROMPT, MAX_OPTION, MAX_OPTIONS = 500, 200, 6  # characters, and how many options
MAX_TYPED, MAX_NUMBERS = 200, 64  # characters and numbers of an answer

_LARGEST = {"hidden_size": 64, "embedding_dim": 32, "padding_idx": 4096, "total_length": 256}
_SETTINGS = {each.name for each in fields(Config)}
_WATCHED = ("layer", "direction", "read_as")
_KEYS = {
    "prompt": {"prompt", "options", "answer", "reasons", "why"},
    "kind": {"kind", "sequences", "settings", "number", "tap"},
    "level": {"level", "round", "question"},
}
_TRIES = 300  # batches drawn for a twin


@dataclass(frozen=True)
class Film:
    """Hold the movie of an answer: the player's data as gzipped JSON, how many steps it has, and that of the answer."""

    data: bytes
    steps: int
    step: int


@dataclass(frozen=True, eq=False)
class Question:
    """Hold one question.

    kind      of prediction, "own" for a question of the teacher's own
    form      what is answered: one of the `options`, a number, several numbers, letters of sequences, or a cell
    answer    as it would be sent: the option's index, a number, a list of numbers, a text, or [sequence, time step]
    solution  the same as one would type it
    why       why it is right; "" where nothing is known
    reasons   for each usual wrong answer, as `read` returns it, why it is wrong
    rows      the batch as it came, its tokens as texts; () where there is none
    settings  as code
    """

    kind: str
    prompt: str
    form: Form
    answer: Any
    solution: str
    why: str
    reasons: Mapping[str, str]
    options: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    settings: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    example: str = ""
    single: bool = False
    asked: Prediction | None = None
    tap: Tap | None = None

    @cached_property
    def public(self) -> dict[str, Any]:
        """Return what everybody may see before the answer is shown."""
        names = ("kind", "prompt", "form", "options", "rows", "settings", "letters", "example", "single")
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    def read(self, given: object) -> str:
        """Return an answer in the form in which equal answers are equal; raises RefusedError for anything else."""
        if self.tap is not None:
            return self.tap.read(given)
        if self.form == "choice" and isinstance(given, int) and not isinstance(given, bool):
            if not 0 <= given < len(self.options):
                raise RefusedError(
                    400, f"There is no option {given}: expected an index from 0 to {len(self.options) - 1}."
                )
            return self.options[given]
        typed = _typed(given)
        try:
            if self.asked is not None:
                return spelled(self.asked.read(typed))
            return choice("answer", typed, self.options)
        except PackvizError as problem:
            raise RefusedError(400, problem.sentence) from None

    def reason(self, read: str) -> str:
        """Return why an answer is right or wrong; "" where nothing is known."""
        if read == self.solution:
            return self.why
        if read in self.reasons or self.asked is None or self.tap is not None:
            return self.reasons.get(read, "")
        return self.asked.check(read).reason


def question(spec: Spec) -> Question:
    """Return the question of a spec; raises RefusedError where there is none. It computes with torch."""
    return _question(_frozen(spec))


def film(spec: Spec) -> Film | None:
    """Return the movie of the answer; None for a question of the teacher's own. It computes with torch."""
    return _film(_frozen(spec))


def checked(given: object) -> dict[str, Any]:
    """Return a spec that can be asked, without what it does not need; raises RefusedError for anything else."""
    if not isinstance(given, dict):
        raise RefusedError(400, "A question is an object with `prompt`, `kind` or `level`.")
    head = next((name for name in _KEYS if name in given), None)
    if head is None:
        raise RefusedError(400, "A question needs `prompt` and `options`, or `kind`, or `level` and `round`.")
    if unknown := sorted(set(given) - _KEYS[head]):
        raise RefusedError(400, f"A question with `{head}` has no {quoted(str(unknown[0]))}.")
    spec = {**given, **_own(given)} if head == "prompt" else dict(given)
    question(spec)
    return spec


def twin(spec: Spec, seed: str) -> dict[str, Any]:
    """Return a question of the same kind and with the same settings on another batch; the same for the same seed.

    Raises RefusedError for a question of the teacher's own, and where no other batch was found.
    """
    if "prompt" in spec:
        raise RefusedError(409, "A question of your own has no twin: ask another one.")
    spec, draw = _as_prediction(spec), Random(seed)
    level = next((level for level in LEVELS.values() if spec["kind"] in level.kinds), LEVELS[2])
    before = question(spec)
    for _ in range(_TRIES):
        text, _config = level.draw(draw, spec["kind"])
        other = {**spec, "sequences": text, "number": draw.randrange(4)}
        try:
            new = question(other)
        except RefusedError:
            continue
        if (
            new.solution != before.solution
            and new.form == before.form
            and len(new.reasons) >= min(2, len(before.reasons))
        ):
            return other
        if new.form == "choice" and text != spec.get("sequences"):
            return other  # there are few choices: another batch may well have the same one
    raise RefusedError(409, "No other batch with these settings has this question: ask another one.")


@lru_cache(maxsize=256)
def _question(frozen: str) -> Question:
    spec = json.loads(frozen)
    if "prompt" in spec:
        return _own_question(spec)
    try:
        spec = _as_prediction(spec)
        made, asked = _run(spec)
        return _about(spec, made, asked)
    except PackvizError as problem:
        raise RefusedError(400, str(problem)) from None


@lru_cache(maxsize=64)
def _film(frozen: str) -> Film | None:
    spec = json.loads(frozen)
    if "prompt" in spec:
        return None
    spec = _as_prediction(spec)
    made, asked = _run(spec)
    settings, stage = spec.get("settings", {}), asked.moment.stage
    backward = asked.key.endswith("_backward") or settings.get("direction") == "backward"
    embeds = made.padded.embedding is not None
    shown = movie(
        made,
        ("pad", "embed") if stage in ("pad", "embed") and embeds else (stage,),
        layer=settings.get("layer") if made.error is None else None,
        direction=int(backward and made.module.bidirectional),
        deep=True,
    )
    step = shown.step_at(stage, asked.moment.timestep, asked.moment.name)
    data = json.dumps(shown.to_dict(), allow_nan=False, separators=(",", ":")).encode()
    return Film(gzip.compress(data, 6, mtime=0), len(shown.steps), step)


def _frozen(spec: Spec) -> str:
    return json.dumps(spec, sort_keys=True)


def _as_prediction(spec: Spec) -> dict[str, Any]:
    """Return the spec of a prediction: for a question of the quiz, the prediction that it is."""
    if "level" not in spec:
        return dict(spec)
    at = integer("question", spec.get("question", 0), 0, 9)
    found = questions(spec["level"], spec.get("round", 1), at + 1)[at]
    settings = {each.name: getattr(found.config, each.name) for each in fields(Config)}
    changed = {name: value for name, value in settings.items() if value != getattr(Config(), name)}
    kind = KINDS[found.prediction.key]
    number = next(n for n in range(100) if _same(kind(found.trace, n), found.prediction))
    return {"kind": kind.key, "sequences": found.text, "settings": changed, "number": number}


def _same(one: Prediction | None, other: Prediction) -> bool:
    return one is not None and (one.prompt, one.answer) == (other.prompt, other.answer)


def _run(spec: Spec) -> tuple[Trace, Prediction]:
    """Return torch's run of the batch, and the prediction about it; raises PackvizError and RefusedError."""
    kind = choice("kind", spec["kind"], tuple(KINDS))
    settings = spec.get("settings", {})
    if not isinstance(settings, dict):
        raise RefusedError(400, "`settings` is an object of names and values.")
    if unknown := sorted(set(settings) - _SETTINGS - set(_WATCHED)):
        raise RefusedError(400, f"There is no setting {quoted(str(unknown[0]))}.")
    for name, largest in _LARGEST.items():
        if settings.get(name) is not None:
            integer(name, settings[name], 0, largest)
    config = Config(**{name: value for name, value in settings.items() if name in _SETTINGS})
    integer("layer", settings.get("layer", 0), 0, config.num_layers - 1)
    choice("direction", settings.get("direction", "forward"), ("forward", "backward"))
    read_as = choice("read_as", settings.get("read_as", "auto"), get_args(ReadAs))
    text = spec.get("sequences", EXAMPLES[0].text)
    batch = Batch.parse(text, kind=read_as, max_sequences=MAX_SEQUENCES, max_steps=MAX_STEPS)
    if batch.kind == "vectors" and batch.sequences[0].shape[1] > MAX_FEATURES:
        raise RefusedError(400, f"text: expected at most {MAX_FEATURES} features in each step. Give fewer.")
    made = trace(batch, config)
    asked = KINDS[kind](made, integer("number", spec.get("number", 0), 0, 1000), anyhow=True)
    if asked is None:
        raise RefusedError(400, f"The question `{kind}` cannot be asked here. {_fix(kind, made)}")
    return made, asked


def _fix(kind: str, made: Trace) -> str:
    """Return how a question that cannot be asked of a run might be asked all the same."""
    if kind == "enforced":
        return "Set enforce_sorted to true, or ask `promised`."
    if made.error is not None:
        return "torch refuses to pack these lengths: sort them, set enforce_sorted to false, or ask `enforced`."
    if kind == "promised":
        return "Set enforce_sorted to false, or ask `enforced`."
    if kind.endswith("_backward"):
        return "Set bidirectional to true."
    return "Choose another batch: here torch leaves the order of equal lengths open."


def _about(spec: Spec, made: Trace, asked: Prediction) -> Question:
    """Return the question that a prediction is, or one that is answered by a tap on a cell."""
    if not isinstance(spec.get("tap", False), bool):
        raise RefusedError(400, "`tap` is true or false.")
    rows, settings = made.batch.texts if made.batch else (), _code_of(made)
    if spec.get("tap"):
        tap = tapped(made, asked)
        return Question(
            asked.key, tap.prompt, "cell", list(tap.answer), tap.read(list(tap.answer)), tap.why, tap.reasons,
            rows=rows, settings=settings, tap=tap,
        )  # fmt: skip
    form: Form = "number" if asked.form == "numbers" and len(asked.answer) == 1 else asked.form
    right: Any = asked.solution
    if form == "choice":
        right = asked.choices.index(asked.solution)
    elif form in ("number", "numbers"):
        right = asked.answer[0] if form == "number" else list(asked.answer)
    reasons = {spelled(slip.answer): slip.reason for slip in asked.slips}
    return Question(
        asked.key, asked.prompt, form, right, asked.solution, asked.why, reasons,
        asked.choices, rows, settings, asked.letters, asked.example, asked.single, asked,
    )  # fmt: skip


def _code_of(made: Trace) -> tuple[str, ...]:
    """Return the settings as code: the cell, enforce_sorted, and whatever differs from the defaults."""
    config = made.config or Config()
    names = [each.name for each in fields(Config) if each.name not in ("cell", "enforce_sorted", "seed")]
    changed = {name: getattr(config, name) for name in names if getattr(config, name) != getattr(Config(), name)}
    if made.padded.embedding is not None:
        changed["embedding_dim"] = made.padded.embedding.size(1)
    shown = {"enforce_sorted": config.enforce_sorted, **changed}
    return f"nn.{config.cell.upper()}", *(f"{name}={value!r}" for name, value in shown.items())


def _own_question(spec: Spec) -> Question:
    options, right = tuple(spec["options"]), spec["answer"]
    given = zip(options, spec.get("reasons", ()), strict=False)
    reasons = {option: reason for option, reason in given if reason and option != options[right]}
    return Question("own", spec["prompt"], "choice", right, options[right], spec.get("why", ""), reasons, options)


def _own(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts of a teacher's own question, as they are shown; raises RefusedError for what is none."""
    options = given.get("options")
    if not isinstance(options, list) or not 2 <= len(options) <= MAX_OPTIONS:
        raise RefusedError(400, f"`options` is a list of 2 to {MAX_OPTIONS} texts.")
    texts = [_text("an option", option, MAX_OPTION) for option in options]
    if len(set(texts)) < len(texts):
        raise RefusedError(400, "Two of the options are the same. Change one of them.")
    right = given.get("answer")
    if not isinstance(right, int) or isinstance(right, bool) or not 0 <= right < len(texts):
        raise RefusedError(400, f"`answer` is the index of the right option, from 0 to {len(texts) - 1}.")
    spec: dict[str, Any] = {"prompt": _text("`prompt`", given["prompt"], MAX_PROMPT), "options": texts, "answer": right}
    reasons = given.get("reasons", [])
    if not isinstance(reasons, list) or len(reasons) not in (0, len(texts)):
        raise RefusedError(400, "`reasons` is a list with one text for each option, an empty one where there is none.")
    spec["reasons"] = [_text("a reason", reason, MAX_PROMPT, least=0) for reason in reasons]
    spec["why"] = _text("`why`", given.get("why", ""), MAX_PROMPT, least=0)
    return spec


def _text(what: str, given: object, most: int, least: int = 1) -> str:
    if not isinstance(given, str) or len(given) > most or len(given.strip()) < least:
        raise RefusedError(400, f"Expected {what} as a text of {least} to {most} characters.")
    return visible(" ".join(given.split()))


def _typed(given: object) -> str:
    """Return an answer as one would type it."""
    items: Sequence[object] = given if isinstance(given, list) else [given]
    if len(items) > MAX_NUMBERS or not all(isinstance(item, int | float | str) for item in items):
        raise RefusedError(400, f"`answer` is a number, a text, or a list of at most {MAX_NUMBERS} of them.")
    typed = " ".join(str(item) for item in items)
    if len(typed) > MAX_TYPED or any(isinstance(item, bool) for item in items):
        raise RefusedError(
            400, f"`answer` is a number, a text of at most {MAX_TYPED} characters, or a list of numbers."
        )
    return typed
