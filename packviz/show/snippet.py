"""The same run as a plain PyTorch script, to copy and to run alone."""

import textwrap

import numpy as np
import torch
from torch import Tensor, nn

from packviz.compute.record import check_own_making
from packviz.compute.trace import Trace
from packviz.facts.initial_states import call, running_lines, state_lines
from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.config import Config

_FIX = "call your own module: its weights cannot be written as a script"
_MAX_NUMBERS = 2_000  # as literals in the script; nobody reads more
_IMPORTS = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence"""


def snippet(trace: Trace) -> str:
    """Return a script that makes the same tensors as the trace, bit for bit, with PyTorch alone.

    It draws its random numbers in the trace's order: embedding, cell, initial state. A state that is carried over
    is not drawn: the cell runs twice. Its tensors are `sequences`, `lengths`, `x`, `packed`, `output`, `h_n` (and
    `c_n`), `padded_output` and `output_lengths`. Where torch refuses to pack, the script ends with that line. More than
    2,000 numbers are left for the reader to fill in.

    Raises PackvizError for the trace of a module of your own: its weights are not known from a seed.
    """
    batch, config = check_own_making(trace, _FIX)
    way = [_packing(config, trace.error)]
    if trace.error is None:
        states = ", ".join(CELL_KINDS[config.cell].named("n"))
        shown = ("print(packed)", "print(padded_output, output_lengths)", f"print({states})")
        way += [*_running(batch, config), _unpacking(config), "", *shown]
    return preparation(trace) + "\n".join(way) + "\n"


def preparation(trace: Trace) -> str:
    """Return the first half of that script, up to the padded `x`; raises PackvizError as `snippet` does."""
    batch, config = check_own_making(trace, _FIX)
    embedded, dtype = trace.padded.embedding is not None, trace.padded.values.dtype
    blocks = [
        _IMPORTS,
        f"torch.manual_seed({config.seed})",
        _sequences(batch, torch.int64 if embedded else dtype),
        "\n".join([*_modules(trace, config), *state_lines(config, dtype)]),
        _padding(batch, config, embedded=embedded),
    ]
    return "\n\n".join(blocks) + "\n"


def _sequences(batch: Batch, dtype: torch.dtype) -> str:
    numbers = sum(sequence.numel() for sequence in batch.sequences)
    measured = "lengths = torch.tensor([len(sequence) for sequence in sequences])"
    if numbers > _MAX_NUMBERS:
        shape = "(length, F)" if batch.kind == "vectors" else "(length,)"
        typed = str(dtype).removeprefix("torch.")
        left_out = f"# {numbers:,} numbers are too many to print: put your list of {shape} {typed} tensors here"
        return f"{left_out}\nsequences = ...\n{measured}"
    rows = "".join(f"    {_literal(sequence.to(dtype))},\n" for sequence in batch.sequences)
    return f"{_told_words(batch)}sequences = [\n{rows}]\n{measured}"


def _told_words(batch: Batch) -> str:
    """Return a comment that says which word has which id; in `repr`, so that no word can end the comment."""
    if not batch.vocabulary:
        return ""
    told = ", ".join(f"{id_} {word!r}" for id_, word in enumerate(batch.vocabulary))
    return "\n".join(textwrap.wrap(told, 96, initial_indent="# ", subsequent_indent="# ")) + "\n"


def _literal(values: Tensor) -> str:
    """Return the source text of one sequence, exact to the last bit."""
    suffix = "" if values.dtype in (torch.int64, torch.float32) else f", dtype={values.dtype}"
    if values.dim() == 1:
        return f"torch.tensor({_wrapped(values, indent='        ')}{suffix})"
    rows = ",\n".join(f"        {_wrapped(row, indent='         ')}" for row in values)
    return f"torch.tensor([\n{rows},\n    ]{suffix})"


def _wrapped(values: Tensor, *, indent: str) -> str:
    numbers = [_number(value, single=values.dtype == torch.float32) for value in values.tolist()]
    line = f"[{', '.join(numbers)}]"
    return ("\n" + indent).join(textwrap.wrap(line, 100, break_long_words=False, break_on_hyphens=False))


def _number(value: float, *, single: bool) -> str:
    """Return the shortest decimal that is read back as the same number."""
    return repr(float(str(np.float32(value)))) if single else repr(value)


def _modules(trace: Trace, config: Config) -> list[str]:
    dtype, table, kind = trace.padded.values.dtype, trace.padded.embedding, CELL_KINDS[config.cell]
    embedding = []
    if table is not None:
        embedding = [f"embedding = {call('nn.Embedding', *table.shape, padding_idx=config.padding_idx, dtype=dtype)}"]
    names = ("num_layers", "nonlinearity", "bias", "bidirectional", "batch_first")
    foreign = {"nonlinearity"} - {*kind.own}
    settings = {name: getattr(config, name) for name in names if name not in foreign}
    sizes = (trace.padded.values.shape[-1], config.hidden_size)
    return [*embedding, f"{config.cell} = {call(f'nn.{config.cell.upper()}', *sizes, **settings, dtype=dtype)}"]


def _padding(batch: Batch, config: Config, *, embedded: bool) -> str:
    filler = config.pad_id if embedded else config.padding_value
    how = {"batch_first": config.batch_first, "padding_value": filler, "padding_side": config.padding_side}
    padded = call("pad_sequence", "sequences", **how)
    if embedded:
        return f"ids = {padded}\nx = embedding(ids)"
    return f"x = {padded}" + ("" if batch.kind == "vectors" else ".unsqueeze(-1)")


def _packing(config: Config, error: str | None) -> str:
    how = {"batch_first": config.batch_first, "enforce_sorted": config.enforce_sorted}
    line = f"packed = {call('pack_padded_sequence', 'x', 'lengths', **how)}"
    return line if error is None else f"{line}\n" + textwrap.indent(textwrap.fill(f"RuntimeError: {error}", 96), "# ")


def _running(batch: Batch, config: Config) -> list[str]:
    lines = running_lines(config)
    if CELL_KINDS[config.cell].module is nn.LSTM and len({len(sequence) for sequence in batch.sequences}) == 1:
        why = "# oneDNN takes over when all lengths are equal, and rounds other bits"
        lines.insert(0, f"torch.backends.mkldnn.enabled = False  {why}")
    return lines


def _unpacking(config: Config) -> str:
    how = {name: getattr(config, name) for name in ("batch_first", "padding_value", "total_length")}
    return f"padded_output, output_lengths = {call('pad_packed_sequence', 'output', **how)}"
