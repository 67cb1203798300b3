"""The doctor: what is wrong with a batch, its lengths, its packed form, or what a module is given.

examine() looks at one batch, watch() at every call of a model's recurrent layers; the rest reads what people paste
and upload.
"""

from packviz.doctor.examining import examine
from packviz.doctor.files import MOST_BYTES, Loaded, read_file
from packviz.doctor.fillers import filler_of
from packviz.doctor.finding import Finding, Severity
from packviz.doctor.reading import read_lengths, read_packed, read_tensor
from packviz.doctor.watching import Watched, watch
from packviz.doctor.weights import module_from, recurrent_prefixes

__all__ = [
    "MOST_BYTES",
    "Finding",
    "Loaded",
    "Severity",
    "Watched",
    "examine",
    "filler_of",
    "module_from",
    "read_file",
    "read_lengths",
    "read_packed",
    "read_tensor",
    "recurrent_prefixes",
    "watch",
]
