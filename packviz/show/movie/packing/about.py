"""What a movie says about the run as a whole, and which stages the run has."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from torch import Tensor

from packviz.compute.backward import On
from packviz.compute.record import Refusal, Trace, Traced, watched_layer
from packviz.show.movie.about import About, Asked
from packviz.show.movie.packing import inputs, packed_rows, places, recurrent, token_table
from packviz.show.movie.packing.view import View, Window, watch
from packviz.show.movie.packing.words import lost
from packviz.text import counted, joined
from packviz.validate import choice, integer

_MADE_BY = {  # by stage
    "pad": "pad_sequence",
    "embed": "nn.Embedding",
    "sort": "pack_padded_sequence",
    "pack": "pack_padded_sequence",
}


def is_embedded(run: Traced) -> bool:
    """Return whether the ids go through an embedding."""
    return run.padded.embedding is not None


def is_packed(run: Traced) -> bool:
    """Return whether torch packed the batch, and did not refuse."""
    return isinstance(run, Trace)


def view_of(run: Traced, asked: Asked) -> View:
    """Return what the stages share: the run, and what is watched of it.

    Raises PackvizError for a layer or direction that it does not have, and for what belongs to rows or to a stage that
    is not shown.
    """
    asked.check_without("head", "micro_batch", kind="a recurrent module")
    choice("on", asked.loss.on, get_args(On))
    if "backward" not in asked.stages:
        asked.check_without("upstream", kind="a movie without the stage backward")
    window = Window(asked.sequences, asked.steps).checked()
    if isinstance(run, Refusal):
        integer("layer", 0 if asked.layer is None else asked.layer, 0)
        integer("direction", asked.direction, 0, 1)
        layer, direction = 0, 0
    else:
        layer, direction = watched_layer(run, asked.layer, asked.direction)
    view = watch(run, layer, direction, window, transposed=not run.padded.batch_first, deep=asked.deep)
    gradients = run.backward(*asked.loss) if "backward" in asked.stages else None
    return replace(view, text=places.line_height(view), stages=asked.stages, gradients=gradients)


def about(view: View, others: Sequence[Tensor] = ()) -> About:
    """Return what the movie says about its run. Its numbers are the view's own list, to which stages add.

    others: states beside those of the run, for their scale.
    """
    stack = {}
    if not inputs.refused(view) and len(view.trace.h_n) > 1:
        stack = {"layers": len(view.trace.layers), "directions": recurrent.directions(view)}
        stack |= {"layer": view.layer, "direction": view.direction}
    proof, is_exact = _proof(view)
    return About(
        run=view.trace,
        title=title(view),
        layer=view.layer,
        direction=view.direction,
        sequences=view.total[0],
        tokens=_tokens(view),
        numbers=view.numbers,
        scales=_scales(view, [*others, *gradients(view)]),
        notes=(*_window(view), *view.trace.notes),
        proof=proof,
        exact=is_exact,
        stack=stack,
    )


def title(view: View) -> str:
    """Return the batch and the cell in a few words."""
    batch = f"{counted(view.total[0], 'sequence')}, {counted(inputs.count(view), 'token')}"
    return f"{batch}, {recurrent.cell(view).upper()}"


def _tokens(view: View) -> dict[str, Any]:
    """Return the columns of the tokens, and their tooltips, with blanks."""
    return {
        "b": token_table.sequence(view).tolist(),
        "t": token_table.time_step(view).tolist(),
        "n": token_table.packed_row(view).tolist(),
        **({"said": token_table.said(view)} if token_table.said(view) else {}),
        "offsets": [] if inputs.refused(view) else packed_rows.offsets(view),
        "tip": "sequence {seq}, time step {t}",
        "typed": "“{said}”, ",
        "address": ", packed row {n} = {offset} (rows of earlier time steps) + {position} (rows before it at t = {t})",
    }


def _scales(view: View, others: Sequence[Tensor]) -> dict[str, float]:
    def largest(state: Tensor) -> float:
        return float(state.detach().nan_to_num(0.0, 0.0, 0.0).abs().max())

    halves = [] if inputs.refused(view) else [half for layer in view.trace.layers for half in layer]
    states = [state for half in halves for state in (half.h, half.c) if state is not None]
    states = [*states, *others]
    return {"input": largest(view.trace.padded.values) or 1.0, "state": max([1.0, *map(largest, states)])}


def gradients(view: View) -> list[Tensor]:
    """Return the gradients that a movie shows, if any."""
    found = view.gradients
    if found is None:
        return []
    return [found.upstream, *found.inputs, *found.layers[view.layer][view.direction].rows.values()]


def _window(view: View) -> list[str]:
    rows, columns = view.total
    notes = []
    if len(view.shown) < rows:
        which = "" if inputs.refused(view) else ", the longest and the shortest"
        notes.append(f"showing {len(view.shown)} of {rows} sequences{which}")
    if view.columns < columns:
        notes.append(f"showing {view.columns} of {columns} time steps")
    if view.small:
        notes.append("point at or tap a cell to read it")
    if inputs.raw_vectors(view) and inputs.features(view) > inputs.features_shown(view):
        notes.append(f"{inputs.features_shown(view)} of {inputs.features(view)} features")
    if not inputs.refused(view) and recurrent.watched(view).h.shape[1] > recurrent.units(view):
        notes.append(f"{recurrent.units(view)} of {recurrent.watched(view).h.shape[1]} hidden units")
    return notes


def _proof(view: View) -> tuple[str, bool]:
    """Return how the numbers of the stages shown compare with torch's own, in words, and whether all of them equal."""
    name = f"torch.nn.{recurrent.cell(view).upper()}"
    if inputs.refused(view):
        return "torch refused to pack: there is nothing to compare", False
    pads = packed_rows.packed_pads(view)
    if view.gradients is not None:
        apart = max(view.gradients.proof.values())
        same = "equal to those" if view.gradients.exact else f"at most {apart:.1e} from those"
        said = f"gradients {same} of torch's own backward pass through {name}"
        return said, view.trace.exact and not pads
    if not view.stages & {"run", "unpack"}:
        return _before_the_run(view)
    if not view.trace.exact:
        return f"differs from {name} by at most {max(view.trace.proof.values()):.1e}", False
    if pads:
        return f"what {name} makes of this packed input: {lost(view)}", False
    return f"equal to {name}, bit for bit", True


def _before_the_run(view: View) -> tuple[str, bool]:
    """Return which functions of torch made the tensors of the stages shown, none of which runs the module."""
    if view.trace.config is None:
        return "the input as it was given: nothing has run yet", False
    made = dict.fromkeys(function for stage, function in _MADE_BY.items() if stage in view.stages)
    said, pads = f"made by torch's own {joined(list(made))}", packed_rows.packed_pads(view)
    return (f"{said}: {lost(view)}", False) if pads and "pack" in view.stages else (said, True)
