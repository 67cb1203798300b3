"""The tables of words hold sentences with blanks: which sentence is said, and what fills it, Python decides."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import nodes

import packviz
from packviz.text import ENVIRONMENT

ROOT = Path(packviz.__file__).parents[1]
TABLES = [
    "packviz/facts/facts.toml",
    "packviz/lab/lab.toml",
    "packviz/rules/findings.toml",
    "packviz/show/movie/packing/captions.toml",
    "packviz/show/movie/rows/captions.toml",
    "packviz/teach/exercise.toml",
    "packviz/teach/filling.toml",
    "packviz/teach/predictions/predictions.toml",
    "packviz/teach/predictions/rows.toml",
    "ui/parts/progress.toml",
]
# A blank is a name, an attribute, an item, or a function of these, such as counted().
BLANK = (nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Const, nodes.Tuple, nodes.Filter, nodes.Call)
ALLOWED = (nodes.Template, nodes.Output, nodes.TemplateData, nodes.Keyword, *BLANK)


def texts(table: object) -> Iterator[str]:
    """Yield the texts of a table, however deep."""
    if isinstance(table, str):
        yield table
    for each in table.values() if isinstance(table, dict) else table if isinstance(table, list) else ():
        yield from texts(each)


def logic(text: str) -> list[str]:
    """Return what a text has beside words and blanks, by the names of Jinja."""
    every = ENVIRONMENT.parse(text).find_all(nodes.Node)
    return [type(node).__name__ for node in every if not isinstance(node, ALLOWED)] + ["Comment"] * ("{#" in text)


@pytest.mark.parametrize("path", TABLES)
def test_no_text_has_a_condition_or_computes(path: str) -> None:
    table = tomllib.loads((ROOT / path).read_text("utf-8"))
    found = [*texts(table)]
    assert len(found) > 3
    assert {text: wrong for text in found if (wrong := logic(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "{% if n %}one{% endif %}",
        "{% set n = 1 %}",
        "{{ 'is' if n == 1 else 'are' }}",
        "{{ n - 1 }}",
        "{{ not n }}",
        "{{ '%d' % n }}",
        "{{ a or b }}",
        "{# why #}",
    ],
)
def test_logic_is_seen(text: str) -> None:
    assert logic(text)


def test_blanks_are_no_logic() -> None:
    assert logic("{{ n|counted('row') }} of {{ rows[0].name }}: {{ places(rows[:1]) }}") == []
