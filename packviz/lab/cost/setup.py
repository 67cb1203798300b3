"""What is measured: a cell, its sizes and how it is run; and the two ways to run it on one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.compute.determinism import seeded
from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.config import Cell
from packviz.lab.cost.lengths import check_lengths
from packviz.validate import choice, integer

__all__ = ["MAX_BYTES", "MAX_WORK", "Rig", "Setup", "build_rig", "devices"]

MAX_WORK = 2 * 10**10  # multiplications and additions of one padded forward run: about a second on one core
MAX_BYTES = 10**9  # of a padded batch with all that its gates compute


@dataclass(frozen=True)
class Setup:
    """Hold what is run, and how. Raises PackvizError for sizes below 1 and for a device that is not there.

    cell       "rnn", "gru" or "lstm", with F features, H hidden units and num_layers layers in one or two directions
    backward   whether the gradients of all weights are computed, too
    onednn     whether torch may hand work to oneDNN, as it does by default; of no meaning on a GPU
    threads    of torch's CPU work; None leaves them as they are
    device     "cpu" or "cuda"
    seed       of the weights and of the input
    """

    cell: Cell
    features: int
    hidden_size: int
    num_layers: int = 1
    bidirectional: bool = False
    backward: bool = False
    onednn: bool = True
    threads: int | None = None
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        choice("cell", self.cell, get_args(Cell))
        for name in ("features", "hidden_size", "num_layers"):
            integer(name, getattr(self, name), 1, mend="choose 1 or more")
        if self.threads is not None:
            integer("threads", self.threads, 1, mend="choose 1 or more")
        choice("device", self.device, devices(), where=" here")

    @property
    def name(self) -> str:
        """Return the cell as PyTorch writes it: "LSTM"."""
        return self.cell.upper()

    def work(self, cells: int) -> int:
        """Return the multiplications and additions of `cells` cell updates in every layer and direction.

        2·G·H·(F + H) a row, with G = 1, 3, 4 for RNN, GRU, LSTM; the layers above read D·H features.
        """
        G, H, D = CELL_KINDS[self.cell].G, self.hidden_size, 2 if self.bidirectional else 1
        above = (self.num_layers - 1) * (D * H + H)
        return 2 * G * H * D * (self.features + H + above) * cells

    def nbytes(self, cells: int) -> int:
        """Return the float32 bytes of the input and of what all gates of all layers compute for `cells` cells."""
        D = 2 if self.bidirectional else 1
        return 4 * cells * (self.features + CELL_KINDS[self.cell].G * self.hidden_size * D * self.num_layers)


@dataclass(frozen=True, eq=False)
class Rig:
    """Hold one module and one batch, and what is timed on them: the same weights and the same input on both sides.

    padded   module(x): (B, T, D*H), pads and all
    packed   pack, module, unpack: (B, T, D*H)
    alone    the module on the sequence that is packed already: (N, D*H)

    Each returns what it computed: (output,), and with backward the gradients of all weights after it. The gradient of
    the output is one at every valid cell and zero at the pads, as a masked sum as loss would give.
    """

    module: nn.RNNBase
    padded: Callable[[], tuple[Tensor, ...]]
    packed: Callable[[], tuple[Tensor, ...]]
    alone: Callable[[], tuple[Tensor, ...]]


def build_rig(setup: Setup, lengths: Tensor | Sequence[int]) -> Rig:
    """Build the module and draw the input (B, T, F) from the seed. Raises PackvizError for what is too much to run."""
    known = torch.tensor(check_lengths(lengths), dtype=torch.int64, device="cpu")
    B, T = len(known), int(known.max())
    _check_amount(setup, B * T)
    with seeded(setup.seed):
        sizes = (setup.features, setup.hidden_size, setup.num_layers)
        module = CELL_KINDS[setup.cell].build(*sizes, batch_first=True, bidirectional=setup.bidirectional)
        x = torch.randn(B, T, setup.features, device="cpu")
    mask = (torch.arange(T, device="cpu") < known[:, None]).unsqueeze(-1)  # (B, T, 1)
    x, mask, module = (x * mask).to(setup.device), mask.to(setup.device), module.to(setup.device)
    packed = pack_padded_sequence(x, known, batch_first=True, enforce_sorted=False)
    weights = tuple(module.parameters())

    def finish(output: Tensor, valid: Tensor | None) -> tuple[Tensor, ...]:
        if not setup.backward:
            return (output,)
        ones = torch.ones_like(output) if valid is None else valid.to(output.dtype).expand_as(output)
        return (output, *torch.autograd.grad(output, weights, ones))

    def packed_way() -> tuple[Tensor, ...]:
        output, _ = module(pack_padded_sequence(x, known, batch_first=True, enforce_sorted=False))
        return finish(pad_packed_sequence(output, batch_first=True)[0], mask)

    return Rig(
        module,
        padded=lambda: finish(module(x)[0], mask),
        packed=packed_way,
        alone=lambda: finish(module(packed)[0].data, None),
    )


def devices() -> tuple[str, ...]:
    """Return the devices on which this machine can measure: "cpu", and "cuda" where there is one."""
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def _check_amount(setup: Setup, cells: int) -> None:
    work, nbytes = setup.work(cells), setup.nbytes(cells)
    if work > MAX_WORK or nbytes > MAX_BYTES:
        raise PackvizError(
            "hidden_size",
            expected=f"at most {MAX_WORK / 1e9:g} GFLOPs per run, and {MAX_BYTES / 1e9:g} GB",
            came=f"{work / 1e9:,.1f} GFLOPs, and {nbytes / 1e9:,.2f} GB",
            mend="choose a smaller hidden_size, fewer sequences or shorter ones",
        )
