"""Whatever is typed, set or handed over as a module: a result comes, or a PackvizError."""

import random
from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np
import pytest
import torch
from seeds import raw_errors, seeds
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import packviz as pv

HUGE = (10**30, -(10**30), 10**400, 2**63, 2**63 - 1, -(2**63), 2**31, 10**5000)
FLOATS = (0.0, -0.0, 1.5, 1e-320, 3.4028234663852886e38, 3.4028235e38, -3.4028235e38, 1e39, 1.8e308)
SPECIAL = (float("nan"), float("inf"), -float("inf"))
SMALL = (-1, 0, 1, 2, 3, 4)
OTHER: tuple[Any, ...] = (
    None,
    True,
    False,
    "",
    "gru",
    "x" * 5000,
    "\0\ud800",
    b"x",
    [],
    (),
    {},
    [1],
    object(),
    1j,
    int,
)
NUMPY: tuple[Any, ...] = (
    np.int64(2),
    np.float32(1.5),
    np.float64("nan"),
    np.bool_(True),
    np.array([1, 2]),
    np.array(3),
)
TENSORS: tuple[Any, ...] = (torch.tensor(2), torch.tensor(1.5), torch.ones(2, 3), torch.zeros(0))
ANY = (*HUGE, *FLOATS, *SPECIAL, *SMALL, *OTHER, *NUMPY, *TENSORS)

WORDS = """
1 2 -3.5 1e38 3.4028235e38 1e39 1e999 nan inf None null 0x10 1_000 ٣ ½ a Ω 👩‍👩‍👧 ' " \\ # <b> torch.tensor(
[ ] [[ ]] ( ) { } , ; :
"""
SPACES = ("\u202e", "\x00", "\ud800", "\n", "\n\n", "\r\n", "\t", " ", "\u3000", "\u2028")
TOKENS = (*WORDS.split(), *SPACES, "x" * 300, "x =", ", ")


def typed(draw: random.Random) -> object:
    text = "".join(draw.choice(TOKENS) + draw.choice((" ", "", "", ", ", "\n")) for _ in range(draw.randint(0, 24)))
    if draw.random() < 0.2:
        text = draw.choice(("[" * 3000, "[" + text + "]", "[[" + text + "]]", text * 8))
    kind: Any = draw.choice(("auto", "auto", "words", "numbers"))
    limits = {"max_sequences": 64, "max_steps": 64} if draw.random() < 0.7 else {}
    batch = pv.Batch.parse(text, kind=kind, **limits)
    movie = pv.movie(pv.trace(batch))
    return movie.to_dict()


def configured(draw: random.Random) -> object:
    words = {"cell": ("rnn", "gru", "lstm"), "nonlinearity": ("tanh", "relu"), "padding_side": ("right", "left")}
    words["initial_state"] = ("zeros", "random", "learned", "carried")
    values: dict[str, Any] = {}
    for name in get_type_hints(pv.Config):
        if draw.random() < 0.3:
            values[name] = draw.choice(words.get(name, SMALL if draw.random() < 0.5 else FLOATS))
        elif draw.random() < 0.05:
            values[name] = draw.choice(ANY)
    config = pv.Config(**values)
    batch = pv.Batch.parse(
        draw.choice(("1 2 3\n4 5\n6", "a b\nc", "1", "[[[1, 2], [3, 4]], [[5, 6]]]", "0 -1 1e38\n7"))
    )
    return pv.trace(batch, config), hash(config)


class Moody(nn.Module):
    """A parametrization that works in training only, which is when it is registered."""

    def forward(self, weight: Tensor) -> Tensor:
        return weight if self.training else dict[str, Tensor]()["moody"]


def spoilt(draw: random.Random, module: nn.RNNBase) -> None:
    """Delete, replace or change something of a module, as monkeypatching and half-loaded checkpoints do."""
    name = draw.choice([name for layer in module._all_weights for name in layer])
    weight = getattr(module, name)
    if draw.random() < 0.15:
        settings = ("num_layers", "hidden_size", "input_size", "proj_size", "bidirectional", "bias", "mode")
        setattr(module, draw.choice(settings), draw.choice((0, 1, 2, 3, -1, True, None, "LSTM", "GRU", 10**12)))
        return
    attributes: dict[str, Any] = {"none": None, "list": [1.0], "tensor": torch.ones(2)}
    parameters: dict[str, Callable[[], Tensor]] = {
        "shape": lambda: torch.zeros(2, 2),
        "dtype": lambda: weight.to(draw.choice((torch.float64, torch.bfloat16, torch.complex64))),
        "empty": lambda: torch.zeros(0),
        "sparse": weight.to_sparse,
        "meta": lambda: weight.to("meta"),
        "0-d": lambda: torch.tensor(1.0),
    }
    kind = draw.choice(("delete", "norm", "names", *attributes, *parameters))
    if kind == "names":
        setattr(module, "_all_weights", draw.choice(([], [[]], [["weight_ih_l0"]], None, [["nothing"]])))  # noqa: B010
    elif kind == "norm":
        own = draw.choice((nn.Identity(), nn.Flatten(0), Moody()))
        parametrize.register_parametrization(module, name, own, unsafe=True)
    else:
        del module._parameters[name]
        if kind in attributes:
            setattr(module, name, attributes[kind])
        elif kind in parameters:
            module.register_parameter(name, nn.Parameter(parameters[kind]().detach()))


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


def odd_input(draw: random.Random, module: nn.RNNBase, B: int, T: int, F: int) -> Any:
    if draw.random() < 0.1:
        return draw.choice(ANY)
    x = torch.randn((B, T, F) if module.batch_first else (T, B, F))
    if draw.random() < 0.3:
        x = draw.choice(
            (
                x.double(),
                x[0],
                x[..., :0],
                x.to_sparse(),
                x.to("meta"),
                x.long(),
                x.to(torch.complex64),
                x * 1e38,
                x / 0,
            )
        )
    if draw.random() < 0.3 and x.dim() == 3 and x.layout == torch.strided and x.numel():
        T, B = (x.size(1), x.size(0)) if module.batch_first else (x.size(0), x.size(1))
        packed = pack_padded_sequence(x, torch.randint(1, T + 1, (B,)), module.batch_first, enforce_sorted=False)
        return odd_packed(draw, packed)
    return x


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


def odd_run(draw: random.Random) -> object:
    torch.manual_seed(draw.randrange(2**31))
    B, T, F = draw.randint(1, 4), draw.randint(1, 5), draw.randint(1, 3)
    kind = draw.choice((nn.RNN, nn.GRU, nn.LSTM))
    settings: dict[str, Any] = {"num_layers": draw.randint(1, 2), "bidirectional": draw.random() < 0.3}
    settings |= {"bias": draw.random() < 0.8, "batch_first": draw.random() < 0.5}
    if kind is nn.LSTM and draw.random() < 0.3:
        settings["proj_size"] = 2
    module = kind(F, 3, **settings)
    if draw.random() < 0.4:
        spoilt(draw, module)
    x = odd_input(draw, module, B, T, F)
    lengths = None if isinstance(x, PackedSequence) and draw.random() < 0.8 else odd_lengths(draw, B, T)
    options: dict[str, Any] = {}
    if draw.random() < 0.3:
        options["padding_value"] = draw.choice(ANY)
    if draw.random() < 0.3:
        options["total_length"] = draw.choice((*ANY, T))
    if draw.random() < 0.3:
        options["hx"] = odd_state(draw, B)
    if draw.random() < 0.3:
        options["enforce_sorted"] = draw.choice((True, False, None, "x"))
    return pv.trace_module(
        draw.choice((module, module, module, module, *OTHER)) if draw.random() < 0.2 else module, x, lengths, **options
    )


def odd_state(draw: random.Random, B: int) -> Any:
    def one() -> Any:
        slots = draw.choice((1, 2, 4))
        state: Tensor = torch.randn(slots, B, draw.choice((2, 3)))
        return draw.choice(
            (state, state, state.double(), state[0], state.to("meta"), state.to_sparse(), draw.choice(ANY))
        )

    return draw.choice((one(), (one(), one()), [one(), one()], (one(),), (one(), one(), one())))


@pytest.mark.parametrize(("attempt", "tries"), [(typed, 60), (configured, 200), (odd_run, 200)])
def test_whatever_is_given_there_is_a_result_or_a_refusal(
    attempt: Callable[[random.Random], object], tries: int
) -> None:
    assert raw_errors(seeds(tries), attempt) == {}


@pytest.mark.parametrize("name", ["embedding_dim", "padding_idx"])
def test_a_setting_too_long_to_print_is_refused_for_every_kind_of_batch(name: str) -> None:
    for text in ("a b\nc", "1 2\n3", "[[[1, 2]], [[3, 4]]]"):
        with pytest.raises(pv.PackvizError, match=r"digits|10\^5000"):
            pv.trace(pv.Batch.parse(text), pv.Config(**{name: 10**5000}))  # type: ignore[arg-type]


def without_weight(weight: object) -> nn.GRU:
    module = nn.GRU(2, 3)
    del module._parameters["weight_ih_l0"]
    setattr(module, "weight_ih_l0", weight)  # noqa: B010
    return module


def changed(name: str, value: object) -> nn.GRU:
    module = nn.GRU(2, 3)
    setattr(module, name, value)
    return module


BROKEN = [
    *(without_weight(weight) for weight in (None, [1.0], torch.ones(2))),
    *(changed(*each) for each in (("num_layers", 10**12), ("hidden_size", None), ("mode", "LSTM2"), ("bias", 1))),
]


@pytest.mark.parametrize("module", BROKEN, ids=str)
def test_a_module_whose_settings_or_weights_were_changed_is_refused(module: nn.GRU) -> None:
    for look in (pv.trace_module, pv.examine):
        with pytest.raises(pv.PackvizError, match="module"):
            look(module, torch.randn(3, 3, 2), [3, 2, 1])
