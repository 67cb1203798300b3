"""The traces of random batches and random modules that most facts are held to."""

import pytest
from facts_cases import studied
from seeds import seeds

from packviz import Trace


@pytest.fixture(params=seeds(20))
def seen(request: pytest.FixtureRequest) -> Trace:
    """Return a trace that torch packed, the same for the same seed."""
    return studied(request.param)
