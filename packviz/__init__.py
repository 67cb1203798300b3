"""PyTorch's padding and packing, computed by PyTorch and shown one step at a time."""

from packviz.compute.fill import Rows, fill_rows
from packviz.compute.rows import RowsTrace, trace_rows
from packviz.compute.trace import Refusal, Trace, trace, trace_module
from packviz.doctor import (
    Finding,
    Findings,
    check_invariance,
    check_rows,
    check_samples,
    examine,
    examine_rows,
    watch,
)
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.borders import find_documents
from packviz.inputs.config import Config
from packviz.inputs.row_config import RowConfig
from packviz.show.movie import Movie, movie
from packviz.show.snippet import snippet

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Config",
    "Finding",
    "Findings",
    "Movie",
    "PackvizError",
    "Refusal",
    "RowConfig",
    "Rows",
    "RowsTrace",
    "Trace",
    "check_invariance",
    "check_rows",
    "check_samples",
    "examine",
    "examine_rows",
    "fill_rows",
    "find_documents",
    "movie",
    "snippet",
    "trace",
    "trace_module",
    "trace_rows",
    "watch",
]
