"""Config: which cell is run, how large it is, and how the batch is padded and packed."""

from dataclasses import dataclass
from typing import Literal, get_args

from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.parsing.lines import Kind
from packviz.text import shown
from packviz.validate import choice, integer, number

Nonlinearity = Literal["tanh", "relu"]
PaddingSide = Literal["right", "left"]
InitialState = Literal["zeros", "random", "learned", "carried"]
DIRECTIONS = ("forward", "backward")  # of a layer, in torch's order: a direction is 0 or 1

_WORD_EMBEDDING_DIM = 4  # words are ids, which a cell cannot read without an embedding


@dataclass(frozen=True)
class Config:
    """The settings of one run, under PyTorch's own names.

    cell            "rnn", "gru" or "lstm"
    hidden_size     H, at least 1
    num_layers      L, 1 to 4
    bidirectional   D = 2 instead of 1
    bias            whether the cell has bias_ih and bias_hh
    nonlinearity    "tanh" or "relu", for the RNN; ignored by GRU and LSTM
    batch_first     whether padded values are (B, T, F) or (T, B, F)
    enforce_sorted  True: torch refuses lengths that are not sorted; False: torch sorts
    padding_value   what fills the padded grid, and the unpacked output; finite in float32
    padding_side    "right" or "left"
    total_length    width of the unpacked output, at least 1; None: the longest sequence
    initial_state   h_0 (and c_0): "zeros", "random", a "learned" parameter, or "carried" over from a previous batch:
                    h_n (and c_n) of this same batch, run once from zeros; row b continues where row b ended
    embedding_dim   E, at least 1; None: 4 for words, no embedding for numbers
    padding_idx     the id that pads, at least 0, whose embedding stays zero; only with an embedding
    seed            of the weights and of the initial state, 0 to 2**63 - 1

    Raises PackvizError for any other value.
    """

    cell: Cell = "gru"
    hidden_size: int = 4
    num_layers: int = 1
    bidirectional: bool = False
    bias: bool = True
    nonlinearity: Nonlinearity = "tanh"
    batch_first: bool = True
    enforce_sorted: bool = False
    padding_value: float = 0.0
    padding_side: PaddingSide = "right"
    total_length: int | None = None
    initial_state: InitialState = "zeros"
    embedding_dim: int | None = None
    padding_idx: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        given: dict[str, object] = vars(self)
        words = {"cell": Cell, "nonlinearity": Nonlinearity, "padding_side": PaddingSide, "initial_state": InitialState}
        choices = {name: get_args(one_of) for name, one_of in words.items()}
        choices |= dict.fromkeys(("bidirectional", "bias", "batch_first", "enforce_sorted"), (True, False))
        kept: dict[str, object] = {name: choice(name, given[name], among) for name, among in choices.items()}
        for name, least, most in (("hidden_size", 1, None), ("num_layers", 1, 4), ("seed", 0, 2**63 - 1)):
            kept[name] = integer(name, given[name], least, most)
        kept["padding_value"] = number("padding_value", self.padding_value) + 0.0  # -0.0 becomes 0.0, which it equals
        for name, least in (("total_length", 1), ("embedding_dim", 1), ("padding_idx", 0)):
            if given[name] is not None:
                kept[name] = integer(name, given[name], least, or_none=True)
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @property
    def pad_id(self) -> int:
        """Return the padding id of a batch of ids: padding_idx, or 0."""
        return self.padding_idx or 0

    def embedding_for(self, kind: Kind) -> int | None:
        """Return E for a batch of this kind, or None without an embedding.

        Raises PackvizError for an embedding of vectors, and for a padding_idx without an embedding.
        """
        if kind == "vectors" and self.embedding_dim is not None:
            expected = "None for feature vectors, which enter the cell as they are"
            fix = "leave embedding_dim out, or give sequences of words or integers"
            raise PackvizError("embedding_dim", expected=expected, got=shown(self.embedding_dim), fix=fix)
        embedding_dim = _WORD_EMBEDDING_DIM if kind == "words" and self.embedding_dim is None else self.embedding_dim
        if embedding_dim is None and self.padding_idx is not None:
            fix = "leave padding_idx out" + (", or set embedding_dim" if kind == "numbers" else "")
            expected = "None without an embedding"
            raise PackvizError("padding_idx", expected=expected, got=shown(self.padding_idx), fix=fix)
        return embedding_dim
