"""The values of each fault are those that its words in findings.toml and its repair take."""

import ast
import inspect
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import meta, nodes

import packviz
from packviz.rules.repairs import REPAIRS
from packviz.text import ENVIRONMENT

PACKAGE = Path(packviz.__file__).parent
# What `worded` adds to the values of every fault, and what the templates of findings.toml can call.
KNOWN = {"answer", "because", "case", "rows", "steps", "result", "parameter", "expected", "got", "fix"}
KNOWN |= {"cell", "places", "tuple", *ENVIRONMENT.globals}


def entries() -> dict[str, str]:
    """Return all the words of each key, as one template."""
    table = dict[str, str]()
    for name, entry in tomllib.loads((PACKAGE / "rules" / "findings.toml").read_text("utf-8")).items():
        shared = " ".join(text for text in entry.values() if isinstance(text, str))
        inside = {
            key: f"{shared} {' '.join(words.values())}" for key, words in entry.items() if isinstance(words, dict)
        }
        table |= inside or {name: shared}
    return table


def faults() -> Iterator[tuple[str, set[str]]]:
    """Yield the key of each fault and the names of its values, if the call has all of them."""
    for path in [*(PACKAGE / "rules").glob("*.py"), *(PACKAGE / "doctor").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "Fault"
                and all(each.arg for each in node.keywords)
            ):
                names = {each.arg for each in node.keywords if each.arg} - {"severity"}
                key = node.args[0]
                branches = [key.body, key.orelse] if isinstance(key, ast.IfExp) else [key]
                yield from ((str(each.value), names) for each in branches if isinstance(each, ast.Constant))


def variables(words: str) -> set[str]:
    environment, parsed = ENVIRONMENT.overlay(), ENVIRONMENT.parse(words)
    environment.filters = {**ENVIRONMENT.filters, **{each.name: str for each in parsed.find_all(nodes.Filter)}}
    return meta.find_undeclared_variables(environment.parse(words)) - KNOWN


def parameters(repair: Any) -> tuple[set[str], set[str]]:
    """Return the values of a fault that a repair needs, and all that it takes by name."""
    of_fault = [each for each in [*inspect.signature(repair).parameters.values()][1:] if each.kind != each.VAR_KEYWORD]
    return {each.name for each in of_fault if each.default is each.empty} - KNOWN, {each.name for each in of_fault}


def test_each_fault_has_the_values_that_its_words_and_its_repair_take() -> None:
    words, wrong, compared = entries(), list[str](), 0
    for key, given in faults():
        needed, taken = parameters(REPAIRS[key]) if key in REPAIRS else (set[str](), set[str]())
        in_words = variables(words[key])
        if missing := (needed | in_words) - given:
            wrong.append(f"{key} lacks {sorted(missing)}")
        if unused := given - in_words - taken - {"cause"}:
            wrong.append(f"{key} has {sorted(unused)} for nothing")
        compared += bool(given)
    assert wrong == []
    assert compared > 30


def test_no_more_keys_than_now_have_values_that_cannot_be_compared() -> None:
    """Those of `_fault(...)`, `finding(...)` and `**about`, which a program cannot read: write new ones as keywords."""
    assert len(entries().keys() - {key for key, _ in faults()}) <= 61


def test_each_key_has_words_and_each_repair_a_key() -> None:
    assert {key for key, _ in faults()} <= set(entries())
    assert set(REPAIRS) <= set(entries())
