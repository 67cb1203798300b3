"""What enters a module: its shape, dtype and device, and the number of its features."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.errors import PackvizError
from packviz.inputs.module import dtype_name, run_module, weight_dtype
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case
from packviz.rules.evidence import MAX_CELLS, described, frozen_copy, tensor_obstacle
from packviz.rules.finding import Finding, raise_first, refused

__all__ = ["check_input", "check_settings", "empty_or_flat", "grid_of"]

_AUTOCAST = {torch.float32, torch.bfloat16, torch.float16}  # what it converts
_UNCHECKED = "it does not check the features of a packed LSTM, and can read past the end of data or weights"
_SILENT = "takes them without a word, whatever comes of it"


def grid_of(case: Case) -> Tensor:
    """Return a copy of x, (B, T, F) or (T, B, F) as the module's batch_first says.

    Raises PackvizError for anything that the module could not run, and for x without sequences or time steps.
    """
    x, expected = case.x, f"a padded tensor {_layout(case)}, or a PackedSequence"
    if not isinstance(x, Tensor):
        raise PackvizError("x", expected=expected, came=described(x), mend=_tensor_from(x))
    if obstacle := tensor_obstacle(x):
        raise PackvizError("x", expected=f"{expected}, dense and on the CPU", came=obstacle, mend=_dense(x))
    raise_first([*empty_or_flat(case), *check_input(case)])
    return frozen_copy(x)


def empty_or_flat(case: Case) -> list[Finding]:
    """Return the finding for a grid without cells, or with fewer than two dimensions."""
    x = case.x
    assert x is not None
    if x.dim() > 1 and x.numel():
        return []
    ones = [1] * (len(x) if x.dim() == 1 and len(x) <= MAX_CELLS else 1)
    answer = ask(lambda: pack_padded_sequence(x if x.device.type == "meta" else x.cpu(), ones, case.batch_first))
    flat = x.dim() < 2
    axis = 0 if case.batch_first else 1
    empty = "import torch\n\nif x.numel() == 0:\n    raise StopIteration  # leave the empty batch out"
    finding = refused(
        "one_dimension" if flat else "empty_batch",
        "x",
        answer,
        expected="sequences and time steps in two dimensions" if flat else f"{_layout(case)} with numbers in it",
        got=f"shape {tuple(x.shape)}",
        fix="bring it to three dimensions: sequences, time steps, features" if flat else "leave the empty batch out",
        silently=lambda packed: f"packs {len(packed.data)} rows",
        where="the shape of x",
        repair=f"x = x.reshape(-1).unsqueeze({axis})  # one sequence" if flat else empty,
        severity="error" if flat or answer.error else "note",
    )
    return [finding]


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
    module, data, weight = case.layer, case.data, case.weight
    if data.device != weight.device:
        return [_elsewhere(case, data, weight)]
    dims = (2,) if case.packed is not None else (3,) if case.lengths is not None else (2, 3)
    if data.dim() == dims[0] - 1 and len(dims) == 1:
        return [_no_features(case, data)]
    if data.dtype != weight.dtype and (found := _other_dtype(case, data)):
        return [found]
    if data.dim() not in dims:
        return [_other_shape(case, data)]
    return [_other_features(case, data)] if data.size(-1) != module.input_size else []


def _answer(case: Case) -> Answer[object]:
    """Return what torch says when the module is called with these data."""
    module, x, lengths = case.layer, case.x, case.lengths
    if _overreads(case, module):
        return Answer(unasked=_UNCHECKED)
    if case.packed is not None:
        return ask(lambda: run_module(module, case.packed))  # type: ignore[type-var]
    assert x is not None
    if lengths is None:
        return ask(lambda: run_module(module, x))

    def pack(lengths: object) -> PackedSequence:
        return pack_padded_sequence(x, lengths, case.batch_first, enforce_sorted=False)  # type: ignore[arg-type]

    if ask(lambda: pack(lengths)).error:  # one step of each sequence is enough here
        lengths = [1] * x.size(1 - case.steps_axis)
    return ask(lambda: run_module(module, pack(lengths)))


def _overreads(case: Case, module: nn.RNNBase) -> bool:
    """Tell whether torch can read past the end of data or weights: it checks no features of a packed LSTM.

    Where all lengths are equal, such a batch goes to oneDNN, which takes its bytes as they come.
    """
    data, weight = case.data, case.weight
    if module.mode != "LSTM" or (case.packed is None and case.lengths is None) or data.device.type == "meta":
        return False
    rows = data.size(0) if case.packed is not None else data.size(0) * data.size(1)
    if data.numel() > rows * module.input_size:  # the weights are too few for such data
        return True
    if torch.is_autocast_enabled(data.device.type) and {data.dtype, weight.dtype} <= _AUTOCAST:
        return False  # it converts both to one dtype
    return data.numel() * data.element_size() < rows * module.input_size * weight.element_size()


def _wrong(
    case: Case,
    key: str,
    expected: str,
    fix: str,
    where: str,
    repair: str,
    answer: Answer[object] | None = None,
) -> Finding:
    return refused(
        key,
        "x" if case.packed is None else "x.data",
        answer or _answer(case),
        expected=expected,
        got=described(case.data),
        fix=fix,
        silently=_SILENT,
        where=where,
        repair=repair,
    )


def _elsewhere(case: Case, data: Tensor, weight: Tensor) -> Finding:
    found = f"The data are on {data.device}, the weights on {weight.device}."
    answer = _answer(case)
    name = "x" if case.packed is None else "packed"
    repair = f"{name} = {name}.to(module.weight_ih_l0.device)"
    if data.device.type == "meta":  # it holds no numbers
        empty = "torch.zeros({}.shape, device=module.weight_ih_l0.device)"
        repair = f"import torch\n\nx = {empty.format('x')}"
        if case.packed is not None:
            head = "import torch\nfrom torch.nn.utils.rnn import PackedSequence\n\n"
            repair = f"{head}packed = PackedSequence({empty.format('packed.data')}, packed.batch_sizes)"
    return Finding(
        "data_device", "error" if answer.error else "note", found, "the data", answer.does("takes them"), repair
    )


def _no_features(case: Case, data: Tensor) -> Finding:
    fix = "if every step is one number, give it a feature dimension: x.unsqueeze(-1)"
    if data.dim() == 2 and data.size(1) == case.layer.input_size:
        unsqueezed = f"x.unsqueeze({1 - case.steps_axis})"
        fix = f"if this is one sequence of {data.size(0)} steps, give it a batch dimension: {unsqueezed}; else {fix}"
    repair = _each(case, "{}.unsqueeze(-1).to(module.weight_ih_l0.dtype)")
    return _wrong(case, "no_feature_axis", f"{_layout(case)}: a feature dimension", fix, "the last dimension", repair)


def _other_dtype(case: Case, data: Tensor) -> Finding | None:
    answer = _answer(case)
    if answer.error is None and not answer.unasked:  # under autocast torch converts by itself
        return None
    wanted = dtype_name(weight_dtype(case.layer))
    whole = not (data.is_floating_point() or data.is_complex())
    name = "x" if case.packed is None else "x.data"
    converted = f"{name}.to(torch.{wanted})"
    fix = f"embed it first if these are ids, or convert it: {converted}"
    return _wrong(
        case,
        "integer_data" if whole else "data_dtype",
        f"{wanted}, as the module's weights are",
        fix if whole else f"convert one of the two, for example {converted}",
        "the data",
        _each(case, "{}.to(module.weight_ih_l0.dtype)") + ("  # ids: embed them instead" if whole else ""),
        answer,
    )


def _other_shape(case: Case, data: Tensor) -> Finding:
    extra = data.dim() - (2 if case.packed is not None else 3)
    code = "{}.flatten(" + str(-1 - extra) + ")" if extra > 0 else "{}.reshape(1, -1, module.input_size)"
    fix = "bring it to three dimensions: sequences, time steps, features"
    return _wrong(case, "data_dim", _layout(case), fix, "the shape of the data", _each(case, code))


def _other_features(case: Case, data: Tensor) -> Finding:
    module = case.layer
    F, name = module.input_size, type(module).__name__
    settings = "num_layers=module.num_layers, bidirectional=module.bidirectional, batch_first=module.batch_first"
    source = "packed.data" if case.packed is not None else "x"
    repair = (
        "from torch import nn\n\n"
        f"module = nn.{name}({source}.size(-1), module.hidden_size, {settings})\n"
        f"module = module.to({source})  # new weights: or bring the data to {F} features"
    )
    fix = f"give values of {F} features, or build the module with input_size={data.size(-1)}"
    return _wrong(case, "features", f"{F} features, the module's input_size", fix, "the last dimension", repair)


def _layout(case: Case) -> str:
    if case.packed is not None:
        return "two dimensions, (N, F)"
    axes = "(B, T, F)" if case.batch_first else "(T, B, F)"
    return axes if case.module is None else f"{axes}, for the module has batch_first={case.batch_first}"


def _each(case: Case, code: str) -> str:
    """Return code that changes x, or the packed data and nothing else of the packed sequence."""
    if case.packed is None:
        return f"x = {code.format('x')}"
    return f"packed = packed._replace(data={code.format('packed.data')})"


def _tensor_from(x: object) -> str:
    if isinstance(x, list | tuple) and x and all(isinstance(part, Tensor) for part in x):
        return "pad the sequences first: torch.nn.utils.rnn.pad_sequence(sequences, batch_first=module.batch_first)"
    return "convert it with torch.as_tensor"


def _dense(x: Tensor) -> str:
    if x.is_nested:
        return "pad it first: torch.nested.to_padded_tensor(x, 0.0)"
    if x.is_quantized:
        return "convert it with x.dequantize()"
    return "convert it with x.to_dense()" if x.layout != torch.strided else "copy it with x.cpu()"
