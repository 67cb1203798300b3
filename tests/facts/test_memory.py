"""Three layouts of one batch: each cell named stands where torch's own tensor has it."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.trace import Trace
from packviz.facts import Layout, memory


def nested(seen: Trace) -> Any:
    rows = [row[own] for row, own in zip(seen.padded.grid, seen.padded.mask, strict=True)]
    return torch.nested.nested_tensor(rows, layout=torch.jagged)


def test_each_row_of_a_layout_is_where_torchs_own_tensor_has_it(seen: Trace) -> None:
    found, padded, packed, theirs = memory(seen), seen.padded, seen.packed_sequence, nested(seen)
    numbers = torch.arange(padded.mask.numel()).view_as(padded.mask)  # of the cells, row by row of the grid
    in_order = numbers if padded.batch_first else numbers.t()
    as_data = pack_padded_sequence(numbers, padded.lengths, True, packed.sorted_indices is None)  # packed the same way
    layouts: list[tuple[Layout, Tensor, Tensor, tuple[Tensor | None, ...]]] = [  # torch's rows, cells and own indices
        (found.padded, padded.values.contiguous().flatten(0, 1), in_order.flatten(), (padded.lengths,)),
        (found.packed, packed.data, as_data.data, packed[1:]),
        (found.jagged, theirs.values(), numbers[padded.mask], (theirs.offsets(),)),
    ]
    for layout, rows, cells, beside in layouts:
        assert layout.bytes == rows.nbytes
        assert layout.index_bytes == sum(part.nbytes for part in beside if part is not None)
        of_cells, real = padded.grid.flatten(0, 1)[cells], padded.mask.flatten()[cells]
        assert torch.equal(layout.real, real)
        assert torch.equal(rows[real], of_cells[real])
        b, t = layout.grid_cells.T
        assert torch.equal((b * padded.mask.size(1) + t)[real], cells[real])
    assert list(found.offsets) == theirs.offsets().tolist()
    assert seen.config is None or padded.values.is_contiguous()
