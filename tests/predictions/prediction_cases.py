"""Random traces, each known by its seed, and torch's own answers to every question about them."""

import re
from dataclasses import dataclass, replace
from functools import cache

import torch
from random_runs import random_run
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence
from trace_cases import random_case

from packviz.compute.trace import Trace, trace, trace_module
from packviz.inputs.batch import sequence_label
from packviz.teach.predictions import Answer, Prediction, Stage

SEEDS = seeds(20)
STAGES: tuple[Stage, ...] = ("pad", "embed", "sort", "pack", "run", "unpack")
FILLER = 777.0


@dataclass(frozen=True, eq=False)
class Asked:
    """A trace, and what it was made from: nothing here is read from the trace itself."""

    seen: Trace
    lengths: list[int]
    steps: int
    features: int
    batch_first: bool
    side: str
    enforce_sorted: bool
    total_length: int | None = None

    def padded(self) -> Tensor:
        rows = [torch.ones(length, self.features) for length in self.lengths]
        if max(self.lengths) < self.steps:
            rows[0] = torch.cat([rows[0], torch.zeros(self.steps - len(rows[0]), self.features)])
        return pad_sequence(rows, self.batch_first, 0.0, self.side)

    def packed(self) -> PackedSequence:
        """Pack a grid in which every cell holds its own number, b * T + t."""
        cells = torch.arange(len(self.lengths) * self.steps).view(len(self.lengths), self.steps)
        return pack_padded_sequence(cells, torch.tensor(self.lengths), True, self.enforce_sorted)

    def cells(self) -> list[tuple[int, int]]:
        return [divmod(cell, self.steps) for cell in self.packed().data.tolist()]

    def refused(self) -> bool:
        cells = torch.zeros(len(self.lengths), self.steps)
        try:
            pack_padded_sequence(cells, torch.tensor(self.lengths), True, enforce_sorted=True)
        except RuntimeError:
            return True
        return False

    def output(self) -> tuple[Tensor, Tensor]:
        """Run a GRU of our own over random numbers; return its unpacked output, batch first, and h_n."""
        torch.manual_seed(1)
        module = nn.GRU(1, 3, batch_first=True, bidirectional=self.seen.module.bidirectional)
        x = torch.randn(len(self.lengths), self.steps, 1)
        packed = pack_padded_sequence(x, torch.tensor(self.lengths), True, self.enforce_sorted)
        with torch.no_grad():
            output, h_n = module(packed)
        return pad_packed_sequence(output, True, FILLER, self.total_length)[0], h_n


@cache
def asked(seed: int) -> Asked:
    if seed % 4 == 3:
        case = random_case(seed)
        first, x, enforced = case.module.batch_first, case.x, case.enforce_sorted
        seen = trace_module(case.module, x, case.lengths, enforce_sorted=enforced, hx=case.hx)
        return Asked(seen, case.lengths, x.size(1 if first else 0), x.size(2), first, "right", enforced)
    run = random_run(seed)
    enforced = run.config.enforce_sorted or seed % 5 == 0  # which torch may refuse
    config = replace(run.config, enforce_sorted=enforced)
    features = (config.embedding_dim or 4) if run.embedded else len(run.rows[0][0]) if "vectors" in run.kind else 1
    settings = (config.batch_first, config.padding_side, enforced, config.total_length)
    return Asked(trace(run.batch, config), run.lengths, max(run.lengths), features, *settings)


def label(letters: str) -> int:
    return next(b for b in range(1000) if sequence_label(b) == letters)


def torch_answer(case: Asked, prediction: Prediction) -> Answer:
    """Ask torch itself what the prompt asks."""
    key, prompt = prediction.key, prediction.prompt
    if key in ("enforced", "promised"):
        return "It raises a RuntimeError." if case.refused() else "It packs the batch as it is."
    if key in ("padded_shape", "pad_count"):
        padded = case.padded()
        return tuple(padded.shape) if key == "padded_shape" else (int((padded[..., 0] == 0).sum()),)
    if key in ("sorted_row", "sorted_indices"):
        return of_the_sort(case, key, prompt)
    if key in ("batch_sizes", "batch_size", "packed_row", "packed_token"):
        return of_the_strip(case, key, prompt)
    if key in ("alive", "ended", "final_step"):
        return of_the_run(case, key, prompt)
    if key in ("fed_backward", "joins_backward", "final_backward"):
        return of_the_way_back(case, key, prompt)
    grid, h_n = case.output()
    if key == "unpacked_width":
        return (grid.size(1),)
    return of_the_last_column(grid, h_n, named(prompt), two_ways=case.seen.module.bidirectional)


def named(prompt: str) -> int:
    found = re.search(r"sequence ([A-Z]+)\b", prompt)
    assert found, prompt
    return label(found[1])


def number_in(pattern: str, prompt: str) -> int:
    found = re.search(pattern, prompt)
    assert found, prompt
    return int(found[1])


def of_the_sort(case: Asked, key: str, prompt: str) -> Answer:
    packed = case.packed()
    if key == "sorted_indices":
        return f"`{None}`" if packed.sorted_indices is None else tuple(packed.sorted_indices.tolist())
    b = named(prompt)
    return (b if packed.unsorted_indices is None else int(packed.unsorted_indices[b]),)


def of_the_strip(case: Asked, key: str, prompt: str) -> Answer:
    sizes = case.packed().batch_sizes
    if key == "batch_sizes":
        return tuple(sizes.tolist())
    if key == "batch_size":
        return (int(sizes[number_in(r"\[(\d+)\]", prompt)]),)
    if key == "packed_row":
        return (case.cells().index((named(prompt), number_in(r"time step (\d+)", prompt))),)
    return (sequence_label(case.cells()[number_in(r"row (\d+)", prompt)][0]),)


def of_the_run(case: Asked, key: str, prompt: str) -> Answer:
    packed = case.packed()
    if key == "final_step":
        return (int(pad_packed_sequence(packed)[1][named(prompt)]) - 1,)
    t = number_in(r"at t = (\d+)", prompt)
    groups = [{b for b, _ in case.cells()[rows]} for rows in slices(packed.batch_sizes.tolist())]
    live = groups[t] if key == "alive" else groups[t] - (groups[t + 1] if t + 1 < len(groups) else set())
    return tuple(sequence_label(b) for b in sorted(live))


def of_the_way_back(case: Asked, key: str, prompt: str) -> Answer:
    if key == "final_backward":
        grid, h_n = case.output()
        b = named(prompt)
        (t,) = [t for t in range(case.lengths[b]) if torch.equal(grid[b, t, 3:], h_n[1, b])]
        return (t,)
    t = number_in(r"at t = (\d+)", prompt)
    fed, joined = backward_influence(case)
    if key == "fed_backward":
        return tuple(sequence_label(b) for b in range(len(case.lengths)) if fed[b, t])
    began = joined[t] & ~joined[t + 1] if t + 1 < len(joined) else joined[t]
    return tuple(sequence_label(b) for b in range(len(case.lengths)) if began[b])


@cache
def backward_influence(case: Asked) -> tuple[Tensor, Tensor]:
    """Run a GRU of our own; return whether x (B, T) changes the backward h_n, and h_0 (B,) the output at t (T, B)."""
    torch.manual_seed(1)
    module = nn.GRU(1, 3, batch_first=True, bidirectional=True).double()
    x = torch.randn(len(case.lengths), case.steps, 1, dtype=torch.float64, requires_grad=True)
    h_0 = torch.randn(2, len(case.lengths), 3, dtype=torch.float64, requires_grad=True)
    output, h_n = module(pack_padded_sequence(x, torch.tensor(case.lengths), True, case.enforce_sorted), h_0)
    grid = pad_packed_sequence(output, True)[0]
    (by_x,) = torch.autograd.grad(h_n[1].sum(), x, retain_graph=True)
    by_h_0 = [torch.autograd.grad(grid[:, t, 3:].sum(), h_0, retain_graph=True)[0][1] for t in range(grid.size(1))]
    return by_x[..., 0] != 0, torch.stack([(each != 0).any(1) for each in by_h_0])


def slices(sizes: list[int]) -> list[slice]:
    return [slice(sum(sizes[:t]), sum(sizes[: t + 1])) for t in range(len(sizes))]


def of_the_last_column(grid: Tensor, h_n: Tensor, b: int, *, two_ways: bool) -> str:
    end = grid[b, -1]
    if bool((end == FILLER).all()):
        return "`padding_value`, a filler that no cell computed"
    if not two_ways:
        assert torch.equal(end, h_n[-1, b])
        return "its state after its last step"
    assert torch.equal(end[:3], h_n[0, b])
    if torch.equal(end[3:], h_n[1, b]):
        return "both directions' states after the whole sequence"
    return "the forward state after the whole sequence, but the backward state after one step only"
