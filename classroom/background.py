"""Background work that is repeated until the server stops: an error does not end it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger(__name__)


@contextmanager
def going_on(what: str) -> Iterator[None]:
    """Log an error of one round of background work instead of raising it; the next round tries again."""
    try:
        yield
    except Exception:
        _log.exception("%s failed and is tried again", what)
