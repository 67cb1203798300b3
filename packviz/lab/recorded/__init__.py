"""Full runs of the experiments, recorded by `python -m packviz.lab.recorded` and stored with when and where."""

from packviz.lab.recorded.recording import *
