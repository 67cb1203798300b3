"""What a module is given: the dtype and the features of its input, its device, its initial state."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.checks.evidence import described
from packviz.doctor.asking import answer, refusal, run
from packviz.doctor.case import Case
from packviz.doctor.finding import Finding, severity_of
from packviz.modules import dtype_name, weight_dtype

__all__ = ["check_input", "check_settings"]

_NOT_RUN = (
    "was not asked: it does not check the features of a packed LSTM, and can read past the end of data or weights"
)


def check_settings(module: nn.RNNBase) -> list[Finding]:
    """Look at the module by itself: dropout that no layer can have."""
    if module.dropout == 0 or module.num_layers > 1:
        return []
    name = type(module).__name__
    found = f"dropout={module.dropout:g} stands between layers, and this {name} has one layer: nothing is dropped."
    says = "warns of it when the module is built, and runs it without dropout"
    return [Finding("dropout_one_layer", "note", found, f"the {name}", says, "module.dropout = 0.0")]


def check_input(case: Case) -> list[Finding]:
    """Check what enters the module: x, or the packed data; asks torch only where something does not fit."""
    module = case.module
    assert module is not None
    given: Tensor | PackedSequence | None = case.x if case.packed is None else case.packed
    data = given.data if isinstance(given, PackedSequence) else given
    assert data is not None
    weight = module.weight_ih_l0
    assert isinstance(weight, Tensor)
    if data.device != weight.device:
        return [_elsewhere(case, data, weight)]
    packed = case.packed is not None or case.lengths is not None
    if packed and data.dim() == (1 if case.packed is not None else 2):
        return [_no_features(case, data)]
    if data.dtype != weight.dtype and (found := _other_dtype(case, data)):
        return [found]
    dims = (2,) if case.packed is not None else (3,) if packed else (2, 3)
    if data.dim() not in dims:
        return [_other_shape(case, data)]
    return [_other_features(case, data)] if data.size(-1) != module.input_size else []


def _says(case: Case) -> str | None:
    """Return what torch says when the module is called with these data, or None where it takes them."""
    module = case.module
    assert module is not None
    if _overreads(case, module):
        return _NOT_RUN
    if case.packed is not None:
        return refusal(partial(run, module, case.packed))
    x, lengths = case.x, case.lengths
    assert x is not None
    if lengths is None:
        return refusal(partial(run, module, x))
    packed = answer(lambda: pack_padded_sequence(x, lengths, case.batch_first, enforce_sorted=False), lambda _: "")  # type: ignore[arg-type]
    if packed:  # lengths that torch refuses: one step of each sequence is enough here
        lengths = [1] * x.size(1 - case.steps_axis)
    return refusal(
        lambda: run(module, pack_padded_sequence(x, lengths, case.batch_first, enforce_sorted=False))  # type: ignore[arg-type]
    )


def _overreads(case: Case, module: nn.RNNBase) -> bool:
    """Tell whether torch can read past the end of data or weights: it checks no features of a packed LSTM.

    Where all lengths are equal, such a batch goes to oneDNN, which takes its bytes as they come.
    """
    data = case.x if case.packed is None else case.packed.data
    weight = module.weight_ih_l0
    assert data is not None
    assert isinstance(weight, Tensor)
    if module.mode != "LSTM" or (case.packed is None and case.lengths is None) or data.device.type == "meta":
        return False
    rows = data.size(0) if case.packed is not None else data.size(0) * data.size(1)
    if data.numel() > rows * module.input_size:  # the weights are too few for such data
        return True
    return data.numel() * data.element_size() < rows * module.input_size * weight.element_size()


def _elsewhere(case: Case, data: Tensor, weight: Tensor) -> Finding:
    found = f"The data are on {data.device}, the weights on {weight.device}."
    says = _says(case) or "takes them"
    name = "x" if case.packed is None else "packed"
    repair = f"{name} = {name}.to(module.weight_ih_l0.device)"
    if data.device.type == "meta":  # it holds no numbers
        empty = "torch.zeros({}.shape, device=module.weight_ih_l0.device)"
        repair = f"import torch\n\nx = {empty.format('x')}"
        if case.packed is not None:
            head = "import torch\nfrom torch.nn.utils.rnn import PackedSequence\n\n"
            repair = f"{head}packed = PackedSequence({empty.format('packed.data')}, packed.batch_sizes)"
    return Finding("data_device", "error" if says.startswith("raises") else "note", found, "the data", says, repair)


def _no_features(case: Case, data: Tensor) -> Finding:
    shape = tuple(data.shape)
    which = "packed data" if case.packed is not None else "padded x"
    found = f"Every step is one number, without a feature dimension: {which} of shape {shape}."
    says = _says(case) or "takes them without a word, whatever comes of it"
    repair = _each(case, "{}.unsqueeze(-1).to(module.weight_ih_l0.dtype)")
    return Finding("no_feature_axis", severity_of(says), found, "the last dimension", says, repair)


def _other_dtype(case: Case, data: Tensor) -> Finding | None:
    module = case.module
    assert module is not None
    says = _says(case)
    if says is None:  # under autocast torch converts by itself
        return None
    wanted = dtype_name(weight_dtype(module))
    whole = not (data.is_floating_point() or data.is_complex())
    what = "Whole numbers enter" if whole else f"{dtype_name(data.dtype)} data enter"
    found = f"{what} a module with {wanted} weights: {described(data)}."
    comment = "  # ids: embed them instead" if whole else ""
    repair = _each(case, "{}.to(module.weight_ih_l0.dtype)") + comment
    key = "integer_data" if whole else "data_dtype"
    return Finding(key, severity_of(says), found, "the data", says, repair)


def _other_shape(case: Case, data: Tensor) -> Finding:
    found = f"The module takes (B, T, F) or (T, B, F), and x has {data.dim()} dimensions: {tuple(data.shape)}."
    says = _says(case) or "takes them without a word, whatever comes of it"
    extra = data.dim() - (2 if case.packed is not None else 3)
    code = "{}.flatten(" + str(-1 - extra) + ")" if extra > 0 else "{}.reshape(1, -1, module.input_size)"
    return Finding("data_dim", severity_of(says), found, "the shape of the data", says, _each(case, code))


def _other_features(case: Case, data: Tensor) -> Finding:
    module = case.module
    assert module is not None
    F, name = module.input_size, type(module).__name__
    found = f"Every step has {data.size(-1)} features, and the module's input_size is {F}."
    settings = "num_layers=module.num_layers, bidirectional=module.bidirectional, batch_first=module.batch_first"
    source = "packed.data" if case.packed is not None else "x"
    repair = (
        "from torch import nn\n\n"
        f"module = nn.{name}({source}.size(-1), module.hidden_size, {settings})\n"
        f"module = module.to({source})  # new weights: or bring the data to {F} features"
    )
    says = _says(case) or "takes them without a word, whatever comes of it"
    return Finding("features", severity_of(says), found, "the last dimension", says, repair)


def _each(case: Case, code: str) -> str:
    """Return code that changes x, or the packed data and nothing else of the packed sequence."""
    if case.packed is None:
        return f"x = {code.format('x')}"
    return f"packed = packed._replace(data={code.format('packed.data')})"
