"""The sentences of the packing movies: plain ones, each said somewhere, with a value for each blank and no other."""

import ast
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest
from jinja2 import meta, nodes

from packviz.show.movie.packing import words
from packviz.text import ENVIRONMENT

FOLDER = Path(words.__file__).parent
TABLES = tomllib.loads((FOLDER / "captions.toml").read_text(encoding="utf-8"))
SENTENCES = {f"{section}.{name}": text for section, table in TABLES.items() for name, text in table.items()}
PLAIN = (nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Call, nodes.Filter)


class Said(NamedTuple):
    """A call of `say`: where it is, the sentences that each argument may be, and the names of the values."""

    where: str
    keys: list[list[str]]
    values: set[str]


def named(key: ast.expr, function: ast.AST) -> list[str]:
    """Return the sentences that an argument of `say` may be: a text, one of two, or a variable of the function."""
    match key:
        case ast.Constant(str(text)):
            return [text]
        case ast.IfExp(_, one, other):
            return [*named(one, function), *named(other, function)]
        case ast.JoinedStr(parts):
            pattern = "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in parts)
            return [name for name in SENTENCES if fnmatchcase(name, pattern)]
        case ast.Name(variable):
            assigned = (node for node in ast.walk(function) if isinstance(node, ast.Assign))
            values = [node.value for node in assigned if variable in map(ast.unparse, node.targets)]
            return [name for value in values for name in named(value, function)]
    raise AssertionError(ast.unparse(key))


def calls() -> Iterator[Said]:
    for path in sorted(FOLDER.rglob("*.py")):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "say":
                    keys = [named(key, function) for key in node.args]
                    yield Said(f"{path.name}:{node.lineno}", keys, {str(value.arg) for value in node.keywords})


CALLS = [*calls()]


def blanks(name: str) -> set[str]:
    return meta.find_undeclared_variables(ENVIRONMENT.parse(SENTENCES[name])) - {*words.FUNCTIONS}


@pytest.mark.parametrize("said", CALLS, ids=lambda said: said.where)
def test_a_stage_passes_what_the_blanks_of_its_sentences_name(said: Said) -> None:
    for names in said.keys:
        assert names
        assert all(blanks(name) == blanks(names[0]) for name in names[1:])
    assert said.values == {blank for names in said.keys for name in names for blank in blanks(name)}


def test_each_sentence_is_said_somewhere() -> None:
    assert {name for said in CALLS for names in said.keys for name in names} == {*SENTENCES}
