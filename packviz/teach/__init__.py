"""Predictions, an exercise, the quiz and the questions."""
