"""The same sequence alone and in its batch, both by torch called directly."""

import pytest
import torch
from compare_cases import alone, bound, packed_run, padded_run
from study_cases import SEEDS, made, studied

from packviz import PackvizError
from packviz.facts import batch_dependence


@pytest.mark.parametrize("seed", SEEDS)
def test_the_four_states_are_torchs_own(seed: int) -> None:
    trace = studied(seed)
    D = 2 if trace.module.bidirectional else 1
    for b in range(min(3, len(trace.padded.lengths))):
        done = batch_dependence(trace, b)
        wanted = {
            "padded_alone": alone(trace, b)[1][0],
            "packed_alone": alone(trace, b)[1][0],
            "padded_in_batch": padded_run(trace)[1][0][:, b],
            "packed_in_batch": packed_run(trace)[1][0][:, b],
        }
        for name, h_n in wanted.items():
            torch.testing.assert_close(
                getattr(done, name), torch.cat(h_n[-D:].unbind(0)), atol=bound(trace, h_n), rtol=0
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_packed_results_do_not_change_with_the_company(seed: int) -> None:
    trace = studied(seed)
    if bool(trace.packed_is_pad.any()):
        return
    for b in range(min(3, len(trace.padded.lengths))):
        done = batch_dependence(trace, b)
        assert not done.packed_changes
        assert done.output_packed <= bound(trace, trace.output)


def test_padded_results_change_with_the_company() -> None:
    done = batch_dependence(made("1 2 3 4\n4 5\n6", bidirectional=True), 2)
    assert done.pads == 3
    assert done.padded_changes
    assert done.output_padded > 0.01
    assert done.told == (
        f"C has 3 pads in this batch. Padded, its h_n is another one than alone, by up to {done.padded_moved:.2g}. "
        "Packed, it is the same as alone (largest difference 0)."
    )


def test_one_direction_padded_keeps_its_outputs_and_loses_h_n() -> None:
    done = batch_dependence(made("1 2 3 4\n4 5\n6"), 1)
    assert done.padded_changes
    assert done.output_padded < 1e-6


def test_padding_on_the_left_makes_packed_results_depend_on_the_company() -> None:
    assert batch_dependence(made("1 2 3 4\n4 5\n6", padding_side="left"), 1).packed_changes


@pytest.mark.parametrize("b", [-1, 3, True, "A"])
def test_a_sequence_that_is_not_there_is_refused(b: object) -> None:
    with pytest.raises(PackvizError, match="from 0 to 2"):
        batch_dependence(made(), b)
