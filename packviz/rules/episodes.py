"""Decides whether the state of a recurrent policy is reset wherever an episode starts in its rollouts."""

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_sequence, unpack_sequence

from packviz.inputs.module import run_module
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, can_be_packed, has_no_wrong_lengths, has_numbers, has_this_layout, rule
from packviz.rules.finding import Fault, Finding, Severity
from packviz.rules.padded_grid import first_in_each
from packviz.rules.readout import in_half
from packviz.rules.words import Said

_CLOSE, _CLOSE_IN_HALF = 1e-4, 1e-2  # of outputs that another run of the same module gave


def has_episodes(case: Case, _: Sequence[Finding]) -> bool:
    """Return whether the starts, or the ends, of episodes are known."""
    return case.starts is not None or case.done is not None


def has_fitting_states(_: Case, found: Sequence[Finding]) -> bool:
    """Return whether hx, if there is one, has a state of each sequence."""
    return all(one.key != "hx_shape" for one in found)


_NEEDS = (has_episodes, has_numbers, can_be_packed, has_no_wrong_lengths, has_this_layout)


@rule("x", needs=_NEEDS)
def state_is_reset(case: Case) -> Iterator[Fault]:
    """Find the episodes that begin inside a sequence, which is run as one; an output that was reset is fine."""
    inside = case.begins.clone()  # (B, T)
    inside[:, 0] = False
    for b, length in enumerate(case.valid_lengths):
        inside[b, length:] = False
    if not bool(inside.any()):
        return
    answer = Answer[float]()
    if case.module is not None and not _was_reset(case, inside):
        first = int(inside.any(1).nonzero()[0])
        answer = ask(lambda: float(torch.sub(*_both_ways(case, first, inside[first])).abs().max()))
    elif case.module is not None:
        return
    says: Said = "run" if answer.result is not None else "not_run"
    rows, steps = first_in_each(inside)
    yield Fault("state_runs_on", answer, rows, steps, severity="silent", says=[says], episodes=int(inside.sum()))


def _was_reset(case: Case, inside: Tensor) -> bool:
    """Return whether the output that is given is that of a run which starts each episode anew."""
    if case.output is None or case.output.dim() != case.data.dim() or case.is_unbatched:
        return False
    outputs = case.output if case.batch_first else case.output.transpose(0, 1)  # (B, T, D*H)
    if len(outputs) != case.B:
        return False
    for b in inside.any(1).nonzero()[:, 0].tolist():
        runs = ask(partial(_both_ways, case, b, inside[b])).result
        if runs is None:
            return False
        given, reset = outputs[b, : len(runs[1])], runs[1]
        close = _CLOSE_IN_HALF if in_half(given, reset) else _CLOSE
        if given.shape != reset.shape or not torch.allclose(given.to(reset), reset, atol=close, rtol=close):
            return False
    return True


def _both_ways(case: Case, b: int, starts: Tensor) -> tuple[Tensor, Tensor]:
    """Return the outputs (n, D*H) of a sequence run as one, and of its episodes, each from its own state."""
    n = case.valid_lengths[b] if case.valid_lengths else case.T
    x = case.by_sequence[b, :n]
    episodes = x.tensor_split(starts[:n].nonzero()[:, 0].tolist())
    packed = pack_sequence([x, *episodes], enforce_sorted=False)
    states = None if case.hx is None else tuple(_state(part, case, b, len(episodes)) for part in case.states)
    output, _ = run_module(case.layer, packed, states[0] if states is not None and len(states) == 1 else states)
    assert isinstance(output, PackedSequence)
    whole, *parts = unpack_sequence(output)
    return whole, torch.cat(parts)


def _state(part: Tensor, case: Case, b: int, episodes: int) -> Tensor:
    """Return h_0 or c_0 for a sequence and its first episode, and zeros for the others."""
    own = (part.unsqueeze(1) if case.is_unbatched else part)[:, b : b + 1]  # (L*D, 1, H)
    return torch.cat([own, own, own.new_zeros(own.size(0), episodes - 1, own.size(2))], 1)


@rule("x", "hx", "starts", needs=(*_NEEDS, has_fitting_states))
def first_state_is_fresh(case: Case) -> Iterator[Fault]:
    """Find a state other than zeros for a sequence that begins with an episode; a learned one is the same for all."""
    states = [part.unsqueeze(1) if case.is_unbatched else part for part in case.states]  # (L*D, B, H) each
    anew = case.begins[:, 0]
    held = torch.stack([(part != 0).any(2).any(0) for part in states]).any(0)  # (B,)
    learned = len(held) > 1 and all(bool((part == part[:, :1]).all()) for part in states)
    rows = (anew & held.to(anew.device)).nonzero()[:, 0].tolist()
    if rows and not learned:
        alone = len(held) == 1
        severity: Severity = "note" if alone else "silent"
        yield Fault("state_is_stale", None, rows, [0] * len(rows), severity=severity, says=["alone"] if alone else [])
