"""Repairs of rollouts in which a state runs on from one episode into the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packviz.rules.repairs.program import program, turn

if TYPE_CHECKING:
    from packviz.rules.case import Case


def split_at_starts(case: Case, **_: Any) -> str:
    """Make a sequence of each episode; the first ones keep the states that are given."""
    whole = "[None]" if case.is_unbatched else turn(case)
    begins = f"begins = starts.bool(){whole}  # (B, T)"
    if case.starts is None:
        begins = f"begins = torch.nn.functional.pad(done.bool(){whole}[:, :-1], (1, 0))  # (B, T): after each end"
    return program(
        "import torch",
        "from torch.nn.utils.rnn import pad_sequence",
        "",
        begins,
        "" if case.lengths is not None else f"lengths = [{case.T}] * len(begins)",
        "episodes, first = [], []",
        f"for row, at, n in zip(x{whole}, begins, lengths):",
        "    first.append(len(episodes))",
        "    episodes += row[:n].tensor_split((1 + at[1:n].nonzero()[:, 0]).tolist())",
        f"x = pad_sequence(episodes, batch_first={bool(case.batch_first)})",
        "lengths = [len(episode) for episode in episodes]",
        "enforce_sorted = False",
        *([] if case.hx is None else _spread(case)),
        "starts = done = None  # each sequence is one episode now",
    )


def _spread(case: Case) -> list[str]:
    state = "state.unsqueeze(1)" if case.is_unbatched else "state"
    return [
        "",
        "def spread(state):  # the first episodes keep their states, the others start with zeros",
        "    fresh = state.new_zeros(state.size(0), len(episodes), state.size(-1))",
        f"    fresh[:, first] = {state}",
        "    return fresh",
        "",
        f"hx = {'tuple(map(spread, hx))' if len(case.states) > 1 else 'spread(hx)'}",
    ]


def reset_states(case: Case, **_: Any) -> str:
    """Set the states of the sequences that begin with an episode to zero."""
    begins = "starts[0]" if case.is_unbatched or not case.batch_first else "starts[:, 0]"
    filled = "{}.masked_fill(begins, 0.0)"
    several = f"tuple({filled.format('part')} for part in hx)"
    return program(
        f"begins = {begins}.bool()[..., None]  # (B, 1)",
        f"hx = {several if len(case.states) > 1 else filled.format('hx')}",
    )
