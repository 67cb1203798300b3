"""The player's modules: bundled as they are, typed as what Python gives them, and right on their own."""

import re
from pathlib import Path

import pytest

from player.build import SHIPPED, bundle, node, written

PLAYER = Path(__file__).parents[2] / "player"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_file_that_is_shipped_is_made_of_the_modules(path: Path) -> None:
    assert path.read_text("utf-8") == bundle(path), "run `make player`"


@pytest.mark.parametrize("path", written(), ids=lambda path: path.name)
def test_what_javascript_knows_of_python_is_as_python_says(path: Path) -> None:
    assert path.read_text("utf-8") == written()[path], "run `make player`"


PARTS = "asking|clock|here|pan|picture|player|pointer|screen|texts|tween|ui"
FOREIGN = rf"\b(?:{PARTS})\.\w+ [-+*?|&]{{0,2}}= .*|Object\.assign\((?:\w+\.)*(?:{PARTS}),.*"


def test_no_part_of_the_player_changes_the_fields_of_another() -> None:
    changes = "picture.shown = [];", "if (on) this.player.clock.speed *= 2;", "Object.assign(this.player.tween, { t });"
    assert all(re.search(FOREIGN, change) for change in changes)
    others = [path for path in PLAYER.glob("*.js") if path.name != "keys.js"]  # `here` is made there
    found = {path.name: re.findall(FOREIGN, path.read_text("utf-8")) for path in others}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_the_pure_modules_are_right_on_their_own() -> None:
    tests = sorted((PLAYER / "tests").glob("*.test.js"))
    assert tests
    told = node("--test", "--test-reporter=tap", *tests)
    passed = re.search(r"^# pass (\d+)$", told, re.MULTILINE)
    assert passed
    assert int(passed[1]) >= 10, told
