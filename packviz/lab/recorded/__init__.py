"""Full runs of the experiments, recorded by `python -m packviz.lab.recorded` and stored with when and where."""

from packviz.lab.recorded.headlines import (
    cost_caveat,
    cost_headline,
    sweep_takes,
    training_caveat,
    training_headline,
    training_takes,
)
from packviz.lab.recorded.recording import (
    CostRecording,
    Made,
    TrainingRecording,
    as_text,
    cost,
    read_cost,
    read_training,
    record_cost,
    record_training,
    training,
)

__all__ = [
    "CostRecording",
    "Made",
    "TrainingRecording",
    "as_text",
    "cost",
    "cost_caveat",
    "cost_headline",
    "read_cost",
    "read_training",
    "record_cost",
    "record_training",
    "sweep_takes",
    "training",
    "training_caveat",
    "training_headline",
    "training_takes",
]
