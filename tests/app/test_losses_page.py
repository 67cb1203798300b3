"""The lesson on losses: what it offers to try, and its tables."""

from packviz.inputs.limits import LIMITS
from pages import opened, press


def test_one_row_is_as_long_as_the_app_allows() -> None:
    app = opened("losses", {"sequences": "\n".join(["1 2 3 4 5 6 7 8 9 10"] * 12), "example": "own"})
    press(app, "one row")
    assert str(app.query_params["max_length"]) == str(LIMITS.max_length)
