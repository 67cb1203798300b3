"""The player's modules: bundled as they are, typed as what Python gives them, and right on their own."""

import re
from pathlib import Path

import pytest

from player.build import SHIPPED, TOOLS, bundle, node, written

PLAYER = Path(__file__).parents[2] / "player"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_file_that_is_shipped_is_made_of_the_modules(path: Path) -> None:
    assert path.read_text("utf-8") == bundle(path), "run `make player`"


@pytest.mark.parametrize("path", written(), ids=lambda path: path.name)
def test_what_javascript_knows_of_python_is_as_python_says(path: Path) -> None:
    assert path.read_text("utf-8") == written()[path], "run `make player`"


OWNER = """
/** A part of the player. */
export class Owner {
  count = 0; names = [""]; box = { wide: 1 }; seen = new Map(); node = document.body;
  get face() { return this.count; }
  add(by) { this.count += by; }
}
export const shared = { last: 1, all: new Set() };
"""
TAKEN = {  # every kind of change of what is another file's
    "assignment": "owner.count = 1;",
    "element of a list": "owner.names[0] = '';",
    "by its name": "owner['count'] = 1;",
    "something within it": "owner.box.wide = 2;",
    "an element": "owner.node.hidden = true;",
    "compound assignment": "owner.count += 1;",
    "logical assignment": "owner.count ??= 1;",
    "increment": "owner.count++;",
    "decrement before": "--owner.box.wide;",
    "delete": "delete owner.box.wide;",
    "list": "owner.names.push('');",
    "map": "owner.seen.set(1, 2);",
    "attribute": "owner.node.toggleAttribute('hidden');",
    "Object.assign": "Object.assign(owner, { count: 1 });",
    "Object.assign within": "Object.assign(owner.box, { wide: 2 });",
    "Object.defineProperty": "Object.defineProperty(owner, 'count', { value: 1 });",
    "Reflect.set": "Reflect.set(owner, 'count', 1);",
    "object pattern": "({ a: owner.count } = { a: 1 });",
    "list pattern": "[owner.count = 2] = [];",
    "rest of a pattern": "[...owner.names] = [''];",
    "loop": "for (owner.count of [1, 2]);",
    "other name": "const { names } = owner; names.push('');",
    "other name of its own": "const { names: mine } = owner; mine.push('');",
    "variable": "const box = owner.box; box.wide = 2;",
    "shared": "shared.last = 2;",
    "shared collection": "shared.all.clear();",
}
LEFT = "own.count = owner.count; owner.add(1); let { count } = owner; count += 1; [...owner.names].sort();"


def changes_of_others(folder: Path) -> tuple[list[str], int]:
    """Return each place where a file changes what belongs to another, and the number of files."""
    *places, count = node(PLAYER / "tests" / "ownership.js", TOOLS.resolve(), folder / "tsconfig.json").splitlines()
    return places, int(count)


def test_no_part_of_the_player_changes_what_belongs_to_another() -> None:
    places, count = changes_of_others(PLAYER)
    assert places == []
    assert count > len([*PLAYER.glob("*.js")])  # those of the phone, too


def test_every_kind_of_change_of_what_belongs_to_another_is_found(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text((PLAYER / "tsconfig.json").read_text("utf-8"), "utf-8")
    (tmp_path / "owner.js").write_text(OWNER, "utf-8")
    head = 'import { Owner, shared } from "./owner.js";\nconst own = { count: 0 };\n/** @param {Owner} owner */\n'
    for i, change in enumerate([*TAKEN.values(), LEFT]):
        (tmp_path / f"{i}.js").write_text(
            f"{head}export function taking(owner) {{ {change} return [own, shared]; }}\n", "utf-8"
        )
    found = {int(line.partition(".js: ")[0]) for line in changes_of_others(tmp_path)[0]}
    assert {kind for i, kind in enumerate(TAKEN) if i not in found} == set()
    assert len(TAKEN) not in found


def test_the_pure_modules_are_right_on_their_own() -> None:
    tests = sorted((PLAYER / "tests").glob("*.test.js"))
    assert tests
    told = node("--test", "--test-reporter=tap", *tests)
    passed = re.search(r"^# pass (\d+)$", told, re.MULTILINE)
    assert passed
    assert int(passed[1]) >= 10, told
