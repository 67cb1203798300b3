"""The PyTorch program that a movie follows, a statement at a time, with the shapes it makes."""

from math import isfinite

from packviz.show.movie.figures import exact
from packviz.show.movie.model import CodeLine
from packviz.show.movie.plan import Plan

__all__ = ["index", "program", "shape"]

LINE = 33  # characters of code beside the picture


def shape(*sizes: int) -> str:
    """Return sizes as torch prints a shape: `(3, 4)`, `(3,)`."""
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"


def program(plan: Plan) -> dict[str, CodeLine]:
    """Return the statements of the program by name, in order; without those that this trace has no use for."""
    lines = {"pad": _pad(plan)}
    if plan.embedded:
        lines["embed"] = CodeLine("x = embedding(ids)", shape(*plan.trace.padded.values.shape))
    lines["pack"] = _pack(plan)
    if not plan.refused:
        lines |= {"run": _run(plan), "unpack": _unpack(plan)}
    return lines


def index(plan: Plan, name: str) -> int:
    """Return the place of a statement in the program."""
    return list(program(plan)).index(name)


def _pad(plan: Plan) -> CodeLine:
    rows, columns = plan.total
    embedded = plan.embedded
    sizes = (rows, columns) if plan.batch_first else (columns, rows)
    made = shape(*sizes) if embedded else shape(*plan.trace.padded.values.shape)
    if plan.trace.batch is None:
        return CodeLine("# x, lengths: as given", made)
    arguments = _arguments(plan, plan.pad_id)
    call = _call(f"{'ids' if embedded else 'x'} = pad_sequence", "sequences", *arguments)
    if plan.one_number:
        call = f"{call[:-1]}\n).unsqueeze(-1)" if "\n" in call else f"{call}.unsqueeze(-1)"
    return CodeLine(call, made)


def _pack(plan: Plan) -> CodeLine:
    enforced = plan.enforce_sorted
    flags = (*_flag(plan), *(() if enforced else ("enforce_sorted=False",)))
    made = "" if plan.refused else f"data {shape(*plan.trace.packed.data.shape)}"
    return CodeLine(_call("packed = pack_padded_sequence", "x, lengths", *flags), made)


def _run(plan: Plan) -> CodeLine:
    states, start = ("(h_n, c_n)", "(h_0, c_0)") if plan.cell == "lstm" else ("h_n", "h_0")
    given = ("packed",) if plan.initial_state == "zeros" else ("packed", start)
    return CodeLine(_call(f"output, {states} = {plan.cell}", *given), f"data {shape(*plan.trace.output.shape)}")


def _unpack(plan: Plan) -> CodeLine:
    total = plan.trace.total_length
    length = () if total is None else (f"total_length={total}",)
    arguments = (*_arguments(plan, plan.trace.padding_value, side=False), *length)
    return CodeLine(
        _call("out, lens = pad_packed_sequence", "output", *arguments), shape(*plan.trace.unpacked.output.shape)
    )


def _flag(plan: Plan) -> tuple[str, ...]:
    return ("batch_first=True",) if plan.batch_first else ()


def _arguments(plan: Plan, filler: float, side: bool = True) -> tuple[str, ...]:
    value, left = exact(filler) if isfinite(filler) else f'float("{filler}")', plan.padding_side == "left"
    return (
        *_flag(plan),
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
