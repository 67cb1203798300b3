"""The list of rules: what is marked in the files of the subjects, and in which order it is judged."""

import re
from collections.abc import Iterator
from pathlib import Path

import torch

import packviz
from packviz.inputs.torch_answers import Answer
from packviz.rules import RULES, Case, findings
from packviz.rules.finding import Fault
from packviz.rules.rule import rule

FOLDER = Path(packviz.__file__).parent / "rules"


def test_every_function_that_is_marked_as_a_rule_is_judged() -> None:
    files = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")]
    marked = [name for text in files for name in re.findall(r"^@rule\(.*\)\ndef (\w+)\(", text, re.MULTILINE)]
    assert sorted(marked) == sorted(each.condition.__name__ for each in RULES)


def test_what_a_rule_must_have_known_is_judged_before_it() -> None:
    names = [each.condition.__name__ for each in RULES]
    judged = {"lengths": "too_long", "end": "too_long", "layout": "wrong_count", "no error": "initial_state"}
    for each in RULES:
        for known in each.known:
            assert names.index(judged[known]) < names.index(each.condition.__name__)


@rule("grid lengths", "lengths")
def _a_rule_of_ones_own(case: Case) -> Iterator[Fault]:
    if case.T == 2:
        yield Fault("zero_length", Answer(True), {"lengths": [case.T]}, [0])


def test_a_rule_is_one_function_and_its_words() -> None:
    for T, keys in ((2, ["zero_length"]), (3, [])):
        case = Case(torch.ones(1, T, 1), lengths=[T], batch_first=True)
        assert [found.key for found in findings(case, (_a_rule_of_ones_own,))] == keys
