"""What padding and packing cost: as counts, in ms on this machine, and how to waste less without packing."""

from packviz.lab.cost.counting import *
from packviz.lab.cost.fills import *
from packviz.lab.cost.measuring import *
from packviz.lab.cost.pairs import *
from packviz.lab.cost.setup import *
