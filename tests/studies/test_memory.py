"""Three layouts of one batch: each cell named stands where torch's own tensor has it."""

import warnings

import pytest
import torch
from study_cases import SEEDS, made, refused, studied
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.trace import Trace
from packviz.errors import PackvizError
from packviz.facts.memory_layout import Layout, memory, sequence_error


def nested(seen: Trace) -> Tensor:
    rows = [row[own] for row, own in zip(seen.padded.grid, seen.padded.mask, strict=True)]
    return torch.nested.nested_tensor(rows, layout=torch.jagged)


def hold(seen: Trace, layout: Layout, rows: Tensor) -> None:
    """Check that rows (any number, F) hold the tokens that the layout names, and pads where it names none."""
    assert len(layout.cells) == len(rows)
    for cell, row in zip(layout.cells, rows, strict=True):
        if cell is not None:
            assert bool(seen.padded.mask[cell])
            assert torch.equal(row, seen.padded.grid[cell])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_padded_rows_lie_as_the_grid_does(seed: int) -> None:
    seen = studied(seed)
    layout = memory(seen).padded
    hold(seen, layout, seen.padded.values.contiguous().flatten(0, 1))
    B, T = seen.padded.mask.shape
    every = [(b, t) for b in range(B) for t in range(T)]
    if not seen.padded.batch_first:
        every = [(b, t) for t in range(T) for b in range(B)]
    assert list(layout.cells) == [cell if seen.padded.mask[cell] else None for cell in every]
    assert layout.bytes == seen.padded.values.numel() * seen.padded.values.element_size()
    assert layout.index_bytes == 8 * B


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed % 5 != 4])
def test_torchs_own_grid_of_a_batch_is_contiguous(seed: int) -> None:
    assert studied(seed).padded.values.is_contiguous()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_packed_rows_are_datas(seed: int) -> None:
    seen = studied(seed)
    layout = memory(seen).packed
    hold(seen, layout, seen.packed.data)
    assert sum(cell is None for cell in layout.cells) == int(seen.packed_is_pad.sum())
    fields = [part for part in seen.packed_sequence if part is not None]
    assert [layout.bytes, layout.index_bytes] == [
        fields[0].numel() * fields[0].element_size(),
        8 * sum(part.numel() for part in fields[1:]),
    ]


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed % 5 != 4])
def test_the_packed_order_is_that_of_packed_cell_numbers(seed: int) -> None:
    seen = studied(seed)
    assert seen.config is not None
    B, T = seen.padded.mask.shape
    numbers = torch.arange(B * T).view(B, T)
    packed = pack_padded_sequence(numbers, seen.padded.lengths, True, seen.config.enforce_sorted)
    cells = [divmod(number, T) for number in packed.data.tolist()]
    assert list(memory(seen).packed.cells) == [cell if seen.padded.mask[cell] else None for cell in cells]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_jagged_rows_are_the_nested_tensors(seed: int) -> None:
    seen = studied(seed)
    found, theirs = memory(seen), nested(seen)
    hold(seen, found.jagged, theirs.values())
    assert list(found.jagged.cells) == [(b, t) for b, t in seen.padded.mask.nonzero().tolist()]
    assert list(found.offsets) == theirs.offsets().tolist()  # type: ignore[attr-defined]
    assert found.jagged.bytes == theirs.values().numel() * theirs.values().element_size()
    assert found.jagged.index_bytes == 8 * len(found.offsets)


def test_packed_is_time_major_and_jagged_sequence_major() -> None:
    found = memory(made("1 2 3\n4 5"))
    assert found.packed.cells == ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2))
    assert found.jagged.cells == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))
    assert found.padded.cells == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), None)
    assert found.offsets == (0, 3, 5)
    assert [found.padded.bytes, found.packed.bytes, found.jagged.bytes] == [24, 20, 20]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_torch_says_of_a_nested_tensor_is_its_own_error(seed: int) -> None:
    seen = studied(seed)
    said, values = sequence_error(seen), nested(seen)
    module = {"LSTM": nn.LSTM, "GRU": nn.GRU}.get(seen.module.mode, nn.RNN)(
        values.size(2), 3, batch_first=True, dtype=values.dtype
    )
    with pytest.raises((RuntimeError, ValueError)) as raised:
        module(values)
    assert said == f"{raised.type.__name__}: {raised.value}"


def test_it_works_for_a_refused_batch_and_leaves_the_random_numbers() -> None:
    before = torch.get_rng_state()
    assert sequence_error(refused()) == "ValueError: Transpose is not supported on the batch dimension for jagged NT"
    assert torch.equal(torch.get_rng_state(), before)


def test_a_batch_that_torch_did_not_pack_has_no_packed_layout() -> None:
    with pytest.raises(PackvizError) as raised:
        memory(refused())
    assert raised.value.torch_says


def test_no_warning_comes_with_a_nested_tensor() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        memory(made())
        sequence_error(made())
    assert heard == []
