"""The data: their dimensions, and whether they fit the module."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.inputs.module import run_module
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, rule
from packviz.rules.finding import Fault
from packviz.rules.preconditions import MAX_CELLS

_AUTOCAST = {torch.float32, torch.bfloat16, torch.float16}  # what it converts


@rule("grid", stops=True, refuses=True)
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


@rule("module", refuses=True)
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
