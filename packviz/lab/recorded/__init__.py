"""Full runs of the experiments, recorded by `python -m packviz.lab.recorded` and stored with date and machine."""

from packviz.lab.recorded.recording import *
