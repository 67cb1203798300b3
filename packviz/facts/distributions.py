"""How much of a batch is padding: ten distributions of lengths, and the share of padding in random batches.

Eight are drawn from named distributions with the parameters in their descriptions; they do not model any data set.
Two draw with replacement from real lengths: the lines of the Zen of Python, and nine recordings of vowels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import log
from types import MappingProxyType

import torch
from torch import Generator, Tensor

from packviz.compute.fill import checked_lengths
from packviz.facts.words import sentence
from packviz.inputs.batch import Batch
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["COUNT", "DISTRIBUTIONS", "Distribution", "padding_share", "padding_shares"]

COUNT = 1000  # lengths in each draw

Draw = Callable[[Generator], Tensor]


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Brief):
    """One distribution of lengths: its key, a title, its source, and how lengths are drawn from it."""

    key: str
    title: str
    description: str
    draw: Draw

    def lengths(self, seed: int = 0) -> Tensor:
        """Return (1000,) int64: lengths of at least 1, the same for the same seed."""
        generator = torch.Generator("cpu").manual_seed(seed)
        return self.draw(generator).round().clamp(min=1).to(torch.int64)


def padding_share(lengths: Sequence[int] | Tensor, batch_size: int = 32, seed: int = 0) -> tuple[float, float]:
    """Return the share of padding in random batches, each padded to its own longest sequence: 0.0 to 1.0.

    The first number is the mean over the batches, the second the share of all their cells together, in which a wide
    batch weighs more. lengths: any number of integers; seed: of the shuffle. The last batch may be smaller, as in a
    DataLoader. Raises PackvizError if there are no lengths, and for a length or a batch_size below 1.
    """
    known = torch.tensor(checked_lengths(lengths), dtype=torch.int64, device="cpu")
    seed = integer("seed", seed, 0, 2**63 - 1)
    batch_size = integer("batch_size", batch_size, 1, fix="choose 1 or more")
    generator = torch.Generator("cpu").manual_seed(seed)
    shuffled = known[torch.randperm(len(known), generator=generator, device="cpu")]
    counts = [(len(batch) * int(batch.max()), int(batch.sum())) for batch in torch.split(shuffled, batch_size)]
    cells, tokens = torch.tensor(counts, dtype=torch.float64, device="cpu").unbind(1)
    return float(((cells - tokens) / cells).mean()), float((cells - tokens).sum() / cells.sum())


@cache
def padding_shares() -> Mapping[str, float]:
    """Return the mean share of padding in batches of 32, for all ten distributions by title."""
    return MappingProxyType({each.title: padding_share(each.lengths())[0] for each in DISTRIBUTIONS})


def _empty() -> Tensor:
    return torch.empty(COUNT, dtype=torch.float64, device="cpu")


def _questions_and_documents(generator: Generator) -> Tensor:
    question = torch.poisson(_empty().fill_(12), generator)
    document = _empty().normal_(250, 40, generator=generator)
    return torch.where(_empty().uniform_(generator=generator) < 0.7, question, document)


def _with_replacement(key: str, generator: Generator) -> Tensor:
    """Draw from the lengths of a built-in batch."""
    lengths = Batch.example(key).lengths.double()
    return lengths[torch.randint(len(lengths), (COUNT,), generator=generator, device="cpu")]


_DRAWS: dict[str, Draw] = {
    "same": lambda _: _empty().fill_(20),
    "near": lambda generator: _empty().random_(45, 51, generator=generator),
    "uniform": lambda generator: _empty().random_(1, 101, generator=generator),
    "sentences": lambda generator: _empty().log_normal_(log(20), 0.6, generator=generator),
    "chat": lambda generator: _empty().geometric_(1 / 8, generator=generator),
    "bimodal": _questions_and_documents,
    "cut": lambda generator: _empty().log_normal_(log(300), 1, generator=generator).clamp(max=512),
    "outlier": lambda generator: (
        _empty().fill_(10).index_fill_(0, torch.randint(COUNT, (1,), generator=generator, device="cpu"), 1000)
    ),
    "zen": partial(_with_replacement, "zen"),
    "vowels": partial(_with_replacement, "vowels"),
}
DISTRIBUTIONS = tuple(
    Distribution(key, sentence(f"distribution.{key}"), sentence(f"distribution.{key}_drawn"), draw)
    for key, draw in _DRAWS.items()
)
