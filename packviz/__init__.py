"""Padding and packing of PyTorch, computed by PyTorch and shown one step at a time."""

from packviz.batch import Batch, sequence_label
from packviz.config import Config
from packviz.doctor import examine, watch
from packviz.errors import PackvizError
from packviz.examples import EXAMPLES, Example
from packviz.movie import Movie, movie
from packviz.snippet import snippet
from packviz.trace import Trace, trace, trace_module

__all__ = [
    "EXAMPLES",
    "Batch",
    "Config",
    "Example",
    "Movie",
    "PackvizError",
    "Trace",
    "examine",
    "movie",
    "sequence_label",
    "snippet",
    "trace",
    "trace_module",
    "watch",
]
