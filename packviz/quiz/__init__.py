"""The quiz: rounds of predictions on random batches, the same for all who name the same level and round."""

from packviz.quiz.keeping import kept, taken_up
from packviz.quiz.levels import LEVELS, Level
from packviz.quiz.question import Question
from packviz.quiz.rounds import LAST_ROUND, MOST_QUESTIONS, questions
from packviz.quiz.sheet import Mark, Sheet

__all__ = [
    "LAST_ROUND",
    "LEVELS",
    "MOST_QUESTIONS",
    "Level",
    "Mark",
    "Question",
    "Sheet",
    "kept",
    "questions",
    "taken_up",
]
