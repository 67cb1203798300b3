"""Questions on a trace, checked against it, with reasons for the usual mistakes."""

from packviz.teach.predictions import (
    KINDS,
    Answer,
    Form,
    Kind,
    Moment,
    Prediction,
    Slip,
    Stage,
    Verdict,
    ask,
    asking,
    spelled,
)

__all__ = [
    "KINDS",
    "Answer",
    "Form",
    "Kind",
    "Moment",
    "Prediction",
    "Slip",
    "Stage",
    "Verdict",
    "ask",
    "asking",
    "spelled",
]
