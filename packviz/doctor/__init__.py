"""The doctor: what is wrong with a batch, its lengths, its packed form, or what a module is given.

examine() looks at one batch, watch() at every call of a model's recurrent layers; the rest reads what people paste
and upload.
"""

from packviz.doctor.collated import *
from packviz.doctor.examining import *
from packviz.doctor.examining_rows import *
from packviz.doctor.files import *
from packviz.doctor.invariance import *
from packviz.doctor.reading import *
from packviz.doctor.reading_rows import *
from packviz.doctor.rows import check_rows as check_rows
from packviz.doctor.samples import check_samples as check_samples
from packviz.doctor.watching import *
from packviz.rules.finding import Finding as Finding
from packviz.rules.finding import Findings as Findings
