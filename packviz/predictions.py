"""Questions on a trace, checked against it, with reasons for the usual mistakes."""

from packviz.teach.predictions import *
