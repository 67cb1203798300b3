"""Whatever examine() and read_file() are given, there is an answer or a PackvizError, and the process lives."""

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from doctor_cases import npy, npz, saved
from hostile_cases import ANY, odd_call, odd_lengths, odd_packed, odd_tensor
from safetensors.torch import save
from seeds import raw_errors, seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import packviz as pv
from packviz.doctor import module_from, read_file, read_lengths, read_packed, read_tensor


def examined(draw: random.Random) -> object:
    given, options = odd_call(draw), dict[str, Any]()
    for name in ("mask", "targets", "output", "state", "ids"):
        if draw.random() < 0.2:
            any_size = odd_tensor(draw, given.B, given.T, given.F)
            options[name] = any_size if draw.random() < 0.9 else draw.choice(ANY)
    if draw.random() < 0.1:
        grid = torch.randn(given.B, given.T, given.F)
        target = pack_padded_sequence(grid, torch.randint(1, given.T + 1, (given.B,)), True, enforce_sorted=False)
        options["targets"] = odd_packed(draw, target)
    odd = {"batch_first": (True, False, *ANY), "enforce_sorted": (True, False, *ANY), "padding_value": ANY}
    odd |= {"hx": (given.hx,), "target_lengths": (odd_lengths(draw, given.B, given.T),)}
    for name, values in odd.items():
        if draw.random() < 0.15:
            options[name] = draw.choice(values)
    subject = [given.module, given.x] if draw.random() < 0.5 else [given.x]
    subject += [given.lengths] if draw.random() < 0.6 else []
    return [str(finding) for finding in pv.examine(*subject, **options)]


DTYPES = (torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.bool)


def nearly(draw: random.Random, *shape: int) -> Tensor:
    """Return a tensor of this shape, or with a size, a dimension or the dtype changed."""
    sizes = list(shape)
    kind = draw.choice((*["same"] * 4, "size", "size", "fewer", "more"))
    if kind == "size":
        sizes[draw.randrange(len(sizes))] = draw.randint(0, 5)
    elif kind == "fewer":
        del sizes[draw.randrange(len(sizes))]
    elif kind == "more":
        sizes.insert(draw.randrange(len(sizes) + 1), draw.randint(1, 2))
    made = draw.choice((torch.randn, torch.ones, torch.zeros))(sizes)
    if draw.random() < 0.1 and made.numel():
        made.view(-1)[0] = draw.choice((float("nan"), float("inf")))
    return made if draw.random() < 0.7 else made.to("meta") if draw.random() < 0.05 else made.to(draw.choice(DTYPES))


def nearly_sound(draw: random.Random) -> object:
    """Examine a sound batch, with tensors beside it that nearly fit it: most of them get as far as the last rules."""
    torch.manual_seed(draw.randrange(2**31))
    B, T, F, H = (draw.randint(1, most) for most in (3, 4, 3, 3))
    first, L, D = draw.random() < 0.5, draw.randint(1, 2), draw.randint(1, 2)
    kind: Any = draw.choice((nn.RNN, nn.GRU, nn.LSTM))
    projected = {"proj_size": H - 1} if kind is nn.LSTM and H > 1 and draw.random() < 0.3 else {}
    module = kind(F, H, L, batch_first=first, bidirectional=D == 2, **projected)
    at = (B, T) if first else (T, B)
    x: Any = torch.randn(*at, F) if draw.random() < 0.7 else nearly(draw, *at, F)
    lengths = None if draw.random() < 0.4 else [draw.randint(1, T) for _ in range(B)]
    if draw.random() < 0.15:
        padded = torch.randn(B, T, F)
        x = pack_padded_sequence(padded, lengths or [T] * B, batch_first=True, enforce_sorted=False)
    elif lengths is None and draw.random() < 0.2:
        x = x[:1].squeeze(0)
    steps = tuple(x.shape[:2] if isinstance(x, Tensor) and draw.random() < 0.9 else at)
    width = D * (projected.get("proj_size") or H)
    shapes = {"output": (*steps, width), "state": (B, width), "mask": steps, "ids": steps}
    options: dict[str, Any] = {"lengths": lengths, "batch_first": first, "enforce_sorted": draw.random() < 0.3}
    options |= {name: nearly(draw, *shape) for name, shape in shapes.items() if draw.random() < 0.3}
    if draw.random() < 0.5:
        flags = steps[:1] if isinstance(x, Tensor) and x.dim() == 2 and draw.random() < 0.8 else steps
        options[draw.choice(("starts", "done"))] = (torch.rand(flags) < 0.5).to(draw.choice((*DTYPES, torch.bool)))
    if draw.random() < 0.4:
        parts = [nearly(draw, L * D, B, size) for size in (width // D, H)]
        parts = [part[:, 0] if draw.random() < 0.2 and part.dim() > 1 and part.size(1) else part for part in parts]
        options["hx"] = draw.choice((parts[0], tuple(parts), (), tuple(parts) if kind is nn.LSTM else parts[0]))
    if draw.random() < 0.2:
        options["padding_value"] = draw.choice((0, 1, -1.0, float("nan"), float("inf")))
    if draw.random() < 0.2:
        options["target_lengths"] = [draw.randint(0, T + 1) for _ in range(draw.randint(B - 1, B + 1))]
    subject = [module, x] if draw.random() < 0.6 else [x]
    return [str(finding) for finding in pv.examine(*subject, **options)]


WORDS = """
tensor( PackedSequence( data= batch_sizes= sorted_indices= None ) [ ] [[ ]] , 1 2. -3e5 1e400 nan inf True ...
dtype=torch. int64 float8 array( ' # device='cuda:0' grad_fn=<X>
"""
PASTED = (*WORDS.split(), "9" * 5000, "-" * 300, "\n", " ", "\0", "\ud800", "size=(0, 3)", "x = ", "(1, 2)")


def pasted(draw: random.Random) -> object:
    text = "".join(draw.choice(PASTED) + draw.choice(("", "", ", ", " ")) for _ in range(draw.randint(0, 16)))
    if draw.random() < 0.5:
        packed = pack_padded_sequence(torch.randn(2, 3, 1), [3, 1], True)
        good = list(repr(draw.choice((torch.randn(2, 3), torch.tensor([3, 1]), packed, [[1, 2]]))))
        for _ in range(draw.randint(0, 3)):
            at = draw.randrange(len(good))
            good[at : at + draw.randint(0, 2)] = [draw.choice(PASTED)]
        text = "".join(good)
    return draw.choice((read_tensor, read_lengths, read_packed))(text)


@cache
def good_files() -> Mapping[str, tuple[bytes, ...]]:
    torch.manual_seed(0)
    x, lengths = torch.randn(3, 4, 2), torch.tensor([4, 2, 1])
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    state, named = nn.LSTM(2, 3, bidirectional=True).state_dict(), {"x": x, "lengths": lengths}
    arrays: dict[str, Any] = {name: value.numpy() for name, value in named.items()}
    old: dict[str, Any] = {"_use_new_zipfile_serialization": False}
    pt = (saved(x), saved({"batch": packed, **named}), saved(state), saved(named, **old), saved(packed, **old))
    return {
        "x.npy": (npy(x.numpy()), npy(np.asfortranarray(x.numpy())), npy(np.float16(3)), npy(np.arange(9) > 4)),
        "x.npz": (npz(**arrays), npz(True, **arrays)),
        "x.pt": pt,
        "x.safetensors": (save(named), save(dict(state))),
    }


def mutated(draw: random.Random, data: bytes) -> bytes:
    """Change a file in a few places: bytes, numbers, pieces taken out, put in twice, or cut off."""
    made = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        if not made:
            break
        at = draw.randrange(len(made)) if draw.random() < 0.6 else draw.randrange(min(len(made), 200))
        end, other = at + draw.choice((1, 2, 4, 8, 64)), draw.randrange(len(made))
        piece, number = made[at:end], draw.choice((2**31, 2**63, 2**62, 2**40, 1))
        made[at:end] = draw.choice(
            (
                *(bytes([draw.randrange(256)]) + piece[1:],) * 2,
                bytes([piece[0] ^ 1 << draw.randrange(8)]) + piece[1:],
                *(b"", 2 * piece, b"\0" * len(piece), b"\xff" * len(piece)),
                number.to_bytes(8, draw.choice(("little", "big"))),
                made[other : other + end - at],
            )
        )
        if draw.random() < 0.1:
            del made[at:]
    return bytes(made)


def opened(draw: random.Random) -> object:
    name = draw.choice([*good_files()])
    data = mutated(draw, draw.choice(good_files()[name]))
    loaded = read_file(draw.choice((name, name, name, "x.pt", "x.npy")), data)
    # do with its content what a page does: build the module, examine what is there
    module = module_from(loaded.tensors, draw.choice(loaded.prefixes)) if loaded.prefixes else None
    inputs: list[Tensor | PackedSequence] = [*loaded.tensors.values(), *loaded.packed.values()]
    x, lengths = draw.choice(inputs), draw.choice([None, *loaded.tensors.values()])
    return pv.examine(x, lengths) if module is None else pv.examine(module, x, lengths)


@pytest.mark.parametrize(("attempt", "number"), [(examined, 200), (nearly_sound, 2000), (pasted, 200), (opened, 200)])
def test_garbage_gets_an_answer_or_is_refused(attempt: Callable[[random.Random], object], number: int) -> None:
    assert raw_errors(seeds(number), attempt) == []


X = torch.ones(3, 4, 2)
LENGTHS = [4, 2, 1]


def test_numbers_that_would_fill_the_memory_or_take_forever_are_not_tried() -> None:
    assert [one.key for one in pv.examine(torch.zeros(0, 10**15), [1])] == ["empty_batch"]
    (finding,) = pv.examine(X, LENGTHS, target_lengths=[10**15, 2, 1], batch_first=True)
    assert "was not called" in finding.torch_does
    with pytest.raises(pv.PackvizError, match="at most"):
        pv.examine(torch.zeros(1, 1).expand(10**5, 10**5), [1])
    wide = torch.cat([torch.tensor([20_000]), torch.ones(20_000, dtype=torch.int64)])
    with pytest.raises(pv.PackvizError, match="unpacked"):
        pv.examine(PackedSequence(torch.zeros(40_000), wide))
    long = PackedSequence(torch.zeros(200_000), torch.ones(400_000, dtype=torch.int64))
    assert [one.timesteps for one in pv.examine(long)] == [(200_000,)]


def test_a_packed_lstm_is_not_run_on_more_features_than_it_has_weights_for() -> None:
    module = nn.LSTM(1, 3, batch_first=True)
    (finding,) = pv.examine(module, torch.ones(3, 4, 1_000), [4, 4, 4])
    assert (finding.key, finding.severity) == ("features", "error")
    assert "was not called" in finding.torch_does


def test_a_state_is_not_compared_with_a_run_that_torch_may_not_survive() -> None:
    beside: dict[str, Any] = {"output": torch.zeros(2, 1, 4), "state": torch.zeros(1, 3)}
    findings = pv.examine(nn.LSTM(3, 3), torch.ones(2, 1, 3).bool(), [2], **beside)
    assert [(one.key, one.severity) for one in findings] == [("integer_data", "error")]


def test_a_state_beside_an_output_of_nan_is_unknown_in_any_order() -> None:
    beside: dict[str, Any] = {"output": torch.full((1, 2, 1), float("nan")), "state": torch.ones(1, 1)}
    (finding,) = pv.examine(torch.ones(1, 2, 1), [2], batch_first=True, **beside)
    assert finding.key == "state_unknown"


def test_watching_never_stands_in_the_way_of_the_layer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("a tensor of some other kind")

    monkeypatch.setattr("packviz.doctor.watching.examine", refuse)
    monkeypatch.setattr("packviz.doctor.watching.snapshot", refuse)
    module, x = nn.GRU(2, 3), torch.ones(3, 4, 2)
    with pv.watch(module) as watched:
        output, _ = module(x)
    assert torch.equal(output, module(x)[0])
    assert watched.seen == 1
    (finding,) = watched.findings
    assert (finding.key, finding.severity, finding.times) == ("not_examined", "note", 2)
    assert "some other kind" in finding.found


def test_the_batch_and_its_lengths_are_given_in_their_places_or_by_name() -> None:
    module, wrong = nn.GRU(2, 3, batch_first=True), [5, 4, 4]
    by_place = pv.examine(module, X, wrong)
    assert [(finding.key, finding.sequences) for finding in by_place] == [("length_over_T", (0,))]
    assert pv.examine(module, x=X, lengths=wrong) == pv.examine(module, X, lengths=wrong) == by_place
    bare = pv.examine(X, wrong, batch_first=True)
    assert pv.examine(X, lengths=wrong, batch_first=True) == bare
    assert [one.fails_in for one in (*bare, *by_place)] == ["pad_packed_sequence", "the GRU"]  # whichever comes first
    with pytest.raises(pv.PackvizError, match="the lengths once"):
        pv.examine(X, [4, 4, 4], wrong)
    with pytest.raises(TypeError, match="paddding"):
        pv.examine(X, wrong, paddding_value=0.0)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["batch_first", "enforce_sorted"])
def test_true_and_false_may_come_from_numpy_or_be_0_and_1(name: str) -> None:
    def told(value: Any) -> str:
        return str(pv.examine(X, [1, 2, 1], **{name: value}))

    for wanted in (True, False):
        assert {told(same) for same in (np.bool_(wanted), int(wanted), np.int64(wanted))} == {told(wanted)}
    with pytest.raises(pv.PackvizError, match=f"{name}: expected True or False, but got 'yes'"):
        told("yes")
