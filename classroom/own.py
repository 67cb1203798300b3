"""A question of the teacher's own: a prompt, two to six options, and the index of the right one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classroom.question import Question
from classroom.state import RefusedError
from packviz.text import visible
from packviz.validate import is_integer

MAX_PROMPT, MAX_OPTION, MAX_OPTIONS = 500, 200, 6  # characters, and how many options


def own_question(spec: Mapping[str, Any]) -> Question:
    """Return the question of a spec that has been checked."""
    options, right = tuple(spec["options"]), spec["answer"]
    given = zip(options, spec.get("reasons", ()), strict=False)
    reasons = {option: reason for option, reason in given if reason and option != options[right]}
    return Question("own", spec["prompt"], "choice", right, options[right], spec.get("why", ""), reasons, options)


def checked_own(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts of a teacher's own question, as they are shown; raises RefusedError for anything else."""
    options = given.get("options")
    if not isinstance(options, list) or not 2 <= len(options) <= MAX_OPTIONS:
        raise RefusedError(400, f"`options` must be a list of 2 to {MAX_OPTIONS} texts.")
    texts = [checked_text("an option", option, MAX_OPTION) for option in options]
    if len(set(texts)) < len(texts):
        raise RefusedError(400, "Two of the options are the same. Change one of them.")
    right = given.get("answer")
    if not is_integer(right, 0, len(texts) - 1):
        raise RefusedError(400, f"`answer` must be the index of the right option, from 0 to {len(texts) - 1}.")
    reasons = given.get("reasons", [])
    if not isinstance(reasons, list) or len(reasons) not in (0, len(texts)):
        raise RefusedError(400, "`reasons` must be a list of one text for each option, which may be empty.")
    return {
        "prompt": checked_text("`prompt`", given["prompt"], MAX_PROMPT),
        "options": texts,
        "answer": right,
        "reasons": [checked_text("a reason", reason, MAX_PROMPT, least=0) for reason in reasons],
        "why": checked_text("`why`", given.get("why", ""), MAX_PROMPT, least=0),
    }


def checked_text(what: str, given: object, most: int, least: int = 1) -> str:
    """Return a text as it is shown; raises RefusedError unless it has `least` to `most` characters."""
    if not isinstance(given, str) or len(given) > most or len(given.strip()) < least:
        raise RefusedError(400, f"Expected {what} as a text of {least} to {most} characters.")
    return visible(" ".join(given.split()))
