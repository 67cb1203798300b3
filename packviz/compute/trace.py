"""trace() and trace_module(): the whole run, computed once; only this module knows the order of the stages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.draw import draw
from packviz.compute.record import Refusal, Start, Trace, Traced
from packviz.compute.recurrence import run_layers
from packviz.compute.stages import Padded, locate, pad, read_padded
from packviz.compute.verify import prove
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.inputs.module import states_of, unknown_hooks, weight_dtype
from packviz.inputs.tensors import frozen_copy
from packviz.rules import raise_first
from packviz.rules.case import Case
from packviz.rules.module import check_module, check_total_length, state_of
from packviz.rules.preconditions import check_kind, check_padding_value
from packviz.text import counted, listed, quoted, visible

__all__ = ["Refusal", "Trace", "Traced", "record", "trace", "trace_module"]

State = tuple[Tensor, Tensor | None]


def trace(batch: Batch, config: Config | None = None) -> Traced:
    """Pad, pack, run and unpack a batch, and check every number against torch's own run.

    If torch refuses the lengths because enforce_sorted is True, the result is a Refusal: it ends with the padded
    grid and torch's message in ``error``. Raises PackvizError for settings that do not fit the batch. torch's random
    state is left unchanged.
    """
    config = Config() if config is None else config
    check_kind("batch", batch, Batch, 'read one with Batch.parse("1 2 3\\n4 5") or Batch.from_tensors')
    check_kind("config", config, Config, 'make one with Config(cell="gru", hidden_size=4)')
    with exact_arithmetic():
        drawn = draw(batch, config)
        table = None if drawn.embedding is None else drawn.embedding.weight.detach()
        padded = pad(
            [sequence.to("cpu", drawn.h_0.dtype if table is None else torch.int64) for sequence in batch.sequences],
            batch_first=config.batch_first,
            padding_value=config.padding_value if table is None else config.pad_id,
            padding_side=config.padding_side,
            embedding=table,
        )
        total_length = check_total_length(config.total_length, drawn.module, padded.lengths)
        start = Start(batch, config, drawn.module, padded, config.padding_value, total_length, texts=batch.texts)
        return _run(start, (drawn.h_0, drawn.c_0), enforce_sorted=config.enforce_sorted)


def trace_module(
    module: nn.RNNBase,
    x: Tensor | PackedSequence,
    lengths: Tensor | Sequence[int] | None = None,
    *,
    enforce_sorted: bool = False,
    hx: Tensor | tuple[Tensor, Tensor] | None = None,
    padding_value: float = 0.0,
    total_length: int | None = None,
    texts: Sequence[Sequence[str]] | None = None,
) -> Traced:
    """Run a module of your own over a padded x and its lengths, or over a PackedSequence, and record every step.

    module         an nn.RNN, nn.GRU or nn.LSTM on the CPU; it is run in eval mode and not modified;
                   the trace keeps a copy of its weights, so later optimizer steps do not affect it
    x              (B, T, F) or (T, B, F) according to the module's batch_first, or a PackedSequence with data (N, F)
    lengths        B integers from 1 to T; only with a padded x
    enforce_sorted as in pack_padded_sequence; ignored for a PackedSequence, which is already sorted
    hx             h_0 (L*D, B, H), for the LSTM (h_0, c_0), in the order of x; None for zeros
    padding_value, total_length   as in pad_packed_sequence, for the unpacked output
    texts          names for your tokens in pictures: for each sequence, the same number of tokens as its length

    Raises PackvizError if torch would refuse, go wrong silently, or crash. One refusal is recorded instead: for
    unsorted lengths with enforce_sorted=True, the result is a Refusal, with torch's message in ``error``.
    """
    notes = []  # how this run differs from a call of the module here and now
    if autocast := torch.is_autocast_enabled("cpu"):
        notes.append("autocast is on here; this run is computed without it, in the dtype of the weights")
    if isinstance(module, nn.Module) and (hooks := unknown_hooks(module)):
        notes.append(f"{counted(hooks, 'forward hook')} of the module: not called in this run")
    with exact_arithmetic():
        plain = check_module(module)
        dtype = weight_dtype(plain)
        if autocast:
            x = _in_full_precision(x, dtype)
        packed = x if isinstance(x, PackedSequence) else None
        grid = x if packed is None else None
        given: dict[str, Any] = {"x": grid, "packed": packed, "lengths": lengths, "hx": hx}
        case = Case(**given, module=plain, batch_first=plain.batch_first, enforce_sorted=enforce_sorted, traced=True)
        padded, packed = _read(case)
        filler = check_padding_value(padding_value, dtype)
        total_length = check_total_length(total_length, plain, padded.lengths)
        start = Start(None, None, plain, padded, filler, total_length, tuple(notes), _texts(texts, padded))
        return _run(start, state_of(case, len(padded.lengths)), packed, enforce_sorted=enforce_sorted)


def _run(start: Start, state: State, given: PackedSequence | None = None, *, enforce_sorted: bool) -> Trace | Refusal:
    """Pack unless the input came packed, run the layers, and prove the record; or record that torch refuses to pack."""
    padded = start.padded
    try:
        packed = given or pack_padded_sequence(padded.values, padded.lengths, padded.batch_first, enforce_sorted)
    except RuntimeError as refusal:
        if not enforce_sorted:
            raise
        return Refusal(**vars(start), error=str(refusal))
    if start.config is not None and start.config.initial_state == "carried":
        state = states_of(start.module(packed)[1])
    done = record(start, packed, state)
    return replace(done, notes=done.notes + _notes(done), distances=tuple(prove(done).items()))


def record(start: Start, packed: PackedSequence, state: State) -> Trace:
    """Run every layer over a packed sequence from h_0 and c_0: a trace without its notes and its proof."""
    rows, (h_0, c_0) = locate(packed), state
    layers = run_layers(start.module, rows, h_0, c_0)
    return Trace(**vars(start), packed=rows, h_0=h_0, c_0=c_0, layers=layers, distances=())


def _read(case: Case) -> tuple[Padded, PackedSequence | None]:
    """Return the grid of a padded x and its lengths, or of a PackedSequence, and a copy of the latter.

    Raises PackvizError for anything that torch would refuse, accept by mistake, or crash on.
    """
    raise_first(case)
    if case.packed is not None:
        copied = PackedSequence(*(None if field is None else frozen_copy(field) for field in case.packed))  # type: ignore[arg-type]
        return read_padded(*pad_packed_sequence(copied, case.batch_first), batch_first=case.batch_first), copied
    lengths = torch.tensor(case.valid_lengths, device="cpu")
    return read_padded(frozen_copy(case.data), lengths, batch_first=case.batch_first), None


def _texts(texts: Sequence[Sequence[str]] | None, padded: Padded) -> tuple[tuple[str, ...], ...]:
    if texts is None:
        return ()
    lengths: list[int] = padded.lengths.tolist()
    rows = [row for row in texts if isinstance(row, list | tuple)] if isinstance(texts, list | tuple) else []
    if [len(row) for row in rows] != lengths or not all(isinstance(text, str) for row in rows for text in row):
        expected = f"for each sequence a list of as many strings as its length: {listed(lengths)}"
        fix = "give the tokens without their padding"
        raise PackvizError("texts", expected=expected, got=quoted(str(texts), 60)[1:-1], fix=fix)
    return tuple(tuple(visible(text) for text in row) for row in rows)


def _in_full_precision(x: Tensor | PackedSequence, dtype: torch.dtype) -> Tensor | PackedSequence:
    """Convert a half-precision x, which autocast would accept, to the dtype of the weights."""
    data = x.data if isinstance(x, PackedSequence) else x
    if not isinstance(data, Tensor) or data.dtype not in (torch.bfloat16, torch.float16):
        return x
    return x._replace(data=data.to(dtype)) if isinstance(x, PackedSequence) else x.to(dtype)


def _notes(done: Trace) -> tuple[str, ...]:
    """Return remarks on a run: what was left out, and what was packed by mistake."""
    notes = []
    module, longest, T = done.module, int(done.padded.lengths.max()), done.padded.mask.size(1)
    if module.dropout > 0 and module.num_layers > 1:
        notes.append(f"dropout {module.dropout:g} between layers is switched off, as in evaluation")
    if longest < T:
        notes.append(f"x has {T} time steps, the longest length is {longest}: the columns after it are not packed")
    if pads := int(done.packed_is_pad.sum()):
        notes.append(f"packing this batch keeps {counted(pads, 'pad')} and drops {counted(pads, 'token')}")
    return tuple(notes)
