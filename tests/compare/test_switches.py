"""One setting changed at a time: each verdict is that of a comparison made anew."""

from dataclasses import replace

import pytest
from study_cases import SEEDS, made, studied

import packviz as pv
from packviz.facts import Switch, compare, switches


def switch(name: str, **settings: object) -> Switch:
    return next(done for done in switches(made("1 2 3 4\n4 5\n6", **settings)) if done.setting == name)


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_each_switch_is_the_comparison_of_a_new_trace(seed: int) -> None:
    spoke = 0
    trace = studied(seed)
    done = switches(trace)
    if trace.config is None:
        assert done == ()
        return
    now = {finding.key: finding for finding in compare(trace).findings}
    for one in done:
        assert getattr(trace.config, one.setting) == one.before != one.after
        again = compare(pv.trace(trace.batch, replace(trace.config, **{one.setting: one.after})))
        assert one.verdicts == again.verdicts
        for finding in again.findings:
            if finding.key in now:
                spoke += 1
                assert (finding.key in one.changed) == (finding.verdict != now[finding.key].verdict)
    assert spoke


def test_every_switch_of_the_page_is_there() -> None:
    names = [done.setting for done in switches(made("on your mark\ngo"))]
    assert names == ["bias", "bidirectional", "padding_side", "padding_idx", "num_layers"]
    assert "padding_idx" not in [done.setting for done in switches(made())]
    assert "num_layers" not in [done.setting for done in switches(made(num_layers=4))]


def test_a_second_direction_spoils_what_one_direction_had_right() -> None:
    done = switch("bidirectional")
    assert done.changed[0] == "last_valid"
    assert {"backward", "h_n_backward"} <= set(done.changed)
    assert done.told.startswith("bidirectional=True instead of False: 3 verdicts change.")


def test_the_bias_decides_over_the_backward_half() -> None:
    done = switch("bias", bidirectional=True)
    assert "backward" in done.changed
    assert "its state stays 0 in the padding" in done.told
    assert switch("bias").told == "bias=False instead of True: no verdict on the outputs changes."


def test_padding_on_the_left_gets_packed() -> None:
    assert "packed_pads" in switch("padding_side").changed
    assert "Packed pads: no longer there." in switch("padding_side", padding_side="left").told


def test_one_more_layer_spoils_the_forward_half_of_two_directions() -> None:
    assert "forward" in switch("num_layers", bidirectional=True).changed
