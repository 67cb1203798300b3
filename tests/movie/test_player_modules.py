"""The player's modules: bundled as they are, typed as what Python gives them, and right on their own."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest

from packviz.show.movie.data import FORMAT
from packviz.show.movie.marks import DEFAULTS, NONE, Role, Tone
from packviz.show.movie.written import SCALE
from player.build import SHIPPED, bundle, node

PLAYER = Path(__file__).parents[2] / "player"
TYPES = (PLAYER / "types.d.ts").read_text("utf-8")
SCHEMA = json.loads((files("packviz.show.movie") / "movie.schema.json").read_text("utf-8"))
RECORDS = {
    "Movie": SCHEMA,
    "Step": SCHEMA["$defs"]["step"],
    "Stack": SCHEMA["properties"]["stack"],
    "Question": SCHEMA["properties"]["questions"]["items"],
    "Tokens": SCHEMA["properties"]["tokens"],
}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_file_that_is_shipped_is_made_of_the_modules(path: Path) -> None:
    assert path.read_text("utf-8") == bundle(path), "run `make player`"


@pytest.mark.parametrize("kind", [Role, Tone], ids=["Role", "Tone"])
def test_the_types_name_what_python_names(kind: object, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.id
    found = re.search(rf"export type {name} =(.*?);", TYPES, re.DOTALL)
    assert found
    assert re.findall(r'"(\w*)"', found[1]) == list(get_args(kind))


def fields(name: str) -> dict[str, bool]:
    """Return the fields of an interface, its own and those it extends, and whether each is required."""
    found = re.search(rf"export interface {name} (?:extends (\w+) )?\{{(.*?)^\}}", TYPES, re.DOTALL | re.MULTILINE)
    assert found, name
    own = re.findall(r"^  (\w+)(\??):", found[2], re.MULTILINE)
    return (fields(found[1]) if found[1] else {}) | {field: not optional for field, optional in own}


@pytest.mark.parametrize("name", RECORDS)
def test_the_types_have_the_fields_of_the_schema(name: str) -> None:
    described = {field: field in RECORDS[name]["required"] for field in RECORDS[name]["properties"]}
    assert fields(name) == described


def test_types_schema_and_data_have_one_format_number() -> None:
    assert re.findall(r"^  format: (\d+);", TYPES, re.MULTILINE) == [str(FORMAT)]
    assert SCHEMA["properties"]["format"] == {"const": FORMAT}


def test_numbers_and_fields_left_out_mean_the_same_in_both_languages() -> None:
    frames = (PLAYER / "frames.js").read_text("utf-8")
    scale = re.search(r"^const SCALE = (.*?);", frames, re.MULTILINE)
    plain = re.search(r"^const PLAIN = \{ (.*) \};", frames, re.MULTILINE)
    assert scale
    assert float(scale[1]) == SCALE
    assert plain
    usual = {field: json.loads(value) for field, value in re.findall(r'(\w+): ("\w*"|\d|null|false)', plain[1])}
    assert usual == {
        "shown": False,
        **{field: value for field, value in DEFAULTS.items() if value != NONE and field != "v"},
        "token": None,
    }


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
