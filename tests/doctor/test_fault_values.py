"""The values of each fault are those that its words in findings.toml and its repair take: all entries are compared."""

import ast
import inspect
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from jinja2 import meta, nodes

import packviz
from packviz.doctor.causes import Dependence
from packviz.doctor.invariance import Differing, Failing
from packviz.rules.case import Case
from packviz.rules.readout import ReadoutKey
from packviz.rules.repairs import REPAIRS
from packviz.rules.words import FIELDS, Cause, Said
from packviz.text import ENVIRONMENT

PACKAGE = Path(packviz.__file__).parent
PATHS = [*(PACKAGE / "rules").glob("*.py"), *(PACKAGE / "doctor").glob("*.py")]
TABLE = tomllib.loads((PACKAGE / "rules" / "findings.toml").read_text("utf-8"))
CAUSES: dict[str, str] = TABLE.pop("causes")
# What `worded` adds to the values of every fault, and what the templates of findings.toml can call.
KNOWN = {"answer", "because", "case", "rows", "steps", "sequence", "cause", "result"}
KNOWN |= {"parameter", "expected", "got", "fix", "places", "tuple", *ENVIRONMENT.globals}
# The variables that hold a key, with their types, which mypy checks.
VARIABLE = {"one.key": ReadoutKey, "one.kind": Dependence, "differing": Differing, "failing": Failing}


class Given(NamedTuple):
    """The names of the values of a fault: those of this key alone, and those that several keys share."""

    own: frozenset[str]
    shared: frozenset[str]


def texts_of(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the texts in the fields of an entry or a group, each with its name."""
    fields = [texts if isinstance(texts, dict) else {"always": texts} for key, texts in entry.items() if key in FIELDS]
    return [each for texts in fields for each in texts.items()]


def entries() -> dict[str, list[tuple[str, str]]]:
    """Return the texts of each key, and of its group, with their names."""
    table = dict[str, list[tuple[str, str]]]()
    for name, entry in TABLE.items():
        shared = texts_of(entry)
        inside = {key: [*shared, *texts_of(words)] for key, words in entry.items() if key not in FIELDS}
        table |= inside or {name: shared}
    return table


def names_in(call: ast.Call) -> frozenset[str]:
    return frozenset(each.arg for each in call.keywords if each.arg) - {"severity", "fails_in", "says", "cause"}


def called(call: ast.Call) -> str:
    return ast.unparse(call.func)


def passing_on() -> dict[str, frozenset[str]]:
    """Return the functions whose key is that of a fault, each with the values that it adds itself."""
    added, calls = {"Fault": frozenset[str]()}, list[tuple[str, ast.Call]]()
    for path in PATHS:
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.args.args and function.args.args[0].arg == "key":
                inside = [each for each in ast.walk(function) if isinstance(each, ast.Call) and each.args]
                calls += [(function.name, each) for each in inside if ast.unparse(each.args[0]) == "key"]
    while found := [(name, call) for name, call in calls if name not in added and called(call) in added]:
        added |= {name: names_in(call) | added[called(call)] for name, call in found}
    return added


def faults() -> Iterator[tuple[str, Given]]:
    """Yield the key of each fault and the names of its values."""
    added = passing_on()
    for path in PATHS:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and called(node) in added) or ast.unparse(key := node.args[0]) == "key":
                continue
            assert all(each.arg for each in node.keywords), f"{path.name} has values that are not keywords: {key}"
            names, shared = names_in(node), added[called(node)]
            if ast.unparse(key) in VARIABLE:
                yield from ((one, Given(frozenset(), names | shared)) for one in get_args(VARIABLE[ast.unparse(key)]))
            else:
                branches = [key.body, key.orelse] if isinstance(key, ast.IfExp) else [key]
                yield from ((str(ast.literal_eval(one)), Given(names, shared)) for one in branches)


def parsed(words: str) -> nodes.Template:
    environment = ENVIRONMENT.overlay()
    named = {each.name: str for each in ENVIRONMENT.parse(words).find_all(nodes.Filter)}
    environment.filters = {**ENVIRONMENT.filters, **named}
    return environment.parse(words)


def variables(words: str) -> set[str]:
    return meta.find_undeclared_variables(parsed(words)) - KNOWN


def parameters(repair: Any) -> tuple[set[str], set[str]]:
    """Return the values of a fault that a repair needs, and all that it takes by name."""
    of_fault = [each for each in [*inspect.signature(repair).parameters.values()][1:] if each.kind != each.VAR_KEYWORD]
    return {each.name for each in of_fault if each.default is each.empty} - KNOWN, {each.name for each in of_fault}


OF_CAUSES = {name for words in CAUSES.values() for name in variables(words)}
FAULTS, NAMED = [*faults()], entries()
WORDS = {key: " ".join(text for _, text in texts) for key, texts in NAMED.items()}


def used_by(key: str) -> tuple[set[str], set[str]]:
    """Return the values that the words and the repair of a key need, and all that they can use."""
    needed, taken = parameters(REPAIRS[key]) if key in REPAIRS else (set[str](), set[str]())
    in_words = variables(WORDS[key])
    return needed | in_words, taken | in_words | (OF_CAUSES if "because" in WORDS[key] else set())


def test_every_key_is_that_of_a_fault_whose_values_are_compared() -> None:
    assert {key for key, _ in FAULTS} == set(WORDS)


def test_each_fault_has_the_values_that_its_words_and_its_repair_take() -> None:
    lacking = {key: missing for key, given in FAULTS if (missing := used_by(key)[0] - given.own - given.shared)}
    assert lacking == {}


def test_no_value_of_a_fault_is_there_for_nothing() -> None:
    unused = {key: names for key, given in FAULTS if (names := given.own - used_by(key)[1])}
    assert unused == {}
    shared = {name for _, given in FAULTS for name in given.shared}
    assert shared - {name for key, _ in FAULTS for name in used_by(key)[1]} == set()


def test_what_the_words_read_of_the_case_is_there() -> None:
    read = [each for words in WORDS.values() for each in parsed(words).find_all(nodes.Getattr)]
    names = {each.attr for each in read if isinstance(each.node, nodes.Name) and each.node.name == "case"}
    assert names <= {*dir(Case), *Case.__dataclass_fields__}


def test_each_text_that_a_field_has_by_name_can_be_said() -> None:
    assert {name for texts in NAMED.values() for name, _ in texts} == {"always", *get_args(Said)}


def test_what_a_call_says_are_texts_of_its_entry() -> None:
    spoke = 0
    for path in PATHS:
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            key = call.args[0] if isinstance(call, ast.Call) and call.args else None
            says = [each.value for each in call.keywords if each.arg == "says"] if isinstance(call, ast.Call) else []
            if not (says and isinstance(key, ast.Constant) and key.value in NAMED):
                continue
            ways = [each for each in ast.walk(says[0]) if isinstance(each, ast.Constant)]
            spoke += len(ways)
            assert {each.value for each in ways} <= {name for name, _ in NAMED[key.value]}, f"{path.name}: {key.value}"
    assert spoke > 15


def test_each_cause_has_a_sentence_and_each_repair_a_key() -> None:
    assert set(get_args(Cause)) == set(CAUSES)
    assert {"layers"} >= OF_CAUSES  # which a leak has
    assert set(REPAIRS) <= set(WORDS)
