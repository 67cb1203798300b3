"""The quiz: rounds of predictions on random batches, the same for everyone with the same level and round."""

from packviz.teach.quiz.rounds import *
from packviz.teach.quiz.scorecard import *
