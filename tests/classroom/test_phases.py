"""The phases of a room: what may follow what, what counts, and what a phone sees of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_requests import Phones, taught

from bench.phones import Phone, Room
from classroom.refusal import RefusedError
from classroom.rooms import Rooms
from classroom.store import SqliteStore

OWN = {"prompt": "Which?", "options": ["this", "that"], "answer": 1}
SIZES = {"kind": "batch_sizes", "sequences": "1 2\n3", "settings": {"cell": "gru"}}


async def do(room: Room, *actions: str) -> None:
    for action in actions:
        assert (await room.act(action)).status == 200, action


async def place(phone: Phone) -> str:
    await phone.look()
    return f"{phone.seen['phase']} {phone.seen['round']}"


@taught(OWN)
async def test_talk_and_reveal_close_an_open_vote(room: Room, phones: Phones) -> None:
    for last, begin, number in (("talk", "open", 1), ("reveal", "reopen", 2)):
        await do(room, begin)
        await phones[0].vote(number, 1)
        await do(room, last)
        assert (await place(phones[0]), phones[0].seen["mine"]) == (f"{last} {number}", 1)
        assert (await phones[1].vote(number, 1)).status == 409


@taught(OWN)
async def test_the_teacher_goes_back_as_long_as_nothing_has_been_shown(room: Room, phones: Phones) -> None:
    assert (await room.act("back")).status == 409
    way = ["lobby 1", "vote 1", "closed 1", "talk 1", "vote 2", "closed 2"]
    for action, there in zip(("next", "open", "close", "talk", "reopen", "close"), way, strict=True):
        await do(room, action)
        assert await place(phones[0]) == there
        if action in ("open", "reopen"):
            await phones[0].vote(1 if action == "open" else 2, 1)
    for there in reversed(way[:-1]):
        await do(room, "back")
        assert await place(phones[0]) == there
        assert phones[0].seen["mine"] == 1  # no vote is lost
    assert (await room.act("back")).status == 409
    await do(room, "open", "close", "back")
    await phones[0].vote(1, 0)  # the vote is open again
    await do(room, "close", "reveal")
    assert (await room.act("back")).status == 409
    assert b"This question has no movie." in (await room.act("step", step=2)).body
    await phones[0].look()
    assert [row["before"] for row in phones[0].seen["bars"]] == [1, 0]


@taught(SIZES, SIZES)
async def test_the_movie_of_an_answer_that_was_never_shown_stays_closed(room: Room, phones: Phones) -> None:
    await do(room, "next", "open", "close", "next", "open", "close", "reveal")
    tokens = ((phones[0].token, 1), (phones[0].token, 2), (room.host, 1))
    asked = [f"{phones[0].path}/movie?question={number}&token={token}" for token, number in tokens]
    assert [(await room.line.ask("GET", path)).status for path in asked] == [409, 200, 200]


@taught(OWN)
async def test_a_vote_counts_once_for_each_phone_and_round_and_the_last_one_stands(room: Room, phones: Phones) -> None:
    one, two, _ = phones
    await do(room, "open")
    for answer in (0, 1, 1, 0):
        await one.vote(1, answer)
    await two.vote(1, 1)
    await one.look()
    assert (one.seen["mine"], one.seen["voted"]) == (0, 2)
    await do(room, "close")
    assert (await one.vote(1, 1)).status == 409
    await do(room, "reopen")
    assert await place(one) == "vote 2"
    assert one.seen["mine"] is None
    assert (await one.vote(1, 1)).status == 409  # the first round is over
    await one.vote(2, 1)
    await do(room, "close", "reveal")
    await one.look()
    assert [(row["before"], row["after"]) for row in one.seen["bars"]] == [(1, 0), (1, 1)]


def test_one_address_opens_many_rooms_but_not_any_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACKVIZ_ROOMS", "3")
    rooms = Rooms(SqliteStore(tmp_path))
    for _ in range(3):
        rooms.call(rooms.create([], "192.0.2.1"))
    with pytest.raises(RefusedError) as refusal:
        rooms.call(rooms.create([], "192.0.2.1"))
    assert refusal.value.status == 429
    rooms.call(rooms.create([], "192.0.2.2"))


def test_a_page_is_told_in_a_sentence_that_nothing_can_be_stored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    rooms = Rooms(SqliteStore(tmp_path / "file"))
    with pytest.raises(RefusedError, match=r"^The server cannot write its data\.") as refusal:
        rooms.call(rooms.create([]))
    assert refusal.value.status == 507
