"""What a module is given, what stands beside the batch, and what one goes on with."""

import random
from typing import Any

import pytest
import torch
from doctor_cases import Sound, found, repaired, sound
from seeds import many
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import packviz as pv
from packviz.errors import PackvizError

MANY = many(60)


def cases(**fixed: Any) -> list[tuple[random.Random, Sound]]:
    return [(random.Random(seed), sound(seed, **{"module": True, **fixed})) for seed in range(MANY)]


def refused(module: Any, given: Any, hx: Any = None) -> str | None:
    try:
        with torch.no_grad():
            module(given, hx)
    except (RuntimeError, ValueError, TypeError, AttributeError, IndexError) as error:
        return str(error).splitlines()[0]
    return None


def pack(case: Sound, x: torch.Tensor) -> Any:
    return pack_padded_sequence(x, case.lengths, case.batch_first, enforce_sorted=False)


def both_ways(case: Sound, x: torch.Tensor, key: str, **options: Any) -> list[Any]:
    """Return the finding for padded x with lengths, and for the packed sequence."""
    padded = pv.examine(case.module, x, case.lengths, enforce_sorted=False, **options)  # type: ignore[arg-type]
    packed = pv.examine(case.module, pack(case, x), **options)  # type: ignore[arg-type]
    return [found(padded, key), found(packed, key)]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda x: x.long(), "integer_data"),
        (lambda x: x.double() if x.dtype == torch.float32 else x.float(), "data_dtype"),
        (lambda x: torch.cat([x, x], -1), "features"),
        (lambda x: x[..., 0], "no_feature_axis"),
        (lambda x: x.unsqueeze(-2), "data_dim"),
        (lambda x: x.to("meta"), "data_device"),
    ],
)
def test_data_that_the_module_cannot_take_are_found_with_torchs_message(change: Any, key: str) -> None:
    for _, case in cases(source="normal"):
        wrong = change(case.x)
        for finding, packs in zip(both_ways(case, wrong, key), (False, True), strict=True):
            says = None if "was not asked" in finding.torch_does else refused(case.module, pack(case, wrong))
            if "was not asked" not in finding.torch_does:  # a packed LSTM checks nothing; equal lengths go to oneDNN
                assert says is None or says in finding.torch_does
                assert (finding.severity == "error") == (says is not None)
                assert says is not None or key == "data_device" or isinstance(case.module, nn.LSTM)
            names = {"x": wrong, "packed": pack(case, wrong), "module": case.module}
            after = repaired(finding, **names)
            given = after["packed"] if packs else after["x"]
            lengths = () if packs else (case.lengths,)
            keys = [one.key for one in pv.examine(after["module"], given, *lengths, enforce_sorted=False)]
            assert key not in keys


def test_autocast_converts_by_itself() -> None:
    module, x = nn.GRU(4, 3), torch.randn(5, 2, 4, dtype=torch.bfloat16)
    assert [one.key for one in pv.examine(module, x)] == ["data_dtype"]
    with torch.autocast("cpu"):
        assert refused(module, x) is None
        assert pv.examine(module, x) == ()


def broken_states(case: Sound, draw: random.Random) -> list[tuple[Any, str]]:
    """Return initial states that do not fit, with what is wrong with each."""
    assert case.module is not None
    module, B = case.module, len(case.lengths)
    slots = module.num_layers * (2 if module.bidirectional else 1)
    width = module.proj_size or module.hidden_size
    fitting = torch.randn(slots, B, width, dtype=case.x.dtype)
    other = torch.float64 if case.x.dtype == torch.float32 else torch.float32
    pair = module.mode == "LSTM"
    cell = torch.randn(slots, B, module.hidden_size, dtype=case.x.dtype)

    def whole(h_0: torch.Tensor) -> Any:
        return (h_0, cell) if pair else h_0

    wrong = [
        (whole(torch.randn(slots, B + draw.randint(1, 3), width, dtype=case.x.dtype)), "hx_shape"),
        (whole(torch.randn(slots + 1, B, width, dtype=case.x.dtype)), "hx_shape"),
        (whole(torch.randn(slots, B, width + 1, dtype=case.x.dtype)), "hx_shape"),
        (fitting if pair else (fitting, fitting), "hx_kind"),
        (whole(fitting.to(other)), "hx_dtype"),
    ]
    return [*wrong, (whole(fitting.transpose(0, 1)), "hx_shape")] if slots != B else wrong


def test_an_initial_state_that_does_not_fit_is_found_with_torchs_message() -> None:
    errors = crashes = 0
    for draw, case in cases(source="normal"):
        packed = pack(case, case.x)
        for hx, key in broken_states(case, draw):
            finding = found(pv.examine(case.module, packed, hx=hx), key)  # type: ignore[arg-type]
            if "was not asked" in finding.torch_does:
                crashes += 1  # torch reads past the end of a tensor there, and may or may not survive it
                continue
            says = refused(case.module, packed, hx)
            errors += says is not None
            assert (finding.severity == "error") == (says is not None)
            assert says is None or says in finding.torch_does or key == "hx_dtype"
            assert found(pv.examine(case.module, case.x, case.lengths, enforce_sorted=False, hx=hx), key)  # type: ignore[arg-type]
            after = repaired(finding, hx=hx, module=case.module)["hx"]
            assert pv.examine(case.module, packed, hx=after) == ()  # type: ignore[arg-type]
    assert errors > MANY
    assert crashes > 5


def test_dropout_in_one_layer_is_a_note() -> None:
    with pytest.warns(UserWarning, match="dropout"):
        module = nn.LSTM(2, 3, dropout=0.5)
    (finding,) = pv.examine(module, torch.randn(4, 1, 2))
    assert (finding.key, finding.severity) == ("dropout_one_layer", "note")
    assert pv.examine(repaired(finding, module=module)["module"], torch.randn(4, 1, 2)) == ()


def test_a_sequence_without_a_batch_is_sound() -> None:
    module = nn.GRU(4, 3)
    assert pv.examine(module, torch.randn(7, 4)) == ()
    assert pv.examine(module, torch.randn(7, 4), hx=torch.randn(1, 3)) == ()
    assert found(pv.examine(module, torch.randn(7, 4), hx=torch.randn(1, 1, 3)), "hx_shape").severity == "error"


def test_a_mask_that_disagrees_with_the_lengths_is_found_and_placed() -> None:
    for draw, case in cases(module=False):
        B, T = case.grid.shape[:2]
        mask = torch.arange(T) < torch.tensor(case.lengths).unsqueeze(1)
        b, t = draw.randrange(B), draw.randrange(T)
        wrong = mask.clone()
        wrong[b, t] = ~wrong[b, t]
        if B * T > 1 and B != T:
            finding = found(case.findings(mask=wrong), "mask_differs")
            assert (finding.sequences, finding.timesteps) == ((b,), (t,))
            assert case.findings(mask=repaired(finding, lengths=case.lengths)["mask"]) == ()
        inverted = found(case.findings(mask=~mask), "mask_inverted")
        assert case.findings(mask=repaired(inverted, mask=~mask)["mask"]) == ()
        if B != T + 1:
            finding = found(case.findings(mask=torch.ones(B, T + 1)), "mask_shape")
            assert case.findings(mask=repaired(finding, lengths=case.lengths)["mask"]) == ()


def test_targets_packed_with_other_lengths_are_found() -> None:
    for draw, case in cases(module=False):
        b = draw.randrange(len(case.lengths))
        other = [n + (i == b) for i, n in enumerate(case.lengths)]
        labels = torch.ones(len(other), max(other), dtype=torch.int64)
        targets = pack_padded_sequence(labels, other, True, enforce_sorted=False)
        finding = found(case.findings(targets=targets), "targets_differ")
        assert finding.sequences == (b,)
        assert f"{sum(case.lengths)} row" in finding.torch_does
        assert f"and {sum(other)} of targets" in finding.torch_does
        names = {name: getattr(case, name) for name in ("x", "lengths", "batch_first", "enforce_sorted")}
        assert case.findings(targets=repaired(finding, targets=targets, **names)["targets"]) == ()
        assert found(pv.examine(case.packed, targets=targets), "targets_differ").sequences == (b,)
        (lengths,) = [one for one in case.findings(target_lengths=other) if one.key == "targets_differ"]
        assert case.findings(target_lengths=repaired(lengths, **names)["target_lengths"]) == ()


def readings(case: Sound) -> dict[str, list[Tensor]]:
    """Return wrong readings of torch's own run, by what they are found as; none of them is also a right one."""
    module, hx, B = case.module, case.options.get("hx"), len(case.lengths)
    assert module is not None
    with torch.no_grad():
        packed, final = module(pack(case, case.x), hx)
        _, after = module(case.x, hx)
    h_n, c_n = final if isinstance(final, tuple) else (final, None)
    after = after[0] if isinstance(after, tuple) else after
    output, lengths = pad_packed_sequence(packed, batch_first=True)
    last, B_ = output[torch.arange(B), lengths - 1], torch.arange(B)
    D = 2 if module.bidirectional else 1
    right = torch.cat(list(h_n[-D:]), 1)
    order = lengths.argsort(descending=True, stable=True)
    wrong = {
        "naive_last": [output[:, -1]] if D == 1 else [],
        "pads_pooled": [output.mean(1)] if D == 1 else [],
        "state_after_pads": [torch.cat(list(after[-D:]), 1)] if D == 1 else [],
        "states_order": [right[order], right[order][order], right.roll(1, 0)],
        "off_by_one": [output[B_, lengths - 2], output[B_, (lengths - 2).clamp(min=0)]],
        "states_mixed": [h_n.view(B, -1), h_n[-D:].view(B, -1)] if D == 2 else [],
        "lower_layer": [h_n[0], torch.cat(list(h_n[:D]), 1)] if module.num_layers > 1 else [],
        "cell_state": [c_n[-1], torch.cat(list(c_n[-D:]), 1)] if c_n is not None else [],
        "backward_one_step": [last, sum(last.chunk(2, 1)), sum(output[:, -1].chunk(2, 1))] if D == 2 else [],
        "one_direction": [h_n[-1]] if D == 2 else [],
        "state_unknown": [torch.randn(right.shape, dtype=right.dtype), right + 0.1, torch.randn(B, 99)],
    }
    sound = [right, h_n.transpose(0, 1).reshape(B, -1), *([sum(right.chunk(2, 1))] if D == 2 else [])]
    return {
        key: [state for state in states if not any(same(state, one) for one in sound)] for key, states in wrong.items()
    }


def same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-4)


READINGS = "naive_last pads_pooled state_after_pads states_order off_by_one states_mixed lower_layer cell_state"
NOTES = ("one_direction", "state_unknown")


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("key", [*READINGS.split(), "backward_one_step", *NOTES])
def test_every_wrong_state_is_found_by_name_or_as_a_note_with_its_distance(key: str) -> None:
    spoke, named = 0, 0
    for _, case in cases(source="normal", T=6):
        module = case.module
        assert module is not None
        if len(set(case.lengths)) == 1:
            continue
        module.eval()
        for state in readings(case)[key]:
            module.train()  # and yet dropout between the layers does not blur the comparison
            (finding,) = case.findings(enforce_sorted=False, state=state)
            spoke += 1
            named += finding.key == key
            assert module.training
            assert finding.severity == ("note" if finding.key in NOTES else "silent")
            assert finding.sequences
            assert all(case.lengths[b] - 1 == t for b, t in zip(finding.sequences, finding.timesteps, strict=True))
            if key == "naive_last":
                assert set(finding.sequences) <= {b for b, n in enumerate(case.lengths) if n < max(case.lengths)}
            if key == "state_unknown" and state.size(1) != 99:
                assert "away from the state after each sequence's last step" in finding.found
            module.eval()
            names = {"hx": case.options.get("hx"), "module": module, "x": case.x, "lengths": case.lengths}
            after = repaired(finding, **names, batch_first=case.batch_first)["state"].detach()
            with torch.no_grad():
                _, final = module(pack(case, case.x), case.options.get("hx"))
            h_n = final[0] if isinstance(final, tuple) else final
            torch.testing.assert_close(after, torch.cat(list(h_n[-2 if module.bidirectional else -1 :]), 1))
            assert case.findings(enforce_sorted=False, state=after) == ()
    assert spoke > 0.08 * MANY
    assert named >= 0.9 * spoke  # a few, such as one step of one sequence, are another known reading, too


def test_the_last_column_is_recognised_from_the_output_alone() -> None:
    output = torch.randn(3, 4, 5)
    for b, length in enumerate([4, 2, 3]):
        output[b, length:] = 0
    x = torch.ones(3, 4)
    (finding,) = pv.examine(x, [4, 2, 3], batch_first=True, enforce_sorted=False, output=output, state=output[:, -1])
    assert (finding.key, finding.sequences, finding.timesteps) == ("naive_last", (1, 2), (1, 2))
    assert torch.equal(repaired(finding, output=output, lengths=[4, 2, 3])["state"], output[torch.arange(3), [3, 1, 2]])


def test_an_output_in_the_other_layout_or_narrower_than_the_mask_is_found() -> None:
    x = torch.randn(3, 6, 2)
    x[:, 4:] = 0
    packed, _ = nn.GRU(2, 5)(pack_padded_sequence(x, [4, 4, 4], True))
    turned, _ = pad_packed_sequence(packed)
    (finding,) = pv.examine(x, [4, 4, 4], batch_first=True, output=turned)
    assert finding.key == "output_layout"
    narrow = repaired(finding, output=turned)["output"]
    mask = torch.arange(6).expand(3, 6) < 4
    assert pv.examine(x, [4, 4, 4], batch_first=True, output=narrow) == ()
    (finding,) = pv.examine(x, [4, 4, 4], batch_first=True, output=narrow, mask=mask)
    with pytest.raises(RuntimeError) as said:
        _ = narrow * mask.unsqueeze(2)
    assert (finding.key, str(said.value) in finding.torch_does) == ("output_narrower", True)
    assert (
        pv.examine(x, [4, 4, 4], batch_first=True, mask=mask, output=repaired(finding, output=narrow)["output"]) == ()
    )


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
    given = pack_padded_sequence(torch.randn(3, 5, 3).bfloat16(), lengths, batch_first=True)
    assert {finding.key for finding in pv.examine(layer, given)} == {"data_dtype"}
    with torch.autocast("cpu", torch.bfloat16), pv.watch(layer) as seen:
        layer(given)
        assert pv.examine(layer, given) == ()
    assert (seen.calls, seen.findings) == (1, ())
