"""watch(): findings with the layer's name, in training too; no hook stays, whatever happens."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import packviz as pv


class Tagger(nn.Module):
    def __init__(self, trouble: str) -> None:
        super().__init__()
        self.trouble = trouble
        self.embedding = nn.Embedding(9, 4, padding_idx=0)
        self.encoder = nn.ModuleDict({"lstm": nn.LSTM(4, 5, batch_first=True)})
        self.top = nn.GRU(5, 2)

    def forward(self, ids: Tensor, lengths: list[int]) -> Any:
        x = self.embedding(ids)
        if self.trouble == "nan":
            x = x * float("nan")
        if self.trouble == "dtype":
            x = x.double()
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        hx = (torch.zeros(1, 9, 5), torch.zeros(1, 9, 5)) if self.trouble == "state" else None
        output, _ = self.encoder["lstm"](packed, hx=hx)
        if self.trouble == "lost":
            output = PackedSequence(output.data, output.batch_sizes[:-1])
        return self.top(output)[1].sum()


def run_and_fail(model: Tagger) -> None:
    model(IDS, [2, 4])
    raise RuntimeError("torch takes such a state without a word")


IDS = torch.tensor([[1, 2, 0, 0], [3, 4, 5, 6]])


@pytest.mark.parametrize(
    ("trouble", "lengths", "expected"),
    [
        ("", [2, 4], []),
        ("pads", [4, 4], [("encoder.lstm", "pads_packed", 3)]),
        ("nan", [2, 4], [("encoder.lstm", "nan_in_data", 3), ("top", "nan_in_data", 3)]),
        ("lost", [2, 4], [("top", "rows_differ", 3)]),
    ],
)
def test_findings_carry_the_layers_name_and_how_often_they_came(
    trouble: str, lengths: list[int], expected: list[tuple[str, str, int]]
) -> None:
    torch.manual_seed(0)
    model = Tagger(trouble)
    with pv.watch(model) as watched:
        for _ in range(3):
            model(IDS, lengths).backward()
    assert [(one.layer, one.key, one.times) for one in watched.findings] == expected
    assert watched.calls == 6
    assert all(f"in {layer}" in str(watched) and key for layer, key, _ in expected)
    assert ("nothing found" in str(watched)) == (not expected)


@pytest.mark.parametrize(("trouble", "key"), [("dtype", "data_dtype"), ("state", "hx_shape")])
def test_a_call_that_fails_is_examined_and_leaves_no_hook(trouble: str, key: str) -> None:
    model = Tagger(trouble)
    layers = [model.encoder["lstm"], model.top]
    with pytest.raises((RuntimeError, ValueError)), pv.watch(model) as watched:
        run_and_fail(model)
    assert [(one.layer, one.key) for one in watched.findings][:1] == [("encoder.lstm", key)]
    assert not any(layer._forward_hooks or layer._forward_pre_hooks for layer in layers)
    before = watched.calls
    with pytest.raises((RuntimeError, ValueError)):
        run_and_fail(model)
    assert watched.calls == before


def test_an_output_that_is_not_finite_though_its_input_is_points_at_the_weights() -> None:
    module = nn.RNN(2, 3)
    with torch.no_grad():
        module.get_parameter("weight_hh_l0")[0, 0] = float("nan")
    with pv.watch(module) as watched:
        module(torch.ones(4, 1, 2))
    (finding,) = watched.findings
    assert (finding.key, finding.layer, "weight_hh_l0" in finding.where) == ("nan_in_output", "", True)


def test_random_numbers_and_results_are_untouched_also_where_something_is_found() -> None:
    results = []
    for watched in (False, True):
        torch.manual_seed(3)
        model = nn.Sequential(nn.GRU(4, 3, 2, dropout=0.5))
        x = pack_padded_sequence(torch.cat([torch.randn(5, 1, 4), torch.zeros(5, 1, 4)]), [10])
        if watched:
            with pv.watch(model) as seen:
                output = model(x)[0].data
            assert seen.findings
        else:
            output = model(x)[0].data
        results.append((output.detach(), torch.rand(2)))
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
