"""trace() and trace_module(): the whole run, computed once; the only place that knows the order of the stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.draw import build_parts, carried_state
from packviz.compute.packing import ask_torch, locate
from packviz.compute.padded_input import pad_batch, read_input
from packviz.compute.padding import Padded
from packviz.compute.record import Forward, Run, Trace
from packviz.compute.recurrence import Direction, Schedule, run_direction, schedule
from packviz.compute.sorting import read_order
from packviz.compute.unpacking import unpack
from packviz.compute.verify import prove
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.inputs.module import directions, read_weights, state_size, unknown_hooks, weight_dtype
from packviz.rules import check_kind, check_module, check_padding_value, check_total_length, order_refusal, state_of
from packviz.rules.case import Case

__all__ = ["Run", "Trace", "trace", "trace_module"]

State = tuple[Tensor, Tensor | None]


def trace(batch: Batch, config: Config | None = None) -> Trace:
    """Pad, pack, run and unpack a batch, and prove every number against torch's own run.

    Where torch refuses the lengths because enforce_sorted is True, the record ends after the padded grid and says so
    in ``error``. Raises PackvizError for settings that do not fit the batch. The state of torch's random numbers is
    left as it was.
    """
    config = Config() if config is None else config
    check_kind("batch", batch, Batch, 'read one with Batch.parse("1 2 3\\n4 5") or Batch.from_tensors')
    check_kind("config", config, Config, 'make one with Config(cell="gru", hidden_size=4)')
    with exact_arithmetic():
        parts = build_parts(batch, config)
        padded = pad_batch(batch, config, parts)
        start = Trace(
            batch,
            config,
            parts.module.eval(),
            padded,
            padding_value=config.padding_value,
            total_length=_total_length(config.total_length, parts.module, padded),
        )
        return _finish(start, (parts.h_0, parts.c_0), None, enforce_sorted=config.enforce_sorted)


def trace_module(
    module: nn.RNNBase,
    x: Tensor | PackedSequence,
    lengths: Tensor | Sequence[int] | None = None,
    *,
    enforce_sorted: bool = False,
    hx: Tensor | tuple[Tensor, Tensor] | None = None,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> Trace:
    """Run a module of your own over a padded x and its lengths, or over a PackedSequence, and record every step.

    module         an nn.RNN, nn.GRU or nn.LSTM on the CPU; it is run as in evaluation, and nothing about it is changed;
                   the trace keeps a copy of its weights, so that later optimizer steps do not reach it
    x              (B, T, F) or (T, B, F) as the module's batch_first says, or a PackedSequence with data (N, F)
    lengths        B whole numbers from 1 to T; only with a padded x
    enforce_sorted as in pack_padded_sequence; of no meaning for a PackedSequence, which is sorted already
    hx             h_0 (L*D, B, H), for the LSTM (h_0, c_0), in the order of x; None for zeros
    padding_value, total_length   as in pad_packed_sequence, for the unpacked output

    Raises PackvizError where torch would refuse, go wrong silently, or crash. The one refusal that is recorded instead
    is that of lengths that are not sorted, with enforce_sorted=True: see ``Trace.error``.
    """
    notes = _notes_before(module)
    autocast = torch.is_autocast_enabled("cpu")
    with exact_arithmetic():
        plain = check_module(module)
        if autocast:
            x = _in_full_precision(x, weight_dtype(plain))
        packed = x if isinstance(x, PackedSequence) else None
        grid = x if packed is None else None
        case = Case(grid, packed, lengths, plain, plain.batch_first, enforce_sorted, hx)  # type: ignore[arg-type]
        padded, given = read_input(case)
        start = Trace(
            None,
            None,
            plain,
            padded,
            notes=tuple(notes),
            padding_value=check_padding_value(padding_value, weight_dtype(plain)),
            total_length=_total_length(total_length, plain, padded),
        )
        return _finish(start, state_of(case, len(padded.lengths)), given, enforce_sorted=enforce_sorted)


def _notes_before(module: nn.RNNBase) -> list[str]:
    """Return what sets this run apart from a call of the module here and now, in sentences."""
    notes = []
    if torch.is_autocast_enabled("cpu"):
        notes.append("autocast is on here; this run is computed without it, in the dtype of the weights")
    if isinstance(module, nn.Module) and (hooks := unknown_hooks(module)):
        notes.append(f"{hooks} forward hook{'s' if hooks > 1 else ''} of the module: not called in this run")
    return notes


def _in_full_precision(x: Tensor | PackedSequence, dtype: torch.dtype) -> Tensor | PackedSequence:
    """Return x in the dtype of the weights, where autocast would convert it to a dtype of its own."""
    data = x.data if isinstance(x, PackedSequence) else x
    if not isinstance(data, Tensor) or data.dtype not in (torch.bfloat16, torch.float16):
        return x
    return x._replace(data=data.to(dtype)) if isinstance(x, PackedSequence) else x.to(dtype)


def _total_length(total_length: object, module: nn.RNNBase, padded: Padded) -> int | None:
    column = len(padded.lengths) * directions(module) * state_size(module)
    return check_total_length(total_length, int(padded.lengths.max()), column)


def _finish(start: Trace, state: State, given: PackedSequence | None, *, enforce_sorted: bool) -> Trace:
    """Record and prove what comes after the padded grid, unless torch refuses to pack it."""
    padded = start.padded
    if given is None and enforce_sorted:
        error = order_refusal(padded.lengths, padded.mask.size(1))
        if error is not None:
            return replace(start, error=error)
    done = replace(start, run=_record(start, state, given, enforce_sorted=enforce_sorted))
    return replace(done, distances=tuple(prove(done).items()), notes=_notes(done))


def _record(start: Trace, state: State, given: PackedSequence | None = None, *, enforce_sorted: bool = False) -> Run:
    """Run every stage after the padded grid: all that a trace computes, but for the proof."""
    sequence = _ask(start.padded, enforce_sorted) if given is None else given
    if start.config is not None and start.config.initial_state == "carried":
        state = carried_state(start.module, sequence)
    forward = _forward(start, state, sequence)
    unpacked = unpack(
        sequence._replace(data=forward.output),
        batch_first=start.padded.batch_first,
        padding_value=start.padding_value,
        total_length=start.total_length,
        last_rows=forward.schedule.last_rows,
        first_rows=forward.schedule.first_rows,
        directions=directions(start.module),
    )
    return Run(**vars(forward), unpacked=unpacked)


def _forward(start: Trace, state: State, sequence: PackedSequence) -> Forward:
    """Run every layer over the packed sequence, as the module's own forward does, and keep everything."""
    lengths = start.padded.lengths
    order = read_order(sequence, lengths)
    plan = schedule(sequence.batch_sizes, lengths, order.order, order.rank)
    initial = tuple(order.apply(part) for part in state if part is not None)
    layers, output = _run_layers(start.module, sequence.data, plan, initial)
    c_n = [direction.c_n for layer in layers for direction in layer if direction.c_n is not None]
    return Forward(
        sorted=order,
        packed=locate(sequence),
        layers=layers,
        output=output,
        h_0=state[0],
        c_0=state[1],
        h_n=torch.stack([direction.h_n for layer in layers for direction in layer]),
        c_n=torch.stack(c_n) if c_n else None,
        schedule=plan,
    )


def _ask(padded: Padded, enforce_sorted: bool) -> PackedSequence:
    return ask_torch(padded.values, padded.lengths, batch_first=padded.batch_first, enforce_sorted=enforce_sorted)


def _run_layers(
    module: nn.RNNBase, data: Tensor, plan: Schedule, state: tuple[Tensor, ...]
) -> tuple[tuple[tuple[Direction, ...], ...], Tensor]:
    """Run each layer over the packed output (N, D*H) of the one below; return the layers and the top one's output.

    state is h_0 (L*D, B, H), for the LSTM c_0 too, in the sorted order.
    """
    initial = zip(*(part.unbind(0) for part in state), strict=True)  # (B, H) for each layer and direction
    layers: list[tuple[Direction, ...]] = []
    for weights in read_weights(module):
        layer = tuple(
            run_direction(data, own, module.mode, plan, next(initial), backward=d == 1) for d, own in enumerate(weights)
        )
        data = layer[0].h if len(layer) == 1 else torch.cat([direction.h for direction in layer], 1)
        layers.append(layer)
    return tuple(layers), data


def _notes(done: Trace) -> tuple[str, ...]:
    notes = [*done.notes]
    module, longest, T = done.module, int(done.padded.lengths.max()), done.padded.mask.size(1)
    if module.dropout > 0 and module.num_layers > 1:
        notes.append(f"dropout {module.dropout:g} between layers is switched off, as in evaluation")
    if longest < T:
        notes.append(f"x has {T} time steps, the longest length is {longest}: the columns after it are not packed")
    if pads := int(done.packed_is_pad.sum()):
        are = "is a pad" if pads == 1 else "are pads"
        notes.append(f"{pads} of the {len(done.output)} packed rows {are}, and as many tokens were dropped")
    return tuple(notes)
