"""Refusal: a request that is turned down, with its HTTP status and one sentence that says why."""

from __future__ import annotations


class RefusedError(Exception):
    """Turn a request down; `sentence` is what the client shows."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence
