"""A scorecard keeps what was answered: two tries for a question, two points for the first, one for the second.

A code in the address holds how far somebody is: marks, points and place come back, and nonsense does not.
"""

import random
import re

import pytest
from quiz_cases import round_of
from seeds import seeds

from packviz.errors import PackvizError
from packviz.teach.predictions import spelled
from packviz.teach.quiz import LEVELS, Scorecard, progress_code, read_progress_code

ASKED = round_of(2, 1)
NEW = Scorecard(ASKED)


def wrong(i: int, which: int = 0) -> str:
    return spelled(ASKED[i].prediction.slips[which].answer)


def right(i: int) -> str:
    return ASKED[i].prediction.solution


def played(seed: int) -> tuple[Scorecard, int]:
    """Return a round as somebody leaves it: the questions in their order, up to anywhere."""
    draw, scorecard, at = random.Random(seed), NEW, 0
    for _ in range(draw.randint(0, 40)):
        if at == len(ASKED):
            break
        if scorecard.settled(at):
            at += 1
        elif draw.random() < 0.2:
            scorecard = scorecard.given_up(at)
        else:
            scorecard = scorecard.answered(
                at, right(at) if draw.random() < 0.5 else wrong(at, len(scorecard.tries(at)))
            )
    return scorecard, at


def test_the_same_answer_again_is_no_second_try() -> None:
    i = next(i for i, each in enumerate(ASKED) if each.prediction.form == "numbers")
    once = NEW.answered(i, wrong(i))
    assert once.answered(i, f"  {wrong(i).replace(' ', ', ')} ") is once
    assert once.mark(i) == "open"


def test_what_cannot_be_read_is_no_try() -> None:
    for i in range(10):
        for typed in ("", "  ", "???"):
            with pytest.raises(PackvizError):
                NEW.answered(i, typed)


def test_another_count_of_numbers_is_no_try_unless_it_is_a_typical_mistake() -> None:
    refused = known = 0
    for level in LEVELS:
        for number in range(1, 9):
            scorecard = Scorecard(round_of(level, number))
            for i, question in enumerate(scorecard.questions):
                asked = question.prediction
                if asked.form == "choice" or (asked.form == "letters" and not asked.single):
                    continue
                for slip in asked.slips:
                    verdict = scorecard.answered(i, spelled(slip.answer)).verdict(i)
                    assert verdict is not None
                    assert verdict.reason == slip.reason
                    known += len(slip.answer) != len(asked.answer)
                counts = {len(slip.answer) for slip in asked.slips} | {len(asked.answer)}
                more = " ".join(["7"] * (max(counts) + 1)) if asked.form == "numbers" else " ".join(asked.letters)
                with pytest.raises(PackvizError, match="this did not count as a try") as problem:
                    scorecard.answered(i, more)
                word = "number" if asked.form == "numbers" else "letter"
                assert problem.value.got.startswith(str(len(more.split())))
                assert problem.value.expected == f"{len(asked.answer)} {word}{'s' * (len(asked.answer) > 1)}"
                refused += 1
    assert refused > 50
    assert known > 10


@pytest.mark.parametrize("seed", seeds(20))
def test_the_points_are_those_of_the_marks_whatever_is_answered(seed: int) -> None:
    draw, scorecard = random.Random(seed), NEW
    tries: dict[int, list[bool]] = {i: [] for i in range(10)}
    given_up: set[int] = set()
    for _ in range(draw.randint(0, 40)):
        i = draw.randrange(10)
        over = len(tries[i]) == 2 or True in tries[i] or i in given_up
        if draw.random() < 0.1:
            scorecard = scorecard.given_up(i)
            given_up |= set() if over else {i}
            continue
        correct = draw.random() < 0.4
        scorecard = scorecard.answered(i, right(i) if correct else wrong(i, min(len(tries[i]), 1)))
        if not over:
            tries[i].append(correct)
    marks = ["first" if t[:1] == [True] else "second" if True in t else "open" for t in tries.values()]
    expected = ["missed" if t == [False, False] or i in given_up else marks[i] for i, t in tries.items()]
    assert list(scorecard.marks) == expected
    assert scorecard.points == 2 * expected.count("first") + expected.count("second")
    assert scorecard.over == ("open" not in expected)


@pytest.mark.parametrize("seed", seeds(20))
def test_a_code_brings_back_marks_points_and_place_and_the_next_answer_counts_the_same(seed: int) -> None:
    scorecard, at = played(seed)
    code = progress_code(scorecard, at)
    found = read_progress_code(ASKED, code)
    assert found is not None
    again, there = found
    assert (again.marks, again.points, there) == (scorecard.marks, scorecard.points, at)
    assert again.untouched == scorecard.untouched == (code == "")
    assert progress_code(again, there) == code
    assert len(code) <= len(ASKED) + 1
    for i in range(len(ASKED)):
        assert again.answered(i, right(i)).marks == scorecard.answered(i, right(i)).marks
        assert again.given_up(i).marks == scorecard.given_up(i).marks
        if wrong(i, 1) not in scorecard.tries(i):
            assert again.answered(i, wrong(i, 1)).marks == scorecard.answered(i, wrong(i, 1)).marks


@pytest.mark.parametrize("seed", seeds(40))
def test_no_text_makes_more_than_a_round_could_have(seed: int) -> None:
    draw = random.Random(seed)
    code = "".join(draw.choices("012w-3x ²\n%", weights=(9, 9, 9, 1, 1, 1, 1, 1, 1, 1, 1), k=draw.randint(0, 13)))
    again = read_progress_code(ASKED, code)
    good = re.fullmatch("[012]{0,9}[w-]?|[012]{10}-?", code)
    assert (again is not None) == (good is not None)
    if again is not None:
        assert 0 <= again[1] <= len(ASKED)
        assert again[0].points == sum(int(digit) for digit in code if digit.isdigit())
