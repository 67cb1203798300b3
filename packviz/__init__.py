"""Padding and packing of PyTorch, computed by PyTorch and shown one step at a time."""

from packviz.compute.trace import Trace, trace, trace_module
from packviz.doctor import examine, watch
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch, sequence_label
from packviz.inputs.config import Config
from packviz.inputs.examples import EXAMPLES, Example
from packviz.show.movie import Movie, movie
from packviz.show.snippet import snippet

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
