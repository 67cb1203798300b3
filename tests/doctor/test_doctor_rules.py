"""The list of rules: what is marked in the files of the subjects, and in which order it is judged."""

from collections.abc import Iterator

import torch

from packviz.inputs.torch_answers import Answer
from packviz.rules import findings
from packviz.rules.case import Case, rule
from packviz.rules.finding import Fault


@rule("grid lengths", "lengths")
def _a_rule_of_ones_own(case: Case) -> Iterator[Fault]:
    if case.T == 2:
        yield Fault("zero_length", Answer(True), {"lengths": [case.T]}, [0])


def test_a_rule_is_one_function_and_its_words() -> None:
    for T, keys in ((2, ["zero_length"]), (3, [])):
        case = Case(torch.ones(1, T, 1), lengths=[T], batch_first=True)
        assert [found.key for found in findings(case, (_a_rule_of_ones_own,))] == keys
