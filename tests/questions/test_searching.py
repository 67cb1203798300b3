"""A question in plain words or a pasted error finds its answer, whatever else stands around it."""

import random
import re
from pathlib import Path

import pytest

from packviz.teach.questions import ENTRIES, Entry, Page, has_message, search

MESSAGES = [(entry, message) for entry in ENTRIES for message in entry.messages]
FIRST = {
    "why do I need to pack": "why-pack",
    "what is packing good for": "why-pack",
    "do I have to pack?": "must-i-pack",
    "is packing required": "must-i-pack",
    "is padding bad": "is-padding-bad",
    "does zero padding hurt my accuracy": "is-padding-bad",
    "do I need this with a transformer": "transformer",
    "should i use packing with bert": "transformer",
    "what is a packed sequence": "what-is-a-packed-sequence",
    "difference between pack_sequence and pack_padded_sequence": "pack-one-way-or-the-other",
    "how do i unpack": "how-to-unpack",
    "so you don't have to mask something by yourself": "still-need-a-mask",
    "you don't have to mask": "still-need-a-mask",
    "RNN will not perform calculation on pad elements": "saves-memory-and-computation",
    "also improving the accuracy of learning": "accuracy-of-learning",
    "# decoded: [max_input_steps, batch_size, DICT_SIZE]": "decoded-steps",
    "decoded max_input_steps": "decoded-steps",
    "batch_first of the module with a packed input": "batch-first-of-the-module",
    "the module's batch_first with packed input": "batch-first-of-the-module",
    "batch_first with packed input": "batch-first-of-the-module",
    "padding_value=42": "padding-value-42",
    "pack_sequence padding_value=42": "padding-value-42",
    "using the pack_sequence function": "pack-one-way-or-the-other",
    "RuntimeError: Expected hidden[0] size (2, 3, 20), got [2, 5, 20]": "hidden-size",
    "Expected hidden[0] size (4, 32, 256), got [4, 64, 256]": "hidden-size",
    "my hidden state has the wrong batch size": "hidden-size",
    "shape '[2, 12]' is invalid for input of size 12": "shape-is-invalid",
    "RuntimeError: shape '[8, 50, 300]' is invalid for input of size 77100": "shape-is-invalid",
    "RuntimeError: shape '[4, 9, 100]' is invalid for input of size 3500": "shape-is-invalid",
    "'tuple' object has no attribute 'batch_sizes'": "tuple-has-no-batch-sizes",
    "input.size(-1) must be equal to input_size. Expected 300, got 256": "input-size",
    "Expected more than 1 value per channel": "one-value-per-channel",
    "my model gives different results with different batch size": "batch-dependence",
    "why do results depend on the other sequences in the batch": "batch-dependence",
    "lengths array has to be on cpu": "lengths-on-the-gpu",
    "1D CPU int64": "lengths-on-the-gpu",
    "lengths must be on cpu": "lengths-on-the-gpu",
    "length greater than 0": "length-zero",
    "how to get last hidden state bidirectional lstm": "bidirectional-last-output",
    "batch_first hidden wrong shape": "batch-first-of-h-n",
    "what is enforce_sorted": "only-not-checked",
    "attention mask": "attention-to-pads",
    "how to use dropout": "dropout-of-one-layer",
    "cross entropy": "packing-or-ignore-index",
    "which hidden state do I use for classification": "last-column",
    "h_n vs output": "output-or-h-n",
    "is it faster": "lstm-slow-when-packed",
    "what is batch_sizes": "batch-sizes-are-not-lengths",
    "left padding": "left-padding-option",
    "bidirectinal lst hiden state": "bidirectional-last-output",  # typed in a hurry
    "mean poling": "pooling-over-filler",
    "what is padding": "/padding",
    "check my own data": "/doctor",
    "animation of how packing works": "/overview",
}


def name_of(found: Entry | Page) -> str:
    return found.key if isinstance(found, Entry) else f"/{found.address}"


@pytest.mark.parametrize(("typed", "first"), FIRST.items())
def test_a_plain_question_finds_its_answer_on_top(typed: str, first: str) -> None:
    assert [name_of(each) for each in search(typed).found][:1] == [first]


def test_the_error_that_the_readme_prints_finds_the_length_that_is_too_large() -> None:
    (printed,) = re.findall(r'RuntimeError: "(.* exceeds dimension size .*)"', Path("README.md").read_text("utf-8"))
    for typed in (printed, f"RuntimeError: {printed}", f'the LSTM raises RuntimeError: "{printed}"'):
        assert [name_of(each) for each in search(typed).found][:1] == ["lengths-too-large"]


def others(message: str, seed: int) -> str:
    """Return the message as somebody else gets it: other numbers."""
    draw = random.Random(seed)
    return re.sub(r"\d+", lambda _: str(draw.randint(2, 999)), message)


def test_an_error_with_other_numbers_finds_an_entry_that_has_it() -> None:
    missed = []
    for entry, message in MESSAGES:
        same = [each for each in ENTRIES if any(words(message) == words(other) for other in each.messages)]
        found = search(others(message, len(message))).found
        if found[0] not in same and entry not in found[:3]:
            missed.append((entry.key, message, [name_of(each) for each in found]))
    assert missed == []


def test_a_whole_traceback_finds_it_too() -> None:
    head = """Traceback (most recent call last):
  File "train.py", line 71, in <module>
    output, hidden = model(inputs, lengths)
  File "model.py", line 18, in forward
    packed = self.rnn(x)
"""
    found = {(entry.key, message): search(f"{head}{others(message, 7)}\n").found for entry, message in MESSAGES}
    first = {message: all_found[0] for (_, message), all_found in found.items()}
    assert [each for each, entry in first.items() if isinstance(entry, Page) or not has_message(entry, each)] == []
    assert [key for (key, _), all_found in found.items() if key not in map(name_of, all_found)] == []


def test_an_entry_is_found_by_its_own_question() -> None:
    assert [entry.key for entry in ENTRIES if entry not in search(entry.question).found[:3]] == []


def test_nothing_is_found_for_nothing_and_for_nonsense() -> None:
    for typed in ("", " \n ", "qwzx vbnq", "asdfgh"):
        assert search(typed).found == ()


@pytest.mark.parametrize("typed", ['"', "' OR 1", "a* NEAR(", "question: AND NOT", "^x -y", "\x00", "日本語 pack"])
def test_the_language_of_the_index_is_not_that_of_the_visitor(typed: str) -> None:
    search(typed)  # raises nothing


def words(text: str) -> list[str]:
    return re.findall(r"[a-z_]+", text.lower())
