"""watch(): examine every call of a model's recurrent layers, while it trains or runs."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from threading import Lock

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor.examining import examine
from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import RECURRENT
from packviz.inputs.module import has_own_forward
from packviz.inputs.torch_answers import Answer
from packviz.rules.finding import Fault, Finding, Findings, worded
from packviz.rules.padding_value import all_finite
from packviz.rules.preconditions import described
from packviz.text import counted

__all__ = ["Watched", "watch"]

Arguments = tuple[object, ...]  # of a call
Named = dict[str, object]


class Watched:
    """Collect what is found in the calls of recurrent layers.

    One finding is kept for each layer and kind of trouble: that of the first call, with how often it occurred.
    """

    def __init__(self, layers: int) -> None:
        self.layers = layers
        self.calls = 0
        self._found: dict[tuple[str | None, str], Finding] = {}
        self._lock = Lock()

    @property
    def findings(self) -> Findings:
        """Return the findings in the order of their first occurrence."""
        with self._lock:
            return Findings(self._found.values())

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
    those there is examine(). What is computed does not change. At the end, also after an exception, the hooks are
    removed. Raises PackvizError for anything but a module.
    """
    if not isinstance(module, nn.Module):
        raise PackvizError("module", expected="an nn.Module", got=described(module), fix="give the model itself")
    layers = [(name, part) for name, part in module.named_modules() if isinstance(part, RECURRENT)]
    watched = Watched(len(layers))
    with ExitStack() as hooks:
        for name, layer in layers:
            before, after = partial(_before, watched, name), partial(_after, watched, name)
            hooks.callback(layer.register_forward_pre_hook(before, with_kwargs=True).remove)
            hooks.callback(layer.register_forward_hook(after, with_kwargs=True).remove)
        yield watched


def _given(arguments: Arguments, named: Named) -> tuple[object, object]:
    """Return input and hx as forward(input, hx=None) takes them."""
    both = dict(zip(("input", "hx"), arguments, strict=False)) | named
    return both.get("input"), both.get("hx")


def _before(watched: Watched, name: str, layer: nn.RNNBase, arguments: Arguments, named: Named) -> None:
    watched.count()
    given, hx = _given(arguments, named)
    if isinstance(given, PackedSequence | Tensor):
        with torch.no_grad(), suppress(Exception):  # the layer itself raises what is to be raised
            if has_own_forward(layer):  # which may take anything
                watched.add(name, examine(given, batch_first=layer.batch_first))
            else:
                watched.add(name, examine(layer, given, hx=hx))  # type: ignore[arg-type]


def _after(watched: Watched, name: str, layer: nn.RNNBase, arguments: Arguments, named: Named, result: object) -> None:
    """Add the finding for an output that is not finite though all of its input is."""
    output = result[0] if isinstance(result, tuple) and result else None
    parts = output, _given(arguments, named)[0]
    data, entered = (part.data if isinstance(part, PackedSequence) else part for part in parts)
    if not isinstance(data, Tensor) or not isinstance(entered, Tensor) or data.device.type == "meta":
        return
    with torch.no_grad(), suppress(Exception):
        if all_finite(entered) and not all_finite(data):
            weights = [key for key, weight in layer.named_parameters() if not all_finite(weight)]
            values = {"weights": weights, "number": int((~data.isfinite()).sum()), "of": data.numel()}
            watched.add(name, (worded(Fault("nan_in_output", Answer(True), values), layer),))
