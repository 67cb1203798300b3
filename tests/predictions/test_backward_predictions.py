"""Where the backward direction is watched, the questions of the run are about it; torch judges their answers."""

import pytest
from prediction_cases import SEEDS, STAGES, asked, made

from packviz.compute.trace import Trace
from packviz.teach.predictions import Prediction, ask

KEYS = ("joins_backward", "final_backward", "fed_backward")


def both_ways() -> Trace:
    return made("1 2 3\n4 5\n6 7 8 9", bidirectional=True)


def backward(number: int) -> Prediction:
    prediction = ask(both_ways(), "run", number, direction=1)
    assert prediction is not None
    assert prediction.key == KEYS[number % 3]
    return prediction


@pytest.mark.parametrize("seed", SEEDS)
def test_each_direction_has_questions_of_its_own_about_the_run_alone(seed: int) -> None:
    seen = asked(seed).seen
    if not seen.module.bidirectional:
        return
    for number in range(6):
        there, back = (ask(seen, "run", number, direction=d) for d in (0, 1))
        assert (there is None) == (back is None) == (seen.error is not None)
        assert there is None or there.key in ("alive", "ended", "final_step")
        assert back is None or (back.key in KEYS and back.prompt.startswith("Going backward"))
    for stage in STAGES:
        assert stage == "run" or ask(seen, stage, 1, direction=1) == ask(seen, stage, 1)


def test_who_joins_in_is_whose_last_token_it_is() -> None:
    asked_at = {backward(3 * i).moment.timestep: backward(3 * i) for i in range(4)}
    assert {t: prediction.solution for t, prediction in asked_at.items()} == {0: "none", 1: "B", 2: "A", 3: "C"}


def test_every_state_is_final_at_the_first_token() -> None:
    finals = [backward(3 * i + 1) for i in range(3)]
    assert [(final.solution, final.moment.timestep) for final in finals] == [("0", 0)] * 3
