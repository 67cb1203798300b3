"""What a movie says about the run as a whole, and which stages the run has."""

from typing import Any

import numpy as np
from torch import Tensor

from packviz.compute.record import Refusal, Trace, Traced, watched_layer
from packviz.show.movie.data import About, Asked
from packviz.show.movie.packing.facts import Window
from packviz.show.movie.packing.view import View
from packviz.show.movie.packing.words import lost

STAGES = ("pad", "embed", "sort", "pack", "run", "unpack")


def is_embedded(run: Traced) -> bool:
    """Return whether the ids go through an embedding."""
    return run.padded.embedding is not None


def is_packed(run: Traced) -> bool:
    """Return whether torch packed the batch, and did not refuse."""
    return isinstance(run, Trace)


def view_of(run: Traced, asked: Asked) -> View:
    """Return what the stages share: the run, and what is watched of it."""
    window = Window(asked.sequences, asked.steps).checked()
    layer, direction = 0, 0
    if not isinstance(run, Refusal):
        layer, direction = watched_layer(run, asked.layer, asked.direction), asked.direction
    return View(run, layer, direction, window, transposed=not run.padded.batch_first, deep=asked.deep)


def about(view: View) -> About:
    """Return what the movie says about its run; call it last, for stages add to the numbers."""
    stack = {}
    if not view.refused and len(view.trace.h_n) > 1:
        stack = {"layers": len(view.trace.layers), "directions": view.directions}
        stack |= {"layer": view.layer, "direction": view.direction}
    return About(
        run=view.trace,
        stages=STAGES,
        title=view.title,
        layer=view.layer,
        direction=view.direction,
        sequences=view.total[0],
        tokens=_tokens(view),
        numbers=view.numbers,
        scales=_scales(view),
        notes=(*_window(view), *view.trace.notes),
        proof=_proof(view),
        exact=not view.refused and view.trace.exact and not view.packed_pads,
        stack=stack,
    )


def _tokens(view: View) -> dict[str, Any]:
    """Return the columns of the tokens, and their tooltips, with blanks."""
    return {
        **{name: getattr(view, f"token_{name}").tolist() for name in "btn"},
        **({"said": view.said} if view.said else {}),
        "offsets": [] if view.refused else view.offsets,
        "tip": "sequence {seq}, time step {t}",
        "typed": "“{said}”, ",
        "address": ", packed row {n}: data[offset[{t}] + position] = data[{offset} + {position}] = data[{n}]",
    }


def _scales(view: View) -> dict[str, float]:
    def largest(state: Tensor) -> float:
        sizes = np.abs(state.detach().double().numpy())
        return float(sizes.max(where=np.isfinite(sizes), initial=0.0))

    return {"input": largest(view.trace.padded.values) or 1.0, "state": max([1.0, *map(largest, view.states)])}


def _window(view: View) -> list[str]:
    rows, columns = view.total
    notes = []
    if len(view.shown) < rows:
        notes.append(f"showing {len(view.shown)} of {rows} sequences" + ("" if view.refused else ", the longest"))
    if view.columns < columns:
        notes.append(f"showing {view.columns} of {columns} time steps")
    if view.small:
        notes.append("cells too small for text: point at one to read it")
    if view.raw_vectors and view.features > view.features_shown:
        notes.append(f"{view.features_shown} of {view.features} features")
    if not view.refused and view.watched.h.shape[1] > view.units:
        notes.append(f"{view.units} of {view.watched.h.shape[1]} hidden units")
    return notes


def _proof(view: View) -> str:
    name = f"torch.nn.{view.cell.upper()}"
    if view.refused:
        return "torch refused to pack: there is nothing to compare"
    if view.trace.exact and view.packed_pads:
        return f"what {name} makes of this packed input: {lost(view)}"
    if view.trace.exact:
        return f"equal to {name}, bit for bit"
    return f"differs from {name} by at most {max(view.trace.proof.values()):.1e}"
