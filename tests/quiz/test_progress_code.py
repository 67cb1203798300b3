"""A code in the address holds how far somebody is: marks, points and place come back, and nonsense does not."""

import random
import re

import pytest
from quiz_cases import round_of
from seeds import seeds

from packviz.teach.predictions import spelled
from packviz.teach.quiz import Scorecard, progress_code, read_progress_code

ASKED = round_of(2, 1)


def played(seed: int) -> tuple[Scorecard, int]:
    """Return a round as somebody leaves it: the questions in their order, up to anywhere."""
    draw, scorecard, at = random.Random(seed), Scorecard(ASKED), 0
    for _ in range(draw.randint(0, 40)):
        if at == len(ASKED):
            break
        if scorecard.settled(at):
            at += 1
        elif draw.random() < 0.2:
            scorecard = scorecard.given_up(at)
        else:
            asked, tries = ASKED[at].prediction, len(scorecard.tries(at))
            scorecard = scorecard.answered(
                at, asked.solution if draw.random() < 0.5 else spelled(asked.slips[tries].answer)
            )
    return scorecard, at


@pytest.mark.parametrize("seed", seeds(40))
def test_marks_points_and_place_come_back(seed: int) -> None:
    scorecard, at = played(seed)
    code = progress_code(scorecard, at)
    again = read_progress_code(ASKED, code)
    assert again is not None
    assert (again[0].marks, again[0].points, again[1]) == (scorecard.marks, scorecard.points, at)
    assert again[0].untouched == scorecard.untouched == (code == "")
    assert progress_code(*again) == code
    assert len(code) <= len(ASKED) + 1


@pytest.mark.parametrize("seed", seeds(40))
def test_the_next_answer_counts_as_it_would_have(seed: int) -> None:
    scorecard, at = played(seed)
    again = read_progress_code(ASKED, progress_code(scorecard, at))
    assert again is not None
    for i in range(len(ASKED)):
        right, wrong = ASKED[i].prediction.solution, spelled(ASKED[i].prediction.slips[1].answer)
        assert again[0].answered(i, right).marks == scorecard.answered(i, right).marks
        if wrong not in scorecard.tries(i):
            assert again[0].answered(i, wrong).marks == scorecard.answered(i, wrong).marks
        assert again[0].given_up(i).marks == scorecard.given_up(i).marks


def test_it_is_short_and_says_the_points() -> None:
    scorecard = Scorecard(ASKED)
    assert progress_code(scorecard, 0) == ""
    scorecard = scorecard.answered(0, ASKED[0].prediction.solution).given_up(1)
    assert [progress_code(scorecard, at) for at in (0, 1, 2)] == ["20", "20", "20-"]
    assert progress_code(scorecard.answered(2, spelled(ASKED[2].prediction.slips[0].answer)), 2) == "20w"


@pytest.mark.parametrize("seed", seeds(60))
def test_no_text_makes_more_than_a_round_could_have(seed: int) -> None:
    draw = random.Random(seed)
    code = "".join(draw.choices("012w-3x ²\n%", weights=(9, 9, 9, 1, 1, 1, 1, 1, 1, 1, 1), k=draw.randint(0, 13)))
    again = read_progress_code(ASKED, code)
    good = re.fullmatch("[012]{0,9}[w-]?|[012]{10}-?", code)
    assert (again is not None) == (good is not None)
    if again is not None:
        assert 0 <= again[1] <= len(ASKED)
        assert again[0].points == sum(int(digit) for digit in code if digit.isdigit())
