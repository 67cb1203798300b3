"""A link opens the same picture on the same step; what cannot be applied or read, in it or typed, is named in place."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect
from tabs import until
from visits import Open

import packviz as pv
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from pages import movies, opened, texts
from ui.state.address import MAX_LENGTH, unmet, warning

NOT_HAD = "Ignored from the link: "
SHOWN = {
    "cell": "gru",
    "hidden_size": 4,
    "bidirectional": False,
    "padding_value": -1.5,
    "total_length": None,
    "step": 1,
}


def test_a_link_that_is_fully_applied_is_not_reported() -> None:
    asked = {"cell": "gru", "hidden_size": "4", "padding_value": "-1.50", "bidirectional": "FALSE", "total_length": ""}
    assert unmet(asked | {"step": "1", "embed": "true"}, SHOWN) is None


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"cell": "zzz"}, "cell = 'zzz' (using 'gru')"),
        ({"hidden_size": "999"}, "hidden_size = '999' (using '4')"),
        ({"hidden_size": "١"}, "hidden_size = '١' (using '4')"),
        ({"padding_value": "nan"}, "padding_value = 'nan' (using '-1.5')"),
        ({"bidirectional": "1"}, "bidirectional = '1' (using 'False')"),
        ({"total_length": "x"}, "total_length = 'x' (using 'None')"),
        ({"layer": "2"}, "layer = '2' (not available with these settings)"),
        ({"layers": "2"}, "layers = '2' (no such setting)"),
        ({"cell": "z" * 500}, "(using 'gru')"),
    ],
)
def test_what_is_ignored_from_a_link_is_named(asked: dict[str, str], told: str) -> None:
    line = unmet(asked, SHOWN) or ""
    assert told in line
    assert len(line) < 200


def test_a_long_text_gets_a_warning_about_the_length_of_its_link() -> None:
    assert warning("1 2 3") is None
    assert "kB" in (warning("1 " * MAX_LENGTH) or "")


@pytest.mark.check
def test_a_copied_link_opens_the_same_picture(visit: Open) -> None:
    settings = {"cell": "lstm", "hidden_size": 3, "num_layers": 2, "layer": 0, "enforce_sorted": "true", "seed": 7}
    seen = visit(settings)
    seen.type("on your mark\nget set\ngo")
    seen.press(*["ArrowRight"] * 6)
    link, first = seen.page.url, {name: seen.data(name) for name in ("step", "steps", "stage", "cells")}
    seen.page.evaluate("dispatchEvent(new Event('resize'))")  # what stands above it has grown since it came
    seen.settle()
    picture = seen.player.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    assert first["step"] == "7"
    seen = visit(link.partition("?")[2])
    assert {name: seen.data(name) for name in first} == first
    expect(seen.text).to_be_visible()  # the sidebar is open, as it was: the picture has the same room
    seen.page.evaluate("dispatchEvent(new Event('resize'))")
    canvas = seen.player.locator("canvas")
    until(seen.page, lambda: canvas.evaluate("canvas => canvas.toDataURL()") == picture)
    expect(seen.text).to_have_value("on your mark\nget set\ngo")
    assert seen.page.url == link


NONSENSE = [
    "cell=zzz&hidden_size=999&num_layers=-3&bidirectional=maybe&seed=NaN&padding_value=1e999&total_length=x",
    "step=999&layer=5&direction=sideways&example=none&read_as=lies",
    "step=-1&hidden_size=1e400&embedding_dim=0x10&padding_idx=%00",
    "cell=gru&cell=lstm&cell[]=1&=&&&%ff%fe&visit=1&last_good=1&link=1",
    "foo=%3Cscript%3Ealert(1)%3C/script%3E&cell=%3Cimg%20src=x%20onerror=alert(1)%3E&step=%3Csvg/onload=alert(1)%3E",
]


@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_falls_back_and_is_named(query: str) -> None:
    app = opened("start", dict(parse_qsl(query, keep_blank_values=True)))
    assert NOT_HAD in texts(app)
    assert "Source(" not in texts(app)  # of what the app remembers
    app.text_area(key="sequences").set_value("1 2\n3").run()
    assert NOT_HAD not in texts(app)


def test_a_link_that_needs_repair_opens_its_own_page(visit: Open) -> None:
    seen = visit({"padding_value": "1e999"}, path="padding")
    assert urlsplit(seen.page.url).path == "/padding"


@pytest.mark.parametrize(("page", "name", "text"), [("questions", "search", "inf"), ("doctor", "lengths", "Infinity")])
def test_a_text_that_reads_as_an_endless_number_is_kept(page: str, name: str, text: str) -> None:
    app = opened(page, {name: text})
    assert app.query_params[name] in (text, [text])  # a list once the app has written the address
    assert text in [each.value for each in (*app.text_input, *app.text_area)]


def test_an_invalid_batch_in_a_link_is_reported() -> None:
    app = opened("packing", {"sequences": "1 nan", "total_length": 2})
    with pytest.raises(PackvizError) as refusal:
        Batch.parse("1 nan")
    assert f"⚠ {refusal.value.sentence}" in texts(app)
    assert app.text_area(key="sequences").value == "1 nan"


def test_the_visitors_own_text_is_not_credited_to_the_author_of_an_example() -> None:
    assert "Tim Peters" in texts(opened("start", {"example": "zen"}))
    assert "Tim Peters" not in texts(opened("start", {"example": "zen", "sequences": "hello world"}))
    assert "Kudo" in texts(opened("start", {"example": "vowels"}))


def test_a_step_past_the_end_is_the_last(visit: Open) -> None:
    seen = visit({"step": "999"})
    last = seen.data("steps")
    assert (seen.data("step"), seen.query["step"]) == (last, last)
    seen.click(seen.sidebar.get_by_text("lstm", exact=True))  # another setting changes no step
    assert (seen.data("stage"), seen.data("step")) == ("unpack", last)
    seen.type("1 2 3 4\n5 6 7\n8")
    film = pv.movie(pv.trace(Batch.parse("1 2 3 4\n5 6 7\n8")))
    last = str(len(film.steps))
    assert (seen.data("stage"), seen.data("step"), seen.query["step"]) == ("unpack", last, last)
    seen.press("ArrowLeft")
    seen.type("1 2 3 4\n5 6\n7")
    film = pv.movie(pv.trace(Batch.parse("1 2 3 4\n5 6\n7")))
    begins = next(str(i) for i, step in enumerate(film.steps, 1) if step.stage == "unpack")
    assert (seen.data("stage"), seen.data("step"), seen.query["step"]) == ("unpack", begins, begins)


REFUSED = {
    "": "Expected at least one sequence, but got nothing. Type words",
    "1,5 2,5": "Write 1.5 for one decimal number or 1 5 for two numbers.",
    "1 2 3 4 5 6 7 8 9 10\n" * 1000: "Expected at most 64 sequences, but got 1000",
    "[[1, 2], [3": "('[' was never closed) at line 1, column 10. Close every bracket",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_refused_text_gets_the_reason_and_the_fix(text: str) -> None:
    app = opened("packing", {"example": "forum"})
    before = movies(app)
    app.text_area(key="sequences").set_value(text).run()
    (reason,) = [each.value for each in app.sidebar.text if "⚠" in each.value]
    assert REFUSED[text] in reason
    assert app.text_area(key="sequences").value == text
    reason = r"(Your text has .+, but this app takes .+|The box is empty\. Type words such as .+)\."
    assert re.search(f"{reason} You still see your last batch: 3 seq", texts(app))
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


def test_nonsense_in_a_link_and_odd_text_are_shown_and_never_executed(visit: Open) -> None:
    seen = visit("&".join(NONSENSE))
    assert 1 <= int(seen.data("step")) <= int(seen.data("steps"))
    expect(seen.main.get_by_text(NOT_HAD)).to_be_visible()
    seen.type("\n".join(SHOWN_AS_TEXT))
    expect(seen.sidebar.get_by_text("% padding").first).to_be_visible()
    seen.press("ArrowRight", "End")
    for text in SHOWN_AS_TEXT[:2]:
        seen.type(f"[[1], {text.replace(chr(10), ' ')}]")
        expect(seen.main.get_by_text("⚠ Your text has")).to_be_visible()


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"total_length": 2}, "total_length"),
        ({"padding_idx": 3}, "padding_idx"),
        ({"example": "vowels", "embedding_dim": 3}, "embedding_dim"),
    ],
)
def test_a_setting_that_does_not_fit_the_batch_is_named_above_the_settings(query: dict[str, object], told: str) -> None:
    app = opened("packing", query)
    assert [each.value for each in app.sidebar.text if each.value.startswith(f"⚠ {told}: expected")]
    assert "You still see your last batch" in texts(app)
