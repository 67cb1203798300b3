"""The quiz: a link is a round, an answer gets its reason and its movie, and the result counts the points.

In a browser: Back, a reload, the keyboard, the first screen.
"""

import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect
from quiz_round import ASKED, LEVEL, ROUND, START, answer, click, plain, prompt, right, wrong
from streamlit.testing.v1 import AppTest
from tabs import box_of, reach, until, violations
from visits import PHONE, Open, Visit, wider_by

from packviz.show.movie import movie
from packviz.teach.quiz import LAST_ROUND, LEVELS, questions
from pages import movies, opened, press, texts

MAIN = '[data-testid="stMain"]'
NUMBERS = next(i for i, question in enumerate(ASKED) if question.prediction.form == "numbers")


@pytest.fixture
def app() -> AppTest:
    return opened("quiz", {"level": LEVEL, "round": ROUND})


def reply(app: AppTest, i: int, typed: str) -> None:
    fields = app.radio if ASKED[i].prediction.form == "choice" else app.text_input
    fields(key=f"quiz {LEVEL} {ROUND} {i}").set_value(typed)
    press(app, "Check")


def skip(app: AppTest, questions: int) -> None:
    """Give up the next questions, and go on."""
    for _ in range(questions):
        press(app, "Show me")
        press(app, "The result" if "Question 10 of 10" in texts(app) else "Next")


def step_of(i: int) -> int:
    question, moment = ASKED[i], ASKED[i].moment
    film = movie(question.trace, question.stages, direction=question.direction, deep=True)
    return film.step_at(moment.stage, moment.timestep, moment.name)


def step_shown(app: AppTest) -> int:
    (given,) = movies(app)
    step: int = json.loads(given)["step"]
    return step


def test_the_solution_comes_after_the_second_wrong_answer(app: AppTest) -> None:
    first, second = ASKED[0].prediction.slips[:2]
    reply(app, 0, wrong(0))
    assert f"{first.reason} You have one more try." in texts(app)
    assert "The answer:" not in texts(app)
    assert movies(app) == []
    reply(app, 0, wrong(0, 1))
    assert second.reason in texts(app)
    assert f"The answer: {right(0)}".replace("`", "") in texts(app)
    assert step_shown(app) == step_of(0)
    assert any("Question 1: missed, 0 points" in each.proto.body for each in app.get("html"))


@pytest.mark.slow
def test_a_whole_round_is_scored_and_can_be_reviewed(app: AppTest) -> None:
    for i in range(len(ASKED)):
        if i in (2, 5, 7):
            reply(app, i, wrong(i))
        if i == 5:
            reply(app, i, wrong(i, 1))
        elif i == 8:
            press(app, "Show me")
        else:
            reply(app, i, right(i))
        press(app, "Next" if i < 9 else "The result")
    assert "14 of 20 points" in texts(app)
    assert "6 right on the first try, 2 on the second, 2 missed." in texts(app)
    lines = [each.value for each in app.text if "The answer:" in each.value]
    said = f"You said: {wrong(2)}, then {right(2)}. The answer: {right(2)}".replace("`", "")
    assert lines[2].startswith(said.removesuffix("."))
    assert lines[8].startswith("Skipped. The answer:")
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
def test_a_link_gives_everyone_the_same_ten_questions(app: AppTest) -> None:
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


def test_a_round_can_be_typed_or_drawn_but_not_cleared(app: AppTest) -> None:
    app.number_input(key="quiz number").set_value(77).run()
    assert app.query_params == {"level": "2", "round": "77"}
    assert questions(2, 77)[0].prediction.prompt in texts(app)
    app.number_input(key="quiz number").set_value(None).run()
    assert app.number_input(key="quiz number").value == 77
    press(app, "New round")
    assert app.query_params == {"level": "2", "round": str(app.number_input(key="quiz number").value)}


def test_an_unreadable_answer_is_explained_and_costs_nothing(app: AppTest) -> None:
    skip(app, NUMBERS)
    reply(app, NUMBERS, "three <b>two</b>")
    assert "⚠ We cannot read '<b>two</b>' as one whole number" in texts(app)
    assert app.text_input(key=f"quiz {LEVEL} {ROUND} {NUMBERS}").value == "three <b>two</b>"
    reply(app, NUMBERS, right(NUMBERS))
    assert f"**Question {NUMBERS + 1} of 10**, 2 points" in texts(app)


def test_a_new_round_in_the_middle_of_one_needs_confirmation(app: AppTest) -> None:
    press(app, "Show me")
    assert f"Leave round {ROUND} at question 1?" in texts(app)
    assert not [each for each in app.button if each.label == "New round"]
    press(app, "Yes, another round")
    assert app.query_params != START
    assert "**Question 1 of 10**, 0 points" in texts(app)


def test_a_round_waits_while_another_page_is_read(
    app: AppTest,
) -> None:
    assert movies(app) == []
    reply(app, 0, right(0))
    assert "✓ Right:" in texts(app)
    assert "**Question 1 of 10**, 2 points" in texts(app)
    assert step_shown(app) == step_of(0)
    assert app.query_params == START
    press(app, "Next")
    app.switch_page("pages/packing.py").run()
    app.query_params.clear()
    app.switch_page("pages/quiz.py").run()
    assert "**Question 2 of 10**, 2 points" in texts(app)


def stands_in_address(visited: Visit, query: dict[str, str]) -> None:
    """Wait until this is the query of the address."""
    visited.page.wait_for_url(lambda url: dict(parse_qsl(urlsplit(url).query)) == query)


def test_back_returns_to_the_previous_round(visit: Open, address: str) -> None:
    visited = visit(START, path="quiz")
    page = visited.page
    visited.main.get_by_role("radio", name="3").check(force=True)
    visited.settle()
    click(visited, "New round")
    number = visited.query["round"]
    answer(visited, questions(3, int(number))[0], questions(3, int(number))[0].prediction.solution)
    visited.go_to("Packing")
    places = [f"/quiz?level=3&round={number}", f"/quiz?level=3&round={ROUND}", f"/quiz?level=2&round={ROUND}"]
    for place in places:
        page.go_back()
        stands_at(visited, address + place)
    page.go_forward()
    stands_at(visited, address + places[1])


def stands_at(visited: Visit, place: str) -> None:
    """Check that the round in the address is on the screen, without an error."""
    visited.page.wait_for_url(place)
    visited.settle()
    visited.check()
    level, number = visited.query["level"], visited.query["round"]
    expect(visited.main.get_by_role("spinbutton")).to_have_value(number)
    expect(prompt(visited)).to_have_text(plain(questions(int(level), int(number))[0]))
    assert visited.page.url == place


def test_on_a_phone_the_verdict_and_the_whole_movie_are_on_one_screen(visit: Open) -> None:
    visited = visit(START, path="quiz", size=PHONE, has_touch=True, is_mobile=True, motion=False)
    for i in range(3):
        click(visited, "Show me")
        shown = visited.main.locator(".st-key-verdict, .st-key-question button")
        for part in (*shown.all(), *map(visited.player.locator, (".pv-stage", ".pv-caption", ".pv-transport"))):
            expect(part).to_be_in_viewport(ratio=1)
        assert box_of(visited.player.locator(".pv-stage"))["height"] > 180, i
        click(visited, "Next")
    expect(visited.main.get_by_role("spinbutton")).to_be_visible()


def test_a_reload_continues_at_the_same_question(visit: Open) -> None:
    visited = visit(START, path="quiz", size=PHONE, scheme="dark")
    sound(visited)
    answer(visited, ASKED[0], right(0))
    again(visited, 0, 2)
    expect(visited.main).to_contain_text("✓ Right:")
    assert visited.data("step") == str(step_of(0))
    click(visited, "Next")
    answer(visited, ASKED[1], wrong(1))
    sound(visited)
    again(visited, 1, 2)
    expect(visited.main).to_contain_text("You have one more try.")
    answer(visited, ASKED[1], right(1))
    click(visited, "Next", "Show me")
    sound(visited)
    again(visited, 2, 3)
    click(visited, *["Next", "Show me"] * 7, "The result")
    visited.page.reload()
    end = visited.page.locator(".st-key-quiz-result")
    expect(end).to_contain_text("3 of 20 points")
    expect(end.locator(".st-key-quiz-line-0")).not_to_contain_text("You said")
    visited.settle()
    sound(visited)
    click(visited, "Same round again")
    stands_in_address(visited, START)
    expect(visited.main).to_contain_text("Question 1 of 10, 0 points")


def sound(visited: Visit) -> None:
    assert violations(visited.page, MAIN) == []
    assert wider_by(visited) <= 0


def again(visited: Visit, i: int, points: int) -> None:
    """Reload, and check that question i is on the screen, with so many points."""
    stands_in_address(visited, START)
    visited.page.reload()
    expect(prompt(visited)).to_have_text(plain(ASKED[i]))
    expect(visited.main).to_contain_text(f"Question {i + 1} of 10, {points} points")
    visited.settle()
    stands_in_address(visited, START)


def test_question_batch_and_answer_fit_one_screen(visit: Open) -> None:
    visited = visit(START, path="quiz")
    rows, batch = visited.page.locator(".quiz-batch tr"), visited.page.locator(".quiz-batch")
    shown = [rows.nth(b).locator("td").all_inner_texts() for b in range(rows.count())]
    assert shown == [sequence.split() for sequence in ASKED[0].text.replace("-", "−").splitlines()]
    assert rows.locator("th").all_inner_texts() == list("ABCDEF")[: len(shown)]
    for name in ("Check", "Show me"):
        expect(visited.main.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    expect(batch).to_be_in_viewport(ratio=1)
    keys = visited.page.keyboard
    reach(visited.main.get_by_role("textbox"))
    keys.type(right(0))
    keys.press("Enter")
    visited.settle()
    expect(visited.main).to_contain_text("✓ Right:")
    assert batch.locator("td").all_inner_texts() == [token for row in shown for token in row]
    expect(batch).to_be_in_viewport(ratio=1)
    expect(visited.player.locator("canvas")).to_be_in_viewport(ratio=0.95)
    following = visited.main.get_by_role("button", name="Next")
    expect(following).to_be_in_viewport(ratio=1)
    until(visited.page, lambda: visited.main.evaluate("main => main.scrollHeight === main.clientHeight"))
    expect(following).to_be_enabled()
    visited.settle()  # the button hears its key once it stands
    keys.press("Enter")
    expect(prompt(visited)).to_have_text(plain(ASKED[1]))


def test_before_the_first_answer_the_first_screen_says_how_points_are_scored(visit: Open) -> None:
    main = visit({"level": "5", "round": "7"}, path="quiz").main  # a long question
    expect(main.get_by_text("2 points on the first try")).to_be_in_viewport(ratio=1)


def test_all_levels_are_offered_whole(visit: Open) -> None:
    page = visit({"level": "4", "round": "12"}, path="quiz").page
    levels = page.locator(".st-key-quiz-level [data-testid=stButtonGroup]")
    assert levels.get_by_role("radio").all_inner_texts() == [f"{level} {each.name}" for level, each in LEVELS.items()]
    cut = "node => [...node.querySelectorAll('*')].filter(each => each.scrollWidth > each.clientWidth + 1).length"
    assert levels.evaluate(cut) == 0


@pytest.mark.parametrize(("chosen", "neighbour", "side"), [(4, 3, "right"), (3, 4, "left")])
def test_on_a_phone_both_lines_of_levels_have_both_ends(visit: Open, chosen: int, neighbour: int, side: str) -> None:
    page = visit({"level": str(chosen), "round": "12"}, path="quiz", size=PHONE, has_touch=True).page
    levels = page.locator(".st-key-quiz-level").get_by_role("radio")
    expect(levels.nth(chosen - 1)).to_be_checked()
    color = f"node => getComputedStyle(node).getPropertyValue('border-{side}-color')"
    assert levels.nth(neighbour - 1).evaluate(color) == "rgb(213, 216, 224)"
