"""Every trouble, planted: it is found in its place with torch's own answer, and its repair gives what was right."""

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from doctor_cases import found, on_the_left, pack, repaired
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence, pad_sequence, unpack_sequence

import packviz as pv
from packviz.doctor import Finding
from packviz.errors import PackvizError
from packviz.rules.repairs import REPAIRS, checks, rows
from packviz.rules.words import key_of

LENGTHS, T, F, H = [5, 3, 2], 5, 2, 4
torch.manual_seed(0)
SEQUENCES = [torch.randn(length, F) for length in LENGTHS]
X = pad_sequence(SEQUENCES, batch_first=True)  # (3, 5, 2)
IDS = pad_sequence([torch.tensor(row) for row in ([7, 0, 9, 4, 5], [3, 2, 1], [8, 6])], batch_first=True)
ORDER = torch.tensor([2, 0, 1])
SHUFFLED = [LENGTHS[b] for b in ORDER]
MASK = torch.arange(T) < torch.tensor(LENGTHS)[:, None]
NAN, INF = float("nan"), float("inf")


def module(**settings: Any) -> Any:
    torch.manual_seed(1)
    return settings.pop("cell", nn.GRU)(settings.pop("F", F), H, batch_first=True, **settings)


@dataclass(frozen=True)
class Planted:
    """A trouble: what examine() is given, and the sequences that are right, or else what a name is right as."""

    key: str
    given: dict[str, Any]
    sequences: list[Tensor] | None = None
    names: dict[str, Any] = field(default_factory=dict)


def spoilt(values: Tensor, at: tuple[int, ...], what: float) -> Tensor:
    values = values.clone()
    values[at] = what
    return values


def padded(key: str, lengths: Any, x: Tensor | None = None, right: list[Tensor] | None = None, **more: Any) -> Planted:
    return Planted(key, {"x": X if x is None else x, "lengths": lengths, **more}, right or SEQUENCES)


def packed_as(key: str, packed: PackedSequence, right: list[Tensor] | None = None, **more: Any) -> Planted:
    return Planted(key, {"packed": packed, **more}, right or SEQUENCES)


def beside(key: str, given: dict[str, Any], **right: Any) -> Planted:
    return Planted(key, {"x": X, "lengths": LENGTHS, **given}, names=right)


def filled(pad: float) -> Tensor:
    return X.masked_fill(~MASK[..., None], pad)


PADS = (-100.0, -INF, NAN)
LEFT = on_the_left(X, LENGTHS)
WITHOUT_NAN = [SEQUENCES[0], spoilt(SEQUENCES[1], (1,), 0.0), SEQUENCES[2]]
SORTED = pack(X[ORDER], SHUFFLED)
IN_ORDER = [SEQUENCES[b] for b in ORDER]
SQUARE = [torch.randn(length, F) for length in (3, 3, 1)]  # as many steps as sequences
BROKEN = torch.tensor([0, 0, 1])
with torch.no_grad():
    OUTPUT = pad_packed_sequence(module()(pack(X, LENGTHS))[0], batch_first=True)[0]
START = torch.randn(1, 3, H)
TARGETS = torch.arange(1, 16).view(3, 5) * MASK
NARROW = OUTPUT[:, :3]
RIGHT = [
    padded("length_over_T", [6, 3, 2]),
    padded("unsorted", SHUFFLED, X[ORDER], IN_ORDER, enforce_sorted=True),
    padded("zero_length", [5, 3, 0], right=SEQUENCES[:2]),
    padded("negative_length", [5, 3, -1], right=SEQUENCES[:2]),
    padded("float_lengths", torch.tensor([5, 2.9, 2])),
    padded("float_lengths", [5.0, 3.0, 2.0]),
    padded("lengths_not_finite", torch.tensor([5, NAN, 2])),
    padded("lengths_not_finite", [5, -INF, 2]),
    padded("relative_lengths", torch.tensor([1, 0.6, 0.4])),
    padded("lengths_dim", torch.tensor([[5], [3], [2]])),
    padded("wrong_count", [5, 3]),
    padded("batch_first", LENGTHS, X.transpose(0, 1)),
    padded("batch_first", [3, 3, 1], pad_sequence(SQUARE), SQUARE),
    padded("left_padded", LENGTHS, LEFT),
    padded("left_padded", [T] * 3, LEFT, padding_value=0.0),
    padded("lengths_order", SHUFFLED),
    padded("zero_counted_out", [4, 3, 2], IDS, [row[:n] for row, n in zip(IDS, LENGTHS, strict=True)]),
    padded("tokens_dropped", [5, 2, 1]),
    padded("pads_packed", [5, 5, 2], padding_value=0.0),
    padded("pads_packed", [5, 5, 2]),
    *(padded("pads_packed", [5, 5, 2], filled(pad), padding_value=pad) for pad in PADS),
    *(packed_as("pads_packed", pack(filled(pad), [5, 5, 2]), padding_value=pad) for pad in PADS),
    *(padded("left_padded", LENGTHS, on_the_left(filled(pad), LENGTHS), padding_value=pad) for pad in PADS),
    padded("nan_in_data", LENGTHS, spoilt(X, (1, 1), NAN), WITHOUT_NAN),
    padded("nan_in_pads", LENGTHS, spoilt(X, (2, 4), INF)),
    padded("one_dimension", [5], torch.arange(1.0, 6), [torch.arange(1.0, 6)]),
    # packed sequences; x and lengths are what they were packed from
    packed_as("batch_sizes_kind", pack(X, LENGTHS)._replace(batch_sizes=torch.ones(5))),
    packed_as("batch_sizes_empty", PackedSequence(torch.zeros(0, 2), torch.zeros(0, dtype=torch.int64))),
    packed_as("batch_sizes_below_1", PackedSequence(X[0], torch.tensor([3, 2, 0]))),
    packed_as("batch_sizes_grow", PackedSequence(X[0], torch.tensor([2, 3]))),
    packed_as("rows_differ", PackedSequence(X[0], torch.tensor([3, 3, 2]))),
    packed_as("rows_differ", PackedSequence(X.flatten(0, 1), torch.tensor([3, 3, 2]))),
    packed_as("pads_packed", pack(X, [5, 5, 2]), padding_value=0.0),
    packed_as("nan_in_data", pack(spoilt(X, (1, 1), NAN), LENGTHS), WITHOUT_NAN),
    *(
        packed_as(key, wrong, IN_ORDER, lengths=SHUFFLED)
        for key, wrong in (
            ("indices_missing", SORTED._replace(unsorted_indices=None)),
            ("indices_missing", SORTED._replace(sorted_indices=None)),
            ("indices_not_inverse", SORTED._replace(unsorted_indices=SORTED.sorted_indices)),
            ("indices_no_permutation", SORTED._replace(unsorted_indices=BROKEN)),
            ("indices_no_permutation", SORTED._replace(sorted_indices=BROKEN)),
            ("indices_no_permutation", SORTED._replace(unsorted_indices=torch.tensor([1, 2, 7]))),
            ("indices_lost", PackedSequence(SORTED.data, SORTED.batch_sizes)),
        )
    ),
    Planted("packed_lengths_differ", {"packed": SORTED, "lengths": LENGTHS}, names={"lengths": SHUFFLED}),
    # what is given beside the batch, and to a module
    beside("mask_shape", {"mask": MASK[:, :4]}, mask=MASK),
    beside("mask_inverted", {"mask": ~MASK}, mask=MASK),
    beside("mask_differs", {"mask": MASK.roll(1, 0)}, mask=MASK),
    beside(
        "targets_differ",
        {"targets": pack(TARGETS, [4, 3, 2])},
        targets=pack(TARGETS * (torch.arange(5) < 4), LENGTHS),
    ),
    beside("targets_differ", {"target_lengths": [4, 3, 2]}, target_lengths=LENGTHS),
    beside("output_layout", {"output": OUTPUT.transpose(0, 1)}, output=OUTPUT),
    beside(
        "output_narrower",
        {"x": X[:, :4], "lengths": [3, 3, 2], "output": NARROW, "mask": torch.ones(3, 4)},
        output=nn.functional.pad(NARROW, (0, 0, 0, 1)),
    ),
    beside("no_feature_axis", {"module": module(F=1), "x": X[..., 0]}, x=X[..., :1]),
    beside("integer_data", {"module": module(), "x": X.long()}, x=X.long().float()),
    beside("data_dtype", {"module": module(), "x": X.double()}, x=X),
    beside("data_dim", {"module": module(), "x": X.unsqueeze(-1)}, x=X),
    *(
        Planted(
            key, {"module": module(cell=cell), "packed": pack(wrong, LENGTHS)}, names={"packed": pack(right, LENGTHS)}
        )
        for cell in (nn.RNN, nn.GRU)
        for key, wrong, right in (
            ("integer_data", X.long(), X.long().float()),
            ("data_dtype", X.double(), X),
            ("data_dim", X.unsqueeze(-1), X),
        )
    ),
    beside("hx_shape", {"module": module(), "hx": START.transpose(0, 1)}, hx=START),
    beside("hx_shape", {"module": module(), "hx": START[:, :2]}, hx=None),
    *(
        beside("hx_shape", {"module": module(), "hx": torch.zeros(*shape)}, hx=None)
        for shape in ((2, 3, H), (1, 3, H + 1))
    ),
    beside("hx_kind", {"module": module(), "hx": (START, START)}, hx=START),
    beside("hx_dtype", {"module": module(), "hx": START.double()}, hx=START),
]


def states(**settings: Any) -> tuple[nn.RNNBase, Tensor, Tensor, Any]:
    """Return a module, its unpacked output, h_n, and c_n or what h_n is after the pads."""
    own = module(**settings)
    with torch.no_grad():
        output, final = own(pack(X, LENGTHS))
        after = own(X)[1]
    h_n, other = final if isinstance(final, tuple) else (final, after)
    return own, pad_packed_sequence(output, batch_first=True)[0], h_n, other


def read(key: str, own: nn.RNNBase, wrong: Tensor, right: Tensor) -> Planted:
    return beside(key, {"module": own, "state": wrong}, state=right)


ROWS, LAST = torch.arange(3), torch.tensor(LENGTHS) - 1
ONE, OUT, H_N, AFTER = states()
TWO, WIDE, BOTH, _ = states(bidirectional=True)
DEEP, _, LAYERS, _ = states(num_layers=2)
LONG, _, H_LSTM, C_N = states(cell=nn.LSTM)
JOINED = torch.cat([BOTH[0], BOTH[1]], 1)
RIGHT += [
    read("naive_last", ONE, OUT[:, -1], H_N[-1]),
    read("pads_pooled", ONE, OUT.mean(1), H_N[-1]),
    read("state_after_pads", ONE, AFTER[-1], H_N[-1]),
    read("states_order", ONE, H_N[-1][ORDER], H_N[-1]),
    read("off_by_one", ONE, OUT[ROWS, LAST - 1], H_N[-1]),
    read("state_unknown", ONE, H_N[-1] + 0.1, H_N[-1]),
    read("state_unknown", ONE, torch.randn(3, 99), H_N[-1]),
    read("lower_layer", DEEP, LAYERS[0], LAYERS[1]),
    read("cell_state", LONG, C_N[-1], H_LSTM[-1]),
    read("states_mixed", TWO, BOTH.view(3, -1), JOINED),
    read("backward_one_step", TWO, WIDE[ROWS, LAST], JOINED),
    read("backward_one_step", TWO, WIDE[ROWS, LAST, :H] + WIDE[ROWS, LAST, H:], JOINED),
    read("one_direction", TWO, BOTH[1], JOINED),
]
STARTS = torch.zeros(3, T, dtype=torch.bool)
STARTS[:, 0] = STARTS[0, 2] = STARTS[1, 1] = True
DONE = STARTS.roll(-1, 1)
EPISODES = [part for row, cut in zip(SEQUENCES, (2, 1, 2), strict=True) for part in (row[:cut], row[cut:]) if len(part)]
FRESH = torch.stack([START[:, 0], START[:, 0] * 0, START[:, 1], START[:, 0] * 0, START[:, 2]], 1)
RIGHT += [
    padded("state_runs_on", LENGTHS, right=EPISODES, starts=STARTS),
    padded("state_runs_on", LENGTHS, right=EPISODES, starts=STARTS, module=module()),
    padded("state_runs_on", LENGTHS, right=EPISODES, done=DONE, module=module(num_layers=2, bidirectional=True)),
    beside("state_runs_on", {"module": module(), "starts": STARTS, "hx": START}, hx=FRESH),
    beside("state_is_stale", {"module": module(), "starts": STARTS, "hx": START}, hx=START * 0),
]
BY_MEANING = {  # whose repair is carried out elsewhere, or can only be a hint
    "no_lengths": "trace_module() alone refuses it",
    "lengths_device": "a meta tensor holds no numbers, and the repair says so; lengths.cpu() needs a GPU",
    "data_device": "likewise",
    "empty_batch": "the batch is left out: test_an_empty_batch_is_found_with_torchs_message, test_doctor_sound.py",
    "dropout_one_layer": "below",
    "features": "below",
    **dict.fromkeys(("unpacked", "padded_lengths", "unpacked_otherwise"), "in test_doctor_watch.py"),
    "nan_in_output": "clips gradients from now on: the weights are gone",
}
EITHER_WAY = [planted for planted in RIGHT if set(planted.given) <= {"x", "lengths", "enforce_sorted", "padding_value"}]
PLACES: dict[str, Any] = {  # where each stands here: t for each sequence, or the sequences, or the time steps
    "length_over_T": {0: 5},
    "unsorted": [1],
    "zero_length": [2],
    "negative_length": [2],
    "wrong_count": [2],
    "lengths_not_finite": [1],
    "left_padded": {1: 0, 2: 0},
    "lengths_order": {0: 2, 1: 3, 2: 2},
    "zero_counted_out": {0: 4},
    "tokens_dropped": {1: 2, 2: 1},
    "pads_packed": {1: 3},
    "nan_in_data": {1: 1},
    "nan_in_pads": {2: 4},
    "indices_not_inverse": [0, 1, 2],
    "indices_lost": [0, 1, 2],
    "packed_lengths_differ": [0, 1, 2],
    "mask_inverted": {0: 0, 1: 0, 2: 0},
    "mask_differs": {0: 2, 1: 3, 2: 2},
    "targets_differ": [0],
    "state_runs_on": {0: 2, 1: 1},
    "state_is_stale": {0: 0, 1: 0, 2: 0},
}
NOT_ASKED = "was not called"  # of what torch may not survive


def torch_says(given: dict[str, Any], batch_first: bool) -> str | None:
    """Do with it what anybody would do, and return the first line of torch's error, if there is one."""
    try:
        packed = given.get("packed") or pack(given["x"], given["lengths"], batch_first, given["enforce_sorted"])
        if "module" not in given:
            pad_packed_sequence(packed) if "packed" in given else None
        else:
            with torch.no_grad():
                given["module"](packed, given.get("hx"))
    except (RuntimeError, ValueError, TypeError, AttributeError, IndexError) as error:
        return str(error).splitlines()[0]
    return None


@pytest.mark.parametrize(
    ("planted", "batch_first"),
    [*((planted, True) for planted in RIGHT), *((planted, False) for planted in EITHER_WAY)],
    ids=lambda given: getattr(given, "key", str(given)),
)
def test_a_trouble_is_found_in_its_place_and_repaired(planted: Planted, batch_first: bool) -> None:
    given = {"enforce_sorted": False, **planted.given}
    if not batch_first and given["x"].dim() > 1:
        given["x"] = given["x"].transpose(0, 1)
    examined = dict(given)
    subject = [examined.pop(name) for name in ("module", "packed", "x") if name in examined]
    if "module" not in given and "packed" not in given:
        examined["batch_first"] = batch_first
    finding = found(pv.examine(*subject, **examined), planted.key)
    assert_placed(finding)
    if not {"mask", "targets", "target_lengths", "output", "state"} & set(given):
        assert_answered(finding, given, batch_first)
    x = X if batch_first else X.transpose(0, 1)
    names = {"x": x, "lengths": LENGTHS, "hx": None, "batch_first": batch_first, **given}
    after = repaired(finding, **names)
    if planted.sequences is not None:
        assert_sequences(after, planted.sequences, packed="packed" in given)
    for name, right in planted.names.items():
        assert_same(after[name], right)


def assert_placed(finding: Finding) -> None:
    places = PLACES.get(finding.key)
    if isinstance(places, dict):
        assert dict(zip(finding.sequences, finding.timesteps, strict=True)) == places
    elif places is not None:
        assert list(finding.sequences) == places


def assert_answered(finding: Finding, given: dict[str, Any], batch_first: bool) -> None:
    """Check that torch's answer is quoted, and that what it refuses is an error and nothing else is."""
    assert finding.torch_does.startswith(("raises", NOT_ASKED)) == (finding.severity == "error")
    if NOT_ASKED not in finding.torch_does:
        says = torch_says(given, batch_first)
        assert (finding.severity == "error") == (says is not None)
        assert says is None or says in finding.torch_does


SMALL = torch.zeros(1, 1, 1)
HOW_BAD: list[tuple[list[Any], dict[str, Any], str, str, str]] = [  # what is found, its severity, and what fails later
    ([X, [5.0, 2.9, 2.0]], {}, "float_lengths", "silent", ""),
    ([X, [5.0, 3.0, 2.0]], {}, "float_lengths", "note", ""),
    ([X, LENGTHS], {"target_lengths": [4, 3, 2]}, "targets_differ", "silent", "the loss"),
    ([X, LENGTHS], {"target_lengths": [5, 2, 3]}, "targets_differ", "silent", ""),
    ([X[:0], []], {}, "empty_batch", "error", ""),
    ([module(), X.to("meta")], {}, "data_device", "error", ""),
    ([module().to("meta"), X.to("meta")], {"hx": START}, "hx_dtype", "error", ""),
    ([LONG, X, LENGTHS], {"hx": (SMALL, SMALL)}, "hx_shape", "error", ""),
    ([LONG, X, LENGTHS], {"hx": (SMALL, None)}, "hx_kind", "error", ""),
]


@pytest.mark.parametrize(("subject", "beside", "key", "severity", "fails_in"), HOW_BAD)
def test_a_finding_says_how_bad_it_is_and_which_later_call_fails(
    subject: list[Any], beside: dict[str, Any], key: str, severity: str, fails_in: str
) -> None:
    options = beside if isinstance(subject[0], nn.Module) else {"batch_first": True, **beside}
    finding = found(pv.examine(*subject, **options), key)
    assert (finding.severity, finding.fails_in) == (severity, fails_in)


@pytest.mark.parametrize(
    ("sizes", "key", "steps"),
    [
        (torch.tensor([3, 1, 3]), "batch_sizes_grow", (2,)),
        (torch.tensor([1, 2, 3]), "batch_sizes_grow", (1, 2)),
        (torch.tensor([3, 0, 2]), "batch_sizes_below_1", (1,)),
        (torch.tensor([3, -1]), "batch_sizes_below_1", (1,)),
        (torch.tensor([2.0, 1.0]), "batch_sizes_kind", ()),
        (torch.tensor([[2, 1]]), "batch_sizes_kind", ()),
        (torch.tensor([2, 1], dtype=torch.int32), "batch_sizes_kind", ()),
        (torch.zeros(0, dtype=torch.int64), "batch_sizes_empty", ()),
    ],
    ids=str,
)
def test_batch_sizes_on_which_torch_aborts_are_found_and_not_run(
    sizes: torch.Tensor, key: str, steps: tuple[int, ...]
) -> None:
    wrong = PackedSequence(torch.randn(3, 2), sizes)
    finding = found(pv.examine(wrong), key)
    assert (finding.timesteps, finding.severity) == (steps, "error")
    assert NOT_ASKED in finding.torch_does
    assert found(pv.examine(nn.GRU(2, 3), wrong), key) == finding


def assert_sequences(after: dict[str, Any], right: list[Tensor], *, packed: bool) -> None:
    """Compare what torch packs after the repair with the sequences that are right, in their order."""
    whole = (
        after["packed"]
        if packed
        else pack(*(after[name] for name in ("x", "lengths", "batch_first", "enforce_sorted")))
    )
    torch.testing.assert_close(unpack_sequence(whole), right, rtol=0, atol=0)


def assert_same(got: Any, right: Any) -> None:
    if isinstance(right, PackedSequence):
        torch.testing.assert_close(got, right, rtol=0, atol=0)
    elif isinstance(right, Tensor):
        torch.testing.assert_close(got.detach(), right)
    else:
        assert (got.tolist() if isinstance(got, Tensor) else got) == right


def test_a_finding_about_dropout_has_torchs_own_warning_and_draws_no_random_number() -> None:
    with pytest.warns(UserWarning, match="dropout") as warned:
        own = module(dropout=0.5)
    before = torch.get_rng_state()
    finding = found(pv.examine(own, X, LENGTHS), "dropout_one_layer")
    assert str(warned[0].message) in finding.torch_does
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.filterwarnings("ignore:dropout option adds dropout")
def test_the_repairs_of_a_module_run_it() -> None:
    own = module(dropout=0.5)
    after = repaired(found(pv.examine(own, X, LENGTHS), "dropout_one_layer"), module=own)["module"]
    assert torch.equal(after(pack(X, LENGTHS))[0].data, module()(pack(X, LENGTHS))[0].data)
    wide = torch.randn(3, 5, 7)
    other = repaired(found(pv.examine(own, wide, LENGTHS), "features"), module=own, x=wide)["module"]
    assert other(pack(wide, LENGTHS))[0].data.shape == (10, H)


def test_every_repair_is_carried_out_by_a_test() -> None:
    keys = {key_of(words) for words in REPAIRS if words not in {**rows.REPAIRS, **checks.REPAIRS}}
    assert len(keys) > 40
    assert {key for planted in RIGHT for key in (planted.key, *BY_MEANING)} >= keys


def test_a_sequence_without_a_batch_is_sound() -> None:
    module = nn.GRU(4, 3)
    assert pv.examine(module, torch.randn(7, 4)) == ()
    assert pv.examine(module, torch.randn(7, 4), hx=torch.randn(1, 3)) == ()
    assert found(pv.examine(module, torch.randn(7, 4), hx=torch.randn(1, 1, 3)), "hx_shape").severity == "error"


def test_the_last_column_is_recognised_from_the_output_alone() -> None:
    output = torch.randn(3, 4, 5)
    for b, length in enumerate([4, 2, 3]):
        output[b, length:] = 0
    x = torch.ones(3, 4)
    (finding,) = pv.examine(x, [4, 2, 3], batch_first=True, enforce_sorted=False, output=output, state=output[:, -1])
    assert (finding.key, finding.sequences, finding.timesteps) == ("naive_last", (1, 2), (1, 2))
    assert torch.equal(repaired(finding, output=output, lengths=[4, 2, 3])["state"], output[torch.arange(3), [3, 1, 2]])
    odd, two_ways = torch.randn(3, 4, 5), nn.GRU(1, 3, bidirectional=True, batch_first=True)
    assert pv.examine(two_ways, x[..., None], [4, 3, 2], output=odd, state=odd[:, -1]) == ()  # the output of another


class Twice(nn.LSTM):
    def forward(self, x: Any, hx: Any = None) -> Any:
        return super().forward(torch.cat([x, x], -1), hx)


def test_a_module_with_a_forward_of_its_own_is_not_judged_by_torchs() -> None:
    layer, x = Twice(6, 4, batch_first=True), torch.randn(2, 5, 3)
    with pytest.raises(PackvizError, match="forward is torch's own"):
        pv.examine(layer, x)
    with pv.watch(layer) as seen:
        layer(x)
        layer(x.masked_fill(x > 1, float("nan")))
    assert {finding.key for finding in seen.findings} == {"nan_in_data"}


@pytest.mark.parametrize("cell", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("lengths", [[5, 5, 5], [5, 3, 2]])
def test_under_autocast_data_of_half_the_size_are_sound(cell: Any, lengths: list[int]) -> None:
    layer = cell(3, 4, batch_first=True)
    given = pack(torch.randn(3, 5, 3).bfloat16(), lengths, enforce_sorted=True)
    assert {finding.key for finding in pv.examine(layer, given)} == {"data_dtype"}
    with torch.autocast("cpu", torch.bfloat16), pv.watch(layer) as seen:
        layer(given)
        assert pv.examine(layer, given) == ()
    assert (seen.seen, seen.findings) == (1, ())
