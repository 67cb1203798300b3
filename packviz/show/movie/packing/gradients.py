"""The gradients that the stage backward shows, and what is said of them."""

from torch import Tensor

from packviz.compute.backward import Gradients
from packviz.compute.recurrence import Direction, TimeStep
from packviz.show.movie.packing import inputs, packed_rows
from packviz.show.movie.packing.view import View
from packviz.show.movie.packing.words import say


def found(view: View) -> Gradients:
    """Return the gradients of the whole run."""
    assert view.gradients is not None
    return view.gradients


def watched(view: View) -> Direction:
    """Return those of the layer and direction that are watched."""
    return found(view).layers[view.layer][view.direction]


def top(view: View) -> bool:
    """Return whether the watched layer is the one that the loss reads."""
    return view.layer == len(view.trace.layers) - 1


def begins(view: View) -> bool:
    """Return whether the loss begins at the final states that are watched."""
    return top(view) and found(view).on == "last_valid"


def start_caption(view: View) -> str:
    """Say what the loss is, and where its gradient goes."""
    upstream, on_output = found(view).upstream, found(view).on == "output"
    if bool((upstream == 1).all()):
        loss = say("backward.sum_of_output" if on_output else "backward.sum_of_states")
    else:
        loss = say("backward.loss_at_output" if on_output else "backward.loss_at_states", largest=_largest(upstream))
    if top(view):
        return f"{loss} {say('backward.back')}"
    return f"{loss} {say('backward.back_lower', layer=view.layer)}"


def step_caption(view: View, step: TimeStep) -> str:
    """Say what happens at a time step, and how the gradient of the first sequence has changed since the one before.

    The time step before is the one that the gradient comes from: t + 1, going backward t - 1.
    """
    entering, b = _entering_caption(view, step), step.live[0]
    earlier = step.t + (-1 if view.direction else 1)
    came = 0 <= earlier < min(view.lengths[b], view.columns)
    row = packed_rows.row_at(view)[b, earlier] if came else -1
    if row < 0:
        return entering
    now, before = (_largest(watched(view).h[at]) for at in (step.start, row))
    return f"{entering} {say('backward.changes', b=b, before=before, now=now)}"


def _entering_caption(view: View, step: TimeStep) -> str:
    """Say where the gradient of the loss, or of the layer above, enters at a time step."""
    t, size, above = step.t, len(step.live), view.layer + 1
    if begins(view) and step.ended:
        return say("backward.enters", t=t, joins=step.ended)
    if begins(view):
        return say("backward.enters_nowhere", t=t, size=size)
    if top(view):
        return say("backward.adds", t=t, size=size) if size > 1 else say("backward.adds_to_one", t=t, b=step.live[0])
    if size > 1:
        return say("backward.layer_adds", t=t, size=size, above=above)
    return say("backward.layer_adds_to_one", t=t, b=step.live[0], above=above)


def end_caption(view: View) -> str:
    """Say which gradient of a weight is the largest, and what the pads have contributed."""
    rows, weights = sum(view.batch_sizes), found(view).weights
    name = max(weights, key=lambda name: _size(weights[name]))
    if rows > 1:
        said = say("backward.weights", rows=rows, most=_largest(weights[name]), name=name)
    else:
        said = say("backward.weights_of_one", most=_largest(weights[name]), name=name)
    return f"{said} {_pads_caption(view)}"


def _pads_caption(view: View) -> str:
    """Say what the pads have contributed: if none were packed, what the pad's row of the embedding gets."""
    config, packed = view.trace.config, view.trace.packed
    if packed_rows.pads(view):
        return say("backward.packed_pads")
    if config is None or not inputs.embedded(view):
        return say("backward.no_pads")
    if config.padding_idx is not None:
        return say("backward.padding_idx", row=config.padding_idx)
    at = view.trace.padded.tokens[packed.sequence, packed.timestep] == config.pad_id  # (N,): where its vector is
    if not at.any():
        return say("backward.pad_row_zeros")
    return say("backward.pad_row", most=_largest(found(view).data[at].sum(0)))


def _size(gradient: Tensor) -> float:
    """Return the largest magnitude in a gradient, 0.0 if it is empty."""
    return float(gradient.abs().max()) if gradient.numel() else 0.0


def _largest(gradient: Tensor) -> str:
    return f"{_size(gradient):.3g}"
