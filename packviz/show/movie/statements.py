"""The PyTorch program that a movie follows, a statement at a time, with the shapes it makes."""

from math import isfinite

from packviz.show.movie.facts import exact
from packviz.show.movie.marks import CodeLine
from packviz.show.movie.view import View, shape

LINE = 33  # characters of code beside the picture


def program(view: View) -> dict[str, CodeLine]:
    """Return the statements of the program by name, in order; without those that this trace has no use for."""
    lines = {"pad": _pad(view)}
    if view.embedded:
        lines["embed"] = CodeLine("x = embedding(ids)", shape(*view.trace.padded.values.shape))
    lines["pack"] = _pack(view)
    if not view.refused:
        lines |= {"run": _run(view), "unpack": _unpack(view)}
    return lines


def _pad(view: View) -> CodeLine:
    rows, columns = view.total
    embedded = view.embedded
    sizes = (rows, columns) if view.batch_first else (columns, rows)
    made = shape(*sizes) if embedded else shape(*view.trace.padded.values.shape)
    if view.trace.batch is None:
        return CodeLine("# x, lengths: as given", made)
    arguments = _arguments(view, view.pad_id)
    call = _call(f"{'ids' if embedded else 'x'} = pad_sequence", "sequences", *arguments)
    if view.one_number:
        call = f"{call[:-1]}\n).unsqueeze(-1)" if "\n" in call else f"{call}.unsqueeze(-1)"
    return CodeLine(call, made)


def _pack(view: View) -> CodeLine:
    enforced = view.enforce_sorted
    flags = (*_flag(view), *(() if enforced else ("enforce_sorted=False",)))
    made = "" if view.refused else f"data {shape(*view.trace.packed.data.shape)}"
    return CodeLine(_call("packed = pack_padded_sequence", "x, lengths", *flags), made)


def _run(view: View) -> CodeLine:
    states, start = view.kind.in_code("n"), view.kind.in_code("0")
    given = ("packed",) if view.initial_state == "zeros" else ("packed", start)
    return CodeLine(_call(f"output, {states} = {view.cell}", *given), f"data {shape(*view.trace.output.shape)}")


def _unpack(view: View) -> CodeLine:
    total = view.trace.total_length
    length = () if total is None else (f"total_length={total}",)
    arguments = (*_arguments(view, view.trace.padding_value, side=False), *length)
    return CodeLine(
        _call("out, lens = pad_packed_sequence", "output", *arguments), shape(*view.trace.unpacked.output.shape)
    )


def _flag(view: View) -> tuple[str, ...]:
    return ("batch_first=True",) if view.batch_first else ()


def _arguments(view: View, filler: float, side: bool = True) -> tuple[str, ...]:
    value, left = exact(filler) if isfinite(filler) else f'float("{filler}")', view.padding_side == "left"
    return (
        *_flag(view),
        *((f"padding_value={value}",) if filler else ()),
        *(('padding_side="left"',) if side and left else ()),
    )


def _call(function: str, *arguments: str) -> str:
    """Return a call: on one line if it fits, else its arguments filled into lines of their own."""
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
