"""Pictures are made one after another, in the order in which visitors ask for them."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

_TURNS: deque[threading.Event] = deque()  # of the visitors whose pictures are being made; the first one has its turn
_TURNS_CHANGE = threading.Lock()


@contextmanager
def in_turn() -> Iterator[None]:
    """Make one visitor's picture at a time, in the order of the requests.

    Python runs one thread at a time anyway: if they alternated, all of them would finish late, and so would the
    server's own thread, which sends the finished ones.
    """
    turn = threading.Event()
    with _TURNS_CHANGE:
        _TURNS.append(turn)
        _TURNS[0].set()
    try:
        turn.wait()
        yield
    finally:
        with _TURNS_CHANGE:
            _TURNS.remove(turn)
            if _TURNS:
                _TURNS[0].set()
