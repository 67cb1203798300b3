"""The entries, a module for each group of questions and for each text."""

from packviz.questions.entries import (
    backends,
    contents,
    documentation,
    forum_thread,
    how_it_functions,
    lengths,
    loading,
    losses,
    order,
    padding,
    relatives,
    shapes,
    speed,
    states,
    technique,
    variable_lengths,
    walkthrough,
)
from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUPS"]

_MODULES = (
    contents,
    order,
    lengths,
    shapes,
    states,
    padding,
    losses,
    loading,
    speed,
    backends,
    relatives,
    forum_thread,
    how_it_functions,
    variable_lengths,
    technique,
    walkthrough,
    documentation,
)

ENTRIES: tuple[Entry, ...] = tuple(entry for module in _MODULES for entry in module.ENTRIES)
GROUPS: tuple[str, ...] = tuple(module.GROUP for module in _MODULES)
