"""Rows as people paste them: every spelling of the same row is read alike, and any text gets an answer or a message."""

import math
import random
from contextlib import suppress
from typing import Any

import pytest
import torch
from seeds import seeds

import packviz as pv
from packviz.doctor import conversions, read_rows, readings

ROW = [[0, 1, 2, 0, 1]]
TEXTS = (
    "position_ids: 0 1 2 0 1",
    "position_ids = [0, 1, 2, 0, 1]",
    "position_ids=tensor([[0, 1, 2, 0, 1]], device='cuda:0')",
    "{'position_ids': tensor([[0, 1, 2, 0, 1]])}",
    '{"position_ids": [[0, 1, 2, 0, 1]]}',
    "batch = {'position_ids': array([0, 1, 2, 0, 1])}",
    "positions: 0, 1, 2, 0, 1",
)
NO_DOCUMENTS = ("None", "nan", "1e30", "1.5", "True", "-1", "9" * 20, "[[1.5]]")


@pytest.mark.parametrize("text", TEXTS)
def test_every_way_of_writing_a_row_is_read_alike(text: str) -> None:
    (value,) = read_rows(text).given.values()
    assert torch.as_tensor(value).reshape(1, -1).tolist() == ROW


def test_a_printed_dict_over_several_lines_keeps_dtypes() -> None:
    batch = {
        "input_ids": torch.arange(60)[None],
        "cu_seq_lens_q": torch.tensor([0, 40, 60], dtype=torch.int32),
        "max_length_q": 40,
        "token_type_ids": torch.zeros(1, 60),
    }
    written = read_rows(repr(batch).replace("...", ", "))
    assert written.given["cu_seqlens"].dtype == torch.int32
    assert written.given["max_seqlen"] == 40
    assert written.others == ("token_type_ids",)


def test_an_offset_beyond_all_memory_takes_none() -> None:
    assert pv.find_documents(cu_seqlens=[0, 10**15]) == (10**15,)
    (found,) = pv.examine_rows(cu_seqlens=[0, 10**15], documents=[10**15 + 1])
    assert found.key == "document_cut"


def test_words_without_brackets_are_not_asked_for_brackets() -> None:
    with pytest.raises(
        pv.PackvizError, match=r"seq_idx: expected numbers, but got 'a'\. Write it as in position_ids: 0"
    ):
        read_rows("seq_idx: a b c")
    with pytest.raises(pv.PackvizError, match=r"seq_idx: expected numbers in brackets, but got 'a'\."):
        read_rows("seq_idx: [a, b]")


@pytest.mark.parametrize("name", ["eos", "max_seqlen"])
def test_an_integer_that_is_too_large_is_not_called_anything_else(name: str) -> None:
    with pytest.raises(pv.PackvizError, match=r"expected an integer that fits int64, .+\. Write a smaller number"):
        read_rows(f"position_ids: 0 1 2\n{name}: {'9' * 40}")


def test_there_is_one_max_seqlen() -> None:
    with pytest.raises(pv.PackvizError, match="max_seqlen: expected an integer, but got '3 2'"):
        read_rows("position_ids: 0 1 2 0 1\nmax_seqlen: 3 2")


@pytest.mark.parametrize("value", NO_DOCUMENTS)
def test_documents_that_are_no_ids_and_no_lengths_are_refused(value: str) -> None:
    with pytest.raises(pv.PackvizError, match=r"documents: expected .+, but got .+\. Give a list of"):
        read_rows(f"position_ids: 0 1 2\ndocuments: {value}")


@pytest.mark.parametrize("one", [math.nan, 1e30, 2.0, True, -1, 2**64, None, [1.5], [[1], [2]]])
def test_examine_rows_refuses_documents_that_are_no_ids_and_no_lengths(one: Any) -> None:
    with pytest.raises(pv.PackvizError, match=r"documents: expected .+, but got .+\. Give a list of"):
        pv.examine_rows(position_ids=[0, 1, 2], documents=[3, one])


@pytest.mark.parametrize("seed", seeds(40))
def test_any_text_gets_an_answer_or_a_message(seed: int) -> None:
    draw = random.Random(seed)
    names = (
        "position_ids",
        "cu_seqlens",
        "max_seqlen",
        "seq_idx",
        "attention_mask",
        "input_ids",
        "labels",
        "documents",
    )
    pieces = (
        "0",
        "1",
        "-1",
        "2",
        "[",
        "]",
        "[[",
        "]]",
        ",",
        " ",
        "tensor(",
        ")",
        "nan",
        "1.5",
        "9" * 20,
        "{",
        "}",
        "'a': ",
    )
    readable = draw.random() < 0.25  # else few texts come as far as the rule of documents
    lines = ["position_ids: 0 1 2 0 1", f"documents: {draw.choice(NO_DOCUMENTS)}"] if readable else []
    for name in draw.sample([*names, "eos", "x", ""], 1 if readable else draw.randint(1, 5)):
        numbers = " ".join(str(draw.randint(-1, 4)) for _ in range(draw.randint(0, 8)))
        junk = "".join(draw.choice(pieces) for _ in range(draw.randint(1, 6)))
        lines.append(f"{name}{draw.choice((': ', ' = ', ' '))}{draw.choice((numbers, numbers, junk))}")
    with suppress(pv.PackvizError):  # no other error
        written = read_rows("\n".join(lines))
        pv.examine_rows(**written.given)
        row = {name: value for name, value in written.given.items() if name not in ("documents", "max_seqlen")}
        for reading in readings(row, written.eos):
            if reading.lengths:
                compile(conversions(reading.lengths, len(reading.ids)), "conversions", "exec")
