"""Torch's own answers to every prediction, by which the quiz is judged, too; one thread."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "predictions"))


@pytest.fixture(autouse=True, scope="module")
def always_one_thread(one_thread: None) -> None:
    """Run every test of this folder in one thread."""
