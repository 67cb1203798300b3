"""The records of the layers that run over rows."""

from dataclasses import dataclass

from torch import Tensor

from packviz.text import Brief


@dataclass(frozen=True, eq=False, repr=False)
class RowLayerOutput(Brief):
    """The output of one layer, (R, C, E), 0 at pads."""

    output: Tensor


@dataclass(frozen=True, eq=False, repr=False)
class AttentionLayer(RowLayerOutput):
    """What one layer of attention computed; d = E / heads.

    output             (R, C, E): weights @ value, the heads side by side; 0 at pads
    query, key, value  (R, heads, C, d); query and key as they enter the product, after rotation
    scores             (R, heads, C, C): query @ key / sqrt(d), before the mask
    weights            (R, heads, C, C): the softmax of each query's scores over the keys that it may read; 0 elsewhere
    """

    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    weights: Tensor
