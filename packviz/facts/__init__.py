"""What follows from a trace, as plain records: readouts, differences, addresses, pad drift, losses."""

from packviz.facts.comparison import *
from packviz.facts.distributions import *
from packviz.facts.initial_states import *
from packviz.facts.losses import *
from packviz.facts.memory_layout import *
from packviz.facts.padded_run import *
from packviz.facts.padded_statistics import *
from packviz.facts.pads import *
from packviz.facts.readouts import *
from packviz.facts.ties import *
from packviz.facts.torch_says import *
from packviz.facts.unit_arithmetic import *
