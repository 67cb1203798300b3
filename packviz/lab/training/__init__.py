"""Does padding hurt accuracy? Small models trained live on real data, with several seeds, and what may be concluded."""

from packviz.lab.training.experiment import (
    EXTRA_PADDING,
    Experiment,
    Readout,
    Split,
    Task,
    first_token,
    vowels,
    vowels_credit,
)
from packviz.lab.training.results import COLUMNS, Outcome, conclusion, summary, table, to_csv
from packviz.lab.training.run import Model, Progress, pad_batch, read, run_all

__all__ = [
    "COLUMNS",
    "EXTRA_PADDING",
    "Experiment",
    "Model",
    "Outcome",
    "Progress",
    "Readout",
    "Split",
    "Task",
    "conclusion",
    "first_token",
    "pad_batch",
    "read",
    "run_all",
    "summary",
    "table",
    "to_csv",
    "vowels",
    "vowels_credit",
]
