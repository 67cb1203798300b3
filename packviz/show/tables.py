"""The records as tables: one function a stage, Trace -> pandas.DataFrame, one row a cell of the picture."""

import pandas as pd
import torch
from torch import Tensor

from packviz.compute.trace import Trace
from packviz.text import sequence_label

__all__ = ["packed_table", "padded_table", "run_table", "sorted_table", "unpacked_table"]


def padded_table(trace: Trace) -> pd.DataFrame:
    """Return the padded grid: sequence, time step, token, padding, and the value (or vector) that enters the cell."""
    batch_size, steps = trace.padded.mask.shape
    sequence, timestep = _every_cell(batch_size, steps)
    return pd.DataFrame(
        {
            "sequence": _labels(sequence),
            "time step": timestep.tolist(),
            "token": [_token(trace, b, t) for b, t in zip(sequence.tolist(), timestep.tolist(), strict=True)],
            "padding": (~trace.padded.mask).flatten().tolist(),
            **_columns("value", trace.padded.grid.flatten(0, 1)),
        }
    )


def sorted_table(trace: Trace) -> pd.DataFrame:
    """Return the sorted rows: sequence, its length, sorted_indices and unsorted_indices as torch returned them."""
    order = trace.sorted.order
    indices = (trace.sorted.sorted_indices, trace.sorted.unsorted_indices)
    shown = [[None] * len(order) if column is None else column.tolist() for column in indices]
    return pd.DataFrame(
        {
            "sorted row": range(len(order)),
            "sequence": _labels(order),
            "length": trace.padded.lengths[order].tolist(),
            "sorted_indices": shown[0],
            "unsorted_indices": shown[1],
        }
    )


def packed_table(trace: Trace) -> pd.DataFrame:
    """Return `data`, row for row: packed row, sequence, time step, token, padding (packed by mistake), value."""
    return pd.DataFrame({**_packed_rows(trace), **_columns("value", trace.packed.data)})


def run_table(trace: Trace, layer: int | None = None, direction: int = 0) -> pd.DataFrame:
    """Return one layer and direction of the run, row for row in packed order: h, then c and the gates.

    layer       0 to L - 1; None: the top one, whose h is the output
    direction   0 forward, 1 backward
    """
    seen = trace.layers[-1 if layer is None else layer][direction]
    numbers = {"h": seen.h, **({} if seen.c is None else {"c": seen.c}), **seen.gates}
    columns = [_columns(name, values, indexed=True) for name, values in numbers.items()]
    return pd.DataFrame(
        {**_packed_rows(trace), **{name: column for group in columns for name, column in group.items()}}
    )


def unpacked_table(trace: Trace) -> pd.DataFrame:
    """Return the unpacked grid: sequence, time step, padding, whose final state stands there, and the output."""
    output = trace.unpacked.output if trace.padded.batch_first else trace.unpacked.output.transpose(0, 1)
    batch_size, steps = output.shape[:2]
    sequence, timestep = _every_cell(batch_size, steps)
    lengths = trace.unpacked.lengths[sequence]
    two_ways = len(trace.layers[-1]) == 2
    cells = zip(timestep.tolist(), lengths.tolist(), strict=True)
    return pd.DataFrame(
        {
            "sequence": _labels(sequence),
            "time step": timestep.tolist(),
            "padding": (timestep >= lengths).tolist(),
            "final state": [_final(t, length, two_ways=two_ways) for t, length in cells],
            **_columns("output", output.flatten(0, 1), indexed=True),
        }
    )


def _packed_rows(trace: Trace) -> dict[str, object]:
    sequence, timestep = trace.packed.sequence.tolist(), trace.packed.timestep.tolist()
    cells = list(zip(sequence, timestep, strict=True))
    return {
        "packed row": range(len(cells)),
        "sequence": [sequence_label(b) for b in sequence],
        "time step": timestep,
        "token": [_token(trace, b, t) for b, t in cells],
        "padding": [not bool(trace.padded.mask[b, t]) for b, t in cells],
    }


def _every_cell(batch_size: int, steps: int) -> tuple[Tensor, Tensor]:
    """Return the sequence and the time step of every cell of a grid, row by row: two of (B * T,)."""
    return torch.arange(batch_size).repeat_interleave(steps), torch.arange(steps).repeat(batch_size)


def _labels(sequence: Tensor) -> list[str]:
    return [sequence_label(b) for b in sequence.tolist()]


def _token(trace: Trace, b: int, t: int) -> str:
    """Return what was typed for the cell, "" for a pad and for vectors."""
    texts = trace.batch.texts[b] if trace.batch is not None else ()
    if not texts or not trace.padded.mask[b, t]:
        return ""
    first = int(trace.padded.mask[b].int().argmax())  # 0 unless the padding stands on the left
    return texts[t - first]


def _final(t: int, length: int, *, two_ways: bool) -> str:
    """Return which direction's state at step t has seen the whole sequence: "", "forward", "backward" or both."""
    names = (["forward"] if t == length - 1 else []) + (["backward"] if two_ways and t == 0 else [])
    return " and ".join(names)


def _columns(name: str, values: Tensor, *, indexed: bool = False) -> dict[str, object]:
    """Return one column for each feature: `value`, or `value[0]`, `value[1]`, ... where there are several."""
    array = values.detach().numpy()
    if array.shape[1] == 1 and not indexed:
        return {name: array[:, 0]}
    return {f"{name}[{column}]": array[:, column] for column in range(array.shape[1])}
