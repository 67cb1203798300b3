"""Does padding hurt accuracy? Small models trained live on real data with several seeds, and valid conclusions."""

from packviz.lab.training.experiment import *
from packviz.lab.training.results import *
from packviz.lab.training.run import *
