"""The same run as a plain PyTorch script, to copy and to run alone."""

import struct
import textwrap

import torch
from torch import Tensor

from packviz.batch import Batch
from packviz.config import Config
from packviz.errors import PackvizError
from packviz.trace import Trace

__all__ = ["snippet"]

_MOST_NUMBERS = 2_000  # as literals in the script; nobody reads more


def snippet(trace: Trace) -> str:
    """Return a script that makes the same tensors as the trace, bit for bit, with PyTorch alone.

    It draws its random numbers in the trace's order: embedding, cell, initial state. A state that is carried over
    is not drawn: the cell runs twice. Its tensors are `sequences`, `lengths`, `x`, `packed`, `output`, `h_n` (and
    `c_n`), `padded_output` and `output_lengths`. Where torch refuses to pack, the script ends with that line. More than
    2,000 numbers are left for the reader to fill in.

    Raises PackvizError for the trace of a module of your own: its weights are not known from a seed.
    """
    batch, config = trace.batch, trace.config
    if batch is None or config is None:
        raise PackvizError(
            "trace",
            expected="a trace that packviz made from a Batch and a Config",
            came="the trace of a module of your own",
            mend="call your own module: its weights cannot be written as a script",
        )
    embedded, dtype = trace.padded.embedding is not None, trace.padded.values.dtype
    way = [_padding(batch, config, embedded=embedded), _packing(config, trace.error)]
    if trace.error is None:
        way += [_running(batch, config), _unpacking(config), "", _showing(config)]
    blocks = [
        _imports(),
        f"torch.manual_seed({config.seed})",
        _sequences(batch, torch.int64 if embedded else dtype),
        "\n".join([*_modules(trace, config), *_initial_state(config, dtype)]),
        "\n".join(way),
    ]
    return "\n\n".join(blocks) + "\n"


def _imports() -> str:
    names = "pack_padded_sequence, pad_packed_sequence, pad_sequence"
    return f"import torch\nfrom torch import nn\nfrom torch.nn.utils.rnn import {names}"


def _sequences(batch: Batch, dtype: torch.dtype) -> str:
    numbers = sum(sequence.numel() for sequence in batch.sequences)
    measured = "lengths = torch.tensor([len(sequence) for sequence in sequences])"
    if numbers > _MOST_NUMBERS:
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
        embedding = [f"embedding = nn.Embedding({_arguments(*table.shape, **padding_idx, **typed)})"]
    names = ("num_layers", *(["nonlinearity"] if config.cell == "rnn" else []), "bias", "bidirectional")
    changed = {name: getattr(config, name) for name in names if getattr(config, name) != getattr(Config, name)}
    settings = {**changed, **_batch_first(config), **typed}
    sizes = (trace.padded.values.shape[-1], config.hidden_size)
    return [*embedding, f"{config.cell} = nn.{config.cell.upper()}({_arguments(*sizes, **settings)})"]


def _padding(batch: Batch, config: Config, *, embedded: bool) -> str:
    filler = (config.padding_idx or 0) if embedded else config.padding_value
    settings = {
        **_batch_first(config),
        **_filled(filler),
        **({"padding_side": config.padding_side} if config.padding_side != "right" else {}),
    }
    padded = f"pad_sequence({_arguments('sequences', **settings)})"
    if embedded:
        return f"ids = {padded}\nx = embedding(ids)"
    return f"x = {padded}" + ("" if batch.kind == "vectors" else ".unsqueeze(-1)")


def _initial_state(config: Config, dtype: torch.dtype) -> list[str]:
    if config.initial_state in ("zeros", "carried"):
        return []
    rows = config.num_layers * (2 if config.bidirectional else 1)
    names = ("h_0", "c_0") if config.cell == "lstm" else ("h_0",)
    typed = {} if dtype == torch.float32 else {"dtype": dtype}
    if config.initial_state == "random":
        shape = _arguments(rows, "len(sequences)", config.hidden_size, **typed)
        return [f"{name} = torch.randn({shape})" for name in names]
    shape = _arguments(rows, 1, config.hidden_size, **typed)
    learned = [f"learned_{name} = nn.Parameter(torch.randn({shape}) * 0.1)" for name in names]
    return learned + [f"{name} = learned_{name}.expand(-1, len(sequences), -1).contiguous()" for name in names]


def _packing(config: Config, error: str | None) -> str:
    settings = {**_batch_first(config), **({} if config.enforce_sorted else {"enforce_sorted": False})}
    line = f"packed = pack_padded_sequence({_arguments('x', 'lengths', **settings)})"
    return line if error is None else f"{line}\n" + textwrap.indent(textwrap.fill(f"RuntimeError: {error}", 96), "# ")


def _running(batch: Batch, config: Config) -> str:
    states = "(h_n, c_n)" if config.cell == "lstm" else "h_n"
    given = "(h_0, c_0)" if config.cell == "lstm" else "h_0"
    arguments = ["packed"] + ([given] if config.initial_state != "zeros" else [])
    line = f"{_carrying(config, given)}output, {states} = {config.cell}({', '.join(arguments)})"
    if config.cell == "lstm" and len({len(sequence) for sequence in batch.sequences}) == 1:
        why = "# oneDNN takes over when all lengths are equal, and rounds other bits"
        return f"torch.backends.mkldnn.enabled = False  {why}\n{line}"
    return line


def _carrying(config: Config, given: str) -> str:
    """Return the run of the batch before, whose last state is kept without its gradients."""
    if config.initial_state != "carried":
        return ""
    before = "# the batch before: here it is this one, from zeros"
    return f"with torch.no_grad():  {before}\n    _, {given} = {config.cell}(packed)\n"


def _unpacking(config: Config) -> str:
    settings = {
        **_batch_first(config),
        **_filled(config.padding_value),
        **({"total_length": config.total_length} if config.total_length is not None else {}),
    }
    return f"padded_output, output_lengths = pad_packed_sequence({_arguments('output', **settings)})"


def _showing(config: Config) -> str:
    states = "h_n, c_n" if config.cell == "lstm" else "h_n"
    return f"print(packed)\nprint(padded_output, output_lengths)\nprint({states})"


def _batch_first(config: Config) -> dict[str, object]:
    return {"batch_first": True} if config.batch_first else {}


def _filled(filler: float) -> dict[str, object]:
    return {} if repr(filler) in ("0", "0.0") else {"padding_value": filler}  # -0.0 is another number, to the bit


def _arguments(*values: object, **settings: object) -> str:
    return ", ".join([*map(str, values), *(f"{name}={value!r}" for name, value in settings.items())])
