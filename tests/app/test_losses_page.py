"""The lesson on losses: what it offers to try, and its tables."""

import pytest
from streamlit.testing.v1 import AppTest

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
