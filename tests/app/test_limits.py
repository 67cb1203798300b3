"""The app's limits for typed input: named, and checked before anything large is computed."""

import pytest

from packviz.errors import PackvizError
from ui.requests import OWN, Request, Source
from ui.runs import MOST_CHARACTERS, MOST_FEATURES, MOST_SEQUENCES, MOST_STEPS, run


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("1 " * MOST_CHARACTERS, "100,000 characters"),
        (f"[[{[1] * (MOST_FEATURES + 1)}]]", "64 features in each step"),
        ("1\n" * (MOST_SEQUENCES + 1), "64 sequences"),
        ("1 " * (MOST_STEPS + 1), "64 steps"),
    ],
)
def test_what_is_too_large_for_a_shared_process_is_refused_with_its_limit(text: str, limit: str) -> None:
    with pytest.raises(PackvizError, match=f"at most {limit}"):
        run(Request(Source(OWN, text)))


def test_the_largest_that_is_allowed_is_shown() -> None:
    rows = "\n".join(["7 " * MOST_STEPS] * MOST_SEQUENCES)
    assert run(Request(Source(OWN, rows))).trace.exact
    assert run(Request(Source(OWN, f"[[{[1] * MOST_FEATURES}]]"))).trace.exact
