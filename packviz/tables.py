"""The records as tables: one function per stage, record -> pandas.DataFrame, one row per cell of the picture."""

from collections.abc import Iterable
from itertools import product

from torch import Tensor
from torch.nn.utils.rnn import pack_sequence

from packviz.compute.record import Refusal, Trace, watched_layer
from packviz.compute.row_record import RowsTrace
from packviz.errors import extra
from packviz.inputs.packed_rows import origins
from packviz.text import sequence_label

with extra("charts"):
    import pandas as pd

__all__ = ["order_table", "packed_table", "padded_table", "rows_table", "run_table", "sorted_table", "unpacked_table"]


def padded_table(trace: Trace | Refusal) -> pd.DataFrame:
    """Return the padded grid: sequence, time step, token, padding, and the value (or vector) that enters the cell."""
    B, T = trace.padded.mask.shape
    return pd.DataFrame(
        {**_tokens(trace, product(range(B), range(T))), **_columns("value", trace.padded.grid.flatten(0, 1))}
    )


def sorted_table(trace: Trace) -> pd.DataFrame:
    """Return the sorted rows: sequence, its length, sorted_indices and unsorted_indices as torch returned them."""
    order = trace.sorted.order.tolist()
    indices = {name: getattr(trace.sorted, name) for name in ("sorted_indices", "unsorted_indices")}
    return pd.DataFrame(
        {
            "sorted row": range(len(order)),
            "sequence": map(sequence_label, order),
            "length": trace.sorted.lengths.tolist(),
            **{name: [None] * len(order) if column is None else column.tolist() for name, column in indices.items()},
        }
    )


def packed_table(trace: Trace) -> pd.DataFrame:
    """Return `data`, row by row: packed row, sequence, time step, token, padding (packed by mistake), value."""
    return pd.DataFrame({**_packed_rows(trace), **_columns("value", trace.packed.data)})


def run_table(trace: Trace, layer: int | None = None, direction: int = 0) -> pd.DataFrame:
    """Return one layer and direction of the run, row by row in packed order: h, then c and the gates.

    layer       0 to L - 1; None: the top one, whose h is the output
    direction   0 forward, 1 backward

    Raises PackvizError for a layer or direction that the trace does not have.
    """
    layer, direction = watched_layer(trace, layer, direction)
    seen = trace.layers[layer][direction]
    table = _packed_rows(trace)
    for name, values in {"h": seen.h, **({} if seen.c is None else {"c": seen.c}), **seen.gates}.items():
        table |= _columns(name, values, indexed=True)
    return pd.DataFrame(table)


def unpacked_table(trace: Trace) -> pd.DataFrame:
    """Return the unpacked grid: sequence, time step, padding, which direction's final state it holds, output."""
    output = trace.unpacked.output if trace.padded.batch_first else trace.unpacked.output.transpose(0, 1)
    cells, lengths = list(product(*map(range, output.shape[:2]))), trace.unpacked.lengths.tolist()
    two_ways = len(trace.layers[-1]) == 2
    final = [["forward"] * (t == lengths[b] - 1) + ["backward"] * (two_ways and t == 0) for b, t in cells]
    return pd.DataFrame(
        {
            "sequence": [sequence_label(b) for b, _ in cells],
            "time step": [t for _, t in cells],
            "padding": [t >= lengths[b] for b, t in cells],
            "final state": list(map(" and ".join, final)),
            **_columns("output", output.flatten(0, 1), indexed=True),
        }
    )


def order_table(run: RowsTrace) -> pd.DataFrame:
    """Return the tokens one sequence after another: place in one row of all, sequence, time step, token, packed row."""
    b, t = origins(pack_sequence(list(run.batch.sequences), enforce_sorted=False))
    packed = sorted(zip(b.tolist(), t.tolist(), range(len(b)), strict=True))
    return pd.DataFrame(
        {
            "place in the row": range(len(packed)),
            "sequence": [sequence_label(b) for b, _, _ in packed],
            "time step": [t for _, t, _ in packed],
            "token": [_text(run, b, t) for b, t, _ in packed],
            "packed row": [n for _, _, n in packed],
        }
    )


def rows_table(run: RowsTrace) -> pd.DataFrame:
    """Return the cells of the rows: row, cell, sequence, time step, token, padding, the integers of the row.

    A pad belongs to no sequence, "", and its time step is -1.
    """
    R, C = run.document_ids.shape
    cells = [cell for row in run.rows.cells for cell in (*row, *[(-1, -1)] * (C - len(row)))]
    names = ("input_ids", "position_ids", "document_ids", "labels")
    return pd.DataFrame(
        {
            "row": [row for row in range(R) for _ in range(C)],
            "cell": [*range(C)] * R,
            "sequence": [sequence_label(b) if b >= 0 else "" for b, _ in cells],
            "time step": [t for _, t in cells],
            "token": [_text(run, b, t) if b >= 0 else "" for b, t in cells],
            "padding": [b < 0 for b, _ in cells],
            **{name: getattr(run, name).flatten().tolist() for name in names},
        }
    )


def _text(run: RowsTrace, b: int, t: int) -> str:
    return run.batch.texts[b][t] if run.batch.texts[b] else ""


def _packed_rows(trace: Trace) -> dict[str, object]:
    return {"packed row": range(len(trace.packed.data)), **_tokens(trace, trace.packed.origins)}


def _tokens(trace: Trace | Refusal, places: Iterable[tuple[int, int]]) -> dict[str, object]:
    """Return columns for cells (b, t) of the padded grid; the token is the text as typed, "" for pads and vectors."""
    cells, mask, texts = list(places), trace.padded.mask.tolist(), trace.texts
    starts = trace.padded.mask.int().argmax(1).tolist()  # 0 unless padded on the left
    return {
        "sequence": [sequence_label(b) for b, _ in cells],
        "time step": [t for _, t in cells],
        "token": [texts[b][t - starts[b]] if texts and texts[b] and mask[b][t] else "" for b, t in cells],
        "padding": [not mask[b][t] for b, t in cells],
    }


def _columns(name: str, values: Tensor, *, indexed: bool = False) -> dict[str, object]:
    """Return one column for each feature: `value`, or `value[0]`, `value[1]`, ... if there are several."""
    array = values.detach().numpy()
    if array.shape[1] == 1 and not indexed:
        return {name: array[:, 0]}
    return {f"{name}[{column}]": array[:, column] for column in range(array.shape[1])}
