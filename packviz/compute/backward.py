"""The way back: torch's autograd through a rerun of the recorded run, to every state and gate of every time step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import functional_call

from packviz.compute.cells import DIFFERENTIABLE_CELLS
from packviz.compute.determinism import with_onednn
from packviz.compute.recurrence import Direction, Layer, recur, weights_by_role
from packviz.compute.verify import distance
from packviz.errors import PackvizError, refusal_of
from packviz.inputs.cell_kinds import cell_kind_of
from packviz.inputs.module import as_hx, bare, directions, states_of, weight_names
from packviz.inputs.packed_rows import as_they_are
from packviz.inputs.tensors import frozen_copy
from packviz.rules.preconditions import tensor_obstacle
from packviz.text import Brief, dtype_name
from packviz.validate import choice

if TYPE_CHECKING:
    from packviz.compute.record import Trace

On: TypeAlias = Literal["last_valid", "output"]
Steps: TypeAlias = dict[str, tuple[Tensor, ...]]  # by letter: one tensor (b, H) for each time step


class Loss(NamedTuple):
    """Where a loss begins, and its gradient there: the arguments of Trace.backward."""

    on: On = "last_valid"
    upstream: Tensor | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Gradients(Brief):
    """The gradients of a loss on the result of one run, computed by torch's autograd.

    on         where the loss begins: "last_valid" or "output"
    upstream   its gradient there: (B, D*P), or (N, D*P) in packed order
    layers     `layers[l][d]`: those of what layer l computed, d = 0 forward, 1 backward, under the names of the run
    inputs     `inputs[l]`: of what enters layer l, (N, F) for the first, else (N, D*P)
    h_0, c_0   (L*D, B, P) and (L*D, B, H), in the original order of the sequences; c_0 for an LSTM, else None
    weights    by the name of the parameter, such as "weight_ih_l0", in its shape
    proof      by name, the largest distance from torch's own backward pass through the packed module: 0.0 is identical;
               if autograd adds up in another order, it is rounding. "forward" is the distance of the rerun, which was
               differentiated, from the recorded run

    Each number is what the loss gains per unit of that value at that time step, everything that follows included. So
    the gradient of h contains what h passes on to the next time step and to the layer above, that of c its way through
    h and through the next c, that of the gates i, f and g their way through c, and that of r its way through n.
    """

    on: On
    upstream: Tensor
    layers: tuple[Layer, ...]
    inputs: tuple[Tensor, ...]
    h_0: Tensor
    c_0: Tensor | None
    weights: Mapping[str, Tensor]
    proof: Mapping[str, float]

    @property
    def data(self) -> Tensor:
        """Return (N, F): the gradient of the packed rows; with an embedding, of the vectors that enter the cell."""
        return self.inputs[0]

    @property
    def exact(self) -> bool:
        """Return whether every distance is 0.0."""
        return all(distance == 0.0 for distance in self.proof.values())


class _Leaves:
    """What a loss is differentiated by: copies of the parameters, of data, and of h_0 and c_0."""

    def __init__(self, trace: "Trace") -> None:
        self.weights = {name: _leaf(weight) for name, weight in trace.module.named_parameters()}
        self.data = _leaf(trace.packed.data)
        self.initial = tuple(_leaf(part) for part in (trace.h_0, trace.c_0) if part is not None)

    @property
    def all(self) -> dict[str, Tensor]:
        """Return them by name, as in Gradients.proof."""
        return {"data": self.data, **dict(zip(("h_0", "c_0"), self.initial, strict=False)), **self.weights}


def differentiate(trace: "Trace", on: On, upstream: Tensor | None, *, proved: bool = True) -> Gradients:
    """Compute the gradients of a loss on `unpacked.last_valid` or on `output`: see Trace.backward.

    proved: whether they are compared with torch's own backward pass, which takes as long; if not, `proof` is {}.
    """
    on = choice("on", on, ("last_valid", "output"))
    with with_onednn(False), torch.inference_mode(False), torch.enable_grad(), torch.autocast("cpu", enabled=False):
        given, leaves = _checked(upstream, trace, on), _Leaves(trace)
        layers, above = _rerun(trace, leaves)
        inner = [step for layer in layers for direction in layer for steps in direction.values() for step in steps]
        targets = [*leaves.all.values(), *above, *inner]
        found = torch.autograd.grad(_result(trace, layers[-1], on), targets, given, materialize_grads=True)
        gradient = dict(zip(targets, found, strict=True))
        outer = {name: gradient[leaf] for name, leaf in leaves.all.items()}
        inputs = outer["data"], *(gradient[each] for each in above)
        initial = [*zip(*(outer[name] for name in ("h_0", "c_0") if name in outer), strict=True)]  # L*D times (B, H)
        gradients_by_layer = []
        for number, layer in enumerate(layers):
            of_layer = []
            for d, direction in enumerate(layer):
                rows = {name: torch.cat([gradient[step] for step in steps]) for name, steps in direction.items()}
                of_layer.append(Direction(rows, initial[number * len(layer) + d], trace.packed, backward=d == 1))
            gradients_by_layer.append(tuple(of_layer))
        theirs = _by_torch(trace, on, given) if proved else {}
    proof = {"forward": _forward_distance(trace, layers)} if proved else {}
    proof |= {name: distance(outer[name], each) for name, each in theirs.items()}
    weights = {name: outer[name] for name in leaves.weights}
    return Gradients(on, given, tuple(gradients_by_layer), inputs, outer["h_0"], outer.get("c_0"), weights, proof)


def _rerun(trace: "Trace", leaves: _Leaves) -> tuple[list[list[Steps]], list[Tensor]]:
    """Run the layers again in new tensors that autograd follows.

    Returns what each direction computed at each step, and what enters the layers above the first, (N, D*P) each.
    """
    module, data, order = trace.module, leaves.data, _copied(trace.packed.sorted_indices)
    kind, cell = cell_kind_of(module), DIFFERENTIABLE_CELLS[module.mode]
    entering = [part if order is None else part.index_select(1, order) for part in leaves.initial]  # (L*D, B, H)
    layers, above = [list[Steps]() for _ in trace.layers], list[Tensor]()
    for slot, names in enumerate(weight_names(module)):
        number, d = divmod(slot, directions(module))
        weights = weights_by_role(module, [leaves.weights[name] for name in names])
        inputs = F.linear(data, weights.w_ih, weights.b_ih).split_with_sizes(trace.packed.sizes)  # T times (b, G*H)
        steps = recur(cell, inputs, tuple(part[slot] for part in entering), weights, backward=d == 1)
        layers[number].append(dict(zip((*kind.gates, *kind.states), zip(*steps, strict=True), strict=True)))
        if d == directions(module) - 1:
            data = torch.cat([torch.cat(each["h"]) for each in layers[number]], 1)  # (N, D*P)
            above.append(data)
    return layers, above[:-1]


def _result(trace: "Trace", top: Sequence[Steps], on: On) -> Tensor:
    """Return output (N, D*P) or last_valid (B, D*P), from the steps of the top layer."""
    states, rows = [torch.cat(each["h"]) for each in top], (trace.packed.last_rows, trace.packed.first_rows)
    if on == "last_valid":
        states = [h.index_select(0, final.clone()) for h, final in zip(states, rows, strict=False)]
    return torch.cat(states, 1)


def _by_torch(trace: "Trace", on: On, upstream: Tensor) -> dict[str, Tensor]:
    """Return the gradients by name, by autograd through torch's own module over the packed sequence."""
    leaves, packed = _Leaves(trace), trace.packed
    order, back = _copied(packed.sorted_indices), _copied(packed.unsorted_indices)
    given = as_they_are(leaves.data, packed.batch_sizes, order, back), as_hx(*states_of(leaves.initial))
    output, state = functional_call(bare(trace.module), leaves.weights, given)
    last_valid = torch.cat(states_of(state)[0][-directions(trace.module) :].unbind(0), 1)
    loss = output.data if on == "output" else last_valid
    found = torch.autograd.grad(loss, list(leaves.all.values()), upstream, materialize_grads=True)
    return dict(zip(leaves.all, found, strict=True))


def _forward_distance(trace: "Trace", layers: Sequence[Sequence[Steps]]) -> float:
    """Return the largest distance of a state or gate of the rerun from the recorded one."""
    distances = [
        distance(recorded.rows[name], torch.cat(steps).detach())
        for layer, recorded_layer in zip(layers, trace.layers, strict=True)
        for direction, recorded in zip(layer, recorded_layer, strict=True)
        for name, steps in direction.items()
    ]
    return float(torch.tensor(distances, dtype=torch.float64, device="cpu").max())  # nan if one is


def _checked(upstream: object, trace: "Trace", on: On) -> Tensor:
    """Return a plain copy of the upstream gradient, ones if None. Raises PackvizError unless it fits the result."""
    h = trace.layers[-1][0].h
    D, dtype = len(trace.layers[-1]), h.dtype
    rows, letter = (len(h), "N") if on == "output" else (len(trace.padded.lengths), "B")
    shape = rows, D * h.size(1)
    if upstream is None:
        return torch.ones(shape, dtype=dtype, device="cpu")
    expected = f"a dense {dtype_name(dtype)} tensor of shape {shape} on the CPU, ({letter}, D*H), all finite"
    if not isinstance(upstream, Tensor) or tensor_obstacle(upstream):
        raise refusal_of("upstream", expected, upstream, "give the gradient of your loss as torch.autograd.grad does")
    if upstream.shape != shape or upstream.dtype != dtype:
        what = "trace.output" if on == "output" else "trace.unpacked.last_valid"
        raise refusal_of("upstream", expected, upstream, f"make it as torch.ones_like({what}) does")
    if not upstream.isfinite().all():
        got = f"{int((~upstream.isfinite()).sum())} values that are NaN or infinite"
        raise PackvizError("upstream", expected=expected, got=got, fix="find out where your loss is not finite")
    return frozen_copy(upstream)


def _leaf(tensor: Tensor) -> Tensor:
    return frozen_copy(tensor).requires_grad_()


def _copied(indices: Tensor | None) -> Tensor | None:
    """Return a copy that autograd can save, even if the trace was made in inference mode."""
    return None if indices is None else indices.clone()
