"""What the shared cases of the entries assert is shown in full where it fails; one thread."""

import pytest

pytest.register_assert_rewrite("entry_cases")


@pytest.fixture(autouse=True, scope="module")
def always_one_thread(one_thread: None) -> None:
    """Run every test of this folder in one thread."""
