"""What follows from a trace, as plain records: readouts, differences, addresses, pad drift, losses."""

from packviz.facts.comparison import *
from packviz.facts.distributions import *
from packviz.facts.memory_layout import *
from packviz.facts.padded_gradients import *
from packviz.facts.padded_run import *
from packviz.facts.pads import *
from packviz.facts.readout import *
from packviz.facts.token_losses import *
from packviz.facts.torch_says import *
from packviz.facts.unit_arithmetic import *
from packviz.facts.why_pack import *
