"""What enters a module: x or packed data, with their shape, dtype, device and features; and the initial state."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.inputs.module import directions, run_module, state_size
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case
from packviz.rules.finding import Fault
from packviz.rules.preconditions import MAX_CELLS

__all__ = ["data", "dropout", "empty_or_flat", "initial_state"]

_AUTOCAST = {torch.float32, torch.bfloat16, torch.float16}  # what it converts


def empty_or_flat(case: Case) -> Iterator[Fault]:
    """Find a grid without cells, or with fewer than two dimensions."""
    x = case.data
    if x.dim() > 1 and x.numel():
        return
    ones = [1] * (len(x) if x.dim() == 1 and len(x) <= MAX_CELLS else 1)
    answer = ask(lambda: pack_padded_sequence(x if x.device.type == "meta" else x.cpu(), ones, case.batch_first))
    if x.dim() < 2:
        yield Fault("one_dimension", answer)
    else:
        yield Fault("empty_batch", answer, severity=None if answer.error else "note")


def dropout(case: Case) -> Iterator[Fault]:
    """Find dropout that no layer can have."""
    if case.layer.dropout and case.layer.num_layers == 1:
        yield Fault("dropout_one_layer", Answer(True))


def data(case: Case) -> Iterator[Fault]:
    """Find data that do not fit the module; torch is asked only where something does not."""
    module, data, weight = case.layer, case.data, case.weight
    dims = (2,) if case.packed is not None else (3,) if case.lengths is not None else (2, 3)
    if data.device != weight.device:
        answer = _run(case)
        yield Fault("data_device", answer, severity="error" if answer.error else "note")
    elif len(dims) == 1 and data.dim() == dims[0] - 1:
        yield Fault("no_feature_axis", _run(case))
    elif data.dtype != weight.dtype and ((answer := _run(case)).error or answer.unasked):  # else autocast converts it
        whole = not (data.is_floating_point() or data.is_complex())
        yield Fault("integer_data" if whole else "data_dtype", answer)
    elif data.dim() not in dims:
        yield Fault("data_dim", _run(case), {"extra": data.dim() - dims[-1]})
    elif data.size(-1) != module.input_size:
        yield Fault("features", _run(case))


def _run(case: Case) -> Answer[object]:
    """Return what torch says when the module is called with these data."""
    module, x, lengths = case.layer, case.x, case.lengths
    if _overreads(case):
        reason = "it does not check the features of a packed LSTM, and can read past the end of data or weights"
        return Answer(unasked=reason)
    if x is None or lengths is None:
        given: Tensor | PackedSequence | None = case.packed if x is None else x
        return ask(lambda: run_module(module, given))  # type: ignore[type-var]

    def pack(lengths: object) -> PackedSequence:
        return pack_padded_sequence(x, lengths, case.batch_first, enforce_sorted=False)  # type: ignore[arg-type]

    if ask(lambda: pack(lengths)).error:  # one step of each sequence is enough here
        lengths = [1] * x.size(1 - case.steps_axis)
    return ask(lambda: run_module(module, pack(lengths)))


def _overreads(case: Case) -> bool:
    """Tell whether torch can read past the end of data or weights: it checks no features of a packed LSTM.

    Where all lengths are equal, such a batch goes to oneDNN, which takes its bytes as they are.
    """
    module, data, weight = case.layer, case.data, case.weight
    if module.mode != "LSTM" or (case.packed is None and case.lengths is None) or data.device.type == "meta":
        return False
    rows = data.size(0) if case.packed is not None else data.size(0) * data.size(1)
    if data.numel() > rows * module.input_size:  # the weights are too few for such data
        return True
    if torch.is_autocast_enabled(data.device.type) and {data.dtype, weight.dtype} <= _AUTOCAST:
        return False  # it converts both to one dtype
    return data.numel() * data.element_size() < rows * module.input_size * weight.element_size()


def initial_state(case: Case) -> Iterator[Fault]:
    """Find an hx of another kind, shape, dtype or device; its sequences are in the order in which they were given."""
    module, hx, weight = case.layer, case.hx, case.weight
    if hx is None:
        return
    several, pair = isinstance(hx, tuple | list), module.mode == "LSTM"
    parts = hx if isinstance(hx, tuple | list) else (hx,)
    if len(parts) != 1 + pair or not all(isinstance(part, Tensor) for part in parts) or several != pair:
        values: dict[str, object] = {
            "pair": pair,
            "several": several,
            "is_tensor": isinstance(parts[0] if parts else None, Tensor),
        }
        yield _misfit(case, "hx_kind", values)
        return
    slots = module.num_layers * directions(module)
    batched = case.packed is not None or case.lengths is not None or case.data.dim() == 3
    for name, part, width in zip(("h_0", "c_0"), parts, (state_size(module), module.hidden_size), strict=False):
        shape = (slots, case.B, width) if batched else (slots, width)
        values = {"name": name, "part": part, "shape": shape, "pair": pair, "several": several}
        if tuple(part.shape) != shape:
            turned = batched and tuple(part.shape) == (case.B, slots, width)
            yield _misfit(case, "hx_shape", {**values, "turned": turned})
            return
        if part.dtype != weight.dtype or part.device != weight.device:
            answer = _run_state(case)
            if case.traced or answer.error or answer.unasked:  # else autocast converts it
                yield Fault("hx_dtype", answer, values)
                return


def _misfit(case: Case, key: str, values: dict[str, object]) -> Fault:
    answer = _run_state(case)
    return Fault(key, answer, values, severity="error" if answer.unasked else None)


def _run_state(case: Case) -> Answer[object]:
    """Return what torch says of this hx beside one step of B sequences."""
    module, weight, B = case.layer, case.weight, case.B
    if _overreads_state(case):
        return Answer(unasked="it does not check the hx of a packed LSTM, and such states can crash the process")
    row = torch.zeros(B, module.input_size, dtype=weight.dtype, device=weight.device)
    size = torch.tensor([B], device="cpu")
    given: Tensor | PackedSequence = PackedSequence(row, size)
    if case.packed is not None:
        given = PackedSequence(row, size, *case.packed[2:])
    elif case.lengths is not None and not case.enforce_sorted:
        given = PackedSequence(row, size, torch.arange(B, device=weight.device))
    elif case.lengths is None:
        given = case.data[:1] if case.is_unbatched else row.unsqueeze(1 if module.batch_first else 0)
    return ask(lambda: run_module(module, given, case.hx))  # type: ignore[type-var]


def _overreads_state(case: Case) -> bool:
    """Tell whether torch can read past the end of a state: it does not check the hx of a packed LSTM."""
    module, hx = case.layer, case.hx
    packed = case.packed is not None or case.lengths is not None
    if not packed or not isinstance(hx, tuple | list) or len(hx) != 2 or module.mode != "LSTM":
        return False
    slots = module.num_layers * directions(module)
    fitting = [(slots, case.B, width) for width in (state_size(module), module.hidden_size)]
    states = [part for part in hx if isinstance(part, Tensor)]
    narrow = any(part.element_size() < case.weight.element_size() for part in states)
    return narrow or [tuple(part.shape) for part in states] != fitting
