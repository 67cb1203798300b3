"""All results as one CSV text: a line for each epoch of each seed of each experiment."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict
from io import StringIO

from packviz.training.run import Progress

__all__ = ["COLUMNS", "to_csv"]

COLUMNS = (
    "task",
    "cell",
    "hidden_size",
    "readout",
    "bidirectional",
    "extra_padding",
    "batch_size",
    "lr",
    "seed",
    "epoch",
    "epochs",
    "train_loss",
    "test_accuracy",
    "seconds",
)


def to_csv(results: Iterable[Progress]) -> str:
    """Return a head and a line for every record: its settings, loss in nats, accuracy in percent, time in seconds."""
    text = StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({**asdict(progress.experiment), **asdict(progress)} for progress in results)
    return text.getvalue()
