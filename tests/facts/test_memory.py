"""Three layouts of one batch: each cell named stands where torch's own tensor has it."""

import warnings
from typing import Any

import pytest
import torch
from facts_cases import made, refused
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.trace import Trace
from packviz.facts import Layout, memory, sequence_error


def nested(seen: Trace) -> Any:
    rows = [row[own] for row, own in zip(seen.padded.grid, seen.padded.mask, strict=True)]
    return torch.nested.nested_tensor(rows, layout=torch.jagged)


def cells_of(layout: Layout) -> list[tuple[int, int] | None]:
    """Return (b, t) of the padded grid for each row, None for a pad."""
    rows = zip(layout.grid_cells.tolist(), layout.real.tolist(), strict=True)
    return [(b, t) if real else None for (b, t), real in rows]


def hold(seen: Trace, layout: Layout, rows: Tensor) -> None:
    """Check that rows (any number, F) hold the tokens that the layout names, and take as many bytes as it says."""
    assert layout.bytes == rows.numel() * rows.element_size()
    for cell, row in zip(cells_of(layout), rows, strict=True):
        if cell is not None:
            assert bool(seen.padded.mask[cell])
            assert torch.equal(row, seen.padded.grid[cell])


def test_the_padded_rows_lie_as_the_grid_does(seen: Trace) -> None:
    layout = memory(seen).padded
    hold(seen, layout, seen.padded.values.contiguous().flatten(0, 1))
    B, T = seen.padded.mask.shape
    every = [(b, t) for b in range(B) for t in range(T)]
    if not seen.padded.batch_first:
        every = [(b, t) for t in range(T) for b in range(B)]
    assert cells_of(layout) == [cell if seen.padded.mask[cell] else None for cell in every]
    assert layout.index_bytes == 8 * B
    assert seen.config is None or seen.padded.values.is_contiguous()


def test_the_packed_rows_are_datas(seen: Trace) -> None:
    layout, packed = memory(seen).packed, seen.packed_sequence
    hold(seen, layout, packed.data)
    assert layout.index_bytes == 8 * sum(part.numel() for part in packed[1:] if part is not None)
    if seen.config is not None:  # a grid of cell numbers is packed the same way
        B, T = seen.padded.mask.shape
        numbers = torch.arange(B * T).view(B, T)
        packed = pack_padded_sequence(numbers, seen.padded.lengths, True, seen.config.enforce_sorted)
        cells = [divmod(number, T) for number in packed.data.tolist()]
        assert cells_of(layout) == [cell if seen.padded.mask[cell] else None for cell in cells]


def test_the_jagged_rows_are_the_nested_tensors(seen: Trace) -> None:
    found, theirs = memory(seen), nested(seen)
    hold(seen, found.jagged, theirs.values())
    assert cells_of(found.jagged) == [(b, t) for b, t in seen.padded.mask.nonzero().tolist()]
    assert list(found.offsets) == theirs.offsets().tolist()
    assert found.jagged.index_bytes == 8 * len(found.offsets)


def test_what_torch_says_of_a_nested_tensor_is_its_own_error(seen: Trace) -> None:
    values = nested(seen)
    module = {"LSTM": nn.LSTM, "GRU": nn.GRU}.get(seen.module.mode, nn.RNN)(
        values.size(2), 3, batch_first=True, dtype=values.dtype
    )
    with pytest.raises((RuntimeError, ValueError)) as raised:
        module(values)
    assert sequence_error(seen) == f"{raised.type.__name__}: {raised.value}"


def test_a_refused_batch_is_asked_about_too_without_a_warning_or_a_random_number() -> None:
    before = torch.get_rng_state()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        memory(made())
        said = sequence_error(refused())
    assert said == "ValueError: Transpose is not supported on the batch dimension for jagged NT"
    assert heard == []
    assert torch.equal(torch.get_rng_state(), before)
