"""watch(): examine every call of a model's recurrent layers, while it trains or runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from threading import Lock

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor.examining import examine
from packviz.errors import PackvizError
from packviz.inputs.module import has_own_forward
from packviz.inputs.torch_answers import Answer
from packviz.rules import Finding, described
from packviz.rules.finding import Fault, worded
from packviz.rules.module import RECURRENT
from packviz.rules.padding_value import all_finite
from packviz.text import counted

__all__ = ["Watched", "watch"]


class Watched:
    """Collect what is found in the calls of recurrent layers.

    One finding is kept for each layer and kind of trouble: that of the first call, with how often it came.
    """

    def __init__(self, layers: int) -> None:
        self.layers = layers
        self.calls = 0
        self._found: dict[tuple[str | None, str], Finding] = {}
        self._lock = Lock()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings in the order in which they came first."""
        with self._lock:
            return tuple(self._found.values())

    def add(self, layer: str, findings: tuple[Finding, ...]) -> None:
        """Take the findings of one call of a layer."""
        with self._lock:
            for finding in findings:
                known = self._found.get((layer, finding.key))
                kept = replace(finding, layer=layer) if known is None else replace(known, times=known.times + 1)
                self._found[layer, finding.key] = kept

    def count(self) -> None:
        """Count one call of a layer."""
        with self._lock:
            self.calls += 1

    def __str__(self) -> str:
        if not self.layers:
            return "No recurrent layer of torch's was seen: a scripted module hides them."
        seen = f"{counted(self.calls, 'call')} of {counted(self.layers, 'recurrent layer')}"
        found = self.findings
        if not found:
            return f"{seen}: nothing found."
        return "\n\n".join([f"{seen}: {counted(len(found), 'finding')}.", *(str(finding) for finding in found)])


@contextmanager
def watch(module: nn.Module) -> Iterator[Watched]:
    """Examine every call of the nn.RNN, nn.GRU and nn.LSTM in a module, as long as the context is open.

    It sees what enters a layer and what leaves it, not the lengths and the grid from before a batch was packed: for
    those there is examine(). What is computed stays as it is. At the end the hooks are gone,
    also after an exception.
    Raises PackvizError for something that is no module.
    """
    if not isinstance(module, nn.Module):
        mend = "give the model itself"
        raise PackvizError("module", expected="an nn.Module", came=described(module), mend=mend)
    layers = [(name, part) for name, part in module.named_modules() if isinstance(part, RECURRENT)]
    watched = Watched(len(layers))
    with ExitStack() as hooks:
        for name, layer in layers:
            before = layer.register_forward_pre_hook(_before(watched, name), with_kwargs=True)
            hooks.callback(before.remove)
            after = layer.register_forward_hook(_after(watched, name), with_kwargs=True)
            hooks.callback(after.remove)
        yield watched


def _given(arguments: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, object]:
    """Return input and hx as forward(input, hx=None) takes them."""
    both = dict(zip(("input", "hx"), arguments, strict=False)) | dict(named)
    return both.get("input"), both.get("hx")


def _before(watched: Watched, name: str) -> Callable[[nn.RNNBase, tuple[object, ...], dict[str, object]], None]:
    def examine_input(layer: nn.RNNBase, arguments: tuple[object, ...], named: dict[str, object]) -> None:
        watched.count()
        given, hx = _given(arguments, named)
        if isinstance(given, PackedSequence | Tensor):
            with torch.no_grad(), suppress(Exception):  # whatever it is: the layer itself has its word on that
                watched.add(name, _diagnosed(layer, given, hx))

    return examine_input


def _diagnosed(layer: nn.RNNBase, given: Tensor | PackedSequence, hx: object) -> tuple[Finding, ...]:
    """Examine one call; where the layer has a forward of its own, which may take anything, only the data."""
    if has_own_forward(layer):
        return examine(given, batch_first=layer.batch_first)
    return examine(layer, given, hx=hx)  # type: ignore[arg-type]


def _after(watched: Watched, name: str) -> Callable[[nn.RNNBase, tuple[object, ...], dict[str, object], object], None]:
    def examine_output(
        layer: nn.RNNBase, arguments: tuple[object, ...], named: dict[str, object], result: object
    ) -> None:
        given, _ = _given(arguments, named)
        output = result[0] if isinstance(result, tuple) and result else None
        data = output.data if isinstance(output, PackedSequence) else output
        entered = given.data if isinstance(given, PackedSequence) else given
        if not isinstance(data, Tensor) or not isinstance(entered, Tensor) or data.device.type == "meta":
            return
        with torch.no_grad(), suppress(Exception):
            if not all_finite(data) and all_finite(entered):
                watched.add(name, (_born_here(layer, data),))

    return examine_output


def _born_here(layer: nn.RNNBase, data: Tensor) -> Finding:
    """Return the finding for an output that is not finite though all data were."""
    weights = [key for key, weight in layer.named_parameters() if not all_finite(weight)]
    values = {"weights": weights, "number": int((~data.isfinite()).sum()), "of": data.numel()}
    return worded(Fault("nan_in_output", Answer(True), values), layer)
