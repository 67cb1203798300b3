"""Long work in a browser: it survives a reload, draws what has come and no more, and is stopped."""

import re

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
        runs: list[list[str]] = []
        visited.page.on("websocket", lambda socket: socket.on("framereceived", lambda data: note(runs, data)))
        visited.page.reload()
        expect(progress.first).to_be_visible(timeout=LONG)
        assert visited.query == asked
        expect(train).to_be_disabled()
        other.press("ArrowRight")
        assert other.data("step") == "2"
        learning = visited.main.locator(".st-key-learning-0-now").get_by_role("figure")
        expect(learning).to_be_visible(timeout=LONG)
        visited.page.wait_for_timeout(2000)
        told, drawn = ([kinds for kinds in runs if kind in kinds] for kind in ("progress", "plotly_chart"))
        assert len(told) >= 2
        assert all("progress" not in kinds for kinds in drawn[1:])  # the first is of the whole page
        visited.main.get_by_role("button", name="Stop").click()
        expect(visited.main.get_by_text("Stopped after")).to_be_visible(timeout=LONG)
        expect(learning).to_be_visible()
        expect(train).to_be_enabled(timeout=LONG)


def note(runs: list[list[str]], data: str | bytes) -> None:
    """Note what the elements of each run are."""
    assert isinstance(data, bytes)
    message = ForwardMsg.FromString(data)
    if message.WhichOneof("type") == "new_session":
        runs.append([])
    elif message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "new_element":
        runs[-1].append(message.delta.new_element.WhichOneof("type") or "")
