"""Answers are read generously, and what cannot be read is refused with a way out."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeds import many

from packviz.errors import PackvizError
from packviz.teach.predictions.prediction import read_choice, read_letters, read_numbers

CHOICES = ("It sorts them.", "It packs.")
READ: dict[str, tuple[Callable[[str], object], object]] = {
    **{
        typed: (read_numbers, numbers)
        for numbers, ways in {
            (4, 3, 1): [
                "4 3 1",
                "4, 3 1",
                "[4,3,1]",
                "(4, 3, 1)",
                "torch.Size([4, 3, 1])",
                "4 x 3 x 1",
                "4×3×1",
                "4*3*1",
            ],
            (3, 2): ["tensor([3, 2])", "torch.tensor([3, 2])", "tensor([3, 2], dtype=torch.int32)", "Size([3, 2])"],
            (3, 2, 1): ["batch_sizes = tensor([3, 2, 1])", "3;2;1", "3，2、1", "3. 2. 1.0", "٣ ٢ ١"],
            (-1,): ["-1", "\n -1 \t"],
        }.items()
        for typed in ways
    },
    **{
        typed: (lambda text: read_letters(text, "ABC"), letters)
        for letters, ways in {
            ("A", "B"): ["A B", "a,b", "b a", "AB"],
            ("A", "C"): ["A and C", "['A', 'C']"],
            ("A", "B", "C"): ["A, B, and C.", "all"],
            ("A",): ["A A"],
            (): ["none", "None", "-", "[]", "nobody"],
        }.items()
        for typed in ways
    },
    **{typed: (lambda text: read_choice(text, CHOICES), CHOICES[0]) for typed in ("it SORTS them", "It sorts them.")},
}
NO_NUMBERS = ["", "  \n", "three", "3 two", "2.5", "1e3", "9" * 5000, "1 " * 2000, "[]", "--1", "<b>"]
NO_LETTERS = ["", "D", "A D", "1", "A\u202eB\x00", "<script>", "A" * 5000, "nobody knows"]


@pytest.mark.parametrize("typed", READ)
def test_answers_are_read_in_many_spellings(typed: str) -> None:
    read, answer = READ[typed]
    assert read(typed) == answer


def test_a_label_of_two_letters_is_one_sequence() -> None:
    labels = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "AA", "AB"]
    assert read_letters("ab", labels) == ("AB",)
    assert read_letters("a b", labels) == ("A", "B")
    assert read_letters("and", labels) == ()


@pytest.mark.parametrize(("read", "typed"), [
    *((read_numbers, typed) for typed in [*NO_NUMBERS, None]),
    *((lambda text: read_letters(text, "ABC"), typed) for typed in NO_LETTERS),
    (lambda text: read_choice(text, CHOICES), "something else"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_short_message(read: Callable[[object], object], typed: object) -> None:
    with pytest.raises(PackvizError) as refusal:
        read(typed)
    assert refusal.value.parameter == "answer"
    assert len(str(refusal.value)) < 200
    assert "\u202e" not in str(refusal.value)


@settings(max_examples=many(300), deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(typed: str) -> None:
    for read in (read_numbers, lambda text: read_letters(text, "ABC"), lambda text: read_choice(text, ("a", "b"))):
        with suppress(PackvizError):
            assert isinstance(read(typed), tuple | str)
