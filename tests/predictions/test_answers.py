"""Answers are read generously, and what cannot be read is refused with a way out."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeds import many

from packviz.errors import PackvizError
from packviz.teach.predictions.prediction import read_choice, read_letters, read_numbers

NUMBERS = {
    "4 3 1": (4, 3, 1),
    "4, 2 1": (4, 2, 1),
    "[4,2,1]": (4, 2, 1),
    "(3, 4, 1)": (3, 4, 1),
    "tensor([3, 2])": (3, 2),
    "torch.tensor([3, 2])": (3, 2),
    "tensor([3, 2], dtype=torch.int32)": (3, 2),
    "torch.Size([3, 4, 1])": (3, 4, 1),
    "Size([3, 4])": (3, 4),
    "batch_sizes = tensor([3, 2])": (3, 2),
    "3 x 4 x 1": (3, 4, 1),
    "3×4×1": (3, 4, 1),
    "3*4*1": (3, 4, 1),
    "3;2;1": (3, 2, 1),
    "3，2、1": (3, 2, 1),
    "3. 2. 1.0": (3, 2, 1),
    "-1": (-1,),
    "٣ ٢": (3, 2),
    "\n 7 \t": (7,),
}
LETTERS = {
    "A B": ("A", "B"),
    "a,b": ("A", "B"),
    "b a": ("A", "B"),
    "AB": ("A", "B"),
    "A and C": ("A", "C"),
    "A, B, and C.": ("A", "B", "C"),
    "['A', 'C']": ("A", "C"),
    "A A": ("A",),
    "none": (),
    "None": (),
    "-": (),
    "[]": (),
    "all": ("A", "B", "C"),
}


@pytest.mark.parametrize(("typed", "numbers"), NUMBERS.items())
def test_numbers_are_read_in_many_spellings(typed: str, numbers: tuple[int, ...]) -> None:
    assert read_numbers(typed) == numbers


@pytest.mark.parametrize(("typed", "letters"), LETTERS.items())
def test_letters_are_read_in_many_spellings(typed: str, letters: tuple[str, ...]) -> None:
    assert read_letters(typed, "ABC") == letters


def test_a_label_of_two_letters_is_one_sequence() -> None:
    labels = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "AA", "AB"]
    assert read_letters("ab", labels) == ("AB",)
    assert read_letters("a b", labels) == ("A", "B")
    assert read_letters("and", labels) == ()


@pytest.mark.parametrize(
    "typed", ["", "  \n", "three", "3 two", "2.5", "1e3", "9" * 5000, "1 " * 2000, "[]", "--1", "<b>"]
)
def test_what_is_no_whole_number_is_refused(typed: str) -> None:
    with pytest.raises(PackvizError) as refusal:
        read_numbers(typed)
    assert refusal.value.parameter == "answer"
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("typed", ["", "D", "A D", "1", "A\u202eB\x00", "<script>", "A" * 5000, "nobody knows"])
def test_what_names_no_sequence_is_refused(typed: str) -> None:
    with pytest.raises(PackvizError) as refusal:
        read_letters(typed, "ABC")
    assert refusal.value.parameter == "answer"
    assert len(str(refusal.value)) < 200
    assert "\u202e" not in str(refusal.value)


def test_a_choice_is_taken_whatever_its_case() -> None:
    assert read_choice("it SORTS them", ("It sorts them.", "It packs.")) == "It sorts them."
    with pytest.raises(PackvizError):
        read_choice("something else", ("It sorts them.", "It packs."))


def test_no_text_at_all_is_refused() -> None:
    absent: object = None
    with pytest.raises(PackvizError):
        read_numbers(absent)  # type: ignore[arg-type]


@settings(max_examples=many(300), deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(typed: str) -> None:
    for read in (read_numbers, lambda text: read_letters(text, "ABC"), lambda text: read_choice(text, ("a", "b"))):
        assert isinstance(read_or_refused(read, typed), tuple | str | PackvizError)


def read_or_refused(read: Callable[[str], object], typed: str) -> object:
    try:
        return read(typed)
    except PackvizError as refusal:
        return refusal
