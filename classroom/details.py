"""Details: the contents of the event for a teacher's action, computed and checked before the action is decided."""

from __future__ import annotations

import asyncio
from typing import Any

from classroom import questions
from classroom.questions import Spec
from classroom.refusal import RefusedError
from classroom.state import State

MAX_STEP = 10_000  # where there is no movie
_AT_ONCE = 2  # questions that are checked: the other threads are for classes


class Details:
    """Check questions, a few at once, and compute what belongs to an action."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def checked(self, spec: object) -> dict[str, Any]:
        """Return a spec that can be asked; raises RefusedError for anything else."""
        async with self._free:
            return await asyncio.to_thread(questions.checked, spec)

    async def of(self, state: State, action: str, details: dict[str, Any]) -> dict[str, Any]:
        """Return what the event of an action says, computed and checked before it is decided."""
        if action in ("ask", "next"):
            return await self._chosen(state, action, details)
        if action == "twin" and state.current is not None:
            seed = f"{state.host} {len(state.asked)}"  # nobody can draw it beforehand
            return {"question": await asyncio.to_thread(questions.twin, state.current.spec, seed)}
        if action == "reveal" and state.current is not None:
            film = await asyncio.to_thread(questions.film, state.current.spec)
            return {"step": film.step if film else 0, "steps": film.steps if film else 0}
        if action == "step":
            step = details.get("step")
            if not isinstance(step, int) or isinstance(step, bool) or step < 1:
                raise RefusedError(400, "`step` must be the number of a step of the movie, counted from 1.")
            return {"step": min(step, state.steps or MAX_STEP)}
        return {}

    async def _chosen(self, state: State, action: str, details: dict[str, Any]) -> dict[str, Any]:
        """Return the question that is asked now, from the room's list or given with the request."""
        if action == "next":
            given: object = state.upcoming
            if state.upcoming >= len(state.questions):
                raise RefusedError(409, "The list has no more questions.")
        else:
            given = details.get("question")
        if isinstance(given, int) and not isinstance(given, bool):
            if not 0 <= given < len(state.questions):
                raise RefusedError(400, f"There is no question {given} in the list: it has {len(state.questions)}.")
            spec: Spec = state.questions[given]
            return {"question": spec, "index": given}
        return {"question": await self.checked(given)}
