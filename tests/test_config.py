from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from packviz.errors import PackvizError
from packviz.inputs.config import Config


def test_a_config_is_frozen_and_equal_ones_have_one_hash() -> None:
    assert len({Config(), Config(seed=0), Config(padding_value=0), Config(seed=1)}) == 2
    with pytest.raises(FrozenInstanceError):
        Config().seed = 1  # type: ignore[misc]


def test_a_whole_padding_value_is_kept_as_a_float() -> None:
    assert isinstance(Config(padding_value=-100).padding_value, float)


WRONG: dict[str, tuple[object, ...]] = {
    "cell": ("elman", "GRU", None, ["gru"]),
    "hidden_size": (0, True, 4.0, "4", None),
    "num_layers": (0, 5),
    "bidirectional": (1,),
    "bias": (None,),
    "batch_first": ("yes",),
    "enforce_sorted": (0,),
    "nonlinearity": ("sigmoid",),
    # 3.4028235e38 rounds to float32's largest number, and torch refuses it
    "padding_value": (float("nan"), float("inf"), 1e39, 3.4028235e38, 10**400, True, "0"),
    "padding_side": ("both",),
    "total_length": (0, 2.0),
    "initial_state": ("ones",),
    "embedding_dim": (0,),
    "padding_idx": (-1,),
    "seed": (-1, 2**63),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_value_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(PackvizError) as caught:
        Config(**{name: value})
    assert caught.value.parameter == name
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_layers", 4), ("seed", 2**63 - 1), ("total_length", 1), ("embedding_dim", 1), ("padding_idx", 0)],
)
def test_the_ends_of_each_range_belong_to_it(name: str, value: int) -> None:
    assert getattr(Config(**{name: value}), name) == value  # type: ignore[arg-type]


def test_the_message_offers_the_choices_and_says_what_came() -> None:
    with pytest.raises(PackvizError, match="cell: expected rnn, gru or lstm, but got 'elman'"):
        Config(cell="elman")  # type: ignore[arg-type]
    with pytest.raises(PackvizError, match="a number of 5001 digits"):
        Config(seed=10**5000)
