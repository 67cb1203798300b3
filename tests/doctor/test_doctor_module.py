"""What a module is given, what stands beside the batch, and what one goes on with."""

from typing import Any

import pytest
import torch
from doctor_cases import found, repaired
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

import packviz as pv
from packviz.errors import PackvizError


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
    assert (len(seen.calls), seen.findings) == (1, ())
