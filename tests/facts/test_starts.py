"""The four initial states: their code is torch's own run, and their distances are those of two traces."""

from dataclasses import replace
from typing import Any, get_args

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz import Batch, Config, trace
from packviz.facts import starts
from packviz.inputs.config import InitialState

BATCH = Batch.parse("1 2 3\n4 5\n6")
DOUBLE = Batch.from_tensors([torch.randn(3, dtype=torch.float64), torch.ones(1, dtype=torch.float64)])
CONFIGS = [
    Config(),
    Config(cell="rnn", bidirectional=True, initial_state="carried"),
    Config(cell="lstm", num_layers=2, hidden_size=3, seed=4, initial_state="random"),
    Config(cell="gru", batch_first=False, initial_state="learned"),
]
each_config = pytest.mark.parametrize("config", CONFIGS)


@each_config
def test_the_distance_is_that_of_two_runs(config: Config) -> None:
    zeros = trace(BATCH, replace(config, initial_state="zeros")).h_n
    found = starts(trace(BATCH, config))
    assert tuple(effect.name for effect in found) == get_args(InitialState)
    for effect in found:
        moved = (trace(BATCH, replace(config, initial_state=effect.name)).h_n.double() - zeros.double()).abs()
        assert effect.moved == float(moved.max())
        assert (effect.moved > 0) == (effect.name != "zeros")
        assert effect.chosen == (effect.name == config.initial_state)


@each_config
@pytest.mark.parametrize("batch", [BATCH, DOUBLE])
def test_the_lines_run_and_end_in_the_state_of_the_trace(config: Config, batch: Batch) -> None:
    for effect in starts(trace(batch, config)):
        seen = trace(batch, replace(config, initial_state=effect.name))
        packed = pack_padded_sequence(seen.padded.values, seen.padded.lengths, config.batch_first, False)
        names: dict[str, Any] = {"torch": torch, "nn": nn, "sequences": list(batch.sequences), "packed": packed}
        names[config.cell] = seen.module
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            for weights in seen.module.parameters():  # the same draws as when the module was made
                torch.empty_like(weights).uniform_()
            exec(effect.code, names)
        assert torch.equal(names["h_n"], seen.h_n)
        assert ("c_n" in names) == (config.cell == "lstm")
