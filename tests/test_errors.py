import pickle

import numpy as np
import pytest
import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.text import shown, two_digits, visible, with_article

ERROR = PackvizError("hidden_size", expected="an integer", got="0.5", fix="choose 1 or more")


def test_what_torch_says_stands_in_the_message() -> None:
    error = PackvizError("lengths", expected="3 lengths", got="2", fix="give one each", torch_says="no, never")
    assert str(error) == 'lengths: expected 3 lengths, but got 2 (torch: "no, never"). Give one each.'


def test_an_error_is_a_value_error_and_survives_pickling() -> None:
    assert isinstance(ERROR, ValueError)
    copy = pickle.loads(pickle.dumps(ERROR))
    assert (str(copy), copy.parameter, copy.torch_says) == (str(ERROR), "hidden_size", None)


def test_every_character_that_cannot_be_seen_gets_a_symbol() -> None:
    assert visible("a\x00b\x7fc\x85d\u202ee\ud800") == "a␀b␡c\ufffdd\ufffde\ufffd"
    assert visible("  ") == "␣␣"
    assert visible("👩‍🔬 שלום <b>") == "👩‍🔬 שלום <b>"


@pytest.mark.parametrize(
    ("number", "told"),
    [
        *((0.0, "0"), (0.4216, "0.42"), (-0.00001234, "-1.2e-5"), (3e-8, "3e-8"), (9.96, "10"), (99.4, "99")),
        *((99.6, "100"), (100, "100"), (123.4, "123"), (-54321.6, "-54322"), (1.26e7, "1.3e7"), (1e22, "1e22")),
        (float("nan"), "no finite number"),
    ],
)
def test_numbers_in_sentences_have_two_digits(number: float, told: str) -> None:
    assert two_digits(number) == told


@pytest.mark.parametrize("digits", [31, 40, 41, 300, 5000])
def test_of_a_long_number_the_digits_are_counted(digits: int) -> None:
    for number in (10 ** (digits - 1), 5 * 10 ** (digits - 1), 10**digits - 1):
        assert shown(number) == shown(-number) == f"a number of {digits} digits"


@pytest.mark.parametrize(("scalar", "python"), [
    (np.int64(2), 2),
    (np.uint8(7), 7),
    (np.float32(2.5), 2.5),
    (np.bool_(True), True),
    (np.str_("a"), "a"),
])  # fmt: skip
def test_a_scalar_of_numpy_is_shown_like_one_of_python(scalar: object, python: object) -> None:
    assert shown(scalar) == shown(python)


@pytest.mark.parametrize(("tensor", "told"), [
    (torch.zeros(3, 4), "a float32 tensor of shape (3, 4)"),
    (torch.zeros(2, dtype=torch.int64, device="meta"), "an int64 tensor of shape (2,)"),
    (torch.eye(2).to_sparse(), "a tensor in the sparse_coo layout"),
    (torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged), "a nested tensor"),
])  # fmt: skip
def test_a_tensor_is_shown_without_its_values(tensor: Tensor, told: str) -> None:
    assert shown(tensor) == told


def test_a_noun_has_the_article_that_is_spoken() -> None:
    nouns = ["ndarray", "list", "int", "LSTM", "GRU", "Tensor", "RNN", "ImmutableList", "user"]
    told = [with_article(noun) for noun in nouns]
    assert told == [
        *("an ndarray", "a list", "an int", "an LSTM", "a GRU", "a Tensor", "an RNN", "an ImmutableList", "a user"),
    ]
