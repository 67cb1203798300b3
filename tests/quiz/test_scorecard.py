"""A scorecard keeps what was answered: two tries for a question, two points for the first, one for the second."""

import random
from collections.abc import Iterator

import pytest
from quiz_cases import round_of
from seeds import seeds

from packviz.errors import PackvizError
from packviz.teach.predictions import spelled
from packviz.teach.quiz import LEVELS, Scorecard


def wrong(scorecard: Scorecard, i: int, which: int = 0) -> str:
    return spelled(scorecard.questions[i].prediction.slips[which].answer)


def right(scorecard: Scorecard, i: int) -> str:
    return scorecard.questions[i].prediction.solution


def new() -> Scorecard:
    return Scorecard(round_of(2, 1))


def test_nothing_is_answered_at_first() -> None:
    scorecard = new()
    assert scorecard.marks == ("open",) * 10
    assert (scorecard.points, scorecard.most) == (0, 20)
    assert scorecard.untouched
    assert not scorecard.over
    assert scorecard.verdict(0) is None


def test_right_at_the_first_try_is_two_points() -> None:
    scorecard = new().answered(3, right(new(), 3))
    assert (scorecard.mark(3), scorecard.points, scorecard.settled(3)) == ("first", 2, True)
    verdict = scorecard.verdict(3)
    assert verdict is not None
    assert verdict.right
    assert not scorecard.untouched


def test_right_at_the_second_try_is_one_point() -> None:
    scorecard = new().answered(3, wrong(new(), 3))
    assert (scorecard.mark(3), scorecard.points) == ("open", 0)
    scorecard = scorecard.answered(3, right(scorecard, 3))
    assert (scorecard.mark(3), scorecard.points) == ("second", 1)
    assert scorecard.tries(3) == (wrong(scorecard, 3), right(scorecard, 3))


def test_two_wrong_answers_end_a_question() -> None:
    scorecard = new().answered(3, wrong(new(), 3)).answered(3, wrong(new(), 3, 1))
    assert (scorecard.mark(3), scorecard.points) == ("missed", 0)
    assert scorecard.answered(3, right(scorecard, 3)) is scorecard


def test_the_same_answer_again_is_no_second_try() -> None:
    scorecard = new()
    i = next(i for i, each in enumerate(scorecard.questions) if each.prediction.form == "numbers")
    once = scorecard.answered(i, wrong(scorecard, i))
    assert once.answered(i, f"  {wrong(scorecard, i).replace(' ', ', ')} ") is once
    assert once.mark(i) == "open"


def test_what_cannot_be_read_is_no_try() -> None:
    for i in range(10):
        for typed in ("", "  ", "???"):
            with pytest.raises(PackvizError):
                new().answered(i, typed)


def test_another_count_of_numbers_is_no_try_where_it_is_no_typical_mistake() -> None:
    refused = 0
    for level in LEVELS:
        for number in range(1, 21):
            scorecard = Scorecard(round_of(level, number))
            for i, question in enumerate(scorecard.questions):
                asked = question.prediction
                if asked.form == "choice" or (asked.form == "letters" and not asked.single):
                    continue
                known = {len(slip.answer) for slip in asked.slips} | {len(asked.answer)}
                more = " ".join(["7"] * (max(known) + 1)) if asked.form == "numbers" else " ".join(asked.letters)
                with pytest.raises(PackvizError, match="this did not count as a try") as problem:
                    scorecard.answered(i, more)
                word = "number" if asked.form == "numbers" else "letter"
                assert problem.value.came.startswith(str(len(more.split())))
                assert problem.value.expected == f"{len(asked.answer)} {word}{'s' * (len(asked.answer) > 1)}"
                refused += 1
    assert refused > 100


@pytest.mark.parametrize("typed", ["1;2", "1 2", "1, 2", "[1, 2]"])
def test_two_numbers_for_one_are_no_try(typed: str) -> None:
    scorecard, i = next(sheets_that_ask_for_one())
    with pytest.raises(
        PackvizError, match=r"expected 1 number, but got 2 numbers\. Type 1 number; this did not count as a try"
    ):
        scorecard.answered(i, typed)


def sheets_that_ask_for_one() -> Iterator[tuple[Scorecard, int]]:
    for number in range(1, 21):
        scorecard = Scorecard(round_of(1, number))
        for i, question in enumerate(scorecard.questions):
            if question.prediction.form == "numbers" and len(question.prediction.answer) == 1:
                yield scorecard, i


def test_a_typical_mistake_of_another_count_is_a_try_with_its_own_reason() -> None:
    found = 0
    for level in LEVELS:
        for number in range(1, 41):
            scorecard = Scorecard(round_of(level, number))
            for i, question in enumerate(scorecard.questions):
                asked = question.prediction
                for slip in asked.slips if asked.form == "numbers" else ():
                    if len(slip.answer) != len(asked.answer):
                        verdict = scorecard.answered(i, spelled(slip.answer)).verdict(i)
                        assert verdict is not None
                        assert verdict.reason == slip.reason
                        found += 1
    assert found > 10


def test_a_solution_that_was_asked_for_ends_a_question() -> None:
    scorecard = new().given_up(5)
    assert (scorecard.mark(5), scorecard.points, scorecard.untouched) == ("missed", 0, False)
    assert scorecard.answered(5, right(scorecard, 5)) is scorecard
    done = new().answered(5, right(scorecard, 5))
    assert done.given_up(5) is done


def test_a_new_answer_leaves_the_old_sheet_as_it_was() -> None:
    scorecard = new()
    scorecard.answered(0, right(scorecard, 0))
    scorecard.given_up(1)
    assert scorecard.untouched


@pytest.mark.parametrize("seed", seeds(20))
def test_the_points_are_those_of_the_marks_whatever_is_answered(seed: int) -> None:
    draw, scorecard = random.Random(seed), new()
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
        typed = right(scorecard, i) if correct else wrong(scorecard, i, min(len(tries[i]), 1))
        scorecard = scorecard.answered(i, typed)
        if not over:
            tries[i].append(correct)
    marks = ["first" if t[:1] == [True] else "second" if True in t else "open" for t in tries.values()]
    expected = ["missed" if t == [False, False] or i in given_up else marks[i] for i, t in tries.items()]
    assert list(scorecard.marks) == expected
    assert scorecard.points == 2 * expected.count("first") + expected.count("second")
    assert scorecard.over == ("open" not in expected)
