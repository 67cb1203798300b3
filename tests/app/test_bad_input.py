"""Bad input is answered in place, in one plain sentence; the text stays, and so does the last good movie."""

import pytest
from playwright.sync_api import Browser, expect
from visits import visit

REFUSED = {
    "": "Expected one sequence a line, but got nothing.",
    "1 2\n\n3": "Length of all samples has to be greater than 0",
    "1 2 3\n4 x 5": "got 'x' in line 2",
    "[[[1, 2], [3]], [[4, 5]]]": "Expected 2 features in every step",
    "1 nan\n2 inf": "Expected finite numbers only, but got 'nan' in line 1",
    "1 " * 65: "Expected at most 64 steps in each sequence",
    "1\n" * 65: "Expected at most 64 sequences, but got 65",
    "1 2 3 4 5 6 7 8 9 10\n" * 1000: "Expected at most 64 sequences, but got 1000",
    "[[1, 2], [3": "Expected ']' to close",
}


def test_it_says_what_came_and_how_to_mend_it(browser: Browser, address: str) -> None:
    with visit(browser, address, "example=forum") as seen:
        seen.press("ArrowRight", "ArrowRight")
        before = {name: seen.data(name) for name in ("step", "steps", "cells")}
        stale = seen.main.get_by_text("the last batch that could be shown: 3 sequences, 6 tokens, 33 % padding")
        for text, told in REFUSED.items():
            seen.type(text)
            answer = seen.sidebar.get_by_text(told)
            expect(answer).to_be_visible()
            assert "Traceback" not in answer.inner_text()
            expect(seen.text).to_have_value(text)
            expect(stale).to_be_visible()
            assert {name: seen.data(name) for name in before} == before
        seen.type("1 2\n3")
        expect(seen.sidebar.get_by_text("2 sequences, 3 tokens, 25 % padding")).to_be_visible()
        expect(seen.sidebar.get_by_text("⚠")).to_have_count(0)
        expect(stale).to_have_count(0)
        assert seen.errors == []


SHOWN_AS_TEXT = [
    "<script>alert(1)</script> <img src=x onerror=alert(1)>\n<b>bold</b>",
    "![x](http://elsewhere.invalid/x.png) [a](javascript:alert(1))\n:tada: $x$ **b** -> :red[no]",
    "a\x07b c\x1b[31m\nd\u200be",
    "👩‍👩‍👧 🎉\nשלום עולם\nمرحبا بالعالم",
    "'\"`\\ \u2028 {x} %s\n</textarea>",
]


def test_strange_text_is_shown_and_never_run(browser: Browser, address: str) -> None:
    with visit(browser, address) as seen:
        for text in SHOWN_AS_TEXT:
            seen.type(text)
            expect(seen.sidebar.get_by_text("% padding").first).to_be_visible()
            seen.press("ArrowRight", "End")
            seen.type(f"{text.replace(chr(10), ' ')} nan\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15")
            expect(seen.sidebar.get_by_text("⚠ Expected")).to_be_visible()
        assert seen.dialogs == []
        assert seen.hosts <= {"localhost", "", None}
        assert seen.errors == []


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("total_length=2", "total_length"),
        ("padding_idx=3", "padding_idx"),
        ("example=vowels&embedding_dim=3", "embedding_dim"),
    ],
)
def test_a_setting_that_does_not_fit_is_named_over_the_settings(
    browser: Browser, address: str, query: str, told: str
) -> None:
    with visit(browser, address, query) as seen:
        expect(seen.sidebar.get_by_text(f"⚠ {told}: expected")).to_be_visible()
        expect(seen.main.get_by_text("This is the last batch that could")).to_be_visible()
        assert seen.errors == []


def test_a_refusal_of_torch_is_a_lesson_and_no_error(browser: Browser, address: str) -> None:
    with visit(browser, address, "enforce_sorted=true&step=99") as seen:
        assert seen.data("stage") == "sort"
        expect(seen.main.get_by_text("must be sorted in decreasing order").last).to_be_visible()
        assert seen.main.get_by_text("This is the last batch that could").count() == 0
        assert seen.errors == []
