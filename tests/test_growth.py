"""What takes longer for longer input: readers of texts at most linearly, the movie of a window not at all."""

import json
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
import torch

from classroom.specs import checked
from classroom.state import RefusedError
from packviz import Batch, Config, movie, trace
from packviz.doctor.reading import read_lengths, read_packed, read_tensor
from packviz.doctor.reading_rows import read_rows
from packviz.errors import PackvizError
from packviz.teach.predictions import prediction
from packviz.teach.questions import ENTRIES, has_message, is_error, search
from ui.parts.plan_file import from_file

SHAPES = {
    "hex": "4f6a09", "word": "a", "words": "pack my lstm ", "underscores": "_", "spaces": " ", "lines": "\n",
    "numbers": "1 2 3\n", "digits": "7", "brackets": "[", "nested": "[1, [2, ", "commas": "1,", "minus": "-",
    "errors": "RuntimeError: ", "almost errors": "ErrorException", "dots": "a.b.", "quotes": "'\"", "hashes": "#",
    "emoji": "👩‍👩‍👧", "marks": "e\u0301", "code": "x = torch.tensor([1])\n", "messages": "lengths must be sorted ",
}  # fmt: skip


def plan(text: str) -> object:
    item = {"page": "overview", "example": "own", "sequences": text, "note": text}
    return from_file(json.dumps({"packviz": "lesson plan", "version": 1, "items": [item]}).encode())


READERS: dict[str, Callable[[str], object]] = {
    "search": search,
    "is_error": is_error,
    "has_message": lambda text: [has_message(entry, text) for entry in ENTRIES],
    "Batch.parse": Batch.parse,
    "read_tensor": read_tensor,
    "read_lengths": read_lengths,
    "read_packed": read_packed,
    "read_rows": read_rows,
    "answer": lambda text: prediction.read_numbers(text),
    "prompt": lambda text: checked({"prompt": text, "options": [text, "b"], "answer": 0}),
    "plan": plan,
}


def seconds(read: Callable[[str], object], text: str) -> float:
    """Return the processor time of one call; what it refuses counts as read."""
    begun = time.process_time()
    with suppress(PackvizError, RefusedError):
        read(text)
    return time.process_time() - begun


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reader", READERS)
def test_ten_times_the_text_takes_no_hundred_times_as_long(reader: str, shape: str) -> None:
    for size in (1_000, 10_000):
        assert grows_linearly(READERS[reader], SHAPES[shape], size)


def grows_linearly(read: Callable[[str], object], shape: str, size: int) -> bool:
    """Return whether ten times `size` characters take less than 30 times as long, from 2 microseconds a character."""
    short, long = ((shape * (count // len(shape) + 1))[:count] for count in (size, 10 * size))
    seconds(read, short)  # prepares what later calls use
    before = max(2e-6 * size, min(seconds(read, short) for _ in range(2)))
    return any(seconds(read, long) < 30 * before for _ in range(2))


def test_a_movie_of_a_window_does_not_grow_with_the_batch() -> None:
    def watched(B: int) -> float:
        run = trace(Batch.from_tensors([torch.ones(60 - b % 50) for b in range(B)]), Config(hidden_size=2))
        begun = time.process_time()
        movie(run, sequences=20, steps=30)
        return time.process_time() - begun

    watched(20)  # prepares what later calls use
    small = min(watched(200) for _ in range(2))
    assert any(watched(3_200) < 5 * small for _ in range(2))
