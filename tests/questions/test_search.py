"""A pasted error or a few words find the entry, whatever else stands around them."""

import random
import re

import pytest

from packviz.questions import ENTRIES, Entry, search

MESSAGES = [(entry, message) for entry in ENTRIES for message in entry.messages]


def others(message: str, seed: int) -> str:
    """Return the message as somebody else gets it: other numbers."""
    draw = random.Random(seed)
    return re.sub(r"\d+", lambda _: str(draw.randint(2, 999)), message)


@pytest.mark.parametrize(("entry", "message"), MESSAGES, ids=lambda value: getattr(value, "key", "")[:40])
def test_an_error_with_other_numbers_finds_an_entry_that_has_it(entry: Entry, message: str) -> None:
    typed = others(message, len(message))
    same = [each for each in ENTRIES if any(words(message) == words(other) for other in each.messages)]
    found = search(typed)
    assert found[0] in same or entry in found[:3], [each.key for each in found]


@pytest.mark.parametrize(("entry", "message"), MESSAGES, ids=lambda value: getattr(value, "key", "")[:40])
def test_a_whole_traceback_finds_it_too(entry: Entry, message: str) -> None:
    typed = f"""Traceback (most recent call last):
  File "train.py", line 71, in <module>
    output, hidden = model(inputs, lengths)
  File "model.py", line 18, in forward
    packed = self.rnn(x)
{others(message, 7)}
"""
    assert search(message)[0] in search(typed)[:2]
    assert entry in search(typed)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_an_entry_is_found_by_its_own_question(entry: Entry) -> None:
    assert entry in search(entry.question)[:3]


def test_nothing_is_found_for_nothing_and_for_nonsense() -> None:
    assert search("") == search(" \n ") == search("qwzx vbnq") == ()


def test_a_very_long_paste_is_read() -> None:
    assert search("the RNN layer " * 20_000 + "\nAttributeError: 'PackedSequence' object has no attribute 'size'")


def words(text: str) -> list[str]:
    return re.findall(r"[a-z_]+", text.lower())
