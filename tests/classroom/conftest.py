"""The app as `make run` starts it, with a data folder of its own."""

from collections.abc import Iterator

import pytest

from bench import servers


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the app, and return where."""
    folder = str(tmp_path_factory.mktemp("data"))
    with servers.packviz_process(PACKVIZ_DATA=folder, REDIS_URL="") as (served, _):
        yield served
