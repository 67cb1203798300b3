"""Questions: from a spec (specs.py) to a prompt, a judge with reasons, and the movie of the answer or of a step."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any

from classroom.films import film_of_answer, film_of_step
from classroom.question import Answer, Film, Form, Question
from classroom.specs import Spec, batch_and_config, checked, is_poll, run_of
from classroom.state import RefusedError
from classroom.tapping import tapped
from packviz.compute.record import Refusal
from packviz.compute.runs import run_kind_of
from packviz.errors import PackvizError
from packviz.teach.predictions import KINDS, Prediction, spelled
from packviz.teach.quiz import LEVELS, questions

_ANY = ("note", "seen")
_ONE_AT_A_TIME = threading.RLock()
_TRIES = 60  # batches drawn for a twin
_REFUSED = "torch refuses to pack these lengths: sort them, set enforce_sorted to false, or ask `enforced`."


def question(spec: Spec) -> Question:
    """Return the question of a spec; raises RefusedError if there is none. It computes with torch."""
    if "prompt" in spec:  # nothing is computed, and a cache would keep its picture
        asked = _own(spec)
    else:
        with _ONE_AT_A_TIME:  # others who ask for the same question wait, and find it cached
            asked = _question(_frozen(spec))
    between = "\n\n" if "prompt" in spec else " "  # a teacher's Markdown may begin with a block of code
    return replace(asked, prompt=f"What did you see?{between}{asked.prompt}") if spec.get("seen") else asked


def film(spec: Spec) -> Film | None:
    """Return the movie of a question's answer, or of a step; None for a question of the teacher's own.

    It computes with torch.
    """
    if "prompt" in spec:
        return None
    with _ONE_AT_A_TIME:
        return _film(_frozen(spec))


def askable(given: object) -> dict[str, Any]:
    """Return the spec of a question that can be asked; raises RefusedError for anything else.

    It computes with torch.
    """
    spec = checked(given)
    question(spec)
    return spec


def twin(spec: Spec, seed: str) -> dict[str, Any]:
    """Return a question of the same kind and with the same settings on another batch; the same for the same seed.

    Raises RefusedError for a question of the teacher's own, and if no other batch was found.
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
    try:
        spec = _as_prediction(json.loads(frozen))
        made, asked = _run(spec)
        return _about(spec, made, asked)
    except PackvizError as problem:
        raise RefusedError(400, str(problem)) from None


@lru_cache(maxsize=64)
def _film(frozen: str) -> Film:
    spec = json.loads(frozen)
    if "step" in spec:
        return film_of_step(spec["step"])
    spec = _as_prediction(spec)
    settings = spec.get("settings", {})
    if spec["kind"] == "promised":  # shown with the setting that the question asks about
        spec = {**spec, "kind": "enforced", "settings": {**settings, "enforce_sorted": True}}
    made, asked = _run(spec)
    return film_of_answer(made, asked, settings)


def _own(spec: Spec) -> Question:
    """Return a question of the teacher's own; a poll has no answer."""
    kind, options, right = spec.get("kind", "choice"), spec.get("options", ()), spec.get("answer")
    given = zip(options, spec.get("reasons", ()), strict=False)
    reasons = {option: reason for i, (option, reason) in enumerate(given) if reason and i != right}
    why, words = spec.get("why", ""), kind == "text" and spec.get("shown") == "words"
    asked = Question("own", spec["prompt"], kind, right, "", why, reasons, tuple(options), words=words)
    return replace(asked, poll=True) if is_poll(spec) else replace(asked, solution=asked.read(right))


def _frozen(spec: Spec) -> str:
    return json.dumps({name: value for name, value in spec.items() if name not in _ANY}, sort_keys=True)


def _as_prediction(spec: Spec) -> dict[str, Any]:
    """Return the spec of a prediction: for a question of the quiz, the prediction that it is."""
    if "level" not in spec:
        return dict(spec)
    at = spec.get("question", 0)
    found = questions(spec["level"], spec.get("round", 1), at + 1)[at]
    settings = run_kind_of(found.config).changed(found.config)
    return {"kind": found.prediction.key, "sequences": found.text, "settings": settings, "number": found.number}


def _run(spec: Spec) -> tuple[Any, Prediction]:
    """Return torch's run of the batch, and the prediction about it; raises PackvizError and RefusedError."""
    kind, run = spec["kind"], run_of(spec)
    made = run.record(*batch_and_config(spec, run))
    asked = KINDS[kind](made, spec.get("number", 0), anyhow=True)
    if asked is None:
        fix = _REFUSED if isinstance(made, Refusal) else KINDS[kind].fix(made)
        raise RefusedError(400, f"The question `{kind}` cannot be asked here. {fix}")
    return made, asked


def _about(spec: Spec, made: Any, asked: Prediction) -> Question:
    """Return a prediction as a question of the class, or as one that is answered by tapping a cell."""
    rows, code = made.batch.texts if made.batch else (), KINDS[asked.key].subject.code(made)
    hidden = ("enforce_sorted",) if asked.key == "promised" else ()  # it asks what another value of it would do
    settings = tuple(each for name, each in code.items() if name not in hidden)
    if spec.get("tap"):
        return replace(tapped(made, asked), rows=rows, settings=settings)
    options = list(asked.choices)  # a prediction may always have the right one first
    Random(_frozen(spec)).shuffle(options)
    form: Form = "number" if asked.form == "numbers" and len(asked.answer) == 1 else asked.form
    right: Answer = asked.solution
    if form == "choice":
        right = options.index(asked.solution)
    elif form in ("number", "numbers"):
        right = asked.answer[0] if form == "number" else list(asked.answer)
    reasons = {spelled(slip.answer): slip.reason for slip in asked.slips}
    return Question(
        asked.key, asked.prompt, form, right, asked.solution, asked.why, reasons,
        tuple(options), rows, settings, asked.letters, asked.example, asked.single, asked,
    )  # fmt: skip
