"""The PyTorch program that a movie follows, a statement at a time, with the shapes it makes."""

from math import isfinite

from packviz.show.movie.facts import exact
from packviz.show.movie.marks import CodeLine
from packviz.show.movie.view import View, shape

LINE = 33  # characters of code beside the picture
DEFAULTS = {"batch_first": False, "padding_value": 0, "padding_side": "right", "enforce_sorted": True}
DEFAULTS |= {"total_length": None}


def program(view: View) -> dict[str, CodeLine]:
    """Return the statements of the program by name, in order; without those that this trace has no use for."""
    trace, (rows, columns), first = view.trace, view.total, {"batch_first": view.batch_first}
    ids, x = (rows, columns) if view.batch_first else (columns, rows), shape(*trace.padded.values.shape)
    filled = {"padding_value": view.pad_id, "padding_side": view.padding_side}
    pad = _call(f"{'ids' if view.embedded else 'x'} = pad_sequence", "sequences", **first, **filled)
    if trace.batch is None:
        pad = "# x, lengths: as given"
    elif view.one_number:
        pad = f"{pad[:-1]}\n).unsqueeze(-1)" if "\n" in pad else f"{pad}.unsqueeze(-1)"
    lines = {"pad": CodeLine(pad, shape(*ids) if view.embedded else x)}
    if view.embedded:
        lines["embed"] = CodeLine("x = embedding(ids)", x)
    pack = _call("packed = pack_padded_sequence", "x, lengths", **first, enforce_sorted=view.enforce_sorted)
    lines["pack"] = CodeLine(pack, "" if view.refused else f"data {shape(*trace.packed.data.shape)}")
    if not view.refused:
        states, start = view.kind.in_code("n"), view.kind.in_code("0")
        given = ["packed"] if view.initial_state == "zeros" else ["packed", start]
        run = _call(f"output, {states} = {view.cell}", *given)
        filler = {"padding_value": trace.padding_value, "total_length": trace.total_length}
        unpack = _call("out, lens = pad_packed_sequence", "output", **first, **filler)
        lines["run"] = CodeLine(run, f"data {shape(*trace.output.shape)}")
        lines["unpack"] = CodeLine(unpack, shape(*trace.unpacked.output.shape))
    return lines


def _call(function: str, *arguments: str, **settings: object) -> str:
    """Return a call: on one line if it fits, else its arguments filled into lines of their own.

    settings: those that are torch's defaults are left out.
    """
    changed = {name: value for name, value in settings.items() if value != DEFAULTS[name]}
    arguments = (*arguments, *(f"{name}={_literal(value)}" for name, value in changed.items()))
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= LINE:
        return line
    lines = [f"{function}("]
    for argument in arguments:
        longer = f"{lines[-1]} {argument},"
        if len(lines) > 1 and len(longer) <= LINE:
            lines[-1] = longer
        else:
            lines.append(f"    {argument},")
    return "\n".join(lines).removesuffix(",") + ")"


def _literal(value: object) -> str:
    if isinstance(value, str) or (isinstance(value, float) and not isfinite(value)):
        return f'"{value}"' if isinstance(value, str) else f'float("{value}")'
    return exact(value) if isinstance(value, float) else repr(value)
