"""Rollouts with starts or done: examine() finds a state that is not reset, and its repair gives what a loop gives."""

import random
from typing import Any

import pytest
import torch
from doctor_cases import found, repaired
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, unpack_sequence

import packviz as pv
from packviz.errors import PackvizError

torch.manual_seed(0)
GRU, X = nn.GRU(3, 4), torch.randn(6, 2, 3)  # (T, B, F)
STARTS = torch.zeros(6, 2, dtype=torch.bool)
STARTS[0] = STARTS[3, 0] = STARTS[2, 1] = STARTS[4, 1] = True


def loop(module: Any, x: Tensor, starts: Tensor) -> Tensor:
    """Run a module over x (T, B, F) step by step, with zeros for the state at each start (T, B)."""
    outputs, state = [], None
    with torch.no_grad():
        for step, at in zip(x, starts, strict=True):
            if state is not None:
                parts = state if isinstance(state, tuple) else (state,)
                kept = tuple(part * ~at[:, None] for part in parts)
                state = kept if isinstance(state, tuple) else kept[0]
            output, state = module(step[None], state)
            outputs.append(output)
    return torch.cat(outputs)


@pytest.mark.parametrize("seed", seeds(20))
def test_the_repaired_rollout_gives_what_a_loop_with_resets_gives(seed: int) -> None:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    cell: Any = draw.choice((nn.RNN, nn.GRU, nn.LSTM))
    own = cell(3, 4, draw.randint(1, 3), dtype=torch.float64)
    T, B = draw.randint(2, 9), draw.randint(1, 4)
    x, starts = torch.randn(T, B, 3, dtype=torch.float64), torch.rand(T, B) < 0.4
    starts[draw.randrange(1, T), 0] = True
    expected = loop(own, x, starts)  # (T, B, H)
    own.batch_first = draw.random() < 0.5
    turned = (x.transpose(0, 1), starts.T) if own.batch_first else (x, starts)
    given: dict[str, Any] = dict(zip(("x", "starts"), turned, strict=True))
    finding = found(pv.examine(own, **given), "state_runs_on")
    after = repaired(finding, module=own, hx=None, lengths=None, **given)
    packed = pack_padded_sequence(after["x"], after["lengths"], own.batch_first, enforce_sorted=False)
    with torch.no_grad():
        outputs = torch.cat(unpack_sequence(own(packed)[0]))
    torch.testing.assert_close(outputs, expected.transpose(0, 1).flatten(0, 1), atol=1e-12, rtol=0)
    assert pv.examine(own, after["x"], after["lengths"], enforce_sorted=False) == ()


def test_an_output_that_was_reset_is_right_and_one_that_was_not_is_found() -> None:
    assert pv.examine(GRU, X, starts=STARTS, output=loop(GRU, X, STARTS)) == ()
    finding = found(pv.examine(GRU, X, starts=STARTS, output=GRU(X)[0]), "state_runs_on")
    off = (GRU(X)[0] - loop(GRU, X, STARTS))[:, 0].abs().max()
    assert f"up to {off:.2g} away" in finding.torch_does
    assert (finding.sequences, finding.timesteps) == ((0, 1), (3, 2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_an_output_in_another_dtype_is_compared_by_its_values(dtype: torch.dtype) -> None:
    assert pv.examine(GRU, X, starts=STARTS, output=loop(GRU, X, STARTS).to(dtype)) == ()
    assert found(pv.examine(GRU, X, starts=STARTS, output=GRU(X)[0].to(dtype)), "state_runs_on")


@pytest.mark.parametrize("shape", [(6, 2, 5), (6, 1, 4), (5, 2, 4), (6, 2, 1)])
def test_an_output_of_another_shape_does_not_show_that_the_state_was_reset(shape: tuple[int, ...]) -> None:
    assert found(pv.examine(GRU, X, starts=STARTS, output=torch.zeros(shape)), "state_runs_on")


def test_states_for_too_many_sequences_are_one_finding_even_if_torch_takes_the_first_ones() -> None:
    findings = pv.examine(GRU, X, [6, 6], starts=STARTS, hx=torch.ones(1, 5, 4), enforce_sorted=False)
    assert [(one.key, one.severity) for one in findings] == [("hx_shape", "silent"), ("state_runs_on", "silent")]


def test_episodes_that_are_the_sequences_have_no_finding() -> None:
    first = torch.zeros(6, 2, dtype=torch.bool)
    first[0] = True
    assert pv.examine(GRU, X, starts=first) == ()
    last = torch.zeros(6, 2)
    last[5] = last[3, 1] = 1
    assert pv.examine(GRU, X, [6, 4], enforce_sorted=False, done=last) == ()  # nothing of it is run after its end


def test_one_rollout_without_a_batch_is_read_along_its_steps() -> None:
    finding = found(pv.examine(GRU, X[:, 0], starts=STARTS[:, 0]), "state_runs_on")
    after = repaired(finding, x=X[:, 0], starts=STARTS[:, 0])
    assert after["lengths"] == [3, 3]


def test_a_learned_initial_state_is_not_stale_and_a_single_one_is_a_note() -> None:
    first = torch.zeros(6, 2, dtype=torch.bool)
    first[0] = True
    learned = torch.randn(1, 1, 4).expand(1, 2, 4)
    assert pv.examine(GRU, X, starts=first, hx=learned) == ()
    assert found(pv.examine(GRU, X, starts=first, hx=torch.randn(1, 2, 4)), "state_is_stale").severity == "silent"
    alone = pv.examine(GRU, X[:, :1], starts=first[:, :1], hx=torch.randn(1, 1, 4))
    assert found(alone, "state_is_stale").severity == "note"


def test_a_stale_state_of_an_lstm_is_set_to_zeros_where_an_episode_starts() -> None:
    first = torch.zeros(6, 2, dtype=torch.bool)
    first[0, 1] = True
    hx = torch.randn(1, 2, 4), torch.randn(1, 2, 4)
    finding = found(pv.examine(nn.LSTM(3, 4), X, starts=first, hx=hx), "state_is_stale")
    for part, given in zip(repaired(finding, starts=first, hx=hx)["hx"], hx, strict=True):
        assert torch.equal(part[:, 0], given[:, 0])
        assert not part[:, 1].any()


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ({"starts": STARTS, "done": STARTS}, "done: .*None beside starts"),
        ({"starts": STARTS[:5]}, r"starts: .*flags of shape \(6, 2\)"),
        ({"done": [0, 1]}, "done: .*a tensor"),
    ],
)
def test_flags_that_do_not_fit_are_refused(beside: dict[str, Any], told: str) -> None:
    with pytest.raises(PackvizError, match=told):
        pv.examine(GRU, X, **beside)
    packed = pack_padded_sequence(X, [6, 4])
    with pytest.raises(PackvizError, match="Give the padded x"):
        pv.examine(packed, starts=STARTS)


@pytest.mark.parametrize("hx", [torch.ones(1, 5, 4), torch.ones(2), (), (torch.ones(1, 2, 4), 1)])
def test_states_without_a_module_are_refused_unless_they_fit_the_batch(hx: Any) -> None:
    with pytest.raises(PackvizError, match=r"hx: .*(shape \(L\*D, 2, H\)|a tensor)"):
        pv.examine(X, [6, 6], starts=STARTS, hx=hx)
    fitting = torch.tensor([[[1.0], [2.0]]])
    assert found(pv.examine(X, [6, 6], starts=STARTS, hx=fitting), "state_is_stale").sequences == (0, 1)
