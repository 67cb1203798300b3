"""The same run as a plain, self-contained PyTorch script to copy."""

import textwrap
from importlib.resources import files
from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.compute.record import Refusal, check_own_making
from packviz.compute.trace import Trace
from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.text import ENVIRONMENT, dtype_name

_FIX = "call your own module: its weights cannot be written as a script"
_MAX_NUMBERS = 2_000  # maximum number of literals in the script
_NARROW = 39  # characters of a line that a phone shows without scrolling

# torch's defaults as Python prints them (-0.0 differs bitwise)
_DEFAULTS = {"bias": "True", "bidirectional": "False", "dtype": "torch.float32", "nonlinearity": "'tanh'"}
_DEFAULTS |= {"num_layers": "1", "batch_first": "False", "enforce_sorted": "True", "total_length": "None"}
_DEFAULTS |= {"padding_idx": "None", "padding_side": "'right'", "padding_value": "0 0.0"}


def _call(function: str, *values: object, **settings: object) -> str:
    """Return the source text of a call, leaving out settings at torch's defaults."""
    return f"{function}({', '.join(_given(*values, **settings))})"


def _narrow_call(function: str, *values: object, **settings: object) -> str:
    """Return such a call, with a line for each argument if one line would not fit a phone."""
    line = _call(function, *values, **settings)
    lines = "".join(f"    {each},\n" for each in _given(*values, **settings))
    return line if len(line) <= _NARROW - len("lstm = ") else f"{function}(\n{lines})"


def _given(*values: object, **settings: object) -> list[str]:
    changed = [f"{name}={value!r}" for name, value in settings.items() if repr(value) not in _DEFAULTS[name].split()]
    return [*map(str, values), *changed]


_TEXT = files("packviz.show").joinpath("script.txt").read_text("utf-8")
_SCRIPT: Any = ENVIRONMENT.from_string(_TEXT, {"call": _call}).module  # its macros


def snippet(trace: Trace | Refusal) -> str:
    """Return a script that makes the same tensors as the trace, bit for bit, with PyTorch alone.

    It draws its random numbers in the trace's order: cell, embedding, initial state. For a state that is carried over
    the cell runs twice instead. Its tensors are `sequences`, `lengths`, `x`, `packed`, `output`, `h_n` (and `c_n`),
    `padded_output` and `output_lengths`. If torch refuses to pack, the script ends with that line. Batches of more than
    2,000 numbers are left for the reader to fill in.

    Raises PackvizError for the trace of a module of your own, whose weights do not follow from a seed.
    """
    batch, config = check_own_making(trace, _FIX)
    kind = CELL_KINDS[config.cell]
    refusal = isinstance(trace, Refusal) and textwrap.indent(textwrap.fill(f"RuntimeError: {trace.error}", 96), "# ")
    equal = "c" in kind.states and len(set(map(len, batch.sequences))) == 1
    return preparation(trace) + str(_SCRIPT.packing(config, kind, refusal, equal))


def preparation(trace: Trace | Refusal) -> str:
    """Return the first half of that script, up to the padded `x`; raises PackvizError as `snippet` does."""
    batch, config = check_own_making(trace, _FIX)
    table, dtype, kind = trace.padded.embedding, trace.padded.values.dtype, CELL_KINDS[config.cell]
    filler = config.padding_value if table is None else config.pad_id
    how = {"batch_first": config.batch_first, "padding_value": filler, "padding_side": config.padding_side}
    names = ("num_layers", "nonlinearity", "bias", "bidirectional", "batch_first")
    settings = {name: getattr(config, name) for name in names if name != "nonlinearity" or name in kind.own}
    sizes = (trace.padded.values.shape[-1], config.hidden_size)
    ids = {"padding_idx": config.padding_idx, "dtype": dtype}
    lookup = None if table is None else _narrow_call("nn.Embedding", *table.shape, **ids)
    return str(
        _SCRIPT.preparation(
            config,
            sequences=listing(batch, dtype if table is None else torch.int64),
            embedding=lookup,
            module=_narrow_call(f"nn.{CELL_KINDS[config.cell].module.__name__}", *sizes, **settings, dtype=dtype),
            state=_SCRIPT.state(config, kind, dtype),
            padded=_narrow_call("pad_sequence", "sequences", **how),
            axis="" if batch.kind == "vectors" else ".unsqueeze(-1)",
        )
    )


def listing(batch: Batch, dtype: torch.dtype, *, column: bool = False) -> str:
    """Return the lines that make the list `sequences`; column: with an axis of one feature for single numbers."""
    axis = ".unsqueeze(1)" if column else ""
    numbers = sum(sequence.numel() for sequence in batch.sequences)
    if numbers > _MAX_NUMBERS:
        shape = "(length, F)" if batch.kind == "vectors" else "(length,)"
        typed = dtype_name(dtype)
        left_out = f"# {numbers:,} numbers are too many to print: put your list of {shape} {typed} tensors here"
        return f"{left_out}\nsequences = ..."
    rows, words = "".join(f"    {_literal(sequence.to(dtype))}{axis},\n" for sequence in batch.sequences), ""
    if batch.vocabulary:  # the id of each word, with `repr`, so that no word can end the comment
        ids = ", ".join(f"{id_}\N{NO-BREAK SPACE}{word!r}" for id_, word in enumerate(batch.vocabulary))
        lines = textwrap.wrap(ids, _NARROW, initial_indent="# ", subsequent_indent="# ")
        words = "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ") + "\n"
    return f"{words}sequences = [\n{rows}]"


def _literal(values: Tensor) -> str:
    """Return the source text of one sequence, exact to the last bit."""
    suffix = "" if values.dtype in (torch.int64, torch.float32) else f", dtype={values.dtype}"
    if values.dim() == 1:
        return f"torch.tensor({_wrapped(values, indent='        ')}{suffix})"
    rows = ",\n".join(f"        {_wrapped(row, indent='         ')}" for row in values)
    return f"torch.tensor([\n{rows},\n    ]{suffix})"


def _wrapped(values: Tensor, *, indent: str) -> str:
    """Return numbers as the shortest decimals that round-trip, on lines of at most 100 characters."""
    single = values.dtype == torch.float32
    numbers = [repr(float(str(np.float32(value)))) if single else repr(value) for value in values.tolist()]
    line = f"[{', '.join(numbers)}]"
    return ("\n" + indent).join(textwrap.wrap(line, 100, break_long_words=False, break_on_hyphens=False))
