"""Questions: from what a teacher asks for to a prompt, a judge with reasons, and the movie of the answer.

A spec is plain data, kept in the room's events; the same spec makes the same question everywhere. There are three:

    {"prompt": "...", "options": ["...", "..."], "answer": 1}     a question of the teacher's own; may have "reasons",
                                                                  one for each option ("" for none)
    {"kind": "batch_sizes", "sequences": "1 2\\n3", "settings": {"cell": "gru"}, "number": 0, "tap": false}
                                                                  a prediction on a batch; only `kind` is needed
    {"level": 1, "round": 77, "question": 0}                      one of the ten questions of a round of the quiz

Settings have the names of the app's address: those of `packviz.Config`, and read_as, layer and direction. Each may have
a `note`, which only the teacher sees, and `seen`: true asks it once more after its movie, as "What did you see?".
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from random import Random
from typing import Any, get_args

from classroom.own import checked_own, checked_text, own_question
from classroom.question import Film, Form, Question
from classroom.state import RefusedError
from classroom.tapping import tapped
from packviz.compute.record import Refusal, Trace
from packviz.compute.trace import trace
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch, ReadAs
from packviz.inputs.config import Config
from packviz.inputs.examples import EXAMPLES
from packviz.show.movie import movie
from packviz.teach.predictions import KINDS, Prediction, spelled
from packviz.teach.quiz import LEVELS, questions
from packviz.text import quoted
from packviz.validate import choice, integer

Spec = Mapping[str, Any]

MAX_SEQUENCES, MAX_STEPS, MAX_FEATURES = 64, 64, 64
MAX_NOTE = 2000  # characters

_LARGEST = {"hidden_size": 64, "embedding_dim": 32, "padding_idx": 4096, "total_length": 256}
_SETTINGS = set(asdict(Config()))
_WATCHED = ("layer", "direction", "read_as")
_ANY = ("note", "seen")
_KEYS = {
    "prompt": {"prompt", "options", "answer", "reasons", "why", *_ANY},
    "kind": {"kind", "sequences", "settings", "number", "tap", *_ANY},
    "level": {"level", "round", "question", *_ANY},
}
_ONE_AT_A_TIME = threading.RLock()
_TRIES = 60  # batches drawn for a twin


def question(spec: Spec) -> Question:
    """Return the question of a spec; raises RefusedError where there is none. It computes with torch."""
    with _ONE_AT_A_TIME:  # others who ask for the same question wait, and find it cached
        asked = _question(_frozen(spec))
    return replace(asked, prompt=f"What did you see? {asked.prompt}") if spec.get("seen") else asked


def film(spec: Spec) -> Film | None:
    """Return the movie of the answer; None for a question of the teacher's own. It computes with torch."""
    with _ONE_AT_A_TIME:
        return _film(_frozen(spec))


def checked(given: object) -> dict[str, Any]:
    """Return a spec that can be asked, without what it does not need; raises RefusedError for anything else."""
    if not isinstance(given, dict):
        raise RefusedError(400, "A question must be an object with `prompt`, `kind` or `level`.")
    head = next((name for name in _KEYS if name in given), None)
    if head is None:
        raise RefusedError(400, "A question needs `prompt` and `options`, or `kind`, or `level` and `round`.")
    if unknown := sorted(set(given) - _KEYS[head]):
        raise RefusedError(400, f"A question with `{head}` has no field {quoted(str(unknown[0]))}.")
    spec = {**given, **checked_own(given)} if head == "prompt" else dict(given)
    if "note" in spec:
        spec["note"] = checked_text("`note`", spec["note"], MAX_NOTE, least=0)
    if not isinstance(spec.get("seen", False), bool):
        raise RefusedError(400, "`seen` must be true or false.")
    question(spec)
    return spec


def twin(spec: Spec, seed: str) -> dict[str, Any]:
    """Return a question of the same kind and with the same settings on another batch; the same for the same seed.

    Raises RefusedError for a question of the teacher's own, and where no other batch was found.
    """
    if "prompt" in spec:
        raise RefusedError(409, "Your own questions cannot get new numbers: ask a different one.")
    spec, draw = _as_prediction({name: value for name, value in spec.items() if name != "seen"}), Random(seed)
    level = next((level for level in LEVELS.values() if spec["kind"] in level.kinds), LEVELS[2])
    before, found = question(spec), dict[str, Any]()
    in_order = spec.get("settings", {}).get("enforce_sorted") and spec["kind"] != "enforced"  # or torch refuses to pack
    for _ in range(_TRIES):
        text, _config = level.draw(draw, spec["kind"])
        if in_order:
            text = "\n".join(sorted(text.splitlines(), key=lambda row: -len(row.split())))
        other = {**spec, "sequences": text, "number": draw.randrange(4)}
        try:
            new = question(other)
        except RefusedError:
            continue
        if text != spec.get("sequences") and new.form == before.form:
            found = found or other  # a few kinds have the same answer for every batch
            if new.solution != before.solution and len(new.reasons) >= min(2, len(before.reasons)):
                return other
    if not found:
        raise RefusedError(409, "No other batch was found for this question and these settings: ask a different one.")
    return found


@lru_cache(maxsize=256)
def _question(frozen: str) -> Question:
    spec = json.loads(frozen)
    if "prompt" in spec:
        return own_question(spec)
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
    settings = spec.get("settings", {})
    if spec["kind"] == "promised":  # shown with the setting that the question asks about
        spec = {**spec, "kind": "enforced", "settings": {**settings, "enforce_sorted": True}}
    made, asked = _run(spec)
    stage = asked.moment.stage
    backward = asked.key.endswith("_backward") or settings.get("direction") == "backward"
    embeds = made.padded.embedding is not None
    shown = movie(
        made,
        ("pad", "embed") if stage in ("pad", "embed") and embeds else (stage,),
        layer=settings.get("layer") if isinstance(made, Trace) else None,
        direction=int(backward and made.module.bidirectional),
        deep=True,
    )
    step = shown.step_at(stage, asked.moment.timestep, asked.moment.name)
    data = json.dumps(shown.to_dict(), allow_nan=False, separators=(",", ":")).encode()
    return Film(gzip.compress(data, 6, mtime=0), len(shown.steps), step)


def _frozen(spec: Spec) -> str:
    return json.dumps({name: value for name, value in spec.items() if name not in _ANY}, sort_keys=True)


def _as_prediction(spec: Spec) -> dict[str, Any]:
    """Return the spec of a prediction: for a question of the quiz, the prediction that it is."""
    if "level" not in spec:
        return dict(spec)
    at = integer("question", spec.get("question", 0), 0, 9)
    found = questions(spec["level"], spec.get("round", 1), at + 1)[at]
    settings = _changed(found.config)
    return {"kind": found.prediction.key, "sequences": found.text, "settings": settings, "number": found.number}


def _run(spec: Spec) -> tuple[Trace | Refusal, Prediction]:
    """Return torch's run of the batch, and the prediction about it; raises PackvizError and RefusedError."""
    kind = choice("kind", spec["kind"], tuple(KINDS))
    settings = spec.get("settings", {})
    if not isinstance(settings, dict):
        raise RefusedError(400, "`settings` must be an object of names and values.")
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


def _fix(kind: str, made: Trace | Refusal) -> str:
    """Return what would have to change for this kind of question to be possible."""
    if kind == "enforced":
        return "Set enforce_sorted to true, or ask `promised`."
    if isinstance(made, Refusal):
        return "torch refuses to pack these lengths: sort them, set enforce_sorted to false, or ask `enforced`."
    if kind == "promised":
        return "Set enforce_sorted to false, or ask `enforced`."
    if kind.endswith("_backward"):
        return "Set bidirectional to true."
    return "Choose another batch: here the order of equal lengths is torch's choice."


def _about(spec: Spec, made: Trace | Refusal, asked: Prediction) -> Question:
    """Return a prediction as a question of the class, or as one that is answered by tapping a cell."""
    if not isinstance(spec.get("tap", False), bool):
        raise RefusedError(400, "`tap` must be true or false.")
    rows, settings = made.batch.texts if made.batch else (), _code_of(made)
    if asked.key == "promised":  # it asks what another value of enforce_sorted would do
        settings = tuple(each for each in settings if not each.startswith("enforce_sorted"))
    if spec.get("tap"):
        return replace(tapped(made, asked), rows=rows, settings=settings)
    options = list(asked.choices)  # a prediction may always have the right one first
    Random(_frozen(spec)).shuffle(options)
    form: Form = "number" if asked.form == "numbers" and len(asked.answer) == 1 else asked.form
    right: Any = asked.solution
    if form == "choice":
        right = options.index(asked.solution)
    elif form in ("number", "numbers"):
        right = asked.answer[0] if form == "number" else list(asked.answer)
    reasons = {spelled(slip.answer): slip.reason for slip in asked.slips}
    return Question(
        asked.key, asked.prompt, form, right, asked.solution, asked.why, reasons,
        tuple(options), rows, settings, asked.letters, asked.example, asked.single, asked,
    )  # fmt: skip


def _code_of(made: Trace | Refusal) -> tuple[str, ...]:
    """Return the settings as code: the cell, enforce_sorted, and whatever differs from the defaults."""
    config = made.config or Config()
    shown = {"enforce_sorted": config.enforce_sorted} | _changed(config)
    if made.padded.embedding is not None:
        shown["embedding_dim"] = made.padded.embedding.size(1)
    code = [f"{name}={value!r}" for name, value in shown.items() if name not in ("cell", "seed")]
    return f"nn.{config.cell.upper()}", *code


def _changed(config: Config) -> dict[str, Any]:
    """Return the settings that differ from their defaults."""
    defaults = asdict(Config())
    return {name: value for name, value in asdict(config).items() if value != defaults[name]}
