"""RowConfig: how sequences are put into rows for a transformer, and which layer runs over the rows."""

from dataclasses import dataclass
from typing import Literal, get_args

from packviz.errors import PackvizError
from packviz.validate import choice, integer

Strategy = Literal["wrapped", "next_fit", "first_fit", "ffd", "bfd", "bfd_split"]
RowLayer = Literal["attention", "rnn", "gru", "lstm", "conv"]
Positions = Literal["learned", "rope", "none"]
ShiftLabels = Literal["document", "row"]
DType = Literal["float32", "float64"]

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

_WORDS = {
    "strategy": Strategy,
    "layer": RowLayer,
    "positions": Positions,
    "shift_labels": ShiftLabels,
    "dtype": DType,
}


@dataclass(frozen=True)
class RowConfig:
    """The settings of a run over rows.

    max_length       C, the cells of a row, at least 1; None: one row, as long as all sequences together
    strategy         how rows are filled: see fill_rows
    layer            what runs over a row: "attention", an "rnn", "gru" or "lstm", or a depthwise causal "conv"
    num_layers       L, at least 1
    num_heads        for attention; divides embedding_dim
    embedding_dim    E, at least 1: the width of everything between the layers
    kernel_size      for the convolution, at least 1
    positions        for attention: a "learned" embedding, rotary ("rope", which needs an even embedding_dim /
                     num_heads), or "none"; the other layers know the order without it
    reset_positions  whether positions start again at 0 in each document
    isolate          whether documents are kept apart: attention by a block mask, the recurrent layers by a
                     PackedSequence, the convolution by a cut at each border
    causal           whether attention reads no later token; the other layers never do
    shift_labels     the label of a token is the next one in its "document" or in the "row"
    dtype            "float32" or "float64"
    seed             of the weights, 0 to 2**63 - 1

    Raises PackvizError for any other value.
    """

    max_length: int | None = None
    strategy: Strategy = "bfd"
    layer: RowLayer = "attention"
    num_layers: int = 1
    num_heads: int = 2
    embedding_dim: int = 8
    kernel_size: int = 4
    positions: Positions = "learned"
    reset_positions: bool = True
    isolate: bool = True
    causal: bool = True
    shift_labels: ShiftLabels = "document"
    dtype: DType = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        given: dict[str, object] = vars(self)
        choices = {name: get_args(one_of) for name, one_of in _WORDS.items()}
        choices |= dict.fromkeys(("reset_positions", "isolate", "causal"), (True, False))
        kept: dict[str, object] = {name: choice(name, given[name], among) for name, among in choices.items()}
        for name in ("num_layers", "num_heads", "embedding_dim", "kernel_size"):
            kept[name] = integer(name, given[name], 1)
        kept["seed"] = integer("seed", self.seed, 0, 2**63 - 1)
        if self.max_length is not None:
            kept["max_length"] = integer("max_length", self.max_length, 1, or_none=True)
        for name, value in kept.items():
            object.__setattr__(self, name, value)
        if self.layer == "attention":
            self._check_heads()

    @property
    def head_dim(self) -> int:
        """Return d, the width of one head."""
        return self.embedding_dim // self.num_heads

    def _check_heads(self) -> None:
        E, heads = self.embedding_dim, self.num_heads
        if E % heads:
            expected, got = f"a divisor of embedding_dim = {E}", str(heads)
            raise PackvizError("num_heads", expected=expected, got=got, fix=f"choose a number that divides {E}")
        if self.positions == "rope" and self.head_dim % 2:
            expected = 'an even embedding_dim / num_heads with positions="rope", which rotates pairs of numbers'
            got = f"{E} / {heads} = {self.head_dim}"
            raise PackvizError("embedding_dim", expected=expected, got=got, fix="choose another embedding_dim")
