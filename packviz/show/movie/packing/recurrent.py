"""The module that runs, the layer and direction that are watched, and how many of its numbers are shown."""

from packviz.compute.recurrence import Direction
from packviz.inputs.cell_kinds import CellKind, cell_kind_of
from packviz.show.movie.once import once
from packviz.show.movie.packing.view import View

MAX_UNITS = 8  # of a hidden state


@once
def kind(view: View) -> CellKind:
    """Return what is known of the module's cell."""
    return cell_kind_of(view.trace.module)


@once
def cell(view: View) -> str:
    """Return the name of the cell in code: rnn, gru or lstm."""
    return kind(view).module.__name__.lower()


def kept(view: View) -> str:
    """Return the letter of the state that each step updates: c for an LSTM, else h."""
    return kind(view).states[-1]


def is_lstm(view: View) -> bool:
    """Return whether there is a c beside h."""
    return kept(view) == "c"


def gates(view: View) -> str:
    """Return the letters of the gates, in torch's order."""
    return "".join(kind(view).gates)


def watched(view: View) -> Direction:
    """Return the layer and direction whose states are shown."""
    return view.trace.layers[view.layer][view.direction]


def directions(view: View) -> int:
    """Return D, 1 or 2."""
    return len(view.trace.layers[0])


def last_layer(view: View) -> bool:
    """Return whether the watched states are all of the output."""
    return view.layer == len(view.trace.layers) - 1 and directions(view) == 1


def max_units(view: View) -> int:
    """Return how many units of a state are shown at most."""
    return MAX_UNITS // 2 if view.small else MAX_UNITS


def units(view: View) -> int:
    """Return how many hidden units are shown."""
    return min(watched(view).h.shape[1], max_units(view))


def entering(view: View) -> int:
    """Return how many numbers enter the watched layer at a packed row."""
    below = view.trace.layers[view.layer - 1] if view.layer else ()
    return sum(half.h.shape[1] for half in below) or int(view.trace.padded.values.shape[-1])


@once
def initial_state(view: View) -> str:
    """Return `zeros`, `random`, `learned`, `carried`, or `given` by the caller."""
    trace = view.trace
    if trace.config:
        return str(trace.config.initial_state)
    states = (state for state in (trace.h_0, trace.c_0) if state is not None)
    return "given" if any(bool(state.any()) for state in states) else "zeros"


def final(view: View) -> str:
    """Return the name of the final states: the row of h_n, those of the top layer counted from the end."""
    row, rows = view.layer * directions(view) + view.direction, len(view.trace.h_n)
    return f"h_n[{row - rows if row >= rows - directions(view) else row}]"
