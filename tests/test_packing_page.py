"""The programs on the page "Is my packing right?" print what the text around them says."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from packviz.testing import assert_independent, assert_isolated

PAGE = Path(__file__).parent.parent / "docs" / "packing-right.md"


@pytest.fixture(scope="module")
def printed() -> tuple[list[str], dict[str, Any]]:
    """Return what each program prints, and the names that they leave."""
    names: dict[str, Any] = {}
    outputs = []
    for code in re.findall(r"\{% filter python %\}\n(.*?)\{% endfilter %\}", PAGE.read_text("utf-8"), re.DOTALL):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, names)
        outputs.append(out.getvalue())
    return outputs, names


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (0, "Nothing found."),
        (1, "leak |"),
        (1, "positions |"),
        (2, "convolution cut: True, state reset: True: []"),
        (2, "convolution cut: True, state reset: False: ['leak']"),
        (2, "convolution cut: False, state reset: True: ['leak']"),
        (3, "A convolution with kernel 4"),
        (4, "The state of GRU runs on over the borders"),
        (4, "Nothing found."),
        (5, "Nothing found."),
        (5, "a label is taken from the next sample"),
        (6, "attention_mask is all ones"),
        (7, "None (3, 2)"),
        (7, "falls (3, 2, 3)"),
    ],
)
def test_a_program_prints_what_the_page_says(
    printed: tuple[list[str], dict[str, Any]], program: int, told: str
) -> None:
    assert told in printed[0][program]


def test_the_assertions_on_the_page_hold(printed: tuple[list[str], dict[str, Any]]) -> None:
    names = printed[1]
    assert_isolated(names["Transformer"](), names["documents"])
    assert_independent(lambda samples: names["losses"](samples, ignore_borders=True), names["samples"])
