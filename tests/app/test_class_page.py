"""The teacher's page: a class from start to end, the keys of a remote, a reload and the projector's view."""

import json
import re
from functools import partial
from typing import Any

import pytest
from phone_pages import Room
from playwright.sync_api import Browser, Page, expect
from streamlit.testing.v1 import AppTest
from tabs import box_of, reach, tab, until, violations
from visits import PHONE, PROJECTOR, Open

from classroom import events
from classroom.questions import question
from classroom.rooms import rooms
from classroom.slide import slide_html
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from pages import movies, opened, press, rendered, texts
from ui.parts.controls import LABEL
from ui.parts.plan import STARTER, Item, Plan
from ui.parts.plan_file import ready_lessons
from ui.views.teachers_room import TeachersRoom

TEXT = "1 2 3\n4 5\n6 7 8 9"
PICTURE = "iVBORw0KGgo="
SIZES = {"kind": "batch_sizes", "sequences": TEXT}
OWN = {"prompt": "*Which* <b> of `h_n`?", "options": ["this", "that"], "answer": 1, "note": "a riddle"}


def room_of(*specs: object, phones: int = 3) -> tuple[str, str, list[str]]:
    code, host = rooms.call(rooms.create(list(specs)))
    return code, host, [rooms.call(rooms.join(code, None, None, None))[0] for _ in range(phones)]


def visited(known: object) -> AppTest:
    """Open the teacher's page with what a visit has kept."""
    app = opened("class", painted=False)
    app.session_state["visit"] = {type(known): known}
    return app.run()


def teacher(code: str, host: str) -> AppTest:
    return visited(TeachersRoom(room=(code, host)))


def html(app: AppTest) -> str:
    return "\n".join(body for each in app.get("html") if not (body := str(each.proto.body)).startswith("<style"))


def private(app: AppTest) -> AppTest:
    """Switch the presenter view on."""
    return app.toggle(key="presenter").set_value(True).run()


def labels(app: AppTest) -> list[str]:
    return [each.label for each in app.button]


def test_a_class_goes_from_the_question_to_the_movie() -> None:
    code, host, phones = room_of(SIZES, OWN)
    app = press(teacher(code, host), "Ask the first question", "Open the vote")
    wrong, right = [3, 2, 4], trace(Batch.parse(TEXT)).packed.batch_sizes.tolist()
    for phone, answer in zip(phones, (wrong, wrong, right), strict=True):
        rooms.call(rooms.vote(code, phone, 1, answer))
    for label in ("Close the vote", "Let them talk", "Vote again"):
        assert movies(app) == []
        app = press(app, label)
    for phone in phones:
        rooms.call(rooms.vote(code, phone, 2, right))
    app = press(app, "Close the vote", "Show the answer")
    assert "These are the lengths" in html(app)  # why the usual wrong answer is wrong
    assert "2 before" in html(app)
    assert "3 after" in html(app)
    seen = rooms.call(rooms.snapshot(code, host))
    shown = json.loads(movies(app)[0])
    assert (shown["step"], shown["code"]) == (seen["step"], False)
    app = press(app, "What did you see?")
    assert "What did you see? What is `batch_sizes`?" in texts(app)
    app = press(app, "Open the vote", "Close the vote", "Show the answer")
    assert "What did you see?" not in labels(app)
    app = press(app, "Next question")
    assert "<em>Which</em> &lt;b&gt; of <code>h_n</code>?" in rendered(app)
    app = press(app, "Open the vote", "Close the vote", "Show the answer")
    app = private(app)
    assert "a riddle" in texts(app)
    more = {"Next question", "Same question, new numbers", "What did you see?"}
    assert not more & {*labels(app)}  # the list is at its end, and a question of one's own has no movie


def test_a_room_without_questions_leads_to_the_first_one() -> None:
    app = press(opened("class"), "Open a room")
    app.session_state["class room"] = True
    assert len(app.run().get("download_button")) == 1  # the answers
    app.session_state["class room"] = False
    assert "Ask the first question" in labels(app)
    app = press(app, "Ask it")
    assert "Open the vote" in labels(app)
    assert not {"Ask it", "Ask the first question"} & {*labels(app)}


def test_a_button_does_nothing_if_another_window_was_faster() -> None:
    code, host, _ = room_of(SIZES)
    app = press(teacher(code, host), "Ask the first question")
    rooms.call(rooms.act(code, host, "open", {}))
    app = press(app, "Open the vote")
    assert "Close the vote" in labels(app)
    assert "⚠" not in texts(app)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize(
    "spec",
    [
        {"prompt": "How many?", "kind": "number"},
        {"prompt": "How many?", "kind": "number", "answer": 6},
        {"prompt": "Which word?", "kind": "text"},
        {"prompt": "Which word?", "kind": "text", "answer": "six"},
        {"prompt": "Which word?", "kind": "text", "shown": "words"},
        {"prompt": "Which?", "options": ["this", "that"]},
        OWN,
        SIZES,
        {"kind": "packed_row", "sequences": TEXT, "tap": True},
        {"kind": "alive", "sequences": TEXT},
    ],
    ids=str,
)
def test_an_answer_is_shown_though_nobody_has_voted(spec: dict[str, Any], rounds: int) -> None:
    code, host, _ = room_of(spec)
    for action in ("open", *(("close", "talk", "reopen") if rounds == 2 else ()), "close", "reveal"):
        rooms.call(rooms.act(code, host, action, {}))
    empty = not rooms.call(rooms.snapshot(code, host))["bars"]
    for app in (private(teacher(code, host)), opened("class", {"room": code, "view": "projector"})):
        assert ("Nobody has answered." in html(app)) == empty
        assert ("class-bars" in html(app)) == (not empty)
    assert rooms.call(rooms.answers(code, host)).count("\n") == 1


@pytest.mark.parametrize("phase", ["ask", "open", "close", "talk"])
def test_the_projector_reveals_nothing_before_the_answer_is_shown(phase: str) -> None:
    code, host, phones = room_of({**SIZES, "note": "a riddle"})
    for action in ("ask", "open", "close", "talk"):
        rooms.call(rooms.act(code, host, action, {"question": 0}))
        if action == "open":
            rooms.call(rooms.vote(code, phones[0], 1, [3, 2, 4]))
        if action == phase:
            break
    for app in (teacher(code, host), opened("class", {"room": code, "view": "projector"})):
        shown = texts(app) + html(app)
        assert "batch_sizes" in shown
        for secret in ("3, 3, 2, 1", "3 3 2 1", "These are the lengths", "right", "a riddle", host):
            assert secret not in shown


def test_without_the_secret_the_teachers_page_only_tells_where_to_join() -> None:
    code, host, _ = room_of()
    assert f"/join/{code}" in texts(opened("class", {"room": code}))
    app = teacher(code, host)
    rooms.call(rooms.act(code, host, "delete", {}))
    app = app.run()
    assert "That class has ended." in texts(app)
    assert app.session_state["visit"][TeachersRoom].room is None
    assert "No class has the code QQQQQQ now." in html(opened("class", {"room": "QQQQQQ", "view": "projector"}))


def test_a_teachers_own_question_says_what_is_missing() -> None:
    app = opened("class")
    app.session_state["class new"] = True
    app.session_state["class kinds"] = "Your own"
    app = app.run()
    assert "Still missing: the question and two options and the right answer." in texts(app)
    app.text_area(key="class prompt").set_value("Which?\n\n```python\nlstm(x)\n```")
    for i, (option, reason) in enumerate([("this", "Not this."), ("that", "It is that.")]):
        app.text_input(key=f"class option {i}").set_value(option)
        app.text_input(key=f"class reason {i}").set_value(reason)
        app = app.run()
    app.selectbox(key="class right").set_value("that")
    app = app.run()
    assert '<code class="language-python">lstm(x)' in rendered(app)
    app = press(app, "Add to the plan")
    (item,) = app.session_state["visit"][Plan].items
    assert (item.question["options"], item.question["answer"]) == (["this", "that"], 1)
    assert (item.question["reasons"], item.question["why"]) == (["Not this.", ""], "It is that.")
    app = app.toggle(key="class judged").set_value(False).run()
    assert "answer" not in press(app, "Add to the plan").session_state["visit"][Plan].items[1].question


@pytest.mark.parametrize(
    ("form", "field", "value", "spec"),
    [
        ("number", None, None, {"kind": "number"}),
        ("number", "class number", 6.0, {"kind": "number", "answer": 6}),
        ("text", None, None, {"kind": "text", "shown": "words"}),
        ("text", "class text", "six", {"kind": "text", "answer": "six"}),
    ],
)
def test_a_number_and_a_text_can_be_asked_with_and_without_a_right_answer(
    form: str, field: str | None, value: object, spec: dict[str, object]
) -> None:
    app = opened("class")
    app.session_state["class new"], app.session_state["class kinds"] = True, "Your own"
    app.session_state["class form"], app.session_state["class shown"] = form, "words"
    app = app.run()
    app.text_area(key="class prompt").set_value("How many?")
    if field is not None:
        next(each for each in (*app.number_input, *app.text_input) if each.key == field).set_value(value)
    app = press(app.run(), "Add to the plan")
    assert app.session_state["visit"][Plan].items[0].question == {"prompt": "How many?", **spec}


def test_a_slide_is_written_previewed_and_added_to_the_plan() -> None:
    app = opened("class")
    app.session_state["class new"], app.session_state["class kinds"] = True, "A slide"
    app = app.run()
    assert "Still missing: the text of the slide." in texts(app)
    app.text_area(key="class slide text").set_value("# Today\n\n![x](http://192.0.2.1/x.png)")
    app = app.run()
    assert "<h1>Today</h1>" in rendered(app)
    assert "<img" not in rendered(app)
    app = press(app, "Add to the plan")
    assert "1. Slide: Today" in texts(app)


def test_a_slide_is_shown_in_a_running_plan_and_the_plan_goes_on_after_it() -> None:
    code, host = rooms.call(rooms.create([{"slide": "# One"}, {"slide": "# Two"}], plan=True))
    app = press(teacher(code, host), "Begin")
    app.session_state["class new"], app.session_state["class kinds"] = True, "A slide"
    app = app.run()
    app.text_area(key="class slide text").set_value("# Between")
    app = press(app.run(), "Show it")
    assert "<h1>Between</h1>" in rendered(opened("class", {"room": code, "view": "projector"}))
    assert "<h1>Two</h1>" in rendered(press(app, "Next"))
    assert "<h1>Between</h1>" in rendered(press(app, "Back"))


def test_a_plan_that_becomes_too_large_says_so_and_stays_as_it_was() -> None:
    app = visited(Plan(items=(Item(slide="x" * 8000),) * 16))
    app.session_state["class new"], app.session_state["class kinds"] = True, "A slide"
    app = app.run()
    app.text_area(key="class slide text").set_value("x" * 7000)
    app = press(app.run(), "Add to the plan")
    assert "⚠ The plan is too large: at most 128 kB without its pictures. Split it." in texts(app)
    assert len(app.session_state["visit"][Plan].items) == 16
    app = app.button(key="plan remove 0").click().run()
    assert "⚠" not in texts(app)


def test_a_plan_is_edited_and_saved_in_four_ways() -> None:
    app = visited(Plan(items=STARTER[:3]))
    assert len(app.get("download_button")) == 4
    app = app.button(key="plan up 2").click().run()
    app = app.button(key="plan remove 0").click().run()
    kinds = [item.question["kind"] for item in app.session_state["visit"][Plan].items]
    assert kinds == [STARTER[2].question["kind"], STARTER[1].question["kind"]]  # type: ignore[index]
    app.text_input[0].set_value("slowly")
    assert [item.note for item in app.run().session_state["visit"][Plan].items] == ["slowly", ""]
    assert len(visited(Plan(items=(Item(page="packing", example="unsorted"),))).get("download_button")) == 2


def test_a_saved_plan_has_the_note_that_was_typed_last(visit: Open) -> None:
    page = visit(path="class").page
    page.get_by_role("button", name="Start with six questions").click()
    expect(page.get_by_placeholder("Note")).to_have_count(6)
    page.get_by_placeholder("Note").first.fill("the first")
    page.get_by_placeholder("Note").nth(1).fill("the last")  # and straight to the button
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save").click()
    notes = [item.get("note") for item in json.loads(saved.value.path().read_text("utf-8"))["items"]]
    assert notes[:3] == ["the first", "the last", None]
    page.reload()
    expect(page.get_by_placeholder("Note").nth(1)).to_have_value("the last")


@pytest.mark.parametrize("known", [None, "room"])
def test_the_texts_of_a_plan_load_no_picture(known: str | None) -> None:
    prompt = "![a](http://192.0.2.1/x.png) which?"
    item = Item(question={**OWN, "prompt": prompt})
    app = visited(Plan(items=(item,))) if known is None else teacher(*room_of(item.question)[:2])
    app.session_state["class room"] = True
    drawn = [str(each.value) for each in app.run().markdown] + [each.label for each in app.button]
    assert [each for each in drawn if prompt in each] == []


def test_the_projector_and_the_preview_show_a_slide_as_phones_do() -> None:
    slide = f"Look $h_t$ ![a [b](data:image/png;base64,{PICTURE}) c](http://192.0.2.1/x.png) ![b][c]"
    code, host = rooms.call(rooms.create([{"slide": slide}], plan=True))
    rooms.call(rooms.act(code, host, "next", {}))
    phone = rooms.call(rooms.snapshot(code, None))["html"]
    assert "<mi>h</mi>" in phone
    assert "192.0.2.1" not in phone
    for app in (teacher(code, host), opened("class", {"room": code, "view": "projector"})):
        assert rendered(app) == phone
    app = opened("class")
    app.session_state["class new"], app.session_state["class kinds"] = True, "A slide"
    app.run().text_area(key="class slide text").set_value(slide)
    assert rendered(app.run()) == slide_html(slide)


def test_a_revealed_movie_can_be_shown_again_after_the_next_question() -> None:
    code, host, _ = room_of(SIZES, OWN)
    app = press(teacher(code, host), "Ask the first question", "Open the vote", "Close the vote", "Show the answer")
    before = movies(app)
    app = press(app, "Next question")
    assert movies(app) == []
    app = press(app, "Back")
    assert len(movies(app)) == len(before) == 1
    app = press(app, "Next question")
    assert rooms.call(rooms.snapshot(code, host))["index"] == 1


def test_a_plan_runs_on_the_teachers_page_with_its_notes_folded() -> None:
    step = Item("a riddle", "packing", ("pack",), "own", "1 2 3\n4 5", step=3)
    app = press(visited(Plan(items=(step, STARTER[0]))), "Open a room with 2 items", "Begin")
    assert json.loads(movies(app)[0])["step"] == 3
    assert "a riddle" not in texts(app)
    app = private(app)
    assert "a riddle" in texts(app)
    assert "<b>Page Down:</b> the next step of the movie<br>" in html(app)
    assert "The next item:</b> How many" in html(app)
    code, host = app.session_state["visit"][TeachersRoom].room
    film = rooms.call(rooms.snapshot(code, host))["movie"]
    assert film is not None
    rooms.call(rooms.act(code, host, "step", {"step": film["steps"]}))
    assert "<b>Page Down:</b> Next" in html(app.run())
    assert "a riddle" not in texts(opened("class", {"room": code, "view": "projector"}))
    app = press(app, "Next")
    assert "Open the vote" in labels(app)
    assert movies(press(app, "Back")) != []


def test_a_ready_lesson_is_opened_with_one_click_or_taken_into_the_plan() -> None:
    app = press(opened("class"), "Open a room with it")
    assert "Begin" in labels(app) or "Ask the first question" in labels(app)
    code, host = app.session_state["visit"][TeachersRoom].room
    items = rooms.call(rooms.snapshot(code, host))["items"]
    assert items is not None
    assert len(items) == len(ready_lessons()[0].items)
    app = press(opened("class"), "Put it into my plan")
    plan = app.session_state["visit"][Plan]
    assert (plan.items, plan.title) == (ready_lessons()[0].items, ready_lessons()[0].title)
    assert plan.goal in texts(app)


def test_what_students_tell_is_in_the_presenter_view_alone() -> None:
    code, host, phones = room_of(OWN)
    app = private(press(teacher(code, host), "Ask the first question", "Open the vote"))
    rooms.call(rooms.vote(code, phones[0], 1, 1, None, "sure"))
    for phone, pace in zip(phones, ("lost", "lost", "fast"), strict=True):
        rooms.call(rooms.message(code, partial(events.pace, token=phone, said=pace)))
    rooms.call(rooms.message(code, partial(events.wonder, token=phones[0], text="Why <b>?")))
    app = app.run()
    assert "of 3: 1 too fast, 2 lost." in html(app)
    assert '<span>1 vote<span class="unseen">, 1 sure</span></span>' in html(app)
    assert "“Why <b>?”" in texts(app)
    projector = opened("class", {"room": code, "view": "projector"})
    for private_text in ("lost", "sure", "Why", "a riddle"):
        assert private_text not in texts(projector) + html(projector)
    app = press(app, "Put it on the projector")
    assert "Why &lt;b&gt;?" in html(projector.run())
    app = press(app, "Take it off the projector")
    assert "Why" not in html(projector.run())


def test_a_teacher_switches_off_what_phones_may_tell() -> None:
    code, host, phones = room_of(OWN)
    app = teacher(code, host)
    app.session_state["class room"] = True
    app = app.run().toggle(key="class wonder").set_value(False).run()
    assert rooms.call(rooms.snapshot(code, phones[0]))["channels"] == ["confidence", "pace"]
    assert app.toggle(key="class pace").value


def test_the_answer_comes_first_if_most_are_right() -> None:
    code, host, phones = room_of(OWN)
    app = press(teacher(code, host), "Ask the first question", "Open the vote")
    for phone in phones:
        rooms.call(rooms.vote(code, phone, 1, 1))
    offered = [label for label in labels(press(app, "Close the vote")) if label in ("Let them talk", "Show the answer")]
    assert offered == ["Show the answer", "Let them talk"]


def test_a_step_is_added_from_a_lesson(visit: Open) -> None:
    page = visit("sequences=1+2%0A3&example=own&step=3", path="packing").page
    page.get_by_role("button", name="Share").click()
    page.get_by_label("Note for yourself").fill("Why two?")
    page.get_by_role("button", name="+ Add this step").click()
    page.get_by_role("link", name="The plan has 1 item").click()
    expect(page.get_by_text("Packing, step 3")).to_be_visible()
    expect(page.get_by_placeholder("Note")).to_have_value("Why two?")
    page.reload()  # the browser has kept it
    expect(page.get_by_text("Packing, step 3")).to_be_visible()


def test_the_settings_of_another_page_are_gone_from_the_menu(visit: Open) -> None:
    page = visit(path="packing").page
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
    page.get_by_test_id("stTopNavSection").filter(has_text="Help").click()
    page.get_by_role("menuitem", name="For teachers").click()
    expect(page.get_by_role("button", name="Open a room", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_hidden()  # before anything is pressed
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()  # the menu is there


def at(page: Page, label: str) -> None:
    """Wait for the button of the teacher's next action; it is accessible."""
    expect(page.get_by_role("button", name=label, exact=True)).to_be_visible(timeout=20_000)
    assert violations(page) == []


def test_projector_and_phones_follow_a_remote(visit: Open, address: str) -> None:
    page = visit(path="class").page
    sidebar = page.get_by_test_id("stExpandSidebarButton")
    panel = page.get_by_test_id("stExpander").get_by_text("Create a question")
    expect(panel).to_be_visible()
    expect(sidebar).to_be_hidden()
    panel.click()
    expect(page.get_by_label(LABEL)).to_be_visible()
    expect(sidebar).to_be_hidden()  # a prediction is about what is typed in the panel
    page.get_by_role("button", name="Start with six questions").click()
    page.get_by_role("button", name="Open a room with 6 questions").click()
    code = page.locator(".class-code").inner_text()
    joined = page.request.post(f"{address}/api/rooms/{code}/join", data={}).json()
    seen = f"{address}/api/rooms/{code}?token={joined['token']}"
    projector = visit(f"room={code}&view=projector", path="class").page
    expect(projector.get_by_text(code)).to_be_visible()
    at(page, "Ask the first question")
    for width, height in (PHONE, PROJECTOR):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    reach(page.get_by_role("button", name="Ask the first question", exact=True))
    page.keyboard.press("Enter")
    at(page, "Open the vote")
    for label in ("Close the vote", "Let them talk", "Vote again", "Close the vote", "Show the answer"):
        page.keyboard.press("PageDown")
        at(page, label)
        assert violations(projector) == []
    page.keyboard.press("PageUp")
    at(page, "Close the vote")
    page.keyboard.press("PageDown")
    at(page, "Show the answer")
    page.keyboard.press("b")
    expect(page.locator(".cover")).to_be_visible()
    page.keyboard.press("b")
    expect(page.locator(".cover")).to_be_hidden()
    page.keyboard.press("PageDown")
    at(page, "Next")
    player = page.locator('[data-testid="packviz-player"]')
    player.wait_for()
    page.wait_for_timeout(500)
    page.keyboard.press("PageDown")
    step = int(player.get_attribute("data-step") or 0)
    assert step > 1
    until(page, lambda: page.request.get(seen).json()["step"] == step)
    expect(projector.locator('[data-testid="packviz-player"]')).to_have_attribute("data-step", str(step))
    assert violations(projector) == []
    page.emulate_media(color_scheme="dark")
    for window in (page, projector):
        expect(window.locator(".pv-transport")).to_be_in_viewport(ratio=1)  # the end of the player
    page.reload()
    at(page, "Next")
    expect(player).to_have_attribute("data-step", str(step))


def test_a_key_that_is_reported_twice_goes_on_once(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    room.act("next")
    with tab(browser, PROJECTOR) as there:
        there.page.goto(f"{address}/class?room={room.code}#host={room.host}")
        at(there.page, "Open the vote")
        key = "{key: 'PageDown', bubbles: true, cancelable: true}"
        press = f"document.body.dispatchEvent(new KeyboardEvent('keydown', {key}));"
        there.page.evaluate(f"() => {{ {press} {press} }}")
        at(there.page, "Close the vote")
        there.page.wait_for_timeout(1000)
        assert room.seen["phase"] == "vote"


def test_the_batch_of_the_last_question_is_there_after_a_restart(browser: Browser, address: str) -> None:
    room = Room(address, {**SIZES, "settings": {"cell": "gru"}})
    room.act("next")
    with tab(browser, PROJECTOR) as there:
        there.page.goto(f"{address}/class?room={room.code}#host={room.host}")
        panel = there.page.get_by_test_id("stExpander").filter(has_text="Ask something else")
        panel.get_by_text("Ask something else").click()
        expect(panel.get_by_role("row", name="6 7 8 9")).to_be_visible()
        expect(panel.locator("code").filter(has_text="nn.GRU")).to_be_visible()


def test_a_setting_in_the_address_leaves_the_key_in_it(browser: Browser, address: str) -> None:
    room = Room(address)
    with tab(browser, PROJECTOR) as there:
        page = there.page
        page.goto(f"{address}/class?room={room.code}#host={room.host}")
        page.get_by_text("The first question", exact=True).click()
        page.get_by_label(LABEL).fill(TEXT)
        page.keyboard.press("Control+Enter")
        page.wait_for_url(re.compile(f"example=own.*#host={room.host}$"), timeout=20_000)
        page.evaluate("localStorage.clear()")  # as in another browser
        page.reload()
        expect(page.get_by_role("heading", name=f"Class {room.code}")).to_be_visible()


def test_the_list_of_a_plan_shows_texts_as_they_are(browser: Browser, address: str) -> None:
    text = "Größe ✓ [3](x) :red[h_n_t] <b> \\ 1. ~a~ & #b"
    room = Room.with_plan(address, {"slide": f"# {text}"}, SIZES)
    room.act("next")
    with tab(browser, PROJECTOR) as there:
        there.page.goto(f"{address}/class?room={room.code}#host={room.host}")
        there.page.get_by_role("button", name="Plan: 2").click()
        first = there.page.locator(".st-key-list-0").get_by_role("button")
        expect(first).to_have_text(f"▸ 1. Slide: {text}")
        first.click()
        expect(first).to_be_hidden()  # the list does not cover what was chosen from it
        there.page.get_by_role("button", name="Plan: 2").click()
        expect(first).to_be_visible()


def test_page_down_goes_on_right_after_the_presenter_view_is_switched_on(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    with tab(browser, PROJECTOR) as there:
        page = there.page
        page.goto(f"{address}/class?room={room.code}#host={room.host}")
        page.get_by_text("Presenter view").click()
        expect(page.locator(".st-key-class-presenter")).to_contain_text("Page Down: Ask the first question")
        page.keyboard.press("PageDown")
        expect(page.get_by_role("button", name="Open the vote")).to_be_visible()
        page.get_by_text("Ask something else").click()
        page.get_by_label(LABEL).press("PageDown")  # a text field has a use for it
        page.wait_for_timeout(1000)
        assert room.seen["phase"] == "lobby"


def test_a_shorter_movie_that_follows_does_not_move_the_class(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    room.act("next", "open", "close", "reveal")
    with tab(browser, PROJECTOR) as there:
        page, seen = there.page, room.seen
        page.goto(f"{address}/class?room={room.code}#host={room.host}")
        player = page.get_by_test_id("packviz-player")
        expect(player).to_have_attribute("data-step", str(seen["step"]))
        page.evaluate(
            "detail => document.dispatchEvent(new CustomEvent('packviz class', { detail }))",
            {"step": 999, "revision": seen["revision"]},
        )
        expect(player).to_have_attribute("data-step", str(player.get_attribute("data-steps")))
        page.wait_for_timeout(1500)  # its own steps are sent within 0.2 s
        assert room.seen["step"] == seen["step"]


def test_the_panel_for_a_question_comes_into_view_and_moves_nothing(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    room.act("next", "open", "close", "reveal")
    with tab(browser, PROJECTOR) as there:
        page = there.page
        page.goto(f"{address}/class?room={room.code}#host={room.host}")
        menu = page.get_by_test_id("stTopNavSection").first
        menu.wait_for()
        page.locator(".class-bars").wait_for()
        before = box_of(menu)
        page.get_by_text("Ask something else").click()
        own = page.get_by_role("tab", name="Your own")
        expect(page.get_by_role("button", name="Ask it")).to_be_in_viewport(ratio=1)
        page.wait_for_timeout(1500)  # what a click opens must not move what the next one is meant for
        assert box_of(menu) == before
        own.click()
        ask = page.get_by_role("button", name="Ask it")
        expect(ask).to_be_disabled()
        expect(page.get_by_text("Answered by")).to_be_in_viewport(ratio=1)
        expect(own).to_be_in_viewport(ratio=1)
        assert box_of(own)["y"] < PROJECTOR[1] / 4  # what it opens has the rest of the window
        colours = "node => [getComputedStyle(node.querySelector('p')).color, getComputedStyle(node).backgroundColor]"
        text, ground = (brightness(colour) for colour in ask.evaluate(colours))
        assert abs(text - ground) > 0.4  # a disabled button can be read, too


def brightness(colour: str) -> float:
    """Return how bright a CSS colour is, from 0 to 1; what is transparent is the white of the page."""
    red, green, blue, *alpha = map(float, re.findall(r"[0-9.]+", colour))
    over = alpha[0] if alpha else 1.0
    return over * (red + green + blue) / 765 + 1 - over


def test_a_batch_of_twelve_rows_fits_the_projector(visit: Open, address: str) -> None:
    batch = "\n".join("1 " * (1 + 5 * n % 7) for n in range(12))
    room = Room(address, {"kind": "sorted_row", "sequences": batch})
    room.act("next")
    projector = visit(f"room={room.code}&view=projector", path="class")
    expect(projector.main.locator(".st-key-class-batch code").last).to_be_in_viewport(ratio=1)


def test_the_windows_of_a_class_move_together_and_eight_answers_fit(browser: Browser, address: str) -> None:
    with tab(browser, PROJECTOR) as there:
        windows = [there.page, *(there.page.context.new_page() for _ in range(2))]
        projector = windows[-1]
        projector.set_viewport_size({"width": PROJECTOR[0], "height": PROJECTOR[1]})
        room = Room(address, SIZES)
        phones = [room.join() for _ in range(8)]
        room.act("next")
        for number, ends in ((1, "talk"), (2, "reveal")):
            room.act("open" if number == 1 else "reopen")
            for i, phone in enumerate(phones):
                room.vote(phone, i, number)
            room.act(ends)
        for window in windows:
            view = "&view=projector" if window is projector else f"#host={room.host}"
            window.goto(f"{address}/class?room={room.code}{view}")
        players = [window.locator('[data-testid="packviz-player"]') for window in windows]
        for player in players:
            player.wait_for()
        last = projector.locator(".class-bars li:last-child").filter(has_text="others")
        expect(last).to_be_in_viewport(ratio=1)
        expect(projector.locator(".class-bars p").filter(visible=True)).to_have_count(4)  # right, and three wrong ones
        step = int(players[0].get_attribute("data-step") or 0)
        moves = ((windows[0], "PageDown", step + 1), (windows[1], "PageUp", step), (projector, "PageDown", step + 1))
        for window, key, to in moves:
            window.wait_for_timeout(500)
            window.keyboard.press(key)
            for player in players:
                expect(player).to_have_attribute("data-step", str(to))
        for window, blank in ((windows[0], True), (projector, False)):
            window.keyboard.press("b")
            for each in windows:
                expect(each.locator(".cover")).to_be_visible(visible=blank)
        for window in windows[1:]:
            window.close()


@pytest.mark.parametrize(("most", "told"), [("3", "Tap the token that is in no row."), ("2", "exactly one token")])
def test_a_question_that_can_be_tapped_says_so_or_why_not_here(most: str, told: str) -> None:
    app = opened("class", {"max_length": most, "sequences": TEXT, "example": "own"})
    app.session_state["class new"], app.session_state["class about"] = True, "rows"
    asked = app.run().selectbox(key="class kind")
    assert [each for each in asked.options if each.startswith("Tap or type: ")]
    app = asked.set_value("dropped_tokens").run().toggle(key="class kind tap").set_value(True).run()
    assert not app.exception
    if most == "2":
        assert told in texts(app)
    else:
        (item,) = press(app, "Add to the plan").session_state["visit"][Plan].items
        assert question(item.question).prompt.endswith(told)


def test_a_question_about_rows_has_the_settings_of_rows() -> None:
    app = opened("class", {"row_layer": "conv", "isolate": "false", "max_length": 9})
    app.session_state["class new"], app.session_state["class about"] = True, "rows"
    app = app.run()
    asked = app.selectbox(key="class kind")
    assert len(asked.options) >= 8
    assert not [each for each in asked.options if "batch_sizes" in each]
    asked.set_value("conv_hit")
    app = press(app.run(), "Add to the plan")
    (item,) = app.session_state["visit"][Plan].items
    assert item.question["kind"] == "conv_hit"
    assert item.question["settings"] == {"layer": "conv", "isolate": False, "max_length": 9}
    shown = question(item.question)
    assert "A convolution (kernel size 4) runs across its borders." in shown.prompt


def test_a_picture_has_one_limit_on_screen(visit: Open) -> None:
    seen = visit(None, path="class")
    seen.main.get_by_text("Create a question").click()
    seen.page.get_by_role("tab", name="A slide").click()
    field = seen.page.get_by_test_id("stFileUploader").filter(has_text="Picture")
    expect(field).to_contain_text("at most 300 kB")
    expect(field.get_by_text("per file")).to_be_hidden()
