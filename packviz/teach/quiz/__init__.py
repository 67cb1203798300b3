"""The quiz: rounds of predictions on random batches, the same for all who name the same level and round."""

from packviz.teach.quiz.rounds import LAST_ROUND, LEVELS, MAX_QUESTIONS, Level, Question, questions
from packviz.teach.quiz.scorecard import Mark, Scorecard, progress_code, read_progress_code

__all__ = [
    "LAST_ROUND",
    "LEVELS",
    "MAX_QUESTIONS",
    "Level",
    "Mark",
    "Question",
    "Scorecard",
    "progress_code",
    "questions",
    "read_progress_code",
]
