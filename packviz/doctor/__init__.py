"""The doctor: what is wrong with a batch, its lengths, its packed form, or what a module is given.

examine() looks at one batch, watch() at every call of a model's recurrent layers; the rest reads what people paste
and upload.
"""

from packviz.doctor.examining import examine
from packviz.doctor.files import MAX_BYTES, Loaded, module_from, read_file, read_isolated, recurrent_prefixes
from packviz.doctor.reading import read_lengths, read_packed, read_tensor
from packviz.doctor.watching import Watched, watch
from packviz.rules.finding import Finding, Severity
from packviz.rules.padding_value import filler_of

__all__ = [
    "MAX_BYTES",
    "Finding",
    "Loaded",
    "Severity",
    "Watched",
    "examine",
    "filler_of",
    "module_from",
    "read_file",
    "read_isolated",
    "read_lengths",
    "read_packed",
    "read_tensor",
    "recurrent_prefixes",
    "watch",
]
