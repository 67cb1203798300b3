"""Predictions, the quiz and the questions."""

__all__: list[str] = []
