"""Config: which cell is run, how large it is, and how the batch is padded and packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from packviz.errors import PackvizError
from packviz.parsing.numbers import FLOAT32_END
from packviz.parsing.record import Kind
from packviz.visible import shown

__all__ = ["Cell", "Config", "InitialState", "Nonlinearity", "PaddingSide"]

Cell = Literal["rnn", "gru", "lstm"]
Nonlinearity = Literal["tanh", "relu"]
PaddingSide = Literal["right", "left"]
InitialState = Literal["zeros", "random", "learned", "carried"]

_WORD_EMBEDDING_DIM = 4  # words are ids: without an embedding there is nothing that a cell could read


@dataclass(frozen=True)
class Config:
    """Hold the settings of one run; PyTorch's names for PyTorch's settings.

    cell            "rnn", "gru" or "lstm"
    hidden_size     H, at least 1
    num_layers      L, 1 to 4
    bidirectional   D = 2 instead of 1
    bias            whether the cell has bias_ih and bias_hh
    nonlinearity    "tanh" or "relu"; of use to the RNN only, ignored by GRU and LSTM
    batch_first     whether padded values are (B, T, F) or (T, B, F)
    enforce_sorted  True: torch refuses lengths that are not sorted; False: torch sorts
    padding_value   what fills the padded grid, and the unpacked output; finite in float32
    padding_side    "right" or "left"
    total_length    width of the unpacked output, at least 1; None: the longest sequence
    initial_state   h_0 (and c_0): "zeros", "random", a "learned" parameter, or "carried" over from the batch before:
                    h_n (and c_n) of this same batch, run once from zeros; row b goes on where row b ended
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
        _check_choice("cell", self.cell, get_args(Cell))
        _check_choice("nonlinearity", self.nonlinearity, get_args(Nonlinearity))
        _check_choice("padding_side", self.padding_side, get_args(PaddingSide))
        _check_choice("initial_state", self.initial_state, get_args(InitialState))
        for name in ("bidirectional", "bias", "batch_first", "enforce_sorted"):
            _check_flag(name, getattr(self, name))
        _check_int("hidden_size", self.hidden_size, 1)
        _check_int("num_layers", self.num_layers, 1, 4)
        _check_int("seed", self.seed, 0, 2**63 - 1)
        for name, least in (("total_length", 1), ("embedding_dim", 1), ("padding_idx", 0)):
            if getattr(self, name) is not None:
                _check_int(name, getattr(self, name), least, or_none=True)
        object.__setattr__(self, "padding_value", _finite("padding_value", self.padding_value))

    def embedding_for(self, kind: Kind) -> int | None:
        """Return E for a batch of this kind, or None where there is no embedding.

        Raises PackvizError for an embedding of vectors, and for a padding_idx without an embedding.
        """
        if kind == "vectors" and self.embedding_dim is not None:
            raise PackvizError(
                "embedding_dim",
                expected="None for feature vectors, which enter the cell as they are",
                came=str(self.embedding_dim),
                mend="leave embedding_dim out, or give sequences of words or whole numbers",
            )
        embedding_dim = _WORD_EMBEDDING_DIM if kind == "words" and self.embedding_dim is None else self.embedding_dim
        if embedding_dim is None and self.padding_idx is not None:
            raise PackvizError(
                "padding_idx",
                expected="None where there is no embedding",
                came=str(self.padding_idx),
                mend="leave padding_idx out" + (", or set embedding_dim" if kind == "numbers" else ""),
            )
        return embedding_dim


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if not (isinstance(value, str) and value in choices):
        words = ", ".join(choices[:-1]) + " or " + choices[-1]
        raise PackvizError(name, expected=words, came=shown(value), mend=f"choose {words}")


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise PackvizError(name, expected="True or False", came=shown(value), mend="choose one of the two")


def _check_int(name: str, value: object, least: int, most: int | None = None, *, or_none: bool = False) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and isinstance(value, int) and least <= value and (most is None or value <= most):
        return
    reach = f"of at least {least}" if most is None else f"from {least} to {most}"
    expected = f"a whole number {reach}" + (", or None" if or_none else "")
    raise PackvizError(name, expected=expected, came=shown(value), mend="choose a number in that range")


def _finite(name: str, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < FLOAT32_END:  # False for nan
        return float(value)
    raise PackvizError(
        name,
        expected="a number that is finite in float32",
        came=shown(value),
        mend="choose a number such as 0.0 or -100.0",
    )
