"""Does padding hurt accuracy? Small models trained live on real data, with several seeds, and what may be concluded."""

from packviz.lab.training.conclusion import Difference, conclusion, difference
from packviz.lab.training.experiment import EXTRA_PADDING, Experiment, Readout, Task, default_experiments
from packviz.lab.training.model import Model, read
from packviz.lab.training.outcome import COLUMNS, Outcome, summary, table, to_csv
from packviz.lab.training.run import Progress, pad_batch, run_all, task_data, train
from packviz.lab.training.tasks import Split, first_token, vowels, vowels_credit

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
