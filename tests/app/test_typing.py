"""Typing, choosing examples and changing settings: what is requested is shown, and no typed text is lost."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import streamlit as st
from playwright.sync_api import WebSocket, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from tabs import Size, box_of, until
from visits import LAPTOP, PHONE, PROJECTOR, Open, Visit

from packviz.inputs.examples import example
from pages import opened
from ui.state import replaced
from ui.state.replaced import RECEIVED, Replaced
from ui.views.given import BATCH_FORM, ROWS_FORM, Form

FAR = """
    const { addEventListener } = WebSocket.prototype;
    WebSocket.prototype.addEventListener = function (type, hear, ...how) {
        const later = (event) => (window.held ? window.held.push(() => hear(event)) : hear(event));
        return addEventListener.call(this, type, type === "message" ? later : hear, ...how);
    };
"""  # holds the server's messages back while `held` is a list, as if it were far away


HAND = 60  # milliseconds for which a hand holds a button down


def pick(seen: Visit, option: str) -> None:
    seen.sidebar.get_by_role("radio", name=option, exact=True).first.click(delay=HAND)


def addressed(seen: Visit, settings: dict[str, str]) -> None:
    """Check the settings in the address, which may come after the text."""
    until(seen.page, lambda: seen.query == settings)


def test_typed_text_is_shown_letter_by_letter(visit: Open) -> None:
    seen = visit()
    seen.player.evaluate("player => { player.mark = 'the same' }")
    seen.text.press("Control+End")
    seen.text.press_sequentially("\n10 11", delay=40)
    expect(seen.player).to_have_attribute("aria-label", re.compile("4 sequences"))
    expect(seen.text).to_be_focused()
    seen.text.press_sequentially(" 12")
    expect(seen.sidebar.get_by_text("4 sequences, 12 tokens")).to_be_visible()
    expect(seen.text).to_have_value("1 2 3\n4 5\n6 7 8 9\n10 11 12")
    seen.settle()
    seen.unfold("All numbers of this stage")
    cells, below = seen.data("cells"), seen.main.get_by_test_id("stCode").first
    seen.type("on your mark\nget set\ngo")
    expect(seen.sidebar.get_by_text("3 sequences, 6 tokens, 33% padding")).to_be_visible()
    assert seen.data("cells") != cells
    addressed(seen, {"example": "own", "sequences": "on your mark\nget set\ngo"})
    expect(seen.text).to_be_focused()
    seen.page.evaluate("""() => {
        const write = history.replaceState;
        history.written = 0;
        history.replaceState = (...told) => { history.written++; write.apply(history, told); };
    }""")
    for text, batch_sizes in (("1 2 3\n4", "[2, 1, 1]"), ("1 2 3\n4\n5", "[3, 1, 1]"), ("1 2\n3 4", "[2, 2]")):
        seen.type(text)
        expect(below).to_contain_text(f"tensor({batch_sizes})")
    assert seen.page.evaluate("history.written") == 3  # by Streamlit, each text once; the step has not changed
    seen.type("1 nan")
    expect(below).to_contain_text("tensor([2, 2])")
    seen.type("1 2\n3 4 5")
    pick(seen, "rnn")
    seen.settle()
    assert seen.player.evaluate("player => player.mark") == "the same"
    pick(seen, "zen")
    seen.settle()
    addressed(seen, {"cell": "rnn", "example": "zen"})


def test_the_chip_of_an_example_says_what_it_shows(visit: Open) -> None:
    seen = visit()
    for key, title in (("hundred", example("hundred").title), ("own", "your own text")):
        chip = seen.sidebar.get_by_role("radio", name=key, exact=True).first
        chip.hover()
        expect(chip).to_have_attribute("title", title)
    pick(seen, "zen")
    expect(seen.sidebar.get_by_text(example("zen").title, exact=True)).to_be_visible()
    addressed(seen, {"example": "zen"})


@pytest.mark.parametrize("size", [PROJECTOR, PHONE], ids=["projector", "phone"])
def test_more_settings_come_into_view_where_they_open(visit: Open, size: Size) -> None:
    page = visit(path="packing", size=size).page
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebar").get_by_text("More settings").click()
    for name in ("nonlinearity", "seed"):
        expect(page.get_by_test_id("stSidebar").get_by_text(name, exact=True)).to_be_in_viewport()


def test_a_search_finds_answers_while_it_is_typed(visit: Open) -> None:
    seen = visit(path="questions")
    field, first = seen.main.get_by_label("An error message"), seen.main.locator(".st-key-entries button").first
    for typed, question in (("attention with packed", "Does attention mix"), ("h_n wrong", "Why do I need to pack?")):
        field.fill("")
        field.press_sequentially(typed)
        expect(first).to_contain_text(question)
        expect(field).to_be_focused()
        expect(field).to_have_value(typed)
    expect(seen.main.get_by_test_id("InputInstructions")).to_be_hidden()


def test_a_search_finds_answers_while_a_phones_keyboard_composes_a_word(visit: Open) -> None:
    seen = visit(path="questions", size=PHONE, has_touch=True, is_mobile=True)
    field, keyboard = seen.main.get_by_label("An error message"), seen.page.context.new_cdp_session(seen.page)
    field.focus()
    for word in ("mps", "unsort"):
        keyboard.send("Input.imeSetComposition", {"text": word, "selectionStart": len(word), "selectionEnd": len(word)})
        expect(seen.main.locator(".st-key-entries button").first).to_contain_text(word, ignore_case=True)
        expect(field).to_have_value(word)


@pytest.mark.parametrize(
    ("page", "label", "most", "fix"),
    [
        ("questions", "An error message", 20_000, "Paste the last lines of the error"),
        ("doctor", "x: a list", 100_000, "Paste less at a time"),
    ],
)
def test_a_field_that_refuses_a_long_text_says_so(visit: Open, page: str, label: str, most: int, fix: str) -> None:
    seen = visit(path=page)
    field, told = seen.main.get_by_label(label), seen.main.get_by_role("alert")
    field.fill("[[1, 2]]")
    field.fill("9" * (most + 1))
    sentence = f"Expected at most {most:,} characters, but got {most + 1:,}, so the field stays as it was. {fix}."
    expect(told).to_have_text(f"⚠ {sentence}")
    expect(told).to_be_in_viewport(ratio=1)
    expect(field).to_have_value("[[1, 2]]")
    field.fill("9" * most)
    expect(told).to_have_count(0)


def test_a_text_that_a_setting_does_not_fit_is_refused_in_place(visit: Open) -> None:
    seen = visit("total_length=5", path="unpacking", size=LAPTOP)
    seen.player.evaluate("player => { player.mark = 'the same' }")
    refusal = seen.sidebar.get_by_text("⚠ total_length: expected None or an integer of at least 8")
    for text, refusals in (("1 2 3 4 5 6 7 8\n9", 1), ("1 2 3\n4", 0), ("1\n2 3 4 5 6 7 8 9", 1)):
        seen.type(text)
        expect(refusal).to_have_count(refusals)
    expect(seen.main.get_by_text("You still see your last batch: 2 sequences, 4 tokens")).to_be_visible()
    assert seen.player.evaluate("player => player.mark") == "the same"


ON_TOP = """node => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return node.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""  # whether nothing else is drawn over the middle of an element


ENDS = """(title) => {
    const words = new Range();
    words.selectNodeContents(title);
    return words.getBoundingClientRect().right;
}"""  # pixels from the left


def test_what_is_said_about_an_edit_does_not_move_the_movie(visit: Open) -> None:
    seen = visit("sequences=I love cats%0Ashe sleeps")
    top = seen.player.evaluate("player => player.getBoundingClientRect().top")
    title = seen.main.locator("h1")
    for text, said in (
        ("I do love cats\nshe sleeps", "Each new word gets the next id."),
        ("", "The box is empty"),
    ):
        seen.text.fill(text)
        expect(seen.main.get_by_text(said)).to_be_in_viewport(ratio=1)
        if text:  # what is said about a text that cannot be shown covers the table
            assert seen.main.locator(".why").get_by_text("Final state").evaluate(ON_TOP)
            beside = seen.main.locator(".st-key-ids")
            assert title.evaluate(ENDS) < box_of(beside)["x"] or box_of(beside)["y"] > box_of(title)["y"] + 20
        assert seen.player.evaluate("player => player.getBoundingClientRect().top") == pytest.approx(top, abs=1)


COVERED = """(note) => {
    const { left, right, top, bottom } = note.getBoundingClientRect(), words = new Range(), covered = [];
    const texts = document.createTreeWalker(document.querySelector(".stApp"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const { currentNode: text } = texts, { visibility, clipPath } = getComputedStyle(text.parentElement);
        if (note.contains(text) || !text.data.trim() || visibility === "hidden" || clipPath !== "none") continue;
        words.selectNodeContents(text);
        const boxes = [...words.getClientRects()].filter((box) => box.width > 1);
        const within = (box) => left <= box.left && box.right <= right && top <= box.top && box.bottom <= bottom;
        const isHidden = boxes.every(within) && text.parentElement.closest(".stMain [data-testid=stWidgetLabel]");
        if (isHidden) continue;
        for (const box of boxes)
            if (box.left < right && box.right > left && box.top < bottom && box.bottom > top) covered.push(text.data);
    }
    const field = document.querySelector(".stMain textarea").getBoundingClientRect();
    const over = field.left < right && field.right > left && field.top < bottom - 1 && field.bottom > top + 1;
    return left < 0 || right > innerWidth ? ["the window"] : over ? [...covered, "the field"] : covered;
}"""  # the texts over which a note lies, except a label that it covers whole


@pytest.mark.parametrize(
    ("size", "sidebar", "settings"),
    [
        *((size, True, "") for size in (PROJECTOR, LAPTOP)),
        *((size, False, "") for size in ((1024, 720), (768, 1024), PHONE, (844, 390), (932, 430), (667, 375))),
        (PROJECTOR, False, "&cell=lstm"),
    ],
)
def test_what_is_said_about_ids_covers_no_text(
    visit: Open, size: tuple[int, int], sidebar: bool, settings: str
) -> None:
    seen = visit(f"sequences=I love cats%0Ashe sleeps{settings}", size=size)
    if sidebar:
        seen.page.get_by_test_id("stExpandSidebarButton").click()
    seen.main.locator("textarea").fill("so I love cats\nshe sleeps")
    note = seen.main.locator(".st-key-ids")
    expect(note).to_have_text("Each new word gets the next id.")
    seen.settle()
    until(seen.page, lambda: note.evaluate(COVERED) == [])
    (said, stage) = (box_of(each) for each in (note, seen.player.get_by_role("button", name="Unpack")))
    assert stage["x"] + stage["width"] < said["x"] or said["y"] + said["height"] <= stage["y"]


def test_numbers_instead_of_words_are_said_to_need_no_embedding(visit: Open) -> None:
    seen = visit(None)
    said = seen.main.get_by_text("Numbers need neither ids nor an embedding.")
    seen.type("1 2 3\n4 5")
    expect(said).to_be_in_viewport(ratio=1)
    expect(seen.player.get_by_role("button", name="Embed")).to_have_count(0)
    seen.type("one two three\nfour five")
    expect(said).to_have_count(0)


def test_a_click_on_the_players_map_sets_layer_and_direction(visit: Open) -> None:
    seen = visit("num_layers=2")
    more = seen.sidebar.get_by_test_id("stExpander")
    seen.unfold("More settings", seen.sidebar)
    seen.click(seen.sidebar.get_by_text("bidirectional", exact=True))
    expect(more.get_by_text("initial_state", exact=True)).to_be_visible()  # it stays open
    layers = seen.player.get_by_role("group", name="Shown layer")
    layers.get_by_role("button", name="Layer 0 backward").click()
    expect(layers.get_by_role("button", pressed=True)).to_have_attribute("aria-label", "Layer 0 backward")
    seen.settle()
    assert seen.query["layer"] == "0"
    assert seen.query["direction"] == "backward"
    expect(seen.sidebar.get_by_role("radio", name="backward", exact=True)).to_be_checked()


def test_the_other_runs_are_watched_from_full_screen_at_the_same_step(visit: Open) -> None:
    seen = visit("num_layers=2&bidirectional=true&step=12")
    switch = seen.player.get_by_role("group", name="Shown layer")
    shown = switch.get_by_role("button", pressed=True)
    seen.page.keyboard.press("f")
    for name in ("Layer 1 backward", "Layer 0 forward"):  # after the last one comes the first
        seen.page.keyboard.press("l")
        expect(shown).to_have_attribute("aria-label", name)
    switch.get_by_role("button", name="Layer 1 backward").press("Enter")
    expect(shown).to_have_attribute("aria-label", "Layer 1 backward")
    expect(shown).to_be_focused()  # by the keyboard one goes on from there
    expect(seen.player).to_have_attribute("data-full", "")
    seen.settle()
    assert (seen.player.get_attribute("data-step"), seen.query["step"]) == ("12", "12")
    assert seen.query["direction"] == "backward"


def test_an_edit_does_not_make_the_browser_style_the_whole_page_anew(visit: Open) -> None:
    seen = visit()
    browser = seen.page.context.browser
    assert browser is not None
    seen.type("1 2 3\n4 5")
    seen.settle()
    browser.start_tracing(page=seen.page, categories=["devtools.timeline"])
    seen.type("1 2 3\n4 5\n6")
    seen.settle()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    styled = [event["args"].get("elementCount", 0) for event in events if event["name"] == "UpdateLayoutTree"]
    # 860 with rules for parts of a page that `:has(...)` something, 2,600 if any element may have it
    assert 20 < sum(styled) < 400


def _listened(visit: Open) -> tuple[Visit, list[ForwardMsg]]:
    """Open the overview; return it, and the messages from the server to it."""
    seen, messages = visit(), list[ForwardMsg]()

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: messages.append(ForwardMsg.FromString(frame)))

    seen.page.on("websocket", listen)
    seen.page.reload()
    return seen, messages


def test_a_picture_waits_for_nothing_but_the_text(visit: Open) -> None:
    seen, drawn = _listened(visit)
    seen.type("1 2 3\n4 5")
    seen.settle()
    drawn.clear()
    seen.type("1 2 3\n4 5\n6")
    seen.settle()
    elements = [each.delta.new_element.WhichOneof("type") for each in drawn if each.delta.HasField("new_element")]
    # the second one says which values the browser has; each element takes the browser a millisecond or more
    assert elements[: elements.index("bidi_component")] == ["text_area", "text_input"]


def test_nothing_comes_after_what_reruns_by_itself(visit: Open) -> None:
    """If a fragment reruns before its part of the page is sent, what comes after that part ends the page."""
    seen, drawn = _listened(visit)
    seen.settle()
    deltas = [each for each in drawn if each.WhichOneof("type") == "delta" and each.metadata.delta_path[0] == 0]
    links = [each for each in deltas if each.delta.new_element.WhichOneof("type") == "page_link"]
    assert {each.metadata.delta_path[1] for each in links} == {max(each.metadata.delta_path[1] for each in deltas)}


@contextmanager
def not_waiting(seen: Visit) -> Iterator[None]:
    """Do several things before the first answer: a click in its very moment may be lost in Streamlit's script."""
    seen.page.evaluate("window.held = []")
    yield
    seen.page.wait_for_timeout(1200)
    seen.page.evaluate("for (const hear of window.held.splice(0)) hear(); window.held = null")
    seen.settle()


def test_typed_text_stays_if_a_setting_is_chosen_at_once(visit: Open) -> None:
    seen = visit(path="packing", size=LAPTOP, script=FAR)
    expect(seen.sidebar).to_be_visible()
    with not_waiting(seen):
        seen.text.fill("7 8\n9")
        pick(seen, "lstm")
    expect(seen.text).to_have_value("7 8\n9")
    addressed(seen, {"example": "own", "sequences": "7 8\n9", "cell": "lstm"})
    with not_waiting(seen):
        seen.text.fill("7 8\n9 10")
        pick(seen, "zen")
        seen.page.wait_for_timeout(50)
        pick(seen, "rnn")
    expect(seen.text).to_have_value(re.compile("^Beautiful is better than ugly"))
    addressed(seen, {"example": "zen", "cell": "rnn"})
    pick(seen, "own")
    expect(seen.text).to_have_value("7 8\n9 10")
    for name in ("enforce_sorted", "bidirectional"):
        seen.click(seen.sidebar.get_by_text(name, exact=True))
    with not_waiting(seen):
        for label in ("cell = rnn", "bidirectional = True"):
            seen.main.get_by_role("button", name=label).click()
            seen.page.wait_for_timeout(900)
    addressed(seen, {"example": "own", "sequences": "7 8\n9 10", "enforce_sorted": "true"})


def test_an_example_picked_while_a_text_is_applied_is_shown(visit: Open) -> None:
    seen = visit(path="packing", size=LAPTOP, script=FAR)
    expect(seen.sidebar).to_be_visible()
    for i, pause in enumerate((0, 150, 270, 300, 330)):  # typing.js applies a text after 300 ms
        key, own = ("zen", "forum")[i % 2], f"7 8\n9 {i}"
        with not_waiting(seen):
            seen.text.fill(own)
            seen.page.wait_for_timeout(pause)
            pick(seen, key)
        addressed(seen, {"example": key})
        expect(seen.text).to_have_value(str(example(key).text))
        pick(seen, "own")
        expect(seen.text).to_have_value(own)
        seen.settle()


def test_an_example_picked_in_the_message_that_has_a_typed_text_is_shown_and_the_text_comes_back() -> None:
    app = opened("packing")
    for choice, text in (("zen", "Beautiful is better than ugly"), ("own", "7 8\n9")):
        if choice == "zen":
            app.text_area(key="sequences").set_value("7 8\n9")
        (pills,) = [each for each in app.button_group if each.key == "example"]
        pills.set_value(choice).run()
        assert not app.exception
        assert app.session_state["example"] == choice
        assert app.session_state["sequences"].startswith(text)


def test_an_example_counts_though_the_address_that_came_with_it_is_older() -> None:
    app = opened("packing", {"cell": "lstm", "example": "own", "sequences": "7 8\n9"})
    (pills,) = [each for each in app.button_group if each.key == "example"]
    pills.set_value("zen")
    app.button(key="undo cell").click()  # in the same message: then Streamlit forgets the values that came with it
    app.run()
    assert not app.exception
    assert (app.session_state["example"], app.session_state["sequences"]) == ("zen", example("zen").text)
    assert dict(app.query_params) == {"example": "zen"}


def test_text_typed_over_an_example_of_the_doctor_stays(visit: Open) -> None:
    seen = visit(path="doctor", size=LAPTOP, script=FAR)
    seen.click(seen.main.get_by_role("radio", name="no mistake"))
    field, promise = seen.main.get_by_label("x: a list"), seen.main.get_by_text("enforce_sorted", exact=True)
    with not_waiting(seen):
        field.fill("[[1, 2], [3, 0]]")
        promise.click(delay=HAND)
    expect(field).to_have_value("[[1, 2], [3, 0]]")


@pytest.mark.parametrize(
    ("form", "given", "own"),
    [(BATCH_FORM, "a batch", ("[[1, 2], [3, 9]]", "2, 1", False, True, 9.0)), (ROWS_FORM, "rows", ("labels: 1 2",))],
)
def test_every_field_that_an_example_of_the_doctor_fills_is_drawn(
    form: Form, given: str, own: tuple[object, ...]
) -> None:
    app = opened("doctor", {"given": given, **dict(zip(form.fields, own, strict=True))})
    for name in (*form.examples, "my own"):
        (pills,) = [each for each in app.button_group if each.key == form.key]
        pills.set_value(name).run()
        assert not app.exception
    assert {*form.fields, form.key} <= {each.key for each in app.main if hasattr(each, "key")}
    assert tuple(app.session_state[each] for each in form.fields) == own


def test_only_older_values_that_the_browser_sent_before_it_had_the_newer_ones_are_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state: dict[str, object] = {"example": "zen"}
    record = Replaced()
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(replaced, "visit", lambda _: record)

    def sends(example: str, received: int) -> object:
        if received:
            state[RECEIVED] = str(received)
        state["example"] = example
        replaced.overtaken("example")
        return state["example"]

    replaced.give("example", "own")
    assert replaced.on_the_way()
    assert [sends(older, 0) for older in ("zen", "zen")] == ["own", "own"]
    assert sends("words", 0) == "words"  # chosen before the visitor saw the app's value; so that is replaced once more
    assert record.count == 2
    assert [sends(older, 1) for older in ("own", "words")] == ["words", "words"]
    replaced.give("example", "own")
    assert sends("words", record.count - 1) == "own"
    assert sends("words", record.count) == "words"
    assert not replaced.on_the_way()
    for i in range(100):  # a browser that never says what it has cannot fill the memory
        replaced.give("example", i)
    assert [one.value for one in record.on_the_way["example"]] == list(range(100 - replaced.MOST, 100))


@pytest.mark.parametrize("received", ["", "x", "-1", "²", "9" * 5000])
def test_whatever_a_visitor_writes_into_the_hidden_field_is_no_error(
    monkeypatch: pytest.MonkeyPatch, received: str
) -> None:
    state: dict[str, object] = {"example": "zen", RECEIVED: received}
    record = Replaced()
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(replaced, "visit", lambda _: record)
    replaced.give("example", "own")
    assert replaced.on_the_way() == (received != "9" * 5000)
