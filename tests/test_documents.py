"""Documents in a row: every spelling is read back, and the public rules find what they find."""

from itertools import accumulate
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from seeds import seeds
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import packviz as pv
from packviz.inputs import borders
from packviz.inputs import documents as rows

# position_ids, their documents, and how many a new one begins where they do not rise by one, fall, or are 0
TABLE: list[tuple[list[int], tuple[int, ...], tuple[int, int, int]]] = [
    ([0, 1, 2, 0, 1, 0], (3, 2, 1), (3, 3, 3)),
    ([0, 1, 2, 0, 0, 0, 1], (3, 1, 1, 2), (4, 2, 4)),
    ([0, 1, 2, 0, 1, 0, 0, 0], (3, 2), (5, 3, 5)),  # three pads at the end
    ([1, 1, 0, 1, 2], (3,), (3, 2, 1)),  # two pads at the beginning
    ([2, 3, 4, 2, 3], (3, 2), (2, 2, 0)),  # counted from 2
    ([2, 3, 4, 2, 3, 1, 1], (3, 2), (4, 3, 0)),  # the same, with its pads
    ([0, 1, 2, 1, 1], (3,), (3, 2, 1)),  # pads at the end as generation fills them
    ([3, 0, 1, 2], (1, 3), (2, 2, 1)),  # the end of a document that began in another row
    ([1, 0, 1, 2], (1, 3), (2, 2, 1)),  # the same: one position alone is a document
    ([0, 1, 2, 1], (3, 1), (2, 2, 1)),
    ([0, 1, 2, 0], (3, 1), (2, 2, 2)),
    ([0, 1, 2, 0, 0], (3,), (3, 2, 3)),  # two are pads, as three are
    ([0, 0, 1, 2], (1, 3), (2, 1, 2)),  # at the beginning only what begins no document
    ([0, 0, 0], (1, 1, 1), (3, 1, 3)),
    ([5], (1,), (1, 1, 0)),
]


@pytest.mark.parametrize(("position_ids", "documents", "found"), TABLE)
def test_positions_are_read_and_each_rule_finds_its_own(
    position_ids: list[int], documents: tuple[int, ...], found: tuple[int, ...]
) -> None:
    assert pv.find_documents(position_ids=position_ids) == documents
    by_rule = [pv.find_documents(position_ids=position_ids, rule=rule) for rule in borders.BORDER_RULES]
    assert tuple(map(len, by_rule)) == found
    agree = borders.where_rules_disagree(position_ids) == {}
    assert agree == (len({*by_rule}) == 1)


@pytest.mark.parametrize("seed", seeds(30))
def test_every_spelling_of_the_same_lengths_is_read_back(seed: int) -> None:
    drawn = Random(seed)
    lengths = tuple(drawn.randint(1, 6) for _ in range(drawn.randint(1, 8)))
    N, width = sum(lengths), sum(lengths) + drawn.randint(0, 3)
    assert rows.cu_seqlens_of(lengths).dtype == torch.int32
    spellings: list[dict[str, Any]] = [
        {"cu_seqlens": rows.cu_seqlens_of(lengths)},
        {"seq_idx": rows.seq_idx_of(lengths, width)},
        {"seq_idx": rows.seq_idx_of(lengths)[None] + 1},
        {"attention_mask": rows.segment_ids_of(lengths, width)},
        {"attention_mask": rows.document_mask_of(lengths, width)},
        {"attention_mask": rows.document_mask_of(lengths, width, causal=False)[None, None]},
        {"position_ids": rows.position_ids_of(lengths, width), "attention_mask": [1] * N + [0] * (width - N)},
    ]
    if lengths[-2:] != (1, 1):  # which at the end look like pads
        spellings += [{"position_ids": rows.position_ids_of(lengths, start=start)} for start in (0, 2)]
    if lengths[-1] > 1:  # else two end tokens at the end, the second of which looks like a pad
        spellings += [{"input_ids": [token for n in lengths for token in (*[7] * (n - 1), 2)], "eos": 2}]
    for spelling in spellings:
        assert pv.find_documents(**spelling) == lengths, spelling


def test_lists_arrays_and_tensors_of_any_integers_are_taken() -> None:
    for given in ([[0, 1, 0]], np.array([0, 1, 0]), torch.tensor([0, 1, 0], dtype=torch.uint8), (0, 1, 0)):
        assert pv.find_documents(position_ids=given) == (2, 1)  # type: ignore[arg-type]
    assert pv.find_documents(attention_mask=[True, True, False]) == (2,)
    assert pv.find_documents(attention_mask=[0, 0, 0]) == ()
    assert pv.find_documents(attention_mask=[[1, 1, 1]]) == (3,)


def test_pads_after_the_last_end_token_are_no_documents() -> None:
    assert pv.find_documents(input_ids=[5, 6, 2, 7, 2, 2, 2], eos=2) == (3, 2)
    assert pv.find_documents(input_ids=[5, 6, 2, 7, 8], eos=[2, 3]) == (3, 2)
    assert pv.find_documents(input_ids=[5, 3, 2, 7, 0, 0], eos=[2, 3], attention_mask=[1, 1, 1, 1, 0, 0]) == (2, 1, 1)
    assert pv.find_documents(input_ids=[2, 2, 2], eos=2) == (1,)


@pytest.mark.parametrize("eos", [np.int64(2), np.array(2), torch.tensor(2), [np.int64(2)], torch.tensor([2, 3])])
def test_an_end_token_may_come_from_numpy_and_torch(eos: Any) -> None:
    assert pv.find_documents(input_ids=[5, 6, 2, 7, 8], eos=eos) == (3, 2)


def test_empty_documents_are_left_out() -> None:
    assert pv.find_documents(cu_seqlens=[0, 3, 3, 5, 5]) == (3, 2)


def test_the_block_mask_isolates_in_torchs_own_attention() -> None:
    torch.manual_seed(0)
    lengths = [3, 2, 1]
    x = torch.randn(1, 1, 6, 4, dtype=torch.float64)
    together = scaled_dot_product_attention(x, x, x, attn_mask=rows.document_mask_of(lengths))
    alone = [scaled_dot_product_attention(one, one, one, is_causal=True) for one in torch.split(x, lengths, 2)]
    torch.testing.assert_close(together, torch.cat(alone, 2))


def test_positions_are_those_of_arange_in_each_document() -> None:
    embedding = nn.Embedding(4, 2)
    positions = torch.cat([torch.arange(n) for n in (3, 2)])
    assert torch.equal(embedding(rows.position_ids_of([3, 2])), embedding(positions))
    assert rows.cu_seqlens_of([3, 2]).tolist() == [0, *accumulate([3, 2])]


@pytest.mark.parametrize(
    ("given", "parameter", "word"),
    [
        ({}, "find_documents", "got none"),
        ({"position_ids": [0], "seq_idx": [0]}, "find_documents", "position_ids, seq_idx"),
        ({"cu_seqlens": [0, 2], "attention_mask": [1, 1]}, "find_documents", "cu_seqlens, attention_mask"),
        ({"position_ids": [0.0, 1.0]}, "position_ids", "float32"),
        ({"position_ids": []}, "position_ids", "none"),
        ({"position_ids": "0 1"}, "position_ids", "integers"),
        ({"position_ids": [[0, 1], [0, 1]]}, "position_ids", "Give one row at a time"),
        ({"position_ids": torch.zeros(3, 1, 4, dtype=torch.int64)}, "position_ids", "mRoPE"),
        ({"position_ids": torch.zeros(4, dtype=torch.int64, device="meta")}, "position_ids", "integers"),
        ({"position_ids": [0, 1], "rule": "rises"}, "rule", "rises_by_one"),
        ({"seq_idx": [0, 1], "rule": "zero"}, "rule", "Leave rule out"),
        ({"cu_seqlens": [3, 2, 1]}, "cu_seqlens", "If these are lengths"),
        ({"cu_seqlens": [3, 5, 6]}, "cu_seqlens", "Put a 0"),
        ({"input_ids": [1, 2]}, "eos", "eos_token_id"),
        ({"input_ids": [1, 2], "eos": ["</s>"]}, "eos", "got '</s>'"),
        ({"input_ids": [1, 2], "eos": 2**70}, "eos", str(2**70)),
        ({"input_ids": [1, 2], "eos": torch.tensor(2.0)}, "eos", "got 2.0"),
        ({"input_ids": [1, 2], "eos": torch.tensor(2, device="meta")}, "eos", "eos_token_id"),
        ({"attention_mask": [0.0, float("-inf")]}, "attention_mask", "float32"),
        ({"attention_mask": [0, -1]}, "attention_mask", "additive"),
        ({"position_ids": [0, 1], "attention_mask": [1, 2]}, "attention_mask", "0 at pads and 1 at tokens"),
        ({"position_ids": [0, 1], "attention_mask": [1]}, "attention_mask", "2 values"),
    ],
)
def test_what_cannot_be_read_is_refused(given: Any, parameter: str, word: str) -> None:
    with pytest.raises(pv.PackvizError, match=word) as refused:
        pv.find_documents(**given)
    assert refused.value.parameter == parameter


@pytest.mark.parametrize("lengths", [[-1], [1.5], ["2"], [True]])
def test_lengths_that_are_none_are_refused(lengths: Any) -> None:
    with pytest.raises(pv.PackvizError, match="lengths"):
        rows.cu_seqlens_of(lengths)
    with pytest.raises(pv.PackvizError, match="width"):
        rows.position_ids_of([2, 1], 2)
