"""What torch prints is read back; anything that is not a number is refused; nothing in a text is ever run."""

import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from doctor_cases import sound
from seeds import seeds
from torch.nn.utils.rnn import PackedSequence

import packviz as pv
from packviz.doctor import are_words, read_lengths, read_packed, read_tensor
from packviz.errors import PackvizError


def assert_read(text: str, printed: torch.Tensor, within: float = 1e-3) -> None:
    torch.testing.assert_close(read_tensor(text), printed, rtol=within, atol=within, equal_nan=True)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool]
)
def test_a_printed_tensor_is_read_back(dtype: torch.dtype) -> None:
    for seed in seeds(60):
        torch.manual_seed(seed)
        shape = random.Random(seed).choice([(3,), (2, 3), (2, 3, 2), (1, 9, 4), (0, 3), (0,), ()])
        tensor = (torch.randn(shape) * 3).to(dtype)
        assert_read(repr(tensor), tensor)
        assert_read(f"  torch.{tensor!r}\n", tensor)


def test_a_printed_gradient_device_and_parameter_are_no_obstacle() -> None:
    tensor = torch.arange(40.0).view(4, 10)
    grown = tensor.clone().requires_grad_().sin()
    assert "grad_fn" in repr(grown)
    assert_read(repr(grown), grown.detach())
    assert_read(repr(torch.nn.Parameter(tensor)), tensor)
    assert_read("tensor([1., 2.], device='cuda:0')", torch.tensor([1.0, 2.0]), within=0)
    odd = torch.tensor([[1e-8, 1e8], [math.nan, -math.inf]])
    assert_read(repr(odd), odd)


def test_lists_of_python_json_and_numpy_are_read() -> None:
    expected = torch.tensor([[1, 2, 3], [3, 0, 0]])
    array = np.array([[1, 2, 3], [3, 0, 0]])
    for text in ("[[1, 2, 3], [3, 0, 0]]", "((1,2,3),\n (3,0,0))", repr(array), str(array), "[[1,2,3,],[3,0,0]]"):
        assert_read(text, expected, within=0)
    assert read_tensor("[[1.5, NaN], [Infinity, -inf]]").isfinite().sum() == 1
    assert_read("[true, False]", torch.tensor([True, False]), within=0)


WORDS = (
    "why is my batch wrong",
    "hello",
    "I love you, too",
    "RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    "Traceback (most recent call last):\n    x = torch.tensor([[1, 2], [3]])\nValueError: expected sequence",
    "RuntimeError: [3]",
)

REFUSED: list[tuple[Callable[[Any], object], Any, str]] = [
    (read_tensor, "[[1, 2, 3], [4, 5]]", "x[1] with 2 items"),
    (read_tensor, "[[1, 2], 3]", "no bracket"),
    (read_tensor, repr(torch.arange(2000)), "..."),
    (read_tensor, "tensor([1, 2", "Close every bracket"),
    (read_tensor, "tensor(..., device='meta', size=(3,))", "..."),
    (read_tensor, "[[1, 2], [3, 4]", "bracket"),
    (read_tensor, "", "nothing"),
    *((read_tensor, text, f"numbers in brackets, but got words: '{text[:9]}") for text in WORDS),
    (read_lengths, WORDS[0], "but got words: 'why is my"),
    (read_lengths, "[3, 2", "as in [3, 2]"),
    (read_lengths, "[3, x]", "expected numbers, but got 'x'. Write one for each sequence, as 3 2 or [3, 2]."),
    (read_lengths, "4 2 a", "expected numbers, but got 'a'. Write one for each sequence, as 3 2 or [3, 2]."),
    *((read_tensor, text, "brackets") for text in ("[1, 'two']", "[i for i in range(9)]", "[1e5e5]", "[1 + 2j]")),
    (read_tensor, "__import__('os').system('true')", "brackets"),
    (read_tensor, "tensor(__import__('os').getcwd())", "brackets"),
    (read_tensor, "[" * 5000 + "]" * 5000, "too many nested"),
    (read_tensor, "[9" + "9" * 5000 + "]", "brackets"),
    (read_tensor, "- " * 100_000 + "1", "numbers in brackets"),
    (read_tensor, "[99999999999999999999]", "fit a tensor"),
    (read_tensor, "[1, 2" + " " * 3_000_000 + "]", "characters"),
    (read_tensor, "[1](2)", ""),
    *((read_lengths, text, "") for text in ("", "a, b", "3, , 2", None)),
    (read_packed, "PackedSequence(data=tensor([1, 2]))", "with data and batch_sizes"),
    (read_packed, "PackedSequence(data=tensor([1, 2]), batch_sizes=None)", "with data and batch_sizes"),
    (read_packed, "PackedSequence(data=tensor([1, ..., 2]), batch_sizes=tensor([1]))", "..."),
    (read_packed, "PackedSequence(data=open('x'), batch_sizes=tensor([1]))", "brackets"),
    (read_packed, "PackedSequence(data=tensor([1]), batch_sizes=tensor([1]), more=tensor([1]))", "more"),
    (read_packed, "tensor([1])", "PackedSequence(data=..., ...)"),
    (read_packed, "", "nothing"),
]


def called(value: object) -> str:
    return getattr(value, "__name__", str(value)[:40])


@pytest.mark.parametrize(("read", "text", "part"), REFUSED, ids=called)
def test_what_cannot_be_read_is_refused_and_said_clearly(read: Callable[[Any], object], text: Any, part: str) -> None:
    with pytest.raises(PackvizError) as refused:
        read(text)
    assert part in str(refused.value)


@pytest.mark.parametrize("read", [read_tensor, read_lengths])
@pytest.mark.parametrize("text", ["[[1, 2, 3], [4, 5, 0]", "x", WORDS[0], ""])
def test_the_example_in_a_hint_can_be_read(read: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(PackvizError) as refused:
        read(text)
    (example,) = re.findall(r"(?:such as|as in|or) (\[.+\])", refused.value.fix)
    assert isinstance(read(example), torch.Tensor if read is read_tensor else list)


@pytest.mark.parametrize("text", ["[nan nan]", "[ True False]", "x = [[1, 2]]  # padded by hand", "---", "", "[1, 2"])
def test_numbers_and_code_are_not_words(text: str) -> None:
    assert not are_words(text)


@pytest.mark.parametrize("text", [
    "class M(nn.Module):\n    pass", "class M:\n    pass", "for x, lengths in loader:\n    print(x)", "import torch",
    "from torch import nn", "with torch.no_grad():\n    out = rnn(x)", "for row in zip(a, b):", "import numpy as np",
])  # fmt: skip
def test_statements_of_python_are_not_words(text: str) -> None:
    assert not are_words(text)


@pytest.mark.parametrize("text", [
    "for a batch of three sentences:\nwhy is h_n wrong?", "with these lengths:", "class imbalance: what to do",
    "I get this error\nwith pack_padded_sequence:", "import errors",
    "for each sequence in descending order:", "from here on",
])  # fmt: skip
def test_sentences_that_begin_like_python_are_words(text: str) -> None:
    assert are_words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3, 2, 1", [3, 2, 1]),
        ("[3 2 1]", [3, 2, 1]),
        ("(3, 2, 1)", [3, 2, 1]),
        ("3 2\n1", [3, 2, 1]),
        ("3", [3]),
        ("3, 2,", [3, 2]),
        ("[]", []),
        ("3, 2.5, 1", [3, 2.5, 1]),
        ("-1 0", [-1, 0]),
        ("tensor([3, 2, 1])", torch.tensor([3, 2, 1])),
        ("tensor([3., 2.])", torch.tensor([3.0, 2.0])),
        ("[[3], [2]]", torch.tensor([[3], [2]])),
    ],
)
def test_lengths_are_read_as_they_were_written(text: str, expected: Any) -> None:
    read: Any = read_lengths(text)
    assert type(read) is type(expected)
    assert torch.equal(read, expected) if isinstance(expected, torch.Tensor) else read == expected
    if isinstance(read, list):
        assert [type(one) for one in read] == [type(one) for one in expected]


def test_a_printed_packed_sequence_is_read_back() -> None:
    for seed in seeds(50):
        packed = sound(seed, F=3).packed
        if packed.data.numel() > 900:
            continue
        read = read_packed(repr(packed))
        torch.testing.assert_close(read, packed, rtol=1e-3, atol=1e-3)  # of whole numbers below 1000, nothing
        assert type(read) is PackedSequence
        assert pv.examine(read) == ()
