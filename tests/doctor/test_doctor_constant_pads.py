"""Pads that are one vector other than zeros are seen once they are packed, and steps that are partly pads are left."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from doctor_cases import pack, repaired
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence, pad_sequence, unpack_sequence

import packviz as pv

LENGTHS, T, F = [5, 3, 2, 2], 5, 3
torch.manual_seed(0)
SEQUENCES = [torch.randn(length, F) for length in LENGTHS]
INSIDE = torch.arange(T) < torch.tensor(LENGTHS)[:, None]


def padded(pad: Tensor) -> Tensor:
    return torch.where(INSIDE[..., None], pad_sequence(SEQUENCES, batch_first=True), pad)


GRIDS = {
    "scaled after padding": padded(torch.tensor([-0.3, 1.7, 0.2])),
    "an embedding without padding_idx": padded(nn.Embedding(1, F).weight[0].detach()),
    "-1": padded(torch.tensor(-1.0)),
}
GRU = nn.GRU(F, 4, batch_first=True)


def watched(given: Any) -> pv.Findings:
    with pv.watch(GRU) as seen:
        GRU(given() if callable(given) else given)
    return seen.findings


WAYS: dict[str, Callable[[Tensor], pv.Findings]] = {
    "padded": lambda x: pv.examine(x, [T] * 4, batch_first=True),
    "packed": lambda x: pv.examine(pack(x, [T] * 4)),
    "watched": lambda x: watched(lambda: pack(x, [T] * 4)),
    "packed elsewhere": lambda x: watched(pack(x, [T] * 4)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", GRIDS)
def test_a_vector_that_pads_is_seen_when_it_is_packed(kind: str, way: str) -> None:
    x = GRIDS[kind]
    (finding,) = WAYS[way](x)
    assert (finding.key, finding.severity, finding.sequences) == ("pads_packed", "note", (1, 2, 3))
    assert finding.timesteps == (3, 2, 2)
    assert "A pad is assumed to be" in finding.found
    after = repaired(finding, x=x, lengths=[T] * 4, batch_first=True, packed=pack(x, [T] * 4))
    if "packed = " not in finding.repair:
        after["packed"] = pack(after["x"], after["lengths"])
    torch.testing.assert_close(unpack_sequence(after["packed"]), SEQUENCES, rtol=0, atol=0)


def test_one_sequence_that_ends_with_a_step_twice_is_sound() -> None:
    x = torch.randn(4, T, F)
    x[1, -2:] = x[1, -1].clone()
    x[2, -2:] = x[2, -1].clone()  # another vector
    assert [*pv.examine(x, [T] * 4, batch_first=True), *pv.examine(pack(x, [T] * 4))] == []


class Pyramid(nn.Module):
    """Two layers; the second gets the steps of the first in pairs, and half as many of them."""

    def __init__(self, joined: int) -> None:
        super().__init__()
        self.joined = joined
        self.lower = nn.LSTM(F, 4, batch_first=True, bidirectional=True)
        self.upper = nn.LSTM(8 * joined, 4, batch_first=True)

    def forward(self, x: PackedSequence) -> Tensor:
        grid, lengths = pad_packed_sequence(self.lower(x)[0], batch_first=True)
        grid = grid[:, : grid.size(1) // self.joined * self.joined]
        grid = grid.reshape(len(grid), -1, 8 * self.joined)
        final: Tensor = self.upper(pack(grid, lengths // self.joined))[1][0]
        return final


@pytest.mark.parametrize("joined", [2, 3, 4])
def test_a_right_pyramidal_encoder_has_no_finding(joined: int) -> None:
    model = Pyramid(joined)
    for seed in seeds(20):
        torch.manual_seed(seed)
        lengths = torch.randint(joined, 20, (6,))
        x = pad_sequence([torch.randn(int(length), F) for length in lengths], batch_first=True)
        with pv.watch(model) as seen:
            model(pack(x, lengths))
        assert (len(seen.calls), seen.findings) == (2, ()), seed


def test_lengths_that_are_too_short_in_a_pyramid_are_a_finding() -> None:
    model, x = Pyramid(2), torch.randn(3, 8, F)
    short = torch.tensor([8, 6, 3])
    with pv.watch(model.upper) as seen, torch.no_grad():
        grid, _ = pad_packed_sequence(model.lower(pack(x, short))[0], batch_first=True)
        model.upper(pack(grid.reshape(3, 4, 16), [3, 2, 1]))
    assert [one.key for one in seen.findings] == ["tokens_dropped"]
