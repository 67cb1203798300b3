"""The prediction inside the player: in a saved file, in full screen and on a phone, without any server.

In a frame: test_notebook.py.
"""

import re
from typing import Any

import pytest
from movie_player import Open, Screen
from playwright.sync_api import Locator, expect
from tabs import Size, box_of, enter, reach

import packviz as pv
from packviz import Batch, Config, Movie
from packviz.predictions import Stage, ask, asking

DESK, PHONE, SIDE = (1280, 720), (390, 844), (844, 390)
TRACE = pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"), Config(cell="gru"))


def lesson(stage: Stage) -> Movie:
    return asking(pv.movie(TRACE, (stage,), deep=True), stage)


def opened(open_page: Open, film: Movie, **options: Any) -> tuple[Screen, Locator, Locator, Locator]:
    """Open a movie; return its question, where it is answered and the line that says what is right or wrong."""
    screen = open_page(film, **options)
    root = screen.page.get_by_test_id("packviz-prediction")
    return screen, root, root.get_by_role("textbox"), root.get_by_role("status")


def covered(*parts: Locator) -> list[str]:
    """Return which parts are not wholly seen: cut by the window, or with something else over their middle."""
    seen = """node => {
        const box = node.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
        const inside = box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
        return Boolean(box.width && inside && node.contains(document.elementFromPoint(x, y)));
    }"""
    return [part.inner_text() for part in parts if not part.evaluate(seen)]


@pytest.mark.parametrize(("stage", "size"), [("pad", DESK), ("sort", PHONE), ("run", DESK), ("unpack", PHONE)])
def test_in_full_screen_the_right_answer_begins_the_way_that_shows_why(
    open_page: Open, stage: Stage, size: Size
) -> None:
    prediction = ask(TRACE, stage)
    assert prediction is not None
    film = lesson(stage)
    screen, root, box, said = opened(open_page, film, motion=True, size=size)
    screen.fill_the_window()
    expect(root).to_contain_text(prediction.prompt.replace("`", ""))
    canvas = screen.root.locator("canvas")
    screen.root.get_by_label("Speed").select_option("0.5")  # many frames, however busy the machine is
    painted = screen.painted
    screen.root.evaluate(
        """node => {
            window.shown = [];
            const noted = new MutationObserver(() => window.shown.push(Number(node.dataset.step)));
            noted.observe(node, {attributes: true, attributeFilter: ["data-step"]});
        }"""
    )
    if prediction.form == "choice":
        button = root.get_by_role("button", name=prediction.solution.replace("`", ""))
        assert covered(button, canvas) == []
        button.click()
    else:
        assert covered(box, canvas) == []
        enter(box, prediction.solution)
    expect(said).to_have_text(f"✓ Right. {prediction.why.replace('`', '')}")
    question = film.to_dict()["questions"][0]
    begun = screen.page.evaluate("window.shown[0]")
    assert begun == max(2, question["first"]) <= question["step"]  # it begins where the way to the answer begins
    screen.rest()
    assert screen.painted > painted + 6  # it moved
    assert canvas.evaluate("node => node.getBoundingClientRect().height") >= size[1] / 2 - 1
    screen.press("End", "ArrowLeft")  # the keys are the movie's again
    screen.rest()
    assert screen.step == int(screen.data("steps")) - 1


def test_a_wrong_answer_gets_its_reason_and_a_second_try(open_page: Open) -> None:
    screen, root, box, said = opened(open_page, lesson("pack"))
    prediction = ask(TRACE, "pack")
    assert prediction is not None
    for typed, told in (
        ("many <b>two</b>", "⚠ We cannot read 'many' as whole numbers."),
        (" ", "The answer is empty."),
    ) * 2:
        enter(box, typed)
        expect(said).to_contain_text(told)
        expect(box).to_have_value(typed)
    box.fill("3 2 4")
    root.get_by_role("button", name="Check").click()
    reason = prediction.check("3 2 4").reason.replace("`", "")
    expect(said).to_have_text(f"✗ Not quite. {reason} Try once more.")
    assert screen.step == 1
    enter(box, "[4, 3, 2]")
    expect(said).to_contain_text("These are the sorted lengths")
    expect(said).to_contain_text("The answer: 3 3 2 1.")
    expect(root.get_by_role("button", name="Show me")).to_be_hidden()
    assert screen.step > 1


def test_once_the_movie_has_shown_the_answer_play_stands_out(open_page: Open) -> None:
    screen, _, box, _ = opened(open_page, lesson("pack"))
    play, line = screen.root.locator(".pv-play"), "node => getComputedStyle(node).outlineStyle"
    assert play.evaluate(line) == "none"
    enter(box, "3 3 2 1")
    expect(screen.root).to_have_attribute("data-answered", "true", timeout=30_000)
    expect(play).to_have_accessible_name("Play", timeout=30_000)
    assert play.evaluate(line) == "solid"
    screen.press("ArrowRight")
    assert play.evaluate(line) == "none"


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_play_waits_once_before_it_shows_an_answer_that_nobody_has_given(open_page: Open, size: Size) -> None:
    film = lesson("pack")
    screen, root, box, said = opened(open_page, film, size=size)
    answer, play = film.to_dict()["questions"][0]["step"], screen.root.get_by_role("button", name=re.compile("Play"))
    screen.root.get_by_label("Speed").select_option("4")
    play.click()
    expect(screen.root).to_have_attribute("data-step", str(answer - 1))
    expect(said).to_have_text("Play waits for your answer. Press Play again to go on without one.")
    expect(play).to_be_visible()
    assert covered(box, said) == []
    play.click()
    expect(screen.root).to_have_attribute("data-step", screen.data("steps"), timeout=20_000)
    screen.press("Home")
    play.click()  # it has waited for this question
    expect(screen.root).to_have_attribute("data-step", screen.data("steps"), timeout=20_000)
    screen.press(*["ArrowLeft"] * (len(film.steps) - answer + 1))
    expect(root.locator(".pv-verdict")).to_have_text(
        f"Step {answer} shows the answer."
    )  # who goes back there is not told of Play
    screen.press("Home")
    root.get_by_role("button", name="Another").click()  # the next question has not been waited for
    play.click()
    expect(said).to_contain_text("Play waits")


def test_play_waits_before_the_first_of_several_steps_that_answer_together(open_page: Open) -> None:
    run = pv.trace_rows(Batch.parse("1 2 3\n4 5\n6 7 8 9"), pv.RowConfig(max_length=6))
    film = asking(pv.movie(run, ("losses",), deep=True), "losses")
    screen, _, _, said = opened(open_page, film)
    (question, *_) = film.to_dict()["questions"]
    assert 2 < question["first"] < question["step"]
    screen.root.get_by_label("Speed").select_option("4")
    screen.root.get_by_role("button", name=re.compile("Play")).click()
    expect(said).to_contain_text("Play waits", timeout=20_000)
    assert screen.step == question["first"] - 1


def test_play_does_not_wait_for_what_is_answered(open_page: Open) -> None:
    screen, root, *_ = opened(open_page, lesson("pack"), size=DESK)
    prediction = ask(TRACE, "pack")
    assert prediction is not None
    enter(root.get_by_role("textbox"), prediction.solution)
    screen.press("Home")
    screen.root.get_by_label("Speed").select_option("4")
    screen.root.get_by_role("button", name=re.compile("Play")).click()
    expect(screen.root).to_have_attribute("data-step", screen.data("steps"), timeout=20_000)


def test_after_the_right_answer_its_field_takes_no_other(open_page: Open) -> None:
    screen, root, box, said = opened(open_page, lesson("pack"))
    enter(box, "3 3 2 1")
    expect(said).to_contain_text("✓ Right.")
    box.click()
    screen.press("9", "Enter")
    expect(box).to_have_value("3 3 2 1")
    expect(box).to_have_attribute("data-tone", "good")
    expect(said).to_contain_text("✓ Right.")
    expect(root.get_by_role("button", name="Check")).to_be_disabled()
    root.get_by_role("button", name="Another").click()
    expect(box).to_be_editable()
    expect(root.get_by_role("button", name="Check")).to_be_enabled()


@pytest.mark.parametrize("shown", [False, True])
def test_once_the_answer_is_known_the_choices_are_done(open_page: Open, shown: bool) -> None:
    film = lesson("unpack")
    screen, root, _, said = opened(open_page, film)
    choices = root.get_by_role("group", name="Answers").get_by_role("button")
    if shown:
        choices.nth(1).click()
        root.get_by_role("button", name="Show me").click()
    else:
        choices.nth(0).click()
    told = said.inner_text()
    expect(screen.root).to_be_focused()
    for _ in range(2):  # also after a reload
        for choice in choices.all():
            expect(choice).to_be_disabled()
            choice.click(force=True)
        expect(said).to_have_text(told)
        screen.page.reload()
    for _ in film.to_dict()["questions"]:
        root.get_by_role("button", name="Another").click()
    expect(choices.nth(0)).to_be_enabled()


def test_too_few_or_too_many_numbers_and_the_same_answer_again_cost_no_try(open_page: Open) -> None:
    screen, root, box, said = opened(open_page, lesson("pack"))
    show_me = root.get_by_role("button", name="Show me")
    for typed in ("9 9", "9 9 9 9 9"):
        enter(box, typed)
        expect(said).to_contain_text("The answer has 4 numbers.")
        expect(said).to_contain_text("Try again.")
        expect(show_me).to_be_hidden()
    for typed in ("9 9 9 9", "[9, 9, 9, 9]"):
        enter(box, typed)
        expect(said).to_contain_text("✗ Not quite.")
        expect(said).to_contain_text("Try once more.")
    assert screen.step == 1
    screen.page.reload()
    expect(said).to_contain_text("Try once more.")
    enter(box, "3 3 2 1")
    expect(said).to_contain_text("✓ Right.")


def test_at_the_step_that_shows_why_an_answer_that_cannot_be_read_is_answered_too(open_page: Open) -> None:
    film = lesson("pack")
    screen, _, box, said = opened(open_page, film)
    screen.press(*["ArrowRight"] * (film.to_dict()["questions"][0]["step"] - 1))
    enter(box, " ")
    expect(said).to_be_visible()
    expect(said).to_have_text("⚠ The answer is empty. Type one, for example 7 7 7.")


def test_questions_go_round_and_who_asks_is_shown_why_column_by_column(open_page: Open) -> None:
    film = lesson("pack")
    screen, root, box, said = opened(open_page, film)
    questions = film.to_dict()["questions"]
    prompts = [question["prompt"].replace("`", "") for question in questions]
    assert len(set(prompts)) == len(prompts) > 2
    enter(box, "3 3 2 1")
    assert screen.step > 1
    for prompt in [*prompts[1:], prompts[0]]:
        root.get_by_role("button", name="Another").click()
        expect(root).to_contain_text(prompt)
        expect(box).to_have_value("")
        expect(said).to_contain_text("Answer first.")
        assert screen.step == 1
    show_me = root.get_by_role("button", name="Show me")
    expect(show_me).to_be_hidden()
    enter(box, "1 1 1 1")
    show_me.click()
    expect(said).to_contain_text("The answer: 3 3 2 1. batch_sizes[t] is the number")
    expect(show_me).to_be_hidden()
    first, last = questions[0]["first"], questions[0]["step"]
    assert [film.steps[step - 1].time for step in (first + 1, last)] == [0, 3]
    assert screen.step == first + 1  # the stage's first step is where one asks
    screen.root.get_by_label("Speed").select_option("4")
    expect(screen.root).to_have_attribute("data-step", str(last), timeout=30_000)


@pytest.mark.parametrize("stage", ["pack", "unpack"])
def test_at_a_desk_a_skipped_question_stays_and_the_picture_keeps_its_place(open_page: Open, stage: Stage) -> None:
    film = lesson(stage)
    screen, root, box, said = opened(open_page, film)
    last, places = film.to_dict()["questions"][0]["step"], set()
    for _ in film.steps:
        places.add(tuple(box_of(screen.root.locator(".pv-stage")).values()))
        screen.press("ArrowRight")
    expect(root.locator(".pv-prompt")).to_be_visible()
    back = said.get_by_role("button", name="Go back and answer")
    expect(said).to_have_text(f"Step {last} showed the answer. Go back and answer")
    assert len(places) == 1
    choice = root.get_by_role("group", name="Answers").get_by_role("button").first
    expect(box).to_be_hidden()  # it takes no answer any more, unless one steps back
    expect(choice).to_be_disabled() if stage == "unpack" else expect(choice).to_have_count(0)
    screen.press(*["ArrowLeft"] * (len(film.steps) - last))
    expect(choice if stage == "unpack" else box).to_be_enabled()
    expect(back).to_be_hidden()
    screen.press("End")
    back.click()
    assert screen.step == max(1, film.to_dict()["questions"][0]["first"] - 1)
    expect(choice if stage == "unpack" else box).to_be_focused()


@pytest.mark.parametrize("full", [False, True])
def test_on_a_phone_a_skipped_question_is_one_line_which_opens_it_again(open_page: Open, full: bool) -> None:
    film = lesson("pack")
    screen, root, box, said = opened(open_page, film, size=PHONE, has_touch=True, is_mobile=True)
    if full:
        screen.fill_the_window()
    line, last = root.get_by_role("button", name="Answer"), film.to_dict()["questions"][0]["step"]
    expect(line).to_be_hidden()
    screen.press("ArrowRight")
    expect(line).to_contain_text("Still open:")
    expect(box).to_be_hidden()
    assert box_of(root)["height"] < 45
    for told in (f"Step {last} shows", "This step shows", f"Step {last} showed"):
        while "This" in told and screen.step != last:
            screen.press("ArrowRight")
        if "showed" in told:
            screen.press("End")
        step = screen.step
        line.click()
        expect(box).to_be_focused()
        expect(said).to_have_text(f"{told} the answer.")
        assert screen.step == step
        screen.button("Step back" if "showed" in told else "Step forward").click()  # elsewhere it is a line again
        expect(line).to_be_visible()
        expect(box).to_be_hidden()
    screen.press("Home")
    expect(said).to_contain_text("Answer first.")
    enter(box, "3 3 2 1")
    screen.press("End")
    expect(line).to_be_hidden()


def test_a_choice_is_made_by_keys_alone_and_keeps_its_sign(open_page: Open) -> None:
    screen, root, _, said = opened(open_page, lesson("unpack"))
    choices = root.get_by_role("group", name="Answers").get_by_role("button")
    reach(choices.nth(1))
    screen.press("Space")
    expect(said).to_contain_text("✗ Not quite.")
    expect(choices.nth(1)).to_have_attribute("data-tone", "wrong")
    assert screen.step == 1
    screen.press("Shift+Tab", "Enter")
    expect(said).to_contain_text("✓ Right.")
    expect(choices.nth(0)).to_have_attribute("data-tone", "good")


@pytest.mark.parametrize("height", [720, 900])
@pytest.mark.parametrize("stage", ["pad", "unpack"])
def test_the_picture_keeps_its_place_when_an_answer_is_judged(open_page: Open, stage: str, height: int) -> None:
    _, root, field, said = opened(open_page, lesson(stage), size=(1280, height))
    expect(said).to_contain_text("Answer first")
    waiting = box_of(root)["height"]
    if stage == "pad":
        field.fill("99")
        field.press("Enter")
    else:
        root.get_by_role("group", name="Answers").get_by_role("button").nth(1).click()
    expect(said).to_contain_text("✗ Not quite.")
    assert box_of(root)["height"] == waiting


def test_what_is_said_begins_beside_the_last_choice_of_many(open_page: Open) -> None:
    trace = pv.trace(pv.Batch.example("sentences"), Config(bidirectional=True))
    _, root, _, said = opened(open_page, asking(pv.movie(trace, ("unpack",), deep=True), "unpack"))
    choices = root.get_by_role("group", name="Answers").get_by_role("button")
    expect(choices).to_have_count(4)
    last, line = box_of(choices.last), box_of(said)
    assert line["x"] > last["x"] + last["width"]
    assert line["y"] < last["y"] + last["height"]
    another = box_of(root.get_by_role("button", name="Another"))
    assert box_of(choices.first)["y"] > another["y"] + another["height"]


def test_what_is_typed_is_no_shortcut_and_the_same_verdict_is_news_again(open_page: Open) -> None:
    screen, _, box, said = opened(open_page, lesson("pad"))
    box.click()
    screen.press("1", "f", "b", ".", "Space", "ArrowRight", "Home", "End")
    assert (screen.step, screen.root.get_attribute("data-full")) == (1, None)
    box.fill("9")
    said.evaluate(
        "node => new MutationObserver(() => window.heard = (window.heard ?? 0) + 1).observe(node, {childList: true})"
    )
    box.press("Enter")
    first = said.inner_text()
    enter(box, "x")
    box.press("Enter")
    screen.page.wait_for_function("window.heard >= 3")
    assert first.startswith("✗ Not quite.")


def test_on_a_phone_a_finger_answers_and_the_picture_comes_into_view(open_page: Open) -> None:
    screen, root, _, said = opened(open_page, lesson("unpack"), size=PHONE, has_touch=True, is_mobile=True)
    for button in root.get_by_role("button").all():
        box = button.bounding_box()
        assert box is None or min(box["width"], box["height"]) >= 38
    top = "node => node.getBoundingClientRect().top"
    screen.page.add_style_tag(content="body { padding-top: 120px; }")
    before = screen.root.evaluate(top)
    root.get_by_role("button", name="padding_value").tap()
    expect(said).to_contain_text("✓ Right.")
    expect(screen.root.locator("canvas")).to_be_in_viewport(ratio=0.9)
    screen.rest()
    assert screen.root.evaluate(top) == before  # it is in sight, so the page stays
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_a_late_answer_on_a_phone_leaves_the_movie_where_the_reader_is(open_page: Open) -> None:
    screen, root, box, said = opened(open_page, lesson("pack"), size=PHONE, has_touch=True, is_mobile=True)
    screen.press("End")
    screen.rest()
    root.get_by_role("button", name="Answer").click()
    expect(box).to_be_focused()
    enter(box, "3 3 2 1")
    expect(said).to_contain_text("✓ Right.")
    expect(said).to_be_visible()
    screen.rest()
    assert screen.step == int(screen.data("steps"))


def test_an_answer_on_the_way_to_it_plays_on_from_there(open_page: Open) -> None:
    film = lesson("pack")
    last = film.to_dict()["questions"][0]["step"]
    screen, _, box, _ = opened(open_page, film)
    screen.press("ArrowRight", "ArrowRight")
    enter(box, "3 3 2 1")
    assert screen.step in (3, 4)
    screen.root.get_by_label("Speed").select_option("4")
    expect(screen.root).to_have_attribute("data-step", str(last), timeout=30_000)


def test_after_a_right_answer_one_button_plays(open_page: Open) -> None:
    screen, root, _, said = opened(open_page, lesson("unpack"))
    root.get_by_role("button", name="padding_value").click()
    expect(said).to_contain_text("✓ Right.")
    screen.rest()
    expect(screen.root.get_by_role("button").filter(has_text=re.compile("Play|Pause|Watch"))).to_have_count(1)


def test_an_answer_stands_there_again_on_a_reload(open_page: Open) -> None:
    screen, root, box, said = opened(open_page, lesson("run"))
    expect(said).to_contain_text("Answer first")
    for answer in ("X", "C", "c.", "B"):  # what cannot be read is no answer, and the same again no second one
        assert screen.step == 1
        enter(box, answer)
    told, step = said.inner_text(), screen.step
    assert step > 1
    screen.page.reload()
    expect(said).to_have_text(told)
    expect(box).to_have_value("B")
    assert screen.step == step  # by its address
    root.get_by_role("button", name="Another").click()
    expect(said).to_contain_text("Answer first")


def given_up(
    open_page: Open, stage: Stage, wrong: str, *, full: bool = False, size: Size = DESK
) -> tuple[Screen, Locator, Locator, Locator]:
    """Open a lesson, in full screen or not, answer wrongly, and ask to be shown the answer."""
    screen, root, box, said = opened(open_page, lesson(stage), size=size)
    if full:
        screen.fill_the_window()
    enter(box, wrong) if box.is_visible() else root.get_by_role("button", name=wrong).click()
    root.get_by_role("button", name="Show me").click()
    return screen, root, box, said


def test_when_it_is_shown_the_right_choice_is_marked_beside_the_visitors_own(open_page: Open) -> None:
    screen, root, _, _ = given_up(open_page, "unpack", "its final state")
    for _ in range(2):  # also after a reload
        own = root.get_by_role("button", name="Your answer, which is wrong: its final state")
        right = root.get_by_role("button", name="The answer: padding_value")
        for button, sign in ((own, "✗"), (right, "✓")):
            expect(button.get_by_text(sign)).to_be_visible()
        expect(root.get_by_text("✓")).to_have_count(1)
        expect(root.get_by_text("✗")).to_have_count(2)  # the other one belongs to the field, which is not there
        screen.page.reload()


def test_when_it_is_shown_the_right_answer_stands_beside_what_was_typed(open_page: Open) -> None:
    screen, root, box, _ = given_up(open_page, "pack", "9 9 9 9")
    for _ in range(2):  # also after a reload
        expect(box).to_have_value("9 9 9 9")
        expect(box).to_have_attribute("aria-invalid", "true")
        expect(root.get_by_text("✗")).to_be_visible()
        right = root.locator(".pv-solved")
        expect(right).to_have_text("✓The answer: 3 3 2 1")
        middles = [
            part.evaluate("node => node.getBoundingClientRect().y + node.offsetHeight / 2") for part in (box, right)
        ]
        assert abs(middles[0] - middles[1]) < 2  # in the same line
        screen.page.reload()
    root.get_by_role("button", name="Another").click()
    expect(right).to_be_empty()


@pytest.mark.parametrize("typed", ["three", "8 8 8 8"])
def test_when_it_is_shown_the_field_has_what_was_judged(open_page: Open, typed: str) -> None:
    _, root, box, _ = opened(open_page, lesson("pack"))
    enter(box, "9 9 9 9")
    box.fill(typed)
    root.get_by_role("button", name="Show me").click()
    expect(box).to_have_value("9 9 9 9")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(root.locator(".pv-solved")).to_have_text("✓The answer: 3 3 2 1")


@pytest.mark.parametrize(("size", "full"), [(DESK, True), (PHONE, False), (PHONE, True)])
def test_when_it_is_shown_the_answer_is_said_on_every_screen(open_page: Open, size: Size, full: bool) -> None:
    _, _, _, said = given_up(open_page, "pack", "9 9 9 9", full=full, size=size)
    expect(said).to_contain_text("The answer: 3 3 2 1. batch_sizes[t] is the number")
    assert covered(said) == []


def test_an_answer_that_cannot_be_read_leaves_the_way_to_the_right_one(open_page: Open) -> None:
    _, root, box, _ = opened(open_page, lesson("pack"))
    show_me = root.get_by_role("button", name="Show me")
    enter(box, "three")
    expect(show_me).to_be_hidden()
    for typed in ("9 9 9 9", "three"):
        enter(box, typed)
        expect(show_me).to_be_visible()
