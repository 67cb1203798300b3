"""The same run as a plain PyTorch script, to copy and to run alone."""

import struct
import textwrap

import torch
from torch import Tensor, nn

from packviz.compute.record import check_own_making
from packviz.compute.trace import Trace
from packviz.facts.initial_states import arguments, running_lines, state_lines
from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.config import Config

__all__ = ["preparation", "snippet"]

_FIX = "call your own module: its weights cannot be written as a script"
_MAX_NUMBERS = 2_000  # as literals in the script; nobody reads more


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
        way += [_running(batch, config), _unpacking(config), "", _showing(config)]
    return preparation(trace) + "\n".join(way) + "\n"


def preparation(trace: Trace) -> str:
    """Return the first half of that script, up to the padded `x`; raises PackvizError as `snippet` does."""
    batch, config = check_own_making(trace, _FIX)
    embedded, dtype = trace.padded.embedding is not None, trace.padded.values.dtype
    blocks = [
        _imports(),
        f"torch.manual_seed({config.seed})",
        _sequences(batch, torch.int64 if embedded else dtype),
        "\n".join([*_modules(trace, config), *state_lines(config, dtype)]),
        _padding(batch, config, embedded=embedded),
    ]
    return "\n\n".join(blocks) + "\n"


def _imports() -> str:
    names = "pack_padded_sequence, pad_packed_sequence, pad_sequence"
    return f"import torch\nfrom torch import nn\nfrom torch.nn.utils.rnn import {names}"


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
        row = _wrapped(_numbers(values), indent="        ")
        return f"torch.tensor({row}{suffix})"
    rows = ",\n".join(f"        {_wrapped(_numbers(row), indent='         ')}" for row in values)
    return f"torch.tensor([\n{rows},\n    ]{suffix})"


def _wrapped(numbers: list[str], *, indent: str) -> str:
    line = f"[{', '.join(numbers)}]"
    return ("\n" + indent).join(textwrap.wrap(line, 100, break_long_words=False, break_on_hyphens=False))


def _numbers(row: Tensor) -> list[str]:
    return [_number(value, single=row.dtype == torch.float32) for value in row.tolist()]


def _number(value: float, *, single: bool) -> str:
    """Return the shortest decimal that is read back as the same number."""
    if not single:
        return repr(value)
    rounded = (float(f"{value:.{digits}g}") for digits in range(1, 18))
    return repr(next(number for number in rounded if struct.pack("f", number) == struct.pack("f", value)))


def _modules(trace: Trace, config: Config) -> list[str]:
    dtype = trace.padded.values.dtype
    typed = {} if dtype == torch.float32 else {"dtype": dtype}
    table = trace.padded.embedding
    embedding = []
    if table is not None:
        padding_idx = {} if config.padding_idx is None else {"padding_idx": config.padding_idx}
        embedding = [f"embedding = nn.Embedding({arguments(*table.shape, **padding_idx, **typed)})"]
    names = ("num_layers", "nonlinearity", "bias", "bidirectional")
    changed = {name: getattr(config, name) for name in names if getattr(config, name) != getattr(Config, name)}
    if "nonlinearity" not in CELL_KINDS[config.cell].own:
        changed.pop("nonlinearity", None)
    settings = {**changed, **_batch_first(config), **typed}
    sizes = (trace.padded.values.shape[-1], config.hidden_size)
    return [*embedding, f"{config.cell} = nn.{config.cell.upper()}({arguments(*sizes, **settings)})"]


def _padding(batch: Batch, config: Config, *, embedded: bool) -> str:
    filler = config.pad_id if embedded else config.padding_value
    settings = {
        **_batch_first(config),
        **_filled(filler),
        **({"padding_side": config.padding_side} if config.padding_side != "right" else {}),
    }
    padded = f"pad_sequence({arguments('sequences', **settings)})"
    if embedded:
        return f"ids = {padded}\nx = embedding(ids)"
    return f"x = {padded}" + ("" if batch.kind == "vectors" else ".unsqueeze(-1)")


def _packing(config: Config, error: str | None) -> str:
    settings = {**_batch_first(config), **({} if config.enforce_sorted else {"enforce_sorted": False})}
    line = f"packed = pack_padded_sequence({arguments('x', 'lengths', **settings)})"
    return line if error is None else f"{line}\n" + textwrap.indent(textwrap.fill(f"RuntimeError: {error}", 96), "# ")


def _running(batch: Batch, config: Config) -> str:
    lines = running_lines(config)
    if CELL_KINDS[config.cell].module is nn.LSTM and len({len(sequence) for sequence in batch.sequences}) == 1:
        why = "# oneDNN takes over when all lengths are equal, and rounds other bits"
        lines.insert(0, f"torch.backends.mkldnn.enabled = False  {why}")
    return "\n".join(lines)


def _unpacking(config: Config) -> str:
    settings = {
        **_batch_first(config),
        **_filled(config.padding_value),
        **({"total_length": config.total_length} if config.total_length is not None else {}),
    }
    return f"padded_output, output_lengths = pad_packed_sequence({arguments('output', **settings)})"


def _showing(config: Config) -> str:
    states = ", ".join(CELL_KINDS[config.cell].named("n"))
    return f"print(packed)\nprint(padded_output, output_lengths)\nprint({states})"


def _batch_first(config: Config) -> dict[str, object]:
    return {"batch_first": True} if config.batch_first else {}


def _filled(filler: float) -> dict[str, object]:
    return {} if repr(filler) in ("0", "0.0") else {"padding_value": filler}  # -0.0 is another number, to the bit
