"""A rollout of a recurrent policy is a row of episodes: ways to run it, beside a loop that resets the state."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, unpack_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.row_record import RowsTrace
from packviz.compute.rows import rerun
from packviz.facts.row_leaks import fullest, rounding_of

__all__ = ["WAYS", "Way", "episodes"]

_SPLIT = "episodes = x.tensor_split(starts.nonzero()[1:, 0])\npacked = pack_sequence(episodes, enforce_sorted=False)\n"
WAYS = {
    "loop": """out, h = [], torch.zeros(1, gru.hidden_size, dtype=x.dtype)
for n in range(len(x)):
    y, h = gru(x[n : n + 1], h * ~starts[n])  # (1, H)
    out.append(y)
out = torch.cat(out)""",
    "packed": f"{_SPLIT}out = torch.cat(unpack_sequence(gru(packed)[0]))",
    "whole": "out, _ = gru(x)",
    "stale": f"""{_SPLIT}_, h_0 = gru(x)  # the state that the last rollout left
h_0 = h_0.expand(len(episodes), -1)[None].contiguous()
out = torch.cat(unpack_sequence(gru(packed, h_0)[0]))""",
    "last": f"""{_SPLIT}grid, lengths = pad_packed_sequence(gru(packed)[0], batch_first=True)
out = grid[:, -1]  # as the final states""",
}  # of x (N, F) and starts (N,) bool, to out (N, H), or for "last" (episodes, H)


@dataclass(frozen=True, eq=False)
class Way:
    """One way to run a rollout of N steps.

    key, code    of WAYS
    out          (N, H), or the final states, (episodes, H)
    difference   the largest difference from the loop with resets
    wrong        the sequences whose episodes differ from it by more than rounding
    """

    key: str
    code: str
    out: Tensor
    difference: float
    wrong: tuple[int, ...]


def episodes(run: RowsTrace) -> tuple[Way, ...]:
    """Return each way to run a GRU over the row that a movie shows, as episodes of one rollout, the loop first."""
    rollout = rerun(run, fullest(run), layer="gru", num_layers=1, isolate=True)
    (pieces,), n = rollout.rows.rows, rollout.rows.tokens
    owner, found = rollout.document_ids[0, :n], list[Way]()
    starts = torch.diff(owner, prepend=torch.tensor([-1], device="cpu")) != 0
    x = rollout.model.embed(rollout.inputs[:, :n])[0].detach()
    names = {rollout.config.layer: rollout.model.layers[0], "x": x, "starts": starts}
    names |= {"torch": torch, "pack_sequence": pack_sequence, "unpack_sequence": unpack_sequence}
    names |= {"pad_packed_sequence": pad_packed_sequence}
    for key, code in WAYS.items():
        with exact_arithmetic(), torch.device("cpu"):
            exec(code, names)  # our own lines, never a user's
        out = names["out"]
        assert isinstance(out, Tensor)
        loop = found[0].out if found else out
        ends = torch.cat([starts[1:], starts[:1]])
        apart = (out - (loop[ends] if key == "last" else loop)).abs().amax(-1).double()
        of = torch.arange(len(apart), device="cpu") if key == "last" else owner
        wrong = sorted({pieces[d][0] for d in of[apart > rounding_of(run.config.dtype, loop)].tolist()})
        found.append(Way(key, code, out, float(apart.max()), tuple(wrong)))
    return tuple(found)
