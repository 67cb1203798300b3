"""What padding and packing cost, and what training makes of them: measured in a browser, when asked to."""

import csv
import re
from io import StringIO
from pathlib import Path

from playwright.sync_api import Browser, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from visits import follow, visit

from packviz.lab.training import Experiment

LONG = 120_000  # ms that a process may take to start and do a little work on a busy machine


def test_a_sweep_comes_point_by_point_and_can_be_stopped_while_others_go_on(browser: Browser, address: str) -> None:
    with visit(browser, address, path="cost") as visited, visit(browser, address) as other:
        measure = visited.main.get_by_role("button", name=re.compile("Measure .* shapes"))
        visited.main.get_by_text("with backward").last.click()  # takes longer: not over at the first look
        visited.settle()
        measure.click()
        expect(visited.main.get_by_text(re.compile(r"^\d+ of \d+$")).first).to_be_visible(timeout=LONG)
        visited.main.get_by_role("button", name="Stop").click()
        expect(visited.main.get_by_text("Stopped after")).to_be_visible(timeout=LONG)
        expect(visited.main.locator(".st-key-winning-now").get_by_role("figure")).to_be_visible()
        expect(measure).to_be_enabled(timeout=LONG)
        measure.click()
        for step in range(2, 8):
            other.press("ArrowRight")
            assert other.data("step") == str(step)
        other.type("1 2\n3")
        expect(other.sidebar.get_by_text("2 sequences, 3 tokens")).to_be_visible()


def test_a_training_runs_to_its_end_and_can_be_downloaded(browser: Browser, address: str) -> None:
    with visit(browser, address, {"cell": "rnn"}, path="training") as visited:
        seeds = visited.main.get_by_role("spinbutton", name="seeds")
        seeds.fill("1")
        seeds.press("Enter")
        for other in ("naive", "last_valid", "mean", "20", "100"):
            visited.main.get_by_test_id("stButtonGroup").get_by_text(other, exact=True).click()
            visited.settle()
        expect(visited.main.get_by_text("Time limit: 5 minutes")).to_be_visible()
        visited.main.get_by_role("button", name="Train 1 model (rnn)").click()
        expect(visited.main.get_by_text(re.compile(r"All \d+ are done"))).to_be_visible(timeout=LONG)
        expect(visited.main.get_by_role("button", name="Stop")).to_have_count(0)
        with visited.page.expect_download() as download:
            visited.main.get_by_role("button", name="All epochs as CSV").click()
        rows = list(csv.DictReader(StringIO(Path(download.value.path()).read_text("utf-8"))))
        assert len(rows) == Experiment().epochs
        assert {row["cell"] for row in rows} == {"rnn"}
        visited.sidebar.get_by_text("lstm", exact=True).click()
        visited.settle()
        expect(visited.main.get_by_text("For other settings than those above: RNN, Japanese vowels")).to_be_visible()


def test_a_reload_finds_the_work_again_the_next_visitor_waits_for_it_and_leaving_the_page_ends_it(
    browser: Browser, address: str
) -> None:
    more = {"train_seeds": 2, "train_both": True}  # the same training would be shared
    with visit(browser, address, more, path="training") as first, visit(browser, address, path="training") as second:
        train = first.main.get_by_role("button", name=re.compile("^Train 24 models"))
        train.click()
        progress = first.main.get_by_text(re.compile(r"^\d+ of 288$"))
        expect(progress.first).to_be_visible(timeout=LONG)
        asked = first.query
        runs: list[list[str]] = []
        first.page.on("websocket", lambda socket: socket.on("framereceived", lambda data: note(runs, data)))
        first.page.reload()
        expect(progress.first).to_be_visible(timeout=LONG)
        assert first.query == asked
        expect(train).to_be_disabled()
        expect(first.main.get_by_text("Other settings than those above")).to_have_count(0)
        second.main.get_by_role("button", name=re.compile("^Train ")).click(timeout=LONG)
        expect(second.main.get_by_text("Waiting: 1 job of other visitors first.")).to_be_visible(timeout=LONG)
        while sum(set(kinds) <= {"progress", "button"} for kinds in runs if kinds) < 2:
            first.page.wait_for_timeout(200)
        drawn = [kinds for kinds in runs if "plotly_chart" in kinds]
        assert drawn
        assert all("progress" not in kinds for kinds in drawn[1:])  # the first is of the whole page
        follow(first.page, "Overview")
        learning = second.main.locator(".st-key-learning-0-now").get_by_role("figure")
        expect(learning).to_be_visible(timeout=LONG)
        second.main.get_by_role("button", name="Stop").click()
        expect(second.main.get_by_text("Stopped after")).to_be_visible(timeout=LONG)
        expect(learning).to_be_visible()


def note(runs: list[list[str]], data: str | bytes) -> None:
    """Note what the elements of each run are."""
    assert isinstance(data, bytes)
    message = ForwardMsg.FromString(data)
    if message.WhichOneof("type") == "new_session":
        runs.append([])
    elif message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "new_element":
        runs[-1].append(message.delta.new_element.WhichOneof("type") or "")
