"""Many rounds, each made once."""

from functools import cache

from prediction_cases import Asked
from seeds import many

from packviz.teach.quiz import LEVELS, Question, questions

ROUNDS = range(1, max(5, many(15)) + 1)  # of each level: in fewer, not every kind is asked
PLACES = [(level, number) for level in LEVELS for number in ROUNDS]

round_of = cache(questions)


def lengths_of(question: Question) -> list[int]:
    """Return the lengths, counted in the text."""
    return [len(line.split()) for line in question.text.splitlines()]


def asked_of(question: Question) -> Asked:
    """Return what torch is to be asked: from the text and the settings alone."""
    config, lengths = question.config, lengths_of(question)
    features = 4 if question.text.split()[0].isalpha() else 1
    settings = (config.batch_first, config.padding_side, config.enforce_sorted, config.total_length)
    return Asked(question.trace, lengths, max(lengths), features, *settings)
