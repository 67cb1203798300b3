"""The player's modules: bundled as they are, typed as what Python gives them, and right on their own."""

import re
from pathlib import Path
from typing import get_args

import pytest

from packviz.show.movie.marks import Role, Tone
from player.build import SHIPPED, bundle, node

PLAYER = Path(__file__).parents[2] / "player"
TYPES = (PLAYER / "types.d.ts").read_text("utf-8")


def test_the_file_that_is_shipped_is_made_of_the_modules() -> None:
    assert SHIPPED.read_text("utf-8") == bundle(), "run `make player`"


@pytest.mark.parametrize("kind", [Role, Tone], ids=["Role", "Tone"])
def test_the_types_name_what_python_names(kind: object, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.id
    found = re.search(rf"export type {name} =(.*?);", TYPES, re.DOTALL)
    assert found
    assert re.findall(r'"(\w*)"', found[1]) == list(get_args(kind))


def test_the_pure_modules_are_right_on_their_own() -> None:
    tests = sorted((PLAYER / "tests").glob("*.test.js"))
    assert tests
    told = node("--test", "--test-reporter=tap", *tests)
    passed = re.search(r"^# pass (\d+)$", told, re.MULTILINE)
    assert passed
    assert int(passed[1]) >= 10, told
