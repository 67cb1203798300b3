"""Find the layers that carry a change across a border.

They are those that change more of a document's outputs in the row than when it runs alone.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor.leaves import unit_of

RECURRENT = (nn.RNNBase, nn.RNNCellBase)
ATTENTION = (nn.MultiheadAttention, nn.TransformerEncoderLayer)
STATISTICS = (nn.modules.batchnorm._NormBase,)

Documents = Sequence[Tensor]
SeenCalls = dict[
    str, list[tuple[Tensor, Tensor]]
]  # by layer, what each of its calls took and returned, (rows, features)


def carriers(
    model: nn.Module, run: Callable[[Documents], Any], documents: Documents, d: int, other: Tensor
) -> list[tuple[str, nn.Module]]:
    """Return the layers, each with its name, that carry a change of document d to others, in four runs.

    Such a layer takes as many changed rows as if the document were alone, and returns more: what comes to it from
    others is not its own. An error of a run is passed on.

    other   document d with another value in it
    """
    row = [*documents]
    alone = _moved(_seen(model, run, [row[d]]), _seen(model, run, [other]))
    whole = _moved(_seen(model, run, row), _seen(model, run, [*row[:d], other, *row[d + 1 :]]))
    both = [name for name in whole if name in alone]
    own = [name for name in both if whole[name][0] == alone[name][0] and whole[name][1] > alone[name][1]]
    return [(name, model.get_submodule(name)) for name in own]


def _seen(model: nn.Module, run: Callable[[Documents], Any], documents: Documents) -> SeenCalls:
    seen: SeenCalls = {}
    with _watched(model, seen):
        run(documents)
    return seen


@contextmanager
def _watched(model: nn.Module, seen: SeenCalls) -> Iterator[None]:
    handles = []
    for name, layer in model.named_modules():
        if isinstance(layer, (*RECURRENT, *ATTENTION, *STATISTICS)):
            channels = isinstance(layer, STATISTICS)

            def keep(_: nn.Module, given: Any, named: Any, result: Any, name: str = name, c: bool = channels) -> None:
                first = given[0] if given else next(iter(named.values()))
                seen.setdefault(name, []).append((_rows(first, c), _rows(result, c)))

            handles.append(layer.register_forward_hook(keep, with_kwargs=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _rows(value: Any, channels: bool) -> Tensor:
    """Return what a layer takes or returns as (rows, features); batch normalization has the features in dimension 1."""
    if isinstance(value, tuple) and not isinstance(value, PackedSequence):
        value = value[0]
    data: Tensor = value.data if isinstance(value, PackedSequence) else value
    return (data.movedim(1, -1) if channels else data).flatten(0, -2).detach().clone()


def _moved(one: SeenCalls, other: SeenCalls) -> dict[str, tuple[int, int]]:
    """Return how many rows of each layer differ, of what it takes and of what it returns; of the same calls alone."""
    found = {}
    for name, calls in one.items():
        pairs = [*zip(calls, other.get(name, []), strict=False)]
        alike = all(a.shape == b.shape for x, y in pairs for a, b in zip(x, y, strict=True))
        if alike and len(calls) == len(other.get(name, [])):
            taken, returned = (sum(_far(x[side], y[side]) for x, y in pairs) for side in (0, 1))
            found[name] = taken, returned
    return found


def _far(one: Tensor, other: Tensor) -> int:
    far = (one.double() - other.double()).abs() > unit_of(one)
    return int(torch.count_nonzero(far.any(-1)))
