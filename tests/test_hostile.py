"""Whatever is typed, set or handed over as a module: a result comes, or a PackvizError."""

import random
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest
from hostile_cases import ANY, FLOATS, OTHER, SMALL, odd_call
from seeds import raw_errors, seeds

import packviz as pv


def configured(draw: random.Random) -> object:
    words = {"cell": ("rnn", "gru", "lstm"), "nonlinearity": ("tanh", "relu"), "padding_side": ("right", "left")}
    words["initial_state"] = ("zeros", "random", "learned", "carried")
    values: dict[str, Any] = {}
    for name in get_type_hints(pv.Config):
        if draw.random() < 0.3:
            values[name] = draw.choice(words.get(name, SMALL if draw.random() < 0.5 else FLOATS))
        elif draw.random() < 0.05:
            values[name] = draw.choice(ANY)
    config = pv.Config(**values)
    batch = pv.Batch.parse(
        draw.choice(("1 2 3\n4 5\n6", "a b\nc", "1", "[[[1, 2], [3, 4]], [[5, 6]]]", "0 -1 1e38\n7"))
    )
    return pv.trace(batch, config), hash(config)


def traced(draw: random.Random) -> object:
    given, options = odd_call(draw), dict[str, Any]()
    odd = {"padding_value": ANY, "total_length": (*ANY, given.T), "enforce_sorted": (True, False, None, "x")}
    for name, values in odd.items():
        if draw.random() < 0.3:
            options[name] = draw.choice(values)
    module = draw.choice(OTHER) if draw.random() < 0.05 else given.module
    return pv.trace_module(module, given.x, given.lengths, hx=given.hx, **options)


@pytest.mark.parametrize(("attempt", "tries"), [(configured, 150), (traced, 200)])
def test_whatever_is_given_there_is_a_result_or_a_refusal(
    attempt: Callable[[random.Random], object], tries: int
) -> None:
    assert raw_errors(seeds(tries), attempt) == {}
