"""The ready lessons, each played to its end by phones that are HTTP clients."""

from typing import Any

import pytest
from test_plan_room import lecture
from test_requests import Phones

from ui.parts.plan import Plan, shown_of
from ui.parts.plan_file import ready_lessons

LESSONS = {lesson.title: lesson for lesson in ready_lessons()}


def test_each_ready_lesson_has_a_goal_minutes_and_a_note_for_each_item() -> None:
    assert [*LESSONS] == [
        "PackedSequence in 20 minutes", "Which hidden state?", "Does padding hurt?", "Packing for transformers",
    ]  # fmt: skip
    for lesson in LESSONS.values():
        assert len(lesson.items) >= 10
        assert 15 <= lesson.minutes <= 45
        assert lesson.goal.startswith("Students can ")
        assert all(item.note.startswith("Minute ") for item in lesson.items)
        assert {kind_of(item) for item in shown_of(lesson.items)} == {"slide", "step", "question"}


def kind_of(item: dict[str, Any]) -> str:
    return next((name for name in ("slide", "step") if name in item), "question")


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
async def test_a_ready_lesson_is_played_to_its_end(address: str, lesson: Plan) -> None:
    items = shown_of(lesson.items)
    seen_items, right = list[int](), list[bool | None]()
    async with lecture(address, *items, phones=3) as (room, phones):
        while (await room.act("next")).status == 200:
            seen = await room.seen()
            if seen["phase"] == "vote":
                await vote(phones, seen)
            elif seen["phase"] == "reveal" and seen["kind"] == "question":
                await phones[0].look()
                right.append(phones[0].seen["right"])
                assert phones[0].seen["bars"]
            elif seen["kind"] == "step":
                film = await phones[0].line.ask("GET", f"/{seen['movie']['path']}&token={phones[0].token}")
                assert film.status == 200
            if seen["item"] not in seen_items:
                seen_items.append(seen["item"])
        assert seen_items == list(range(len(items)))
        questions = [item for item in items if kind_of(item) == "question"]
        assert len(right) == len(questions)
        assert set(right) <= {True, None}  # this phone always knows the answer, unless there is none
        for phone in phones:
            assert [note for note in (item["note"] for item in items) if note.encode() in phone.line.heard] == []


async def vote(phones: Phones, seen: dict[str, Any]) -> None:
    """Let one phone give the right answer, if there is one, and the others a usual wrong one, if there is one."""
    poll = seen["answer"] is None
    right = {"choice": 0, "text": "two words"}[seen["question"]["form"]] if poll else seen["answer"]
    wrong = [each["answer"] for each in seen["reasons"] if seen["question"]["form"] != "cell"]
    for i, phone in enumerate(phones):
        answer = wrong[i % len(wrong)] if i and wrong else right
        reply = await phone.vote(seen["round"], answer)
        assert reply.status == 200, reply.data
