"""Values, modules, lengths, packed sequences and states that do not fit, drawn at random."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.inputs.module import weight_names

HUGE = (10**30, -(10**30), 10**400, 2**63, 2**63 - 1, -(2**63), 2**31, 10**5000)
FLOATS = (0.0, -0.0, 1.5, 1e-320, 3.4028234663852886e38, 3.4028235e38, -3.4028235e38, 1e39, 1.8e308)
SPECIAL = (float("nan"), float("inf"), -float("inf"))
SMALL = (-1, 0, 1, 2, 3, 4)
WORDS = ("", "gru", "x" * 5000, "\0\ud800", b"x")
OTHER: tuple[Any, ...] = (None, True, False, *WORDS, [], (), {}, [1], object(), 1j, int)
NUMPY: tuple[Any, ...] = (
    *(np.int64(2), np.float32(1.5), np.float64("nan"), np.bool_(True)),
    *(np.array([1, 2]), np.array(3)),
)
TENSORS: tuple[Any, ...] = (torch.tensor(2), torch.tensor(1.5), torch.ones(2, 3), torch.zeros(0))
ANY = (*HUGE, *FLOATS, *SPECIAL, *SMALL, *OTHER, *NUMPY, *TENSORS)


class Moody(nn.Module):
    """A parametrization that works in training only, which is when it is registered."""

    def forward(self, weight: Tensor) -> Tensor:
        return weight if self.training else dict[str, Tensor]()["moody"]


def spoilt(draw: random.Random, module: nn.RNNBase) -> None:
    """Delete, replace or change something of a module, as monkeypatching and half-loaded checkpoints do."""
    name = draw.choice([name for slot in weight_names(module) for name in slot])
    weight = getattr(module, name)
    dtype, own = draw.choice((torch.float64, torch.bfloat16, torch.complex64)), (nn.Identity(), nn.Flatten(0), Moody())
    settings = ("num_layers", "hidden_size", "input_size", "proj_size", "bidirectional", "bias", "mode")
    kind = draw.choice(("setting", "setting", "names", "norm", "deleted", *["other"] * 3, *["parameter"] * 6))
    if kind == "setting":
        setattr(module, draw.choice(settings), draw.choice((0, 1, 2, 3, -1, True, None, "LSTM", "GRU", 10**12)))
    elif kind == "names":
        setattr(module, "_all_weights", draw.choice(([], [[]], [["weight_ih_l0"]], None, [["nothing"]])))  # noqa: B010
    elif kind == "norm":
        parametrize.register_parametrization(module, name, draw.choice(own), unsafe=True)
    else:
        del module._parameters[name]
        tensors = (torch.zeros(2, 2), weight.to(dtype), torch.zeros(0), weight.to_sparse(), weight.to("meta"))
        if kind == "other":
            setattr(module, name, draw.choice((None, [1.0], torch.ones(2))))
        elif kind == "parameter":
            module.register_parameter(name, nn.Parameter(draw.choice((*tensors, torch.tensor(1.0))).detach()))


def odd_lengths(draw: random.Random, B: int, T: int) -> Any:
    good = [draw.randint(1, T) for _ in range(B)]
    kind = draw.choice(("good", "one", "one", "any", "tensor", "short", "nested"))
    if kind == "any":
        return draw.choice(ANY)
    if kind == "one":
        good[draw.randrange(B)] = draw.choice((*HUGE, *FLOATS, *SPECIAL, *OTHER, *NUMPY, -1, 0, T + 1))
        return draw.choice((list, tuple))(good)
    if kind == "tensor":
        dtypes = (torch.float32, torch.float64, torch.int8, torch.uint8, torch.bool, torch.complex64, torch.bfloat16)
        made = torch.tensor(good).to(draw.choice(dtypes))
        if made.is_floating_point():
            made[draw.randrange(B)] = draw.choice((*SPECIAL, 1e30, -1.5, 2.0))
        return draw.choice((made, made.to("meta"), made.view(1, -1), made.to_sparse()))
    return {"good": good, "short": good[1:], "nested": [good]}[kind]


def odd_packed(draw: random.Random, packed: PackedSequence) -> PackedSequence:
    """Change a field of a packed sequence to what does not fit the others."""
    if draw.random() < 0.4:
        return packed
    field = draw.choice(PackedSequence._fields)
    own = getattr(packed, field)
    numbers = [draw.choice((-1, 0, 1, 2, 3, 10**9, 2**62)) for _ in range(draw.randint(0, 4))]
    odd = (None, torch.tensor(numbers), torch.tensor([1.5, float("nan")]), torch.tensor(2), torch.zeros(0), [2, 1], "x")
    changed: tuple[Any, ...] = (
        odd if own is None else (*odd, own.flip(0), own[:-1], own.to("meta"), own.float(), own + 1)
    )
    return packed._replace(**{field: draw.choice(changed)})


def odd_state(draw: random.Random, B: int) -> Any:
    def one() -> Any:
        slots = draw.choice((1, 2, 4))
        state: Tensor = torch.randn(slots, B, draw.choice((2, 3)))
        return draw.choice(
            (state, state, state.double(), state[0], state.to("meta"), state.to_sparse(), draw.choice(ANY))
        )

    return draw.choice((one(), (one(), one()), [one(), one()], (one(),), (one(), one(), one())))


def odd_tensor(draw: random.Random, B: int, T: int, F: int) -> Any:
    """Return a tensor of any shape and kind, or an array."""
    empty, wrong = [(0,), (B, 0), (0, T, F), (B, T, 0)], [(), (B,), (B, F), (B, T, F, 2), (2, B, F)]
    x: Tensor = torch.randn(draw.choice([(B, T, F), (T, B, F), (B, T), *empty, *wrong]))
    dtypes = (torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.uint8, torch.uint16)
    kinds = (
        *(x, x, x, x > 0, x / 0, x * 0, x * 1e38, x * float("nan"), x.to("meta"), x.numpy(force=True)),
        *(x.to(dtype) for dtype in (*dtypes, torch.float8_e5m2)),
        *(nn.Parameter(x.clone()), x.clone().requires_grad_().exp()),
    )
    if draw.random() < 0.1 and x.dim() and x.numel():
        odd = (
            x.to_sparse,
            lambda: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
            lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)]),
            lambda: x.expand(2, *x.shape),
            lambda: x.to(torch.complex64).conj(),
        )
        return draw.choice(odd)()
    return draw.choice(kinds)


@dataclass(frozen=True)
class OddCall:
    """A module, its input, lengths and state, some of them spoilt; and the sizes that would be right."""

    module: Any
    x: Any
    lengths: Any
    hx: Any
    B: int
    T: int
    F: int


def odd_call(draw: random.Random) -> OddCall:
    torch.manual_seed(draw.randrange(2**31))
    B, T, F = draw.randint(1, 4), draw.randint(1, 5), draw.randint(1, 3)
    kind = draw.choice((nn.RNN, nn.GRU, nn.LSTM))
    settings: dict[str, Any] = {"num_layers": draw.randint(1, 2), "bidirectional": draw.random() < 0.3}
    settings |= {"bias": draw.random() < 0.8, "batch_first": draw.random() < 0.5}
    if kind is nn.LSTM and draw.random() < 0.3:
        settings["proj_size"] = 2
    module = kind(F, 3, **settings)
    if draw.random() < 0.3:
        spoilt(draw, module)
    x: Any = torch.randn((B, T, F) if module.batch_first else (T, B, F))
    share = draw.random()
    if share < 0.3:
        packed = pack_padded_sequence(x, torch.randint(1, T + 1, (B,)), bool(module.batch_first), enforce_sorted=False)
        x = odd_packed(draw, packed)
        if draw.random() < 0.3:
            x = x._replace(data=odd_tensor(draw, len(packed.data), F, F))
    elif share < 0.55:
        x = odd_tensor(draw, B, T, F) if share < 0.5 else draw.choice(ANY)
    without = isinstance(x, PackedSequence) and draw.random() < 0.8
    lengths = None if without else odd_lengths(draw, B, T)
    return OddCall(module, x, lengths, odd_state(draw, B) if draw.random() < 0.3 else None, B, T, F)
