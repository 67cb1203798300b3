"""Long work in a browser: it survives a reload, draws what has come and no more, and is stopped."""

import re
from functools import partial

from playwright.sync_api import Browser, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from visits import visit

LONG = 120_000  # ms that a process may take to start and do a little work on a busy machine


def test_a_training_comes_epoch_by_epoch_survives_a_reload_and_is_stopped_while_others_go_on(
    browser: Browser, address: str
) -> None:
    long = {"train_seeds": 2, "train_both": True}
    with visit(browser, address, long, path="training") as visited, visit(browser, address) as other:
        train = visited.main.get_by_role("button", name=re.compile("^Train 24 models"))
        train.click()
        progress = visited.main.get_by_text(re.compile(r"^\d+ of 288$"))
        expect(progress.first).to_be_visible(timeout=LONG)
        asked = visited.query
        told, drawn = set[str](), set[int]()  # how far it is; the runs that drew a chart
        noted = partial(note, [], told, drawn)
        visited.page.on("websocket", lambda socket: socket.on("framereceived", noted))
        visited.page.reload()
        expect(progress.first).to_be_visible(timeout=LONG)
        assert visited.query == asked
        expect(train).to_be_disabled()
        other.press("ArrowRight")
        assert other.data("step") == "2"
        learning = visited.main.locator(".st-key-learning-0-now").get_by_role("figure")
        expect(learning).to_be_visible(timeout=LONG)
        visited.page.wait_for_timeout(2000)
        assert 2 <= len(drawn) <= len(told)
        visited.main.get_by_role("button", name="Stop").click()
        expect(visited.main.get_by_text("Stopped after")).to_be_visible(timeout=LONG)
        expect(learning).to_be_visible()
        expect(train).to_be_enabled(timeout=LONG)


def note(runs: list[int], told: set[str], drawn: set[int], data: str | bytes) -> None:
    """Note what a message tells, and which run it belongs to."""
    assert isinstance(data, bytes)
    message = ForwardMsg.FromString(data)
    element = message.delta.new_element
    if message.WhichOneof("type") == "new_session":
        runs.append(len(runs))
    elif element.WhichOneof("type") == "progress":
        told.add(element.progress.text)
    elif element.WhichOneof("type") == "plotly_chart":
        drawn.add(runs[-1])
