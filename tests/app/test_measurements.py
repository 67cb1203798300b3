"""Padded beside packed, what both cost, and what training makes of it: computed and measured, when asked to."""

import csv
import re
from io import StringIO
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from visits import PHONE, PROJECTOR, visit

LONG = 120_000  # ms that a process may take to start and do a little work on a busy machine


def test_padded_and_packed_run_in_step_and_every_verdict_is_there(browser: Browser, address: str) -> None:
    with visit(browser, address, path="compare") as visited:
        box = visited.player.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= PROJECTOR[1]
        visited.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
        expect(visited.player.get_by_test_id("packviz-caption")).to_contain_text("read pads")
        expect(visited.main).to_contain_text("Output: equal at every valid position")
        expect(visited.main).to_contain_text("h_n differs for A and B")
        visited.main.get_by_text("Pads in other layers").wait_for()
        expect(visited.page.get_by_test_id("stException")).to_have_count(0)
        assert visited.errors == []


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"bidirectional": True}, "Backward half: differs at valid positions"),
        ({"bidirectional": True, "bias": False}, "Backward half: equal at every valid position"),
        ({"example": "words", "cell": "lstm", "num_layers": 2}, "equal at every valid position"),
    ],
)
def test_a_switch_changes_the_verdict(browser: Browser, address: str, query: dict[str, object], told: str) -> None:
    with visit(browser, address, query, path="compare") as visited:
        expect(visited.main).to_contain_text(told)
        visited.main.get_by_text("Pads in other layers").wait_for()
        expect(visited.page.get_by_test_id("stException")).to_have_count(0)


@pytest.mark.parametrize("path", ["compare", "cost", "training"])
def test_a_phone_shows_it_without_scrolling_sideways(browser: Browser, address: str, path: str) -> None:
    with visit(browser, address, path=path, size=PHONE, color_scheme="dark") as visited:
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert visited.main.evaluate("main => main.scrollWidth") <= PHONE[0]
        assert visited.errors == []


def test_what_can_be_counted_is_counted(browser: Browser, address: str) -> None:
    with visit(browser, address, path="cost") as visited:
        expect(visited.main).to_contain_text("Packing spares 3 cell updates. It spares no step")
        visited.type("1 2 3 4 5 6 7 8\n9")
        expect(visited.main).to_contain_text("Packing spares 7 cell updates")


def test_a_sweep_comes_point_by_point_and_can_be_stopped_while_others_go_on(browser: Browser, address: str) -> None:
    with visit(browser, address, path="cost") as visited, visit(browser, address) as other:
        visited.main.get_by_role("button", name=re.compile("Measure .* shapes")).click()
        expect(visited.main.get_by_text(re.compile(r"^\d+ of \d+$")).first).to_be_visible(timeout=LONG)
        for step in range(2, 8):
            other.press("ArrowRight")
            assert other.data("step") == str(step)
        other.type("1 2\n3")
        expect(other.sidebar.get_by_text("2 sequences, 3 tokens")).to_be_visible()
        if visited.main.get_by_role("button", name="Stop").count():
            visited.main.get_by_role("button", name="Stop").click()
            expect(visited.main.get_by_text(re.compile(r"Stopped after|All \d+ are done"))).to_be_visible(timeout=LONG)
        expect(visited.main.get_by_role("figure", name=re.compile("packed"))).not_to_have_count(0)
        expect(visited.main.get_by_role("button", name=re.compile("Measure .* shapes"))).to_be_enabled(timeout=LONG)
        assert visited.errors == []


def test_one_job_a_visitor_and_the_next_visitor_waits(browser: Browser, address: str) -> None:
    with visit(browser, address, path="training") as first, visit(browser, address, path="training") as second:
        first.main.get_by_role("button", name=re.compile("^Train ")).click()
        expect(first.main.get_by_role("button", name="Stop")).to_be_visible()
        second.main.get_by_role("button", name=re.compile("^Train ")).click()
        expect(second.main.get_by_text("Waiting: 1 job of other visitors first.")).to_be_visible(timeout=LONG)
        first.page.get_by_role("link", name="Overview", exact=True).click()  # leaving the page ends the work
        expect(second.main.get_by_text(re.compile(r"^\d+ of \d+$")).first).to_be_visible(timeout=LONG)
        second.main.get_by_role("button", name="Stop").click()
        expect(second.main.get_by_text("Stopped after")).to_be_visible(timeout=LONG)


def test_a_training_runs_to_its_end_and_can_be_downloaded(browser: Browser, address: str) -> None:
    with visit(browser, address, {"cell": "rnn"}, path="training") as visited:
        seeds = visited.main.get_by_role("spinbutton", name="seeds")
        seeds.fill("1")
        seeds.press("Enter")
        visited.settle()
        visited.main.get_by_role("button", name="Train 12 models (rnn)").click()
        expect(visited.main.get_by_role("figure").first).to_be_visible(timeout=LONG)
        visited.main.get_by_role("button", name="Stop").click()
        expect(visited.main.get_by_text("Stopped after")).to_be_visible(timeout=LONG)
        with visited.page.expect_download() as download:
            visited.main.get_by_role("button", name="All epochs as CSV").click()
        rows = list(csv.DictReader(StringIO(Path(download.value.path()).read_text("utf-8"))))
        assert rows
        assert {row["cell"] for row in rows} == {"rnn"}
        visited.sidebar.get_by_text("lstm", exact=True).click()
        visited.settle()
        expect(visited.main.get_by_text("these are the results of RNN, Japanese vowels")).to_be_visible()
        assert visited.errors == []


def test_lengths_can_be_typed_and_bad_ones_are_named(browser: Browser, address: str) -> None:
    with visit(browser, address, path="cost") as visited:
        visited.main.get_by_role("combobox", name="Lengths of a data set").click()
        visited.page.get_by_role("option", name="typed").click()
        visited.settle()
        box = visited.main.get_by_role("textbox", name="Lengths")
        box.fill("3 4 many")
        box.press("Control+Enter")
        visited.settle()
        expect(visited.main.get_by_text("⚠")).to_contain_text("many")
        expect(box).to_have_value("3 4 many")
        box.fill("1 2 3 100")
        box.press("Control+Enter")
        visited.settle()
        expect(visited.main).to_contain_text("4 lengths:")
