"""Every setting has an effect: another value of it gives another result in some run.

The fields and their values are read from the classes of the settings, so a new one is tested without being listed here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any, get_type_hints

import pytest
import torch
from random_runs import random_run, values
from row_cases import random_rows
from torch import Tensor

from packviz.compute.runs import RUN_KINDS
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.row_config import RowConfig

DRAWN: Mapping[str, Callable[[int], Any]] = {"packing": random_run, "rows": random_rows}  # a random run by its seed
RARE: Mapping[str, list[tuple[Batch, Any]]] = {
    "rows": [(Batch.parse("1\n1 2 3\n1 2 3\n1 2 3 4 5"), RowConfig(max_length=7))]
}  # ffd and bfd seldom differ
SETTINGS = [(kind, field.name) for kind, run in RUN_KINDS.items() for field in fields(run.config)]
each_setting = pytest.mark.parametrize(("kind", "name"), SETTINGS)


@cache
def runs(kind: str) -> list[tuple[Batch, Any]]:
    """Return random batches of at most ten sequences, each with random settings."""
    drawn = [DRAWN[kind](seed) for seed in range(60)]
    return [(run.batch, run.config) for run in drawn if len(run.batch.sequences) <= 10] + RARE.get(kind, [])


def tensors(found: Any) -> Iterator[Tensor]:
    """Yield the tensors of a record, but nothing that it was given: a copy of a setting is no effect."""
    if isinstance(found, Tensor):
        yield found
    elif isinstance(found, tuple | list):
        for each in found:
            yield from tensors(each)
    elif isinstance(found, Mapping):
        yield from tensors([*found.values()])
    elif is_dataclass(found) and not isinstance(found, Batch):
        yield from tensors([getattr(found, field.name) for field in fields(found)])


def result(kind: str, batch: Batch, config: Any) -> list[Tensor]:
    """Return what a run computes, in the order of its record."""
    made = RUN_KINDS[kind].record(batch, config)
    return [*tensors(made), *tensors(getattr(made, "unpacked", None))]


def differ(one: list[Tensor], other: list[Tensor]) -> bool:
    """Return whether two results differ in a number, a shape or a dtype."""
    if [(each.shape, each.dtype) for each in one] != [(each.shape, each.dtype) for each in other]:
        return True
    return not all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(one, other, strict=True))


@each_setting
def test_every_value_of_a_setting_has_an_effect(kind: str, name: str) -> None:
    hint = get_type_hints(RUN_KINDS[kind].config)[name]
    without = list(combinations(values(hint), 2))
    assert without
    for batch, config in runs(kind):
        made: dict[object, list[Tensor]] = {}
        for value in {value for pair in without for value in pair}:
            try:
                made[value] = result(kind, batch, replace(config, **{name: value}))
            except PackvizError:  # this batch, or another setting, does not allow it
                continue
        without = [(a, b) for a, b in without if not (a in made and b in made and differ(made[a], made[b]))]
        if not without:
            return
    assert without == []


@each_setting
def test_the_random_runs_draw_every_setting(kind: str, name: str) -> None:
    assert len({getattr(config, name) for _, config in runs(kind)}) > 1
