"""The bench: that its parts are there and its lines are honest. What they measure is for `make bench`."""

from math import nan

import pytest

from bench.__main__ import main
from bench.report import Measured


def test_a_part_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 1
    assert capsys.readouterr().err.endswith("Could not be measured: nothing.\n")


@pytest.mark.parametrize(
    ("measured", "target", "verdict"),
    [
        (1.35, {"at_most": 1.35}, "met"),
        (1.36, {"at_most": 1.35}, "missed"),
        (55.0, {"at_least": 55}, "met"),
        (54.9, {"at_least": 55}, "missed"),
        (nan, {"at_most": 1.0}, "missed"),
        (nan, {"at_least": 1.0}, "missed"),
        (3.0, {}, ""),
    ],
)
def test_a_missed_target_is_called_missed(measured: float, target: dict[str, float], verdict: str) -> None:
    line = Measured("first paint", measured, "median of 9", **target)
    assert line.verdict == verdict
    assert ("missed" in str(line)) == (verdict == "missed")
    assert str(line).startswith("first paint")
    assert str(line).endswith("median of 9")
