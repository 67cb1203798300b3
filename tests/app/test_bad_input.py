"""Bad input is answered in place, in one plain sentence; the text stays, and so does the last good movie."""

import pytest
from playwright.sync_api import Browser, expect
from test_links import NONSENSE, NOT_HAD
from visits import visit

from packviz.errors import PackvizError
from pages import movies, opened, texts
from ui.runs import MAX_CHARACTERS, MAX_FEATURES, MAX_SEQUENCES, MAX_STEPS, OWN, Request, Source, run

REFUSED = {
    "": "Expected at least one sequence, but got nothing. Type numbers",
    "1,5 2,5": "Write 1.5 for one decimal number or 1 5 for two numbers.",
    "1 2 3 4 5 6 7 8 9 10\n" * 1000: "Expected at most 64 sequences, but got 1000",
    "[[1, 2], [3": "('[' was never closed) at line 1, column 10. Close every bracket",
}


@pytest.mark.parametrize("text", REFUSED)
def test_it_says_what_came_and_how_to_mend_it(text: str) -> None:
    app = opened("start", {"example": "forum"})
    before = movies(app)
    app.text_area(key="sequences").set_value(text).run()
    (reason,) = [each.value for each in app.sidebar.text if "⚠" in each.value]
    assert REFUSED[text] in reason
    assert app.text_area(key="sequences").value == text
    assert "Still showing your last batch: 3 sequences, 7 tokens" in texts(app)
    assert movies(app) == before != []
    app.text_area(key="sequences").set_value("1 2\n\n3").run()
    assert "Line 2 is blank and was ignored." in texts(app)
    assert "⚠" not in texts(app)


SHOWN_AS_TEXT = [
    "<script>alert(1)</script> <img src=x onerror=alert(1)>\n<b>bold</b>",
    "![x](http://elsewhere.invalid/x.png) [a](javascript:alert(1))\n:tada: $x$ **b** -> :red[no]",
    "a\x07b c\x1b[31m\nd\u200be",
    "👩‍👩‍👧 🎉\nשלום עולם\nمرحبا بالعالم",
    "'\"`\\ \u2028 {x} %s\n</textarea>",
]


def test_nonsense_in_a_link_and_strange_text_are_shown_and_never_run(browser: Browser, address: str) -> None:
    with visit(browser, address, "&".join(NONSENSE)) as seen:
        assert 1 <= int(seen.data("step")) <= int(seen.data("steps"))
        expect(seen.main.get_by_text(NOT_HAD)).to_be_visible()
        seen.type("\n".join(SHOWN_AS_TEXT))
        expect(seen.sidebar.get_by_text("% padding").first).to_be_visible()
        seen.press("ArrowRight", "End")
        for text in SHOWN_AS_TEXT[:2]:
            seen.type(f"{text.replace(chr(10), ' ')} nan\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15")
            expect(seen.sidebar.get_by_text("⚠ Expected")).to_be_visible()


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"total_length": 2}, "total_length"),
        ({"padding_idx": 3}, "padding_idx"),
        ({"example": "vowels", "embedding_dim": 3}, "embedding_dim"),
    ],
)
def test_a_setting_that_does_not_fit_is_named_over_the_settings(query: dict[str, object], told: str) -> None:
    app = opened("start", query)
    assert [each.value for each in app.sidebar.text if each.value.startswith(f"⚠ {told}: expected")]
    assert "Still showing your last batch" in texts(app)


def test_a_refusal_of_torch_is_a_lesson_and_no_error() -> None:
    app = opened("start", {"enforce_sorted": "true"})
    assert "must be sorted in decreasing order" in movies(app)[0]
    assert "Still showing your last batch" not in texts(app)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("1 " * MAX_CHARACTERS, "100,000 characters"),
        (f"[[{[1] * (MAX_FEATURES + 1)}]]", "64 features in each step"),
        ("1\n" * (MAX_SEQUENCES + 1), "64 sequences"),
        ("1 " * (MAX_STEPS + 1), "64 steps"),
    ],
)
def test_what_is_too_large_for_a_shared_process_is_refused_with_its_limit(text: str, limit: str) -> None:
    with pytest.raises(PackvizError, match=f"at most {limit}"):
        run(Request(Source(OWN, text)))


def test_the_largest_that_is_allowed_is_shown() -> None:
    rows = "\n".join(["7 " * MAX_STEPS] * MAX_SEQUENCES)
    assert run(Request(Source(OWN, rows))).trace.exact
    assert run(Request(Source(OWN, f"[[{[1] * MAX_FEATURES}]]"))).trace.exact
