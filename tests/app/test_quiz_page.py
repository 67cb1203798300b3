"""The quiz: a link is a round, an answer gets its reason and its movie, the end counts the points."""

import json
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from packviz.show.movie import movie
from packviz.teach.predictions import spelled
from packviz.teach.quiz import LAST_ROUND, questions
from pages import movies, opened, press, texts

LEVEL, ROUND = 2, 1234
ASKED = questions(LEVEL, ROUND)
START = {"level": str(LEVEL), "round": str(ROUND)}
NUMBERS = next(i for i, question in enumerate(ASKED) if question.prediction.form == "numbers")


@pytest.fixture
def app() -> AppTest:
    return opened("quiz", {"level": LEVEL, "round": ROUND})


def answer(app: AppTest, i: int, typed: str) -> None:
    fields = app.radio if ASKED[i].prediction.form == "choice" else app.text_input
    fields(key=f"quiz {LEVEL} {ROUND} {i}").set_value(typed)
    press(app, "Check")


def skip(app: AppTest, questions: int) -> None:
    """Give up the next questions, and go on."""
    for _ in range(questions):
        press(app, "Show me")
        press(app, "The result" if "Question 10 of 10" in texts(app) else "Next")


def right(i: int) -> str:
    return ASKED[i].prediction.solution


def wrong(i: int, which: int = 0) -> str:
    return spelled(ASKED[i].prediction.slips[which].answer)


def step_of(i: int) -> int:
    question, moment = ASKED[i], ASKED[i].prediction.moment
    film = movie(question.trace, question.stages, direction=question.direction, deep=True)
    return film.step_at(moment.stage, moment.timestep, moment.name)


def step_shown(app: AppTest) -> int:
    (given,) = movies(app)
    step: int = json.loads(given)["step"]
    return step


def test_a_right_answer_is_confirmed_and_shown_at_its_step(app: AppTest) -> None:
    assert movies(app) == []
    answer(app, 0, right(0))
    assert "✓ Right:" in texts(app)
    assert "**Question 1 of 10**, 2 points" in texts(app)
    assert step_shown(app) == step_of(0)
    assert app.query_params == START


def test_a_wrong_answer_gets_its_reason_and_no_solution_before_the_second(app: AppTest) -> None:
    first, second = ASKED[0].prediction.slips[:2]
    answer(app, 0, wrong(0))
    assert f"{first.reason} You have one more try." in texts(app)
    assert "The answer:" not in texts(app)
    assert movies(app) == []
    answer(app, 0, wrong(0, 1))
    assert second.reason in texts(app)
    assert f"The answer: {right(0)}".replace("`", "") in texts(app)
    assert step_shown(app) == step_of(0)
    assert any("Question 1: missed, 0 points" in each.proto.body for each in app.get("html"))


@pytest.mark.slow
def test_a_whole_round_is_counted_and_can_be_looked_through(app: AppTest) -> None:
    for i in range(len(ASKED)):
        if i in (2, 5, 7):
            answer(app, i, wrong(i))
        if i == 5:
            answer(app, i, wrong(i, 1))
        elif i == 8:
            press(app, "Show me")
        else:
            answer(app, i, right(i))
        press(app, "Next" if i < 9 else "The result")
    assert "14 of 20 points" in texts(app)
    assert "6 right on the first try, 2 on the second, 2 missed." in texts(app)
    lines = [each.value for each in app.text if "The answer:" in each.value]
    said = f"You said: {wrong(2)}, then {right(2)}. The answer: {right(2)}".replace("`", "")
    assert lines[2].startswith(said.removesuffix("."))
    assert lines[8].startswith("You said: nothing.")
    app.button(key="see 5").click().run()
    assert ASKED[5].prediction.prompt in texts(app)
    assert step_shown(app) == step_of(5)
    press(app, "The result")
    assert any(each.label.startswith("Level 3") for each in app.button)
    press(app, "Same round again")
    assert ASKED[0].prediction.prompt in texts(app)
    assert "**Question 1 of 10**, 0 points" in texts(app)
    assert app.query_params == START


@pytest.mark.slow
def test_a_link_gives_everybody_the_same_ten_questions_and_the_end_leads_on(app: AppTest) -> None:
    for question in ASKED:
        assert question.prediction.prompt in texts(app)
        skip(app, 1)
    assert app.query_params == START
    assert "0 of 20 points" in texts(app)
    assert not any(each.label.startswith("Level 3") for each in app.button)  # below half of the points
    press(app, "Another round")
    number = app.query_params["round"]
    assert app.query_params == {"level": str(LEVEL), "round": number}
    assert int(number) != ROUND  # by chance, once in 9,999 times
    assert questions(LEVEL, int(number))[0].prediction.prompt in texts(app)
    app.number_input(key="quiz number").set_value(ROUND).run()  # back to the round that is over
    assert "0 of 20 points" in texts(app)


@pytest.mark.parametrize("query", ["round=0", "round=10000&level=7", "round=x", "round=1e999", "level=&round="])
def test_without_a_good_number_a_round_is_drawn(query: str) -> None:
    app = opened("quiz", dict(parse_qsl(query)))
    number = int(app.number_input(key="quiz number").value or 0)
    assert 1 <= number <= LAST_ROUND
    assert questions(1, number)[0].prediction.prompt in texts(app)


def test_a_round_can_be_typed_drawn_and_not_emptied(app: AppTest) -> None:
    app.number_input(key="quiz number").set_value(77).run()
    assert app.query_params == {"level": "2", "round": "77"}
    assert questions(2, 77)[0].prediction.prompt in texts(app)
    app.number_input(key="quiz number").set_value(None).run()
    assert app.number_input(key="quiz number").value == 77
    press(app, "New round")
    assert app.query_params == {"level": "2", "round": str(app.number_input(key="quiz number").value)}


def test_what_cannot_be_read_is_explained_and_costs_nothing(app: AppTest) -> None:
    skip(app, NUMBERS)
    answer(app, NUMBERS, "three <b>two</b>")
    assert "⚠ Expected integers" in texts(app)
    assert app.text_input(key=f"quiz {LEVEL} {ROUND} {NUMBERS}").value == "three <b>two</b>"
    answer(app, NUMBERS, right(NUMBERS))
    assert f"**Question {NUMBERS + 1} of 10**, 2 points" in texts(app)


def test_a_new_round_in_the_middle_of_one_asks_first(app: AppTest) -> None:
    press(app, "Show me")
    assert f"Leave round {ROUND} at question 1?" in texts(app)
    assert not [each for each in app.button if each.label == "New round"]
    press(app, "Yes, another round")
    assert app.query_params != START
    assert "**Question 1 of 10**, 0 points" in texts(app)


def test_a_round_waits_while_another_page_is_read(app: AppTest) -> None:
    answer(app, 0, right(0))
    press(app, "Next")
    app.switch_page("pages/3_packing.py").run()
    app.query_params.clear()
    app.switch_page("pages/11_quiz.py").run()
    assert "**Question 2 of 10**, 2 points" in texts(app)
