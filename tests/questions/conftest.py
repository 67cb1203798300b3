"""What the shared cases of the entries assert is shown in full where it fails."""

import pytest

pytest.register_assert_rewrite("entry_cases")
