"""The lesson on losses: what it offers to try, and its tables."""

import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest
from visits import Open

from packviz.inputs.limits import LIMITS
from pages import opened, press
from ui.state.text import OWN


def batch(tokens: int) -> str:
    """Return a batch of so many tokens, 8 in each line."""
    assert tokens % 8 == 0
    return "\n".join(["1 2 3 4 5 6 7 8"] * (tokens // 8))


def one_row(app: AppTest) -> list[str]:
    """Return the kind of the button for one row, if there is one."""
    return [each.proto.type for each in app.button if each.label == "all in one row (max_length)"]


@pytest.mark.parametrize("more", [0, 8])
def test_one_row_is_offered_if_all_tokens_go_into_one(more: int) -> None:
    app = opened("losses", {"sequences": batch(LIMITS.max_length + more), "example": OWN})
    assert len(one_row(app)) == (not more)
    if not more:
        press(app, "all in one row (max_length)")
        assert str(app.query_params["max_length"]) == str(LIMITS.max_length)


def test_one_row_is_no_longer_chosen_if_the_batch_has_grown() -> None:
    app = press(opened("losses", {"sequences": batch(16), "example": OWN}), "all in one row (max_length)")
    assert one_row(app) == ["primary"]
    app.text_area(key="sequences").set_value(batch(32)).run()
    app.run()  # AppTest knows only what ran last: two fragments
    assert one_row(app) == ["secondary"]
    press(app, "all in one row (max_length)")
    assert str(app.query_params["max_length"]) == "32"


ROOM = """line => {
    const [all, said] = [line.parentElement, line.querySelector("span")].map((each) => each.getBoundingClientRect());
    const { top } = line.closest(".pv").getBoundingClientRect();
    return [said.top - all.top, all.bottom - said.bottom, all.height, all.bottom - top];
}"""  # pixels above and below what the line asks, its height, and where the picture begins


@pytest.mark.parametrize("full", [False, True])
def test_on_a_phone_a_skipped_question_of_three_lines_keeps_off_the_edges(visit: Open, full: bool) -> None:
    seen = visit("step=7", path="losses", size=(320, 740), has_touch=True, is_mobile=True)
    if full:
        seen.player.get_by_role("button", name="Full screen").click()
    line, found = seen.player.get_by_role("button", name="Answer"), []
    for _ in range(2):
        seen.settle()
        found.append(line.evaluate(ROOM))
        seen.player.get_by_role("button", name="Step forward").click()
    (above, below, height, ends), after = found
    assert height > 60  # three lines
    assert min(above, below) >= 4
    assert after[2:] == [height, ends]  # the picture keeps its place
    expect(line).to_be_visible()
