"""Random traces, each known by its seed, and torch's own answers to every question about them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import torch
from random_runs import random_run
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence
from trace_cases import random_case

from packviz.compute.trace import Traced, trace, trace_module
from packviz.inputs.config import Config
from packviz.teach.predictions import Answer, Prediction
from packviz.text import sequence_label

SEEDS = seeds(20)
FILLER = 777.0


@dataclass(frozen=True, eq=False)
class Asked:
    """A trace, and what it was made from: nothing here is read from the trace itself."""

    seen: Traced
    config: Config
    lengths: list[int]
    T: int  # columns of the padded grid
    features: int = 1

    def padded(self) -> Tensor:
        rows = [torch.ones(length, self.features) for length in self.lengths]
        if max(self.lengths) < self.T:
            rows[0] = nn.functional.pad(rows[0], (0, 0, 0, self.T - len(rows[0])))
        return pad_sequence(rows, self.config.batch_first, 0.0, self.config.padding_side)

    def pack(self, grid: Tensor, enforce_sorted: bool | None = None) -> PackedSequence:
        """Pack a grid (B, T) or (B, T, F) as the trace was packed, or as told."""
        told = self.config.enforce_sorted if enforce_sorted is None else enforce_sorted
        return pack_padded_sequence(grid, torch.tensor(self.lengths), True, told)

    def packed(self) -> PackedSequence:
        """Pack a grid in which every cell holds its own number, b * T + t."""
        return self.pack(torch.arange(len(self.lengths) * self.T).view(-1, self.T))

    def cells(self) -> list[tuple[int, int]]:
        return [divmod(cell, self.T) for cell in self.packed().data.tolist()]

    def refused(self) -> bool:
        try:
            self.pack(torch.zeros(len(self.lengths), self.T), enforce_sorted=True)
        except RuntimeError:
            return True
        return False

    def output(self) -> tuple[Tensor, Tensor]:
        """Run a GRU of our own over random numbers; return its unpacked output, batch first, and h_n."""
        torch.manual_seed(1)
        module = nn.GRU(1, 3, batch_first=True, bidirectional=self.seen.module.bidirectional)
        with torch.no_grad():
            output, h_n = module(self.pack(torch.randn(len(self.lengths), self.T, 1)))
        return pad_packed_sequence(output, True, FILLER, self.config.total_length)[0], h_n


@cache
def asked(seed: int) -> Asked:
    if seed % 4 == 3:
        case = random_case(seed)
        config = Config(batch_first=case.module.batch_first, enforce_sorted=case.enforce_sorted)
        seen = trace_module(case.module, case.x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx)
        return Asked(seen, config, case.lengths, case.x.size(int(config.batch_first)), case.x.size(2))
    run = random_run(seed)
    config = replace(run.config, enforce_sorted=run.config.enforce_sorted or seed % 5 == 0)  # which torch may refuse
    first = run.batch.sequences[0]
    features = (config.embedding_dim or 4) if run.embedded else first.size(1) if first.dim() == 2 else 1
    return Asked(trace(run.batch, config), config, run.lengths, max(run.lengths), features)


def label(letters: str) -> int:
    return next(b for b in range(1000) if sequence_label(b) == letters)


def torch_answer(case: Asked, prediction: Prediction) -> Answer:
    """Ask torch itself what the prompt asks."""
    key = prediction.key
    if key in ("enforced", "promised"):
        return "It raises a RuntimeError." if case.refused() else "It packs the batch as it is."
    if key in ("padded_shape", "pad_count"):
        padded = case.padded()
        return tuple(padded.shape) if key == "padded_shape" else (int((padded[..., 0] == 0).sum()),)
    letters = re.search(r"sequence ([A-Z]+)\b", prediction.prompt)
    b, t = label(letters[1]) if letters else -1, number_in(prediction.prompt)
    if key in ("alive", "ended", "fed_backward", "joins_backward"):
        return of_the_run(case, key, t)
    if key in ("live_going_back", "pad_gradient"):
        return of_the_way_back(case, key, b, t)
    if key in ("unpacked_width", "last_column", "final_backward"):
        return of_the_output(case, key, b)
    packed = case.packed()
    order, rank = packed.sorted_indices, packed.unsorted_indices
    answers: dict[str, Callable[[], Answer]] = {
        "sorted_indices": lambda: "`None`" if order is None else tuple(order.tolist()),
        "sorted_row": lambda: (b if rank is None else int(rank[b]),),
        "batch_sizes": lambda: tuple(packed.batch_sizes.tolist()),
        "batch_size": lambda: (int(packed.batch_sizes[t]),),
        "packed_row": lambda: (case.cells().index((b, t)),),
        "packed_token": lambda: (sequence_label(case.cells()[t][0]),),
        "final_step": lambda: (int(pad_packed_sequence(packed)[1][b]) - 1,),
        "gradient_enters": lambda: (gradient_enters(packed, b),),
    }
    return answers[key]()


def gradient_enters(packed: PackedSequence, b: int) -> int:
    """Return the last time step of a sequence whose input changes the sum of the final states of an RNN."""
    data = torch.ones(len(packed.data), 1, requires_grad=True)
    module = torch.nn.RNN(1, 1)
    for weight in module.parameters():
        torch.nn.init.constant_(weight, 0.1)
    torch.autograd.backward(module(packed._replace(data=data))[1].sum())
    assert data.grad is not None
    grid, _ = pad_packed_sequence(packed._replace(data=data.grad), batch_first=True)
    return int(grid[b, :, 0].nonzero().max())


def of_the_way_back(case: Asked, key: str, b: int, t: int) -> Answer:
    """Return the sequences with a gradient at a time step, or what the gradient is in one cell of the grid."""
    x = torch.ones(len(case.lengths), case.T, 1, requires_grad=True)
    module = torch.nn.RNN(1, 1)
    for weight in module.parameters():
        torch.nn.init.constant_(weight, 0.1)
    torch.autograd.backward(module(case.pack(x))[1].sum())
    assert x.grad is not None
    if key == "live_going_back":
        return tuple(map(sequence_label, x.grad[:, t, 0].nonzero().flatten().tolist()))
    cell = case.seen.module.mode.split("_")[0]
    return f"what the {cell} passes back to its row of `data`" if x.grad[b, t, 0] else "0"


def number_in(prompt: str) -> int:
    """Return the time step, or else the row, that a prompt names; -1 if it names none."""
    found = re.search(r"(?:t = |time step |row |\[)(\d+)", prompt)
    return int(found[1]) if found else -1


def of_the_run(case: Asked, key: str, t: int) -> Answer:
    """Return the sequences that are live at a time step, or those that are live there and no more at the next."""
    if key.endswith("_backward"):
        live = backward_influence(case)[key]
    else:
        live = torch.zeros(len(case.lengths), case.T, dtype=torch.bool)
        live[tuple(zip(*case.cells(), strict=True))] = True
    live = nn.functional.pad(live, (0, 1))  # nobody is, after the last time step
    asked = live[:, t] if key in ("alive", "fed_backward") else live[:, t] & ~live[:, t + 1]
    return tuple(map(sequence_label, asked.nonzero().flatten().tolist()))


@cache
def backward_influence(case: Asked) -> dict[str, Tensor]:
    """Run a GRU of our own; return whether x changes the backward h_n, and h_0 the output at t, (B, T) each."""
    torch.manual_seed(1)
    module = nn.GRU(1, 3, batch_first=True, bidirectional=True).double()
    x = torch.randn(len(case.lengths), case.T, 1, dtype=torch.float64, requires_grad=True)
    h_0 = torch.randn(2, len(case.lengths), 3, dtype=torch.float64, requires_grad=True)
    output, h_n = module(case.pack(x), h_0)
    grid = pad_packed_sequence(output, True)[0]
    (by_x,) = torch.autograd.grad(h_n[1].sum(), x, retain_graph=True)
    by_h_0 = [torch.autograd.grad(grid[:, t, 3:].sum(), h_0, retain_graph=True)[0][1] for t in range(grid.size(1))]
    return {"fed_backward": by_x[..., 0] != 0, "joins_backward": torch.stack([(h != 0).any(1) for h in by_h_0], 1)}


def of_the_output(case: Asked, key: str, b: int) -> Answer:
    grid, h_n = case.output()
    if key == "unpacked_width":
        return (grid.size(1),)
    if key == "final_backward":
        return tuple(t for t in range(case.lengths[b]) if torch.equal(grid[b, t, 3:], h_n[1, b]))
    end, whole = grid[b, -1], h_n[:, b].flatten()
    if bool((end == FILLER).all()):
        return "`padding_value`, which was not computed"
    assert torch.equal(end[:3], whole[:3])
    if len(whole) == 3:
        return "its final state"
    if torch.equal(end, whole):
        return "the final states of both directions"
    return "forward: its final state; backward: the state after one step"
