"""Details: the contents of the event for a teacher's action, computed and checked before the action is decided."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from classroom import questions
from classroom.specs import Spec
from classroom.state import RefusedError, State
from packviz.validate import is_integer

_CHECKS = ThreadPoolExecutor(2, "classroom questions")  # so that the loop's own threads stay free for classes


async def checked(spec: object) -> dict[str, Any]:
    """Return a spec that can be asked; raises RefusedError for anything else."""
    return await asyncio.get_running_loop().run_in_executor(_CHECKS, questions.askable, spec)


async def details(state: State, action: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the contents of the event for an action. given: what the teacher sent with it."""
    match action:
        case "ask":
            return await _chosen(state, given.get("question"))
        case "next" if state.upcoming >= len(state.questions):
            raise RefusedError(409, "The list has no more questions.")
        case "open" if state.current is None and state.questions:
            return await _chosen(state, 0)
        case "next":
            return await _chosen(state, state.upcoming)
        case "twin" if state.current is not None:
            seed = f"{state.host} {len(state.asked)}"  # nobody can draw it beforehand
            return {"question": await asyncio.to_thread(questions.twin, state.current.spec, seed)}
        case "reveal" if state.current is not None:
            film = await asyncio.to_thread(questions.film, state.current.spec)
            return {"step": film.step if film else 0, "steps": film.steps if film else 0}
        case "step":
            if not is_integer(step := given.get("step"), 1):
                raise RefusedError(400, "`step` must be the number of a step of the movie, counted from 1.")
            return {"step": min(step, state.steps)}
    return {}


async def _chosen(state: State, given: object) -> dict[str, Any]:
    """Return a question: from the room's list by its index, or as it was sent."""
    if not is_integer(given):
        return {"question": await checked(given)}
    if not 0 <= given < len(state.questions):
        raise RefusedError(400, f"There is no question {given} in the list: it has {len(state.questions)}.")
    spec: Spec = state.questions[given]
    return {"question": spec, "index": given}
