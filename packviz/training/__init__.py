"""Does padding hurt accuracy? Small models trained live on real data, with several seeds, and what may be concluded."""

from packviz.training.conclusion import Difference, conclusion, difference
from packviz.training.experiment import EXTRA_PADDING, Experiment, Readout, Task, default_experiments
from packviz.training.first_token import first_token
from packviz.training.model import Model, read
from packviz.training.outcome import Outcome, summary, table
from packviz.training.run import Progress, pad_batch, run_all, task_data, train
from packviz.training.sheet import COLUMNS, to_csv
from packviz.training.split import Split, vowels, vowels_credit

__all__ = [
    "COLUMNS",
    "EXTRA_PADDING",
    "Difference",
    "Experiment",
    "Model",
    "Outcome",
    "Progress",
    "Readout",
    "Split",
    "Task",
    "conclusion",
    "default_experiments",
    "difference",
    "first_token",
    "pad_batch",
    "read",
    "run_all",
    "summary",
    "table",
    "task_data",
    "to_csv",
    "train",
    "vowels",
    "vowels_credit",
]
