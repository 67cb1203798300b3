"""Actions: what a teacher's action does here, and the contents of its event, computed before the action is decided."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from classroom import questions
from classroom.events import Action, Done, can_undo, offered
from classroom.specs import Spec, check_pictures, checked_item, is_question
from classroom.state import RefusedError, State
from packviz.validate import is_integer

_CHECKS = ThreadPoolExecutor(2, "classroom questions")  # so that the loop's own threads stay free for classes
_CHANNELS = ("pace", "wonder", "confidence")

Prepared = tuple[Done, dict[str, Any]]  # what is done, and the contents of its event


async def checked(spec: object) -> dict[str, Any]:
    """Return a question that can be asked; raises RefusedError for anything else."""
    return await asyncio.get_running_loop().run_in_executor(_CHECKS, questions.askable, spec)


async def checked_of_plan(given: object) -> dict[str, Any]:
    """Return an item of a plan that can be shown; raises RefusedError for anything else."""
    item = await asyncio.get_running_loop().run_in_executor(_CHECKS, checked_item, given)
    return await checked(item) if is_question(item) else item


async def prepared(state: State, action: Action, given: Mapping[str, Any]) -> Prepared:
    """Return what an action does in this state, and the contents of its event. given: what came with it."""
    match action:
        case "next":
            return await _onward(state)
        case "back" if not can_undo(state):
            if (to := state.beside(-1)) is None:
                raise RefusedError(409, "There is nothing before this.")
            return "go", {"to": to}
        case "item":
            return await _chosen_item(state, given.get("item"))
        case "ask":
            return "ask", await _chosen(state, given.get("question"))
        case "open" if state.now is None and state.items and not state.plan:
            return "open", await _chosen(state, 0)
        case "twin" if state.current is not None:
            seed = f"{state.host} {len(state.shown)}"  # nobody can draw it beforehand
            return "twin", {"question": await asyncio.to_thread(questions.twin, state.current.spec, seed)}
        case "reveal" if state.current is not None:
            return "reveal", await _film(state.current.spec)
        case "step":
            if not is_integer(step := given.get("step"), 1):
                raise RefusedError(400, "`step` must be the number of a step of the movie, counted from 1.")
            return "step", {"step": min(step, state.now.steps if state.now is not None else 0)}
        case "show":
            if (wonder := given.get("wonder")) is not None and not is_integer(wonder, 0, len(state.wonders) - 1):
                raise RefusedError(400, "`wonder` must be the id of a question to the teacher, or null.")
            return "show", {"wonder": wonder}
        case "channels":
            return "channels", {"channels": [name for name in _CHANNELS if _is_on(state, name, given)]}
    return action, {}


async def _onward(state: State) -> Prepared:
    """Return one step onward: through the phases of a plan's question, or to what comes after it."""
    if state.plan and state.current is not None and (first := offered(state)[0]) != "next":
        return await prepared(state, first, {})
    if (to := state.beside(1)) is not None:
        return "go", {"to": to}
    if state.upcoming >= len(state.items):
        raise RefusedError(409, "The list has no more items." if state.plan else "The list has no more questions.")
    return await _item(state, state.upcoming)


async def _chosen_item(state: State, given: object) -> Prepared:
    """Return how to show an item: one of the list by its index, or one that was sent."""
    if is_integer(given):
        if not 0 <= given < len(state.items):
            raise RefusedError(400, f"There is no item {given} in the list: it has {len(state.items)} items.")
        return await _item(state, given)
    item = await checked_of_plan(given)
    _check_pictures(state, item)
    if is_question(item):
        return "ask", {"question": item}
    return "put", {"index": None, "item": item, **(await _film(item) if "step" in item else {})}


async def _item(state: State, index: int) -> Prepared:
    """Return how to show an item of the list: again, if a plan's item has been shown."""
    shown = [i for i, each in enumerate(state.shown) if each.index == index]
    if state.plan and shown:
        return "go", {"to": shown[0]}
    item = state.items[index]
    if is_question(item):
        return "ask", {"question": item, "index": index}
    return "put", {"index": index, **(await _film(item) if "step" in item else {})}


async def _film(spec: Spec) -> dict[str, int]:
    film = await asyncio.to_thread(questions.film, spec)
    return {"step": film.step if film else 0, "steps": film.steps if film else 0}


async def _chosen(state: State, given: object) -> dict[str, Any]:
    """Return a question: from the room's list by its index, or as it was sent."""
    if not is_integer(given):
        asked = await checked(given)
        _check_pictures(state, asked)
        return {"question": asked}
    if not 0 <= given < len(state.items) or not is_question(state.items[given]):
        raise RefusedError(400, f"There is no question {given} in the list: it has {len(state.items)} items.")
    return {"question": state.items[given], "index": given}


def _check_pictures(state: State, item: Spec) -> None:
    """Refuse an item if its pictures are too large together with those of all that the room keeps."""
    check_pictures([*state.items, *(each.spec for each in state.shown if each.index is None), item])


def _is_on(state: State, name: str, given: Mapping[str, Any]) -> bool:
    """Return whether a channel is on after a teacher's request, which may leave it as it is."""
    if not isinstance(on := given.get(name, name in state.channels), bool):
        raise RefusedError(400, f"`{name}` must be true or false.")
    return on
