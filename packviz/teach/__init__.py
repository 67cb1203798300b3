"""Predictions, an exercise, the quiz and the questions."""

__all__: list[str] = []
