"""The app's limits for typed input: named, and checked before anything large is computed."""

import pytest

from packviz.errors import PackvizError
from ui.runs import MAX_CHARACTERS, MAX_FEATURES, MAX_SEQUENCES, MAX_STEPS, OWN, Request, Source, run


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
