"""Decides whether a module can be run as torch's own, by its kind, settings and weights; reads hx and total_length."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import CELL_KINDS, RECURRENT, cell_kind_of
from packviz.inputs.module import directions, has_own_forward, snapshot, state_size, states_of, weight_dtype, zero_state
from packviz.inputs.tensors import frozen_copy
from packviz.inputs.torch_answers import ask, overheard
from packviz.rules.case import Case, rule
from packviz.rules.finding import Fault
from packviz.rules.preconditions import tensor_obstacle
from packviz.text import dtype_name, shown
from packviz.validate import choice, integer, is_integer, number

MAX_NUMBERS = 1_000_000_000  # of an unpacked output: 4 GB in float32


def check_module(module: object) -> nn.RNNBase:
    """Return a snapshot of the module, which is left untouched; raises PackvizError for one that cannot be traced."""
    plain = read_module(module, snapshot)
    weights = [*plain.parameters()]
    for obstacle, _ in filter(None, map(tensor_obstacle, weights)):
        copy = "give a copy on the CPU: copy.deepcopy(module).cpu()"
        raise _refusal(f"a module with {obstacle} among its parameters", copy)
    dtypes = sorted({dtype_name(weight.dtype) for weight in weights})
    if len(dtypes) > 1 or not weights[0].is_floating_point():
        fix = "give a copy in one dtype: copy.deepcopy(module).float()"
        raise _refusal(f"parameters in {' and '.join(dtypes)}", fix)
    return plain


def read_module(module: object, read: Callable[[nn.RNNBase], nn.RNNBase], otherwise: str = "") -> nn.RNNBase:
    """Return the module as it is read, a snapshot or itself; raises PackvizError if settings or weights do not fit.

    Also refused is anything that is not an nn.RNN, nn.GRU or nn.LSTM, and a subclass with its own forward.
    A module may have been changed in any way since it was built, so any error can result.
    """
    if not isinstance(module, RECURRENT):
        got = f"the class {module.__name__} itself" if isinstance(module, type) else _kind_of(module)
        way_out, inside = _way_out(module)
        raise _refusal(got, way_out + (otherwise if inside else ""))
    if has_own_forward(module):
        got = f"{shown(module)} with a forward of its own, which packviz would not run"
        raise _refusal(got, "give the nn.RNN, nn.GRU or nn.LSTM inside it, or a plain one with the same state_dict()")
    _check_settings(module)
    try:
        seen = read(module)
        first = seen.weight_ih_l0
    except Exception as error:  # a weight is missing, or not a tensor, or a parametrization of the user's own fails
        says = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
        raise _refusal(f"a module whose weights do not fit it: {says}", "build it again") from None
    if not isinstance(first, Tensor) or first.dim() != 2:
        raise _refusal(f"{shown(first)} as its weight_ih_l0", "build it again")
    return seen


def _kind_of(module: object) -> str:
    quantized = ".quantized." in type(module).__module__
    return f"a quantized {type(module).__name__}" if quantized else shown(module)


def _check_settings(module: nn.RNNBase) -> None:
    """Check what the constructor was given, for it may have been changed since; raises PackvizError."""
    for name, least in (("input_size", 1), ("hidden_size", 1), ("num_layers", 1), ("proj_size", 0)):
        integer(f"module.{name}", getattr(module, name), least, fix="build the module again")
    for name in ("bias", "bidirectional"):
        choice(f"module.{name}", getattr(module, name), (True, False))
    choice("module.mode", module.mode, [mode for kind in CELL_KINDS.values() for mode in kind.modes])
    number("module.dropout", module.dropout)
    there = [_has(module, f"weight_ih_l{end}") for end in (module.num_layers - 1, module.num_layers, "0_reverse")]
    if there != [True, False, bool(module.bidirectional)]:
        raise _refusal("a module whose weights do not fit its num_layers and bidirectional", "build it again")


def _has(module: nn.RNNBase, name: str) -> bool:
    # a parametrized weight is computed anew when it is read, which may change its buffers
    return parametrize.is_parametrized(module, name) or hasattr(module, name)


def _refusal(got: str, fix: str) -> PackvizError:
    expected = "an nn.RNN, nn.GRU or nn.LSTM whose forward is torch's own, with floating-point parameters of one dtype"
    return PackvizError("module", expected=expected, got=got, fix=fix)


def _way_out(module: object) -> tuple[str, bool]:
    """Return what to give instead of this, and whether a recurrent module is inside it."""
    if isinstance(module, type) and issubclass(module, RECURRENT):
        return f"build one: nn.{module.__name__}(input_size, hidden_size)", False
    if isinstance(module, nn.RNNCellBase):
        name = type(module).__name__.removesuffix("Cell")
        return f"give an nn.{name}; a cell takes a single time step, not a packed sequence", False
    parts = dict(module.named_modules()) if isinstance(module, nn.Module) else {}
    for name, part in parts.items():
        if isinstance(part, RECURRENT):
            return f"give the recurrent module inside it: module.{name}", True
    if any(".quantized." in type(part).__module__ for part in parts.values()):
        return "give the module as it was before it was quantized", False
    return "give the recurrent module itself, for example nn.GRU(input_size=4, hidden_size=8)", False


def state_of(case: Case, B: int) -> tuple[Tensor, Tensor | None]:
    """Return copies of h_0 (L*D, B, P) and, for the LSTM, c_0 (L*D, B, H); zeros if hx is None.

    hx must have been judged: see raise_first().
    """
    if case.hx is None:
        return zero_state(case.layer, B, weight_dtype(case.layer))
    return states_of([frozen_copy(state) for state in case.states])


def check_total_length(total_length: object, module: nn.RNNBase, lengths: Tensor) -> int | None:
    """Return total_length, for the output of a module over sequences of these lengths (B,).

    Raises PackvizError unless it is None or an integer of at least the longest length, and if the output would not
    fit into memory.
    """
    if total_length is None:
        return None
    longest, column = int(lengths.max()), len(lengths) * directions(module) * state_size(module)  # numbers in a step
    expected, fix = f"None or an integer of at least {longest}, the longest length", f"give {longest} or more, or None"
    if not is_integer(total_length):
        raise PackvizError("total_length", expected=expected, got=shown(total_length), fix=fix)
    width = int(total_length)
    if width < longest:
        packed = pack_padded_sequence(torch.zeros(1, longest, device="cpu"), [longest], batch_first=True)
        says = ask(lambda: pad_packed_sequence(packed, True, 0.0, width)).message
        raise PackvizError("total_length", expected=expected, got=shown(width), fix=fix, torch_says=says)
    if width > max(longest, MAX_NUMBERS // column):
        got = f"{shown(width)}, with {column:,} numbers in each time step"
        expected, fix = f"an unpacked output of at most {MAX_NUMBERS:,} numbers", f"give {longest}, or slightly more"
        raise PackvizError("total_length", expected=expected, got=got, fix=fix)
    return width


@rule("module")
def dropout_has_an_effect(case: Case) -> Iterator[Fault]:
    """Find dropout that has no effect, because there is only one layer."""
    if case.layer.dropout and case.layer.num_layers == 1:
        again = partial(cell_kind_of(case.layer).build, 1, 1, dropout=case.layer.dropout, device="meta")
        yield Fault("dropout_one_layer", ask(lambda: _warnings(again)), severity="note")


def _warnings(call: Callable[[], object]) -> str:
    """Return the warnings of a call."""
    with overheard() as said:
        call()
    return " ".join(said)
