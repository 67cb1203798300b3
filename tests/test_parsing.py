import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeds import many

from packviz.errors import PackvizError
from packviz.inputs.batch import Batch


def _rows(text: str, kind: Any = "auto") -> tuple[str, list[list[str]]]:
    batch = Batch.parse(text, kind=kind)
    return batch.kind, [list(row) for row in batch.texts]


def _refusal(text: str, kind: Any = "auto", **limits: int) -> str:
    with pytest.raises(PackvizError) as caught:
        Batch.parse(text, kind=kind, **limits)
    return str(caught.value)


THREE = [["1", "2", "3"], ["4", "5"], ["6"]]


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3\n4 5\n6",
        "1 2 3\r\n4 5\r\n6\r\n",
        "1, 2 ,3,\n4\t5\n 6 ",
        "1\u00a02\u30003\n4 5\n6",
        "\ufeff1 2 3\n4 5\n6",
        "[[1, 2, 3], [4, 5], [6]]",
        "[(1, 2, 3), (4, 5), (6,)]",
        "1; 2; 3;\n4 5;\n6;",
        "sequences = [torch.tensor([1, 2, 3]), torch.tensor([4, 5]), torch.tensor([6])]",
        "x: list = [\r\n  torch.tensor([1, 2, 3], dtype=torch.int64),  # A\r\n  torch.tensor([4, 5]),\n  [6],\n]",
        "tensor([1, 2, 3])\ntensor([4, 5], device='cuda:0')\ntensor([6])",
        "torch.tensor([1, 2, 3]),\ntorch.tensor([4, 5]),\ntorch.tensor([6]),",
        "array([list([1, 2, 3]), list([4, 5]), list([6])], dtype=object)",
        "import torch\nfrom torch.nn.utils.rnn import pad_sequence\n\na = torch.tensor([1, 2, 3])\n"
        "b = torch.tensor([4, 5])\nc = torch.LongTensor([6])\npadded = pad_sequence([a, b, c], batch_first=True)\n",
        ">>> é = torch.tensor([1, 2, 3])\n>>> [é, (4,\u00a05), [6]]",
    ],
)
def test_numbers_are_read_however_they_are_laid_out(text: str) -> None:
    assert _rows(text) == ("numbers", THREE)


LINES = [["on", "your", "mark"], ["get", "set"], ["go"]]


@pytest.mark.parametrize(("kind", "text", "rows"), [
    ("auto", "on your mark\nget set\ngo", LINES),
    ("auto", '["on your mark", "get set", "go"]', LINES),
    ("auto", "[['New York', \"it's\"], ['a']]", [["New York", "it's"], ["a"]]),
    ("auto", "Hello, world!", [["Hello,", "world!"]]),
    ("auto", "nan bread", [["nan", "bread"]]),
    ("auto", "<script>alert(1)</script> 😀 שלום", [["<script>alert(1)</script>", "😀", "שלום"]]),
    ("auto", "a\x00b c\x0bd e\u2028f g\x1ch", [["a␀b", "c␋d", "e\ufffdf", "g␜h"]]),
    ("auto", r'[["\u00e9\ud83d\ude00\n", "\\", "\q", " "]]', [["é😀␊", "\\", "\\q", "␣"]]),
    ("auto", "x = [['New York', \"it's\"], ['é']]", [["New York", "it's"], ["é"]]),
    ("auto", "5 apples\n3", [["5", "apples"], ["3"]]),
    ("auto", "3 + 4 = 7", [["3", "+", "4", "=", "7"]]),
    ("auto", "1 1_000", [["1", "1_000"]]),
    ("words", "1 2\n3", [["1", "2"], ["3"]]),  # anything can be read as words
    ("words", "1, 2\n3", [["1,", "2"], ["3"]]),
    ("words", "[[1, 2", [["[[1,", "2"]]),
    ("words", "[1], [2]", [["[1],", "[2]"]]),
    ("words", "[[1]] # one", [["[[1]]", "#", "one"]]),
    ("words", "tensor([1])", [["tensor([1])"]]),
    ("words", "a \N{MINUS SIGN}1", [["a", "\N{MINUS SIGN}1"]]),
])  # fmt: skip
def test_words_stay_as_they_are_typed(kind: str, text: str, rows: list[list[str]]) -> None:
    assert _rows(text, kind) == ("words", rows)


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("1 2\n \n3", ("Line 2 is blank and was ignored.",)),
        ("on\n\n\nyour\n\nmark", ("Lines 2, 3 and 5 are blank and were ignored.",)),
        ("1" + "\n" * 9 + "2", ("8 lines are blank and were ignored.",)),
        ("1 2\n3 x", ("'x' is not a number, so all of it is read as words.",)),
        ("2024 was good\n7 days", ()),
        ("1;2;3", ("Semicolons separate numbers here. Start a new line for a new sequence.",)),
        ("1,5\n2,5", ("Commas separate numbers here. Write 1.5 for a decimal number.",)),
        ("tensor([[1, 2]], dtype=torch.int32)", ("Ignored: dtype=torch.int32.",)),
        ("tensor([[1., 2.]], grad_fn=<AddBackward0>)", ()),
        ("n = 2\nx = [[1], [2]]", ("Ignored: n = 2.",)),
        ("16777216 0.1\n1e30", ()),
        ("0" * 5000 + "1 2", ()),
        ("16777217 3", ("16777217 is rounded to 16777216, because float32 holds not every integer above 2**24.",)),
    ],
)
def test_how_a_text_was_read_is_noted_where_it_could_surprise(text: str, notes: tuple[str, ...]) -> None:
    assert Batch.parse(text).notes == notes


REFUSED = [
    # a line that can be read in two ways
    ("1,5 2,5", "'1,5 2,5' in line 1, with commas and spaces. Write 1.5 for one decimal number or 1 5 for two numbers"),
    ("1 2\n3 -4,25", "Write -4.25 for one decimal number or -4 25 for two numbers."),
    ("1 2 3; 4 5", "'1 2 3; 4 5' in line 1, with semicolons and spaces. Start a new line for each sequence"),
    # a token among numbers
    ("1 nan", "finite numbers, but got 'nan' in line 1 (token 2)"),
    ("1 2\n1e999", "finite in float32 (below 3.4e38), but got '1e999' in line 2"),
    ("3.4028236e38", "finite in float32"),
    ("1,2,,3", "nothing in line 1 (token 3)"),
    # Python that is not written down as values
    ("x = torch.randn(2, 3)", "got 'torch.randn(2, 3)' at line 1, column 5. Keep only the list of sequences"),
    ("x = [[1], open('file')]", "got 'open('file')' at line 1, column 11"),
    ("x = [[1 + 2]]", "got '1 + 2' at line 1, column 7"),
    ("x = [[1, 2], [3 4]]", "comma?) at line 1, column 15"),
    ("x = [[1, 2]]\nfor y in x: pass", "got 'for y in x: pass' at line 2, column 1"),
    ("x = [[1, 2], [3]]\nlengths = [2, 1]", "got 2 lists, the second one at line 2, column 11"),
    ("a = [1]\nx = [a, a]", "each name once"),
    ("tensor([0., 0., ..., 1.])", "got '...' at line 1, column 17. Print the tensor in full"),
    ("x = [[['a' 'b']]]", "got ''a' 'b''"),
    # a broken list
    ("[1, 2, 3]", "put a second pair of brackets around it: [[1, 2, 3]]."),
    ("[]", "an empty list at line 1, column 1"),
    ("[[1, 2", "got a syntax error ('[' was never closed) at line 1, column 2. Close every bracket"),
    ("[[1],\n[2 3]]", "perhaps you forgot a comma?) at line 2, column 2."),
    ("[[1], x y]", "or read the text as words"),
    (
        "[[1,,2]]",
        "a syntax error (invalid syntax) at line 1, column 5. Close every bracket and quote, and put one comma",
    ),
    ("[[1]] [2]", "got '[[1]] [2]' at line 1, column 1. Keep only the list of sequences"),
    (
        "[[1], 'a]",
        "unterminated string literal (detected at line 1)) at line 1, column 7. Close every bracket and quote",
    ),
    ("[[1, 2], 3]", "'3' at line 1, column 10"),
    ("[[[1, 2], [3]]]", "2 features in every step, as in the first, but got 1 feature in sequence 1, step 2"),
    ("[[[[1]]]]", "at most 3 levels of brackets (sequences, steps, features), but got one more at line 1, column 4"),
    ("[[1, '2']]", "the string '2' at line 1, column 6. Remove the quotes."),
    ("[['a', 2]]", "strings only, but got '2' at line 1, column 8"),
    ("[[1, NaN]]", "finite numbers, but got 'NaN' at line 1, column 6"),
    ("[[1e99]]", "finite in float32"),
    ("[[get, set]]", "put quotes around every word, or read the text as words"),
    # nothing
    *(
        (text, 'but got nothing. Type words such as "on your mark", or numbers such as 1 2 3')
        for text in ("", " ", "\n\n", "\t\r\n", "\ufeff", "\u3000")
    ),
]


NOT_OF_ITS_KIND = [
    ("on your mark 1", "'on' in line 1 (token 1)", "numbers"),
    ("1 2\n\n3 x", "'x' in line 3 (token 2). Write a number there, or read the text as words.", "numbers"),
    ("1 2 " + "y" * 100, "'yyyyyyyyyyyyyyyyyyyyyyy…' in line 1 (token 3)", "numbers"),
    ("1 1_000", "'1_000'", "numbers"),
    ("1 ٣", "'٣'", "numbers"),
    ("[['a']]", "the string 'a'", "numbers"),
    *((" \n", "but got nothing", kind) for kind in ("numbers", "words")),
]


@pytest.mark.parametrize(("text", "says", "kind"), [*((*each, "auto") for each in REFUSED), *NOT_OF_ITS_KIND])
def test_what_cannot_be_read_is_refused_with_its_place_and_its_repair(text: str, says: str, kind: str) -> None:
    assert says.lower() in _refusal(text, kind).lower()


def test_pasted_python_is_never_run(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for call in (f"open({str(target)!r}, 'w')", f"__import__('os').mkdir({str(target)!r})"):
        for text in (f"x = [{call}]", f"tensor({call})", f"x = [[1]]\n{call}", f"tensor([1], dtype={call})"):
            _read_or_refuse(text)
    assert not target.exists()


def test_the_largest_float32_is_still_a_number() -> None:
    assert _rows("3.4028235e38 3.40282355e38 -3.4028235e38")[0] == "numbers"
    assert Batch.parse("3.40282355e38").sequences[0].isfinite().all()


def test_limits_are_named_with_what_came() -> None:
    many, long = "1\n" * 100, "1 2 3\n" + "1 " * 100
    for text in (many, long):
        assert Batch.parse(text).kind == "numbers"
        assert "in Python, which has no such limit" in _refusal(text, max_sequences=64, max_steps=64)
    assert "at most 64 sequences, but got 100 sequences." in _refusal(many, max_sequences=64)
    assert "at most 64 numbers in each sequence, but got 100 numbers in line 2." in _refusal(long, max_steps=64)
    assert "at most 3 sequences, but got 5 sequences." in _refusal("[[1], [2], [3], [4], [5]]", max_sequences=3)
    nested = _refusal("[[1], [1, 2, 3, 4, 5]]", max_steps=3)
    assert "at most 3 numbers in each sequence, but got 5 numbers in sequence 2." in nested
    assert "got 2 steps in sequence 1" in _refusal("[[[1, 2], [3, 4]]]", max_steps=1)
    assert "at most 1 sequence, but" in _refusal("[['a'], ['b']]", "words", max_sequences=1)
    assert "at most 1 word in each sequence" in _refusal("['a b']", max_steps=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "['" + "\\a" * 500_000,
        "1." + "1" * 1_000_000 + "x 2",
        "[1]\n" * 20_000,
        "[[" + "0.123456, " * 100_000 + "]]",
        "1" + "\n" * 1_000_000 + "1",
        "x = [" + "-" * 1_000_000,
        "a = [1]\n" * 20_000,
        "\n" * 500_000 + "a." * 250_000 + "tensor([1])",
    ],
    ids=range(9),
)
def test_a_megabyte_is_read_or_refused_quickly(text: str) -> None:
    start = time.process_time()
    _read_or_refuse(text)
    assert time.process_time() - start < 20  # 0.3 s at most on a quiet machine; what is quadratic takes minutes


def _read_or_refuse(text: str, kind: Any = "auto") -> None:
    """Check that a text gives a batch or a PackvizError, both of which can be shown."""
    try:
        batch = Batch.parse(text, kind=kind)
    except PackvizError as refusal:
        assert len(str(refusal).encode()) < 700  # noqa: PT017
        return
    assert int(batch.lengths.min()) >= 1
    assert all(bool(sequence.isfinite().all()) for sequence in batch.sequences)
    json.dumps([batch.texts, batch.vocabulary], ensure_ascii=False).encode()
    if batch.kind != "vectors":
        assert [len(row) for row in batch.texts] == batch.lengths.tolist()
    if batch.kind == "words":
        assert max(int(ids.max()) for ids in batch.sequences) == len(batch.vocabulary) - 1


PIECES = [
    *"[](),'\"\\ \n\r\t-+.eE{}",
    *("[[", "]]", "], [", "1", "2.5", "1e999", "nan", "None", "word", "'a'", "\\u", "\ud83d"),
]
CODE = [
    *"[](),=;#\n ._-'\"\\é\x00",
    *("x", "a", "1", "2.5", "x = [", "torch.tensor([", "tensor(", "array([", "np.", "dtype=", "]), ", "...", "1,5 "),
    *("lambda: ", "import torch\n", ">>> ", "\n    ", "f'{x}'", "*x", "for x in a", "grad_fn=<X>", "\ud83d", "0x1"),
]
NESTED = st.lists(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=12,
    ),
    max_size=4,
)


def _joined(pieces: list[str], most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=most).map("".join)


@settings(deadline=None, max_examples=many(250))
@given(
    st.text(st.characters(), max_size=40)
    | _joined(PIECES, 15).flatmap(lambda text: st.sampled_from([text, f"[{text}]"]))
    | _joined(CODE, 18).flatmap(
        lambda text: st.sampled_from([text, f"x = [{text}]", f"x = torch.tensor({text})\n{text}"])
    )
    | NESTED.map(repr)
    | NESTED.map(json.dumps),
    st.sampled_from(["auto", "words", "numbers"]),
)
def test_any_text_gives_a_batch_or_a_refusal(text: str, kind: str) -> None:
    _read_or_refuse(text, kind)


@settings(deadline=None, max_examples=many(50))
@given(st.lists(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2), min_size=1))
def test_floats_come_back_to_the_bit(rows: list[list[float]]) -> None:
    tensors = [f"torch.tensor({row!r})" for row in rows]
    lines = "\n".join(f"s{b} = {tensor}" for b, tensor in enumerate(tensors))
    names = ", ".join(f"s{b}" for b in range(len(rows)))
    plain = "\n".join(" ".join(map(repr, row)) for row in rows)
    for text in (
        *(repr(rows), json.dumps(rows), plain),
        *(f"sequences = [{', '.join(tensors)}]", lines, f"{lines}\n[{names}]"),
    ):
        assert [sequence.tolist() for sequence in Batch.parse(text).sequences] == rows


@settings(deadline=None, max_examples=many(50))
@given(st.lists(st.lists(st.text(min_size=1, max_size=5), min_size=1), min_size=1))
def test_lists_of_strings_keep_every_word_apart(rows: list[list[str]]) -> None:
    ids: dict[str, int] = {}
    expected = [[ids.setdefault(word, len(ids) + 1) for word in row] for row in rows]
    assert [sequence.tolist() for sequence in Batch.parse(json.dumps(rows)).sequences] == expected


@pytest.mark.parametrize(("text", "rows"), [
    ("\N{MINUS SIGN}1 2\n\N{MINUS SIGN}.5", [[-1.0, 2.0], [-0.5]]),
    ("[[007, -010], [00.5, 0], [1007]]", [[7, -10], [0.5, 0], [1007]]),
])  # fmt: skip
def test_a_printed_minus_sign_is_a_minus_and_leading_zeros_do_not_count(text: str, rows: list[list[float]]) -> None:
    assert [sequence.tolist() for sequence in Batch.parse(text).sequences] == rows
