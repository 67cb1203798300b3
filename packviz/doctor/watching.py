"""watch(): examine every call of a model's recurrent layers, and what is packed for them, while it trains or runs."""

import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from math import isfinite
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor.calls import Call, copied, on_each
from packviz.doctor.examining import examine
from packviz.doctor.packing_calls import PackCall, is_compiled_or_traced, not_compiled, packing_calls
from packviz.errors import refusal_of
from packviz.inputs.cell_kinds import RECURRENT
from packviz.inputs.module import has_own_forward, snapshot, state_shapes
from packviz.inputs.torch_answers import Answer
from packviz.rules.case import Case
from packviz.rules.finding import Fault, Finding, Findings, worded
from packviz.rules.finite import output_fault
from packviz.rules.packed_sequence import fields_fit
from packviz.rules.padded_grid import all_finite
from packviz.rules.pads import has_no_pad, packed_rows, padded_grid
from packviz.text import counted
from packviz.validate import integer, number

__all__ = ["Watched", "watch"]

Arguments = tuple[object, ...]  # of a call
Named = dict[str, object]
RAN: Answer[Any] = Answer()  # to a call of the model that is watched: torch ran it
_LOCK = Lock()  # shared by all Watched objects; not an attribute, because locks cannot be pickled


class Watched:
    """Collect the calls of recurrent layers, and what is found in them.

    One finding is kept for each layer and kind of trouble: that of the first call, with how often it occurred.
    seen: how many calls there were. calls: the first ones of each layer, which can be run again.
    """

    def __init__(self, layers: int, ignore: str | Collection[str], padding_value: float | None) -> None:
        self.layers = layers
        self.seen, self.calls = 0, list[Call]()
        self.ignore, self.padding_value = ignore, padding_value
        self._found: dict[tuple[str | None, str], Finding] = {}

    @property
    def findings(self) -> Findings:
        """Return the findings in the order of their first occurrence."""
        with _LOCK:
            return Findings(self._found.values())

    def add(self, layer: str, findings: Iterable[Finding]) -> None:
        """Take the findings of one call of a layer."""
        with _LOCK:
            for finding in Findings(findings).ignoring(self.ignore):
                known = self._found.get((layer, finding.key))
                kept = replace(finding, layer=layer) if known is None else replace(known, times=known.times + 1)
                self._found[layer, finding.key] = kept

    def guarded(self, layer: str, work: Callable[..., None], *arguments: object) -> None:
        """Catch whatever fails in packviz, so that it does not reach the model, and report it as a finding."""
        try:
            with torch.no_grad():
                work(*arguments)
        except Exception as error:  # also what packviz refuses to examine
            self.add_failure(layer, error)

    def add_failure(self, layer: str, error: Exception) -> None:
        """Add the note that packviz could not examine a call of a layer."""
        self.add(layer, [worded(Fault("not_examined", RAN, severity="note", error=repr(error)), None)])

    def __str__(self) -> str:
        if not self.seen:
            seen = "no call" if self.layers else "no nn.RNN, nn.GRU or nn.LSTM"
            return f"watch() saw {seen}; it does not see scripted or quantized layers."
        seen = f"{counted(self.seen, 'call')} of {counted(self.layers, 'recurrent layer')}"
        found = self.findings
        return f"{seen}: {counted(len(found), 'finding')}.\n\n{found}" if found else f"{seen}: nothing found."

    def _repr_html_(self) -> str:
        seen = str(self).partition("\n\n")[0]
        return f"<p>{seen}</p>{self.findings._repr_html_() if self.findings else ''}"

    def __repr__(self) -> str:
        return f"Watched({self.seen} calls, {self.findings!r})"


class _Packing:
    """The latest calls that padded and packed, in the thread that watches; finds calls that contradict each other."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.packed: deque[PackCall] = deque(maxlen=8)
        self.padded: Callable[[], Tensor | None] = lambda: None  # by the last pad_sequence, if it still exists
        self.own_lengths: list[int] = []  # of the sequences that were padded
        self.padded_first = False

    def observe(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        """Record a call: see packing_calls()."""
        self.watched.guarded(name.strip("_"), self._record, name, arguments, result)

    def _record(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        if name == "pad_sequence":
            sequences, self.padded_first, *_ = arguments
            self.padded, self.own_lengths = weakref.ref(result), [len(one) for one in sequences]
        elif name == "_pack_padded_sequence":
            grid, lengths, batch_first = arguments
            packed = PackCall(weakref.ref(result[0]), weakref.ref(result[1]), batch_first)
            values, given = grid if batch_first else grid.transpose(0, 1), self.watched.padding_value
            looked = padded_grid(values, lengths.tolist(), given)
            if looked.shows_more_than_packed:
                packed.grid, packed.lengths, packed.padded = grid, lengths.tolist(), self.padded()
                packed.padded_first, packed.own_lengths = self.padded_first, self.own_lengths
            self.packed.append(packed)
        else:
            _, batch_sizes, batch_first, *_ = arguments
            before = next((one for one in self.packed if one.batch_sizes() is batch_sizes), None)
            if before is not None and before.batch_first != batch_first:
                fault = Fault("unpacked_otherwise", RAN, severity="note", packed=not batch_first, unpacked=batch_first)
                self.watched.add("pad_packed_sequence", [worded(fault, None)])

    def packed_as(self, given: Any) -> PackCall | None:
        """Return the call that packed this sequence, if it was observed."""
        return next(
            (one for one in self.packed if isinstance(given, PackedSequence) and one.data() is given.data), None
        )


@contextmanager
def watch(
    module: nn.Module,
    *,
    every: int = 1,
    keep: int = 8,
    ignore: str | Collection[str] = (),
    padding_value: float | None = None,
) -> Iterator[Watched]:
    """Examine every call of the nn.RNN, nn.GRU and nn.LSTM in a module, as long as the context is open.

    It sees what enters a layer and what leaves it, and, in the same thread, the calls of pack_padded_sequence,
    pad_packed_sequence and pad_sequence. It does not see what you read from the result afterwards: use examine() or
    check_invariance() for that. It does not see scripted layers either.

    every           examine every `every`-th call of each layer, and 16 times fewer of those with a single step. After
                    eight calls of a layer that a quick check does not clear, every 16th of these is examined
    keep            how many calls of each layer, the first ones, `calls` has, with copies of their inputs and weights
    ignore          keys of findings that are left out
    padding_value   of the inputs; as in examine()

    The results do not change. At the end, even after an exception, the hooks are removed. A call that packviz fails to
    examine is a finding, too. Raises PackvizError for anything but a module.
    """
    if not isinstance(module, nn.Module):
        raise refusal_of("module", "an nn.Module", module, "give the model itself")
    every, keep = integer("every", every, 1), integer("keep", keep, 0)
    if padding_value is not None:
        number("padding_value", padding_value)
    Findings().ignoring(ignore)  # refuses a key that there is not
    layers = [(name, part) for name, part in module.named_modules() if isinstance(part, RECURRENT)]
    watched = Watched(len(layers), ignore, padding_value)
    packing = _Packing(watched)
    with ExitStack() as hooks:
        for name, layer in layers:
            hook = _Hook(packing, name, every, keep, has_own_forward(layer))
            hooks.callback(layer.register_forward_hook(hook, with_kwargs=True, always_call=True).remove)
        hooks.enter_context(packing_calls(packing.observe))
        yield watched


class _Hook:
    """Examines the calls of one layer. A copy of the layer, saved or deep, is not watched."""

    def __init__(
        self, packing: _Packing | None = None, name: str = "", every: int = 1, keep: int = 0, own_forward: bool = False
    ) -> None:
        self.packing, self.name, self.every, self.keep, self.own_forward = packing, name, every, keep, own_forward
        self.numbers, self.looks = count(), count()  # of the calls of this layer, and of those examined closely
        self.seen = False
        self.weights: tuple[object, nn.RNNBase] | None = None
        self.record = not_compiled(self._record)

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _Hook, ()

    @property
    def __name__(self) -> str:  # torch.jit.script() asks for it first
        raise AttributeError("torch cannot script a layer that packviz watches: script it before watch(), or after")

    def __call__(self, layer: nn.RNNBase, arguments: Arguments, *named_and_result: Any) -> None:
        """Examine a call, given the named arguments and the result, which is None if the layer raised an error.

        Without the named arguments, another thread is adding or removing this hook at this moment.
        """
        if self.packing is None or len(named_and_result) != 2:
            return
        try:
            self.record(self.packing, layer, arguments, *named_and_result)
        except Exception as error:
            self.packing.watched.add_failure(self.name, error)

    def _record(self, packing: _Packing, layer: nn.RNNBase, arguments: Arguments, named: Named, result: object) -> None:
        if is_compiled_or_traced():
            return
        given: Any = arguments[0] if arguments else named.get("input")
        hx = arguments[1] if len(arguments) > 1 else named.get("hx")
        watched, number = packing.watched, next(self.numbers)
        is_input = isinstance(given, PackedSequence | Tensor)
        kept = number < self.keep and is_input and not self.own_forward and not _numbers(given).is_meta
        with _LOCK:
            watched.seen += 1
        if kept:
            watched.guarded(self.name, self._keep, watched.calls, layer, given, hx)
        if is_input and (number % self.every == 0 or result is None):
            seldom = number % (self.every * 16) and result is not None and _is_one_step(given, layer.batch_first)
            if not seldom:
                watched.guarded(self.name, self._look, packing, layer, given, hx, result)

    def _look(self, packing: _Packing, layer: nn.RNNBase, given: Any, hx: Any, result: Any) -> None:
        """Check what was given and returned, in detail only if it is not clearly sound."""
        watched, packed = packing.watched, packing.packed_as(given)
        first = result[0] if isinstance(result, tuple) and result else given
        data, output = (_numbers(part) for part in (given, first if isinstance(first, type(given)) else given))
        finite = data.is_meta or isfinite(data.sum().item() + output.sum().item())
        sound = finite or all_finite(data)
        known, self.seen = self.seen, True  # the first call is examined closely: rules on the layer itself speak then
        closely = self.own_forward or not (known and sound)
        if closely or not _plainly_sound(layer, given, hx, packed, watched.padding_value):
            looks = next(self.looks)
            if looks < 8 or looks % 16 == 0 or result is None:
                watched.add(self.name, self._examined(layer, given, hx, packed, watched.padding_value))
        if not finite and sound and not all_finite(output):
            watched.add(self.name, [worded(output_fault(layer, output, RAN), layer)])

    def _examined(
        self, layer: nn.RNNBase, given: Any, hx: Any, packed: PackCall | None, pad: float | None
    ) -> Iterable[Finding]:
        if self.own_forward:  # which may take anything
            return examine(given, batch_first=layer.batch_first, padding_value=pad)
        if packed is None or packed.grid is None:
            return examine(layer, given, hx=hx, padding_value=pad)
        grid, lengths = packed.restored(given)
        own = packed.own_lengths if packed.was_padded_as(grid) else ()
        packed.grid = packed.padded = None  # they need not be held any longer
        if own and sorted(own) != sorted(lengths):
            rows = [b for b, (one, other) in enumerate(zip(own, lengths, strict=True)) if one != other]
            return [worded(Fault("padded_lengths", RAN, rows, severity="silent", ours=own, theirs=lengths), None)]
        x = grid if layer.batch_first else grid.transpose(0, 1)
        return examine(layer, x, lengths, enforce_sorted=False, hx=hx, padding_value=pad)

    def _keep(self, calls: list[Call], layer: nn.RNNBase, given: Any, hx: Any) -> None:
        version = [
            (weight.data_ptr(), None if weight.is_inference() else weight._version) for weight in layer.parameters()
        ]
        if self.weights is None or self.weights[0] != version:
            self.weights = version, snapshot(layer).cpu()
        calls.append(Call(self.name, self.weights[1], copied(given), None if hx is None else on_each(hx, copied)))


def _numbers(given: Tensor | PackedSequence) -> Tensor:
    return given if isinstance(given, Tensor) else given.data


def _is_one_step(given: Tensor | PackedSequence, batch_first: bool) -> bool:
    return isinstance(given, Tensor) and given.dim() == 3 and given.size(1 if batch_first else 0) == 1


def _plainly_sound(layer: nn.RNNBase, given: Any, hx: Any, packed: PackCall | None, pad: float | None) -> bool:
    """Quick check: the layer accepts this input, and no step of it is a pad, so that examine() finds nothing.

    packed: the call that packed it, if it was observed. Then this takes 0.002 ms, where examine() takes 0.08 ms (32
    sequences of up to 50 steps); else about half of examine(). tests/doctor/test_doctor_watch.py compares the two.
    """
    weight, data, grid = layer._parameters.get("weight_ih_l0"), _numbers(given), isinstance(given, Tensor)
    if weight is None or data.dim() != (3 if grid else 2) or data.size(-1) != layer.input_size or not data.numel():
        return False
    states = () if hx is None else hx if isinstance(hx, tuple) else (hx,)
    if any(part.dtype != weight.dtype or part.device != weight.device or part.is_meta for part in (data, *states)):
        return False
    if states:
        B = data.size(0 if layer.batch_first else 1) if grid else int(given.batch_sizes[0])
        if [state.shape for state in states] != state_shapes(layer, B):
            return False
    if packed is not None:
        return packed.grid is None
    if grid:
        return has_no_pad(data if layer.batch_first else data.transpose(0, 1), pad)
    if any(fields_fit.condition(Case(packed=given))):
        return False
    return packed_rows(given, pad).fits
