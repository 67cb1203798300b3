"""Lengths as people type and upload them, and as they are drawn."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from packviz.errors import PackvizError
from packviz.lab.cost import draw_lengths, read_lengths
from packviz.lab.cost.counting import reachable

SEPARATORS = (" ", ", ", ",", ";", "\n", "\r\n", "\t", " | ", "\n\n", ";\n", "] [")


@given(
    st.lists(st.tuples(st.integers(1, 1_000_000), st.sampled_from(SEPARATORS)), min_size=1, max_size=50),
    st.sampled_from(("", "[", "(", "\ufeff", "  ", "length\n", "Number of tokens\n", '"len"\n')),
    st.sampled_from(("", "\n", ",", "]", "\r\n\r\n")),
    st.booleans(),
)
def test_numbers_between_anything_sensible_are_read(
    parts: list[tuple[int, str]], before: str, after: str, uploaded: bool
) -> None:
    text = before + "".join(f"{number}{separator}" for number, separator in parts) + after
    lengths = read_lengths(text.encode() if uploaded else text)
    assert lengths.dtype == torch.int64
    assert lengths.tolist() == [number for number, _ in parts]


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("12", [12]),
        ("007 +3 4.0 5.", [7, 3, 4, 5]),
        ('"3"\n"4"\n', [3, 4]),
        ("[3, 4]", [3, 4]),
        ("n_tokens,\n9,\n8", [9, 8]),
    ],
)
def test_lengths_may_be_written_as_files_write_them(text: str, lengths: list[int]) -> None:
    assert read_lengths(text).tolist() == lengths


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "none"),
        (" \n,;\n", "none"),
        ("length\n", "none"),
        ("3 4\n5 0", "'0' in line 2"),
        ("3\n-4", "'-4' in line 2"),
        ("3 2.5", "'2.5' in line 1"),
        ("nan\n3", "'nan' in line 1"),
        ("a, b\n3 4", "'a' in line 1"),
        ("3\nnan", "'nan' in line 2"),
        ("3\nlength\n4", "'length' in line 2"),
        ("three", "'three' in line 1"),
        ("1e3", "'1e3' in line 1"),
        ("5-7", "'5-7' in line 1"),
        ("1000001", "'1000001' in line 1"),
        ("9" * 5000, "in line 1"),
        ("٣", "'٣' in line 1"),
        ("3\x004", "'3␀4' in line 1"),
        (b"\xff\xfe3\x00", "an invalid byte at position 1"),
    ],
)
def test_what_is_no_length_is_refused_with_its_place(text: str | bytes, got: str) -> None:
    with pytest.raises(PackvizError) as caught:
        read_lengths(text)
    assert caught.value.parameter == "lengths"
    assert got in caught.value.got
    assert len(str(caught.value)) < 300
    assert caught.value.fix


def test_there_may_be_a_hundred_thousand_and_no_more() -> None:
    assert len(read_lengths("7\n" * 100_000)) == 100_000
    with pytest.raises(PackvizError, match="100,000"):
        read_lengths("7 " * 100_001)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        lengths = read_lengths(text)
    except PackvizError:
        return
    assert int(lengths.min()) >= 1


@given(st.integers(1, 40), st.integers(1, 60), st.floats(0.01, 1.0), st.integers(0, 9))
def test_the_longest_is_t_and_the_sum_is_the_share_to_the_nearest_cell(B: int, T: int, fill: float, seed: int) -> None:
    lengths = draw_lengths(B, T, fill, seed)
    assert lengths.dtype == torch.int64
    assert lengths.shape == (B,)
    assert (int(lengths.max()), int(lengths.min()) >= 1) == (T, True)
    least = T + B - 1  # one of T, all others 1
    assert int(lengths.sum()) == max(least, round(fill * B * T))
    assert reachable(B, T, fill) == (round(fill * B * T) >= least)
    assert torch.equal(lengths, draw_lengths(B, T, fill, seed))
