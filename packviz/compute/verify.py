"""The check: the same run by torch's own module, and how far apart two results are."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.inputs.module import as_hx, directions, states_of

if TYPE_CHECKING:
    from packviz.compute.record import Trace

_TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12}


def prove(done: "Trace") -> dict[str, float]:
    """Return, by name, how far the record is from torch's own run on the same packed input.

    data is compared with the cells of the grid that its rows claim to come from; batch_sizes with a count of the
    lengths; last_valid with the top layer's h_n.
    """
    packed, padded, module = done.packed, done.padded, done.module
    with torch.no_grad():
        output, state = module(done.packed_sequence, as_hx(done.h_0, done.c_0))  # torch's own, in eval mode
    h_n, c_n = states_of(state)
    unpacked, _ = pad_packed_sequence(output, padded.batch_first, done.padding_value, done.total_length)
    top = h_n[-directions(module) :].unbind(0)  # (B, H) for each direction
    live = len(padded.lengths) - torch.bincount(padded.lengths).cumsum(0)[:-1]  # (T,): how many exceed 0, 1, …
    pairs = {
        "data": (padded.grid[packed.sequence, packed.timestep], packed.data),
        "batch_sizes": (live, output.batch_sizes),
        "output": (done.output, output.data),
        "h_n": (done.h_n, h_n),
        **({} if c_n is None else {"c_n": (done.c_n, c_n)}),
        "unpacked": (done.unpacked.output, unpacked),
        "last_valid": (done.unpacked.last_valid, torch.cat(top, 1)),
    }
    return {name: distance(*pair) for name, pair in pairs.items()}


def tolerance_of(dtype: torch.dtype) -> float:
    """Return the tolerance within which results up to 1 count as equal: 1e-5 in float32, 1e-12 in float64.

    Padded and packed runs sum in a different order, so they agree only up to rounding. In half precision the tolerance
    is twice the spacing of numbers near 1. For numbers above 1 it grows with the largest one of a sequence.
    """
    return _TOLERANCES.get(dtype, 2 * torch.finfo(dtype).eps)


def apart(one: Tensor, other: Tensor) -> Tensor:
    """Return |one - other| in float64, elementwise; 0 where both are identical, infinities and nan included."""
    same = (one == other) | (one.isnan() & other.isnan())
    double = torch.complex128 if one.is_complex() or other.is_complex() else torch.double
    return (one.to(double) - other.to(double)).abs().masked_fill(same, 0.0)


def distance(ours: Tensor | None, theirs: Tensor) -> float:
    """Return the largest elementwise distance: 0.0 if all elements are identical.

    A nan is identical to a nan, and an infinity to itself. A nan beside a number makes the distance nan; a missing
    tensor, or a different shape or dtype, makes it infinite.
    """
    if ours is None or ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    return 0.0 if torch.equal(ours, theirs) else float(apart(ours, theirs).max())


def differing(one: Tensor, other: Tensor) -> tuple[int, ...]:
    """Return the rows in which one (B, ...) and other, of the same dtype, differ by more than rounding."""
    size = torch.maximum(one.abs(), other.abs()).double().nan_to_num(0.0, 0.0, 0.0).flatten(1)
    bound = tolerance_of(one.dtype) * size.amax(1).clamp(min=1.0)  # (B,)
    equal = (apart(one, other).flatten(1) <= bound.unsqueeze(1)).all(1)  # nan is not
    return tuple((~equal).nonzero().flatten().tolist())
