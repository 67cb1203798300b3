"""What is measured: a cell, its sizes and how it runs; the two ways to run it on a batch; and a plan of many."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, get_args

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.compute.determinism import with_onednn
from packviz.compute.record import Refusal, Trace
from packviz.compute.weights import drawn, generator_of
from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import CELL_KINDS, Cell
from packviz.inputs.module import directions, state_size
from packviz.inputs.tensors import valid_mask
from packviz.lab.cost.counting import check_lengths, draw_lengths, reachable
from packviz.validate import choice, integer

__all__ = ["Planned", "Setup", "Work", "devices", "plan_sweep", "setups_of", "switches", "works"]

Work = Callable[[], object]
Planned = tuple["Setup", tuple[int, ...]]  # how a batch runs, and its lengths

FILLS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
MAX_SETTINGS = 1000
MAX_BYTES = 10**9  # of a padded batch including everything that its gates compute
MAX_WORK = 2 * 10**10  # multiplications and additions of one padded forward run: about a second on one core
QUICK_WORK = MAX_WORK // 10  # the same, for a point of a sweep


@dataclass(frozen=True)
class Setup:
    """What runs, and how.

    Raises PackvizError for sizes below 1, an invalid seed, and a device that this machine lacks.
    """

    cell: Cell  # "rnn", "gru" or "lstm", with F features, H hidden units and num_layers layers in one or two directions
    features: int
    hidden_size: int
    num_layers: int = 1
    bidirectional: bool = False
    backward: bool = False  # whether the gradients of all weights are also computed
    onednn: bool = True  # whether torch may use oneDNN, as it does by default; no effect on a GPU
    threads: int | None = None  # of torch's CPU work; None leaves them as they are
    device: str = "cpu"  # "cpu" or "cuda"
    seed: int = 0  # of the weights and of the input, 0 to 2**63 - 1

    def __post_init__(self) -> None:
        choice("cell", self.cell, get_args(Cell))
        sizes = ("features", "hidden_size", "num_layers", *([] if self.threads is None else ["threads"]))
        kept = {name: integer(name, getattr(self, name), 1, fix="choose 1 or more") for name in sizes}
        kept["seed"] = integer("seed", self.seed, 0, 2**63 - 1)
        for name, value in kept.items():
            object.__setattr__(self, name, value)
        choice("device", self.device, devices(), where=" here")

    @property
    def name(self) -> str:
        """Return the cell's name in PyTorch: "LSTM"."""
        return self.cell.upper()

    @property
    def passes(self) -> str:
        """Return the passes of a run: "forward", or "forward + backward"."""
        return "forward + backward" if self.backward else "forward"

    @property
    def description(self) -> str:
        """Describe the setup: "LSTM forward + backward, oneDNN off"."""
        where = f", on {self.device.upper()}" if self.device != "cpu" else "" if self.onednn else ", oneDNN off"
        return f"{self.name} {self.passes}{where}"

    def check_amount(self, cells: int, most: int = MAX_WORK, parameter: str = "hidden_size") -> None:
        """Raise PackvizError if one run of `cells` cells would take more than `most` operations, or 1 GB."""
        kind, F, H, L = CELL_KINDS[self.cell], self.features, self.hidden_size, self.num_layers
        D = 1 + self.bidirectional
        work = 2 * cells * kind.weights(F, H, L, D)  # a multiplication and an addition for every weight
        nbytes = 4 * cells * (F + kind.G * H * D * L)  # float32: the input, and what all gates compute
        if work > most or nbytes > MAX_BYTES:
            expected = f"at most {most / 1e9:g} GFLOPs and {MAX_BYTES / 1e9:g} GB per run"
            got = f"{work / 1e9:,.1f} GFLOPs and {nbytes / 1e9:,.2f} GB ({self.name}, {cells:,} cells)"
            fix = "choose a smaller hidden_size, fewer sequences or shorter ones"
            raise PackvizError(parameter, expected=expected, got=got, fix=fix)


def works(setup: Setup, lengths: Tensor | Sequence[int]) -> dict[str, Callable[[], tuple[Tensor, ...]]]:
    """Return what is timed: "padded", module(x), and "packed", which packs, runs the module and unpacks.

    Both have the same weights and the same input (B, T, F), drawn from the seed, and return the output (B, T, D*H);
    with backward also the gradients of all weights. The gradient of the output is one at every valid cell and zero at
    the pads, as in a masked sum. They wait for the device. Raises PackvizError if a run would exceed the limits.
    """
    known = check_lengths(lengths)
    B, T = len(known), int(known.max())
    setup.check_amount(B * T)
    sizes, generator = (setup.features, setup.hidden_size, setup.num_layers), generator_of(setup.seed)
    build, settings = CELL_KINDS[setup.cell].build, {"batch_first": True, "bidirectional": setup.bidirectional}
    module = drawn(build, *sizes, **settings, generator=generator)
    x = torch.randn(B, T, setup.features, device="cpu", generator=generator)
    ones = valid_mask(known, T).unsqueeze(-1).to(x)  # (B, T, 1)
    x, ones, module = (x * ones).to(setup.device), ones.to(setup.device), module.to(setup.device)
    weights = tuple(module.parameters())

    def finish(output: Tensor) -> tuple[Tensor, ...]:
        gradients = torch.autograd.grad(output, weights, ones.expand_as(output)) if setup.backward else ()
        if setup.device == "cuda":
            torch.cuda.synchronize()
        return output, *gradients

    def packed() -> tuple[Tensor, ...]:
        output, _ = module(pack_padded_sequence(x, known, batch_first=True, enforce_sorted=False))
        return finish(pad_packed_sequence(output, batch_first=True)[0])

    return {"padded": lambda: finish(module(x)[0]), "packed": packed}


@contextmanager
def switches(setup: Setup) -> Iterator[None]:
    """Apply the setup's oneDNN and thread settings, locked for the duration.

    Both belong to the whole process, and a trace turns oneDNN off while it runs. Waiting for the lock is not timed. It
    is held for one run only, so that others wait for milliseconds.
    """
    with with_onednn(setup.onednn), torch.set_grad_enabled(setup.backward), torch.autocast(setup.device, enabled=False):
        threads = torch.get_num_threads()
        torch.set_num_threads(setup.threads or threads)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def devices() -> tuple[str, ...]:
    """Return the devices on which this machine can measure: "cpu", and "cuda" if available."""
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def setups_of(trace: Trace | Refusal) -> tuple[Setup, ...]:
    """Return every way to measure the sizes of a trace's module: all cells and devices, with and without backward."""
    module = trace.module
    shape = (trace.padded.values.size(2), state_size(module), module.num_layers, directions(module) == 2)
    return tuple(
        Setup(cell, *shape, backward=backward, onednn=onednn, device=device)
        for device in devices()
        for cell in get_args(Cell)
        for backward in (False, True)
        for onednn in ((True, False) if device == "cpu" else (True,))
    )


def plan_sweep(
    cells: Sequence[Cell] = ("lstm",),
    fills: Sequence[float] = FILLS,
    batch_sizes: Sequence[int] = (8, 16, 32, 64),
    steps: Sequence[int] = (50,),
    hidden_sizes: Sequence[int] = (64,),
    *,
    features: int = 32,
    **how: Any,
) -> list[Planned]:
    """Return every possible combination: a small batch with one long sequence cannot be nearly empty.

    The lengths are drawn from the setup's seed. fills: shares above 0.0 and up to 1.0; how: other fields of Setup.
    Raises PackvizError for invalid sizes and shares, for more than 1,000 combinations, and for one that would take too
    long.
    """
    if (many := len(cells) * len(fills) * len(batch_sizes) * len(steps) * len(hidden_sizes)) > MAX_SETTINGS:
        expected, fix = f"at most {MAX_SETTINGS:,} combinations", "choose fewer values"
        raise PackvizError("sweep", expected=expected, got=f"{many:,}", fix=fix)
    planned: list[Planned] = []
    for cell, H, T, B, fill in product(cells, hidden_sizes, steps, batch_sizes, fills):
        setup = Setup(cell, features, H, **how)
        if reachable(B, T, fill):
            setup.check_amount(B * T, QUICK_WORK, "sweep")
            planned.append((setup, tuple(draw_lengths(B, T, fill, setup.seed).tolist())))
    return planned
