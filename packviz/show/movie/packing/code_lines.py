"""The code beside the picture: the program's statements, and the lines of a time step with one unit's numbers."""

import math
import re
from textwrap import TextWrapper

import torch

from packviz.compute.recurrence import TimeStep
from packviz.facts.unit_arithmetic import unit_sum
from packviz.inputs.cell_kinds import Formula
from packviz.inputs.module import nonlinearity_of
from packviz.show.movie.marks import CodeLine
from packviz.show.movie.packing import inputs, matrices, recurrent
from packviz.show.movie.packing.view import View
from packviz.show.movie.written import agreeing, exact, rounded, written
from packviz.text import counted, sequence_label, shape

LINE = 33  # characters of code beside the picture
DEFAULTS = {"batch_first": False, "padding_value": 0, "padding_side": "right", "enforce_sorted": True}
DEFAULTS |= {"total_length": None}
MODULE_DEFAULTS = {"num_layers": 1, "bidirectional": False, "proj_size": 0}
FILL = TextWrapper(
    LINE, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
)
LETTER = re.compile(r"\b[a-z]\b'?")  # of a formula: a gate, a state, or a new one


def program(view: View) -> dict[str, CodeLine]:
    """Return the statements of the program by name, in order, without those that this trace does not need."""
    trace, (rows, columns), first = view.trace, view.total, {"batch_first": inputs.batch_first(view)}
    ids, x = (rows, columns) if inputs.batch_first(view) else (columns, rows), shape(*trace.padded.values.shape)
    filled = {"padding_value": inputs.pad_id(view), "padding_side": inputs.padding_side(view)}
    pad = _call(f"{'ids' if inputs.embedded(view) else 'x'} = pad_sequence", "sequences", **first, **filled)
    if trace.batch is None:
        pad = "# x, lengths: as given"
    elif inputs.one_number(view):
        pad = f"{pad[:-1]}\n).unsqueeze(-1)" if "\n" in pad else f"{pad}.unsqueeze(-1)"
    lines = {"pad": CodeLine(pad, shape(*ids) if inputs.embedded(view) else x)}
    if inputs.embedded(view):
        lines["embed"] = CodeLine("x = embedding(ids)", x)
    pack = _call("packed = pack_padded_sequence", "x, lengths", **first, enforce_sorted=inputs.enforce_sorted(view))
    lines["pack"] = CodeLine(pack, "" if inputs.refused(view) else f"data {shape(*trace.packed.data.shape)}")
    if not inputs.refused(view):
        states, start = recurrent.kind(view).in_code("n"), recurrent.kind(view).in_code("0")
        arguments = ["packed"] if recurrent.initial_state(view) == "zeros" else ["packed", start]
        run = _call(f"output, {states} = {recurrent.cell(view)}", *arguments)
        filler = {"padding_value": trace.padding_value, "total_length": trace.total_length}
        unpack = _call("out, lens = pad_packed_sequence", "output", **first, **filler)
        lines["run"] = CodeLine(run, f"data {shape(*trace.output.shape)}")
        lines["unpack"] = CodeLine(unpack, shape(*trace.unpacked.output.shape))
        if view.gradients is not None:
            lines["backward"] = CodeLine(_loss(view))
    return lines


def _call(function: str, *arguments: str, **settings: object) -> str:
    """Return a call: on one line if it fits, else with its arguments wrapped onto further lines.

    settings: those at torch's defaults are left out.
    """
    changed = {name: value for name, value in settings.items() if value != DEFAULTS[name]}
    inside = ", ".join((*arguments, *(f"{name}={_literal(value)}" for name, value in changed.items()))) + ")"
    line = f"{function}({inside}"
    return line if len(line) <= LINE else f"{function}(\n{FILL.fill(inside)}"


def _literal(value: object) -> str:
    if isinstance(value, str) or (isinstance(value, float) and not math.isfinite(value)):
        return f'"{value}"' if isinstance(value, str) else f'float("{value}")'
    return exact(value) if isinstance(value, float) else repr(value)


def _loss(view: View) -> str:
    """Return the line in which the loss goes back."""
    gradients, D = view.gradients, recurrent.directions(view)
    assert gradients is not None
    last = "output.data" if gradients.on == "output" else "h_n[-1]" if D == 1 else "torch.cat([*h_n[-2:]], 1)"
    return f"{last}.sum().backward()" if bool((gradients.upstream == 1).all()) else f"{last}.backward(upstream)"


def axes(view: View, *, ids: bool) -> CodeLine:
    """Return what the sizes of the grid count, in the order of its axes. ids: not embedded yet."""
    B, T, F = counted(view.total[0], "sequence"), counted(view.total[1], "step"), f"F = {inputs.features(view)}"
    here = (B, T) if inputs.batch_first(view) else (T, B)
    sizes = view.trace.padded.values.shape
    return CodeLine(f"# {', '.join(here if ids else (*here, F))}", shape(*sizes[:2] if ids else sizes))


def start_lines(view: View, *, deep: bool) -> tuple[CodeLine, ...]:
    """Return the lines that set the first state, and the module that starts from it; if deep, also an LSTM's c."""
    row = view.layer * recurrent.directions(view) + view.direction
    order = "" if view.trace.sorted.sorted_indices is None else "[sorted_indices]"
    states = {"h": ("start", recurrent.watched(view).h.shape[1]), "c": ("start_c", view.trace.module.hidden_size)}
    lines = []
    for letter in recurrent.kind(view).states if deep else "h":
        start, width = states[letter]
        name = f"{letter} = {start}" if view.direction else letter  # going backward, sequences start from it later
        lines.append(CodeLine(f"{name} = {letter}_0[{row}]{order}", shape(view.total[0], width)))
    return (*lines, CodeLine(f"# {_module(view)}"))


def _module(view: View) -> str:
    """Return how the module is made, as far as it decides shapes."""
    module = view.trace.module
    sizes = f"input_size={module.input_size}", f"hidden_size={module.hidden_size}"
    changed = [
        f"{name}={value}" for name, usual in MODULE_DEFAULTS.items() if (value := getattr(module, name)) != usual
    ]
    return f"nn.{recurrent.cell(view).upper()}({', '.join((*sizes, *changed))})"


def step_lines(view: View, step: TimeStep, *, deep: bool) -> tuple[CodeLine, ...]:
    """Return the lines of a time step: the rows taken, and the call of the cell.

    deep: the cell's formulas instead of the call, the last ones with one unit's numbers.
    """
    size, joined, states = len(step.live), len(step.live) - len(step.began), recurrent.kind(view).states
    source = f"output{view.layer - 1}" if view.layer else "data"
    joins, made = bool(view.direction) and 0 < joined < size, shape(size, recurrent.watched(view).h.shape[1])
    enters = f"{', '.join(states)} = {', '.join(f'{letter}[:{size}]' for letter in states)}"
    if joins:
        enters = f"h = cat((h[:{joined}], start[{joined}:{size}]))"
    x = CodeLine(f"x = {source}[{step.start}:{step.stop}]", shape(size, recurrent.entering(view)))
    lines = [x, CodeLine(enters, made)]
    if not deep:
        kept = f"({', '.join(states)})" if len(states) > 1 else "h"
        return (*lines, CodeLine(f"{', '.join(states)} = {recurrent.cell(view)}(x, {kept})", made))
    if joins and recurrent.is_lstm(view):
        c = f"c = cat((c[:{joined}], start_c[{joined}:{size}]))"
        lines.append(CodeLine(c, shape(size, view.trace.module.hidden_size)))
    numbers = [_formula(view, step, formula) for formula in recurrent.kind(view).formulas] or [_sum_of_both(view, step)]
    if view.trace.module.proj_size:  # then h is a sum over every unit
        del numbers[-1]
    in_numbers = CodeLine("\n".join((f"# unit 0 of {sequence_label(step.live[0])}", *numbers)))
    return (*lines, *_formulas(view, size), in_numbers)


def _formulas(view: View, size: int) -> list[CodeLine]:
    """Return the formulas in the letters of PyTorch's documentation."""
    inside, state = shape(size, view.trace.module.hidden_size), shape(size, recurrent.watched(view).h.shape[1])
    if not recurrent.gates(view):
        return [CodeLine(_sum(view, "h", nonlinearity_of(view.trace.module), "ih", "hh"), state)]
    lines = []
    for letter, gate in recurrent.kind(view).gates.items():
        weighed = f"{gate.weighed_by} ⊙ " if gate.weighed_by else ""
        lines.append(CodeLine(_sum(view, letter, gate.function, f"i{letter}", f"h{letter}", weighed), inside))
    for formula in recurrent.kind(view).formulas:
        name, right = formula.left.rstrip("'"), in_letters(formula)
        if name == "h" and view.trace.module.proj_size:
            right = f"W_hr ({right})"
        lines.append(CodeLine(f"{name} = {right}", state if name == "h" else inside))
    return lines


def in_letters(formula: Formula) -> str:
    """Return the right side as shown in the movie: `(1 − z) ⊙ n + z ⊙ h`; the new c is written c."""
    return formula.right.replace("'", "").replace("-", "−").replace("·", "⊙")


def _sum(view: View, name: str, function: str, given: str, held: str, weighed: str = "") -> str:
    bias = view.trace.module.bias
    hidden = f"W_{held} h + b_{held}" if bias else f"W_{held} h"
    first = f"{name} = {function}(W_{given} x" + (f" + b_{given}\n    " if bias else " ")
    return f"{first}+ {f'{weighed}({hidden})' if weighed else hidden})"


def _filled(start: str, end: str) -> str:
    line = f"{start} {end}"
    return line if len(line) <= LINE else f"{start}\n    {end}"


def _sum_of_both(view: View, step: TimeStep) -> str:
    """Return the new state of a cell without gates: an activation of the input's and the state's sum."""
    function, result = nonlinearity_of(view.trace.module), matrices.number_of(view, "h", step.start)
    same = math.tanh if function == "tanh" else (lambda a: max(0.0, a))
    gate = unit_sum(view.trace, step.start, 0, layer=view.layer, direction=view.direction).gates[0]
    sums = rounded(torch.tensor([gate.input_sum, gate.hidden_sum], dtype=torch.float64, device="cpu")).tolist()
    (given, held), sign = agreeing(sums, result, lambda a, b: same(a + b))
    added = f"− {held[1:]}" if held.startswith("−") else f"+ {held}"
    return _filled(f"h = {function}({given} {added})", f"{sign} {written(result)}")


def _formula(view: View, step: TimeStep, formula: Formula) -> str:
    """Return a formula of the new state with numbers in place of letters."""
    before = zip(recurrent.kind(view).states, recurrent.watched(view).before(step.k), strict=False)
    known = {name: float(rounded(state[0, :1])[0]) for name, state in before if state is not None}  # the first live row
    names = list(dict.fromkeys(LETTER.findall(formula.right)))
    values = [
        known[name] if name in known else matrices.number_of(view, name.rstrip("'"), step.start) for name in names
    ]
    made = formula.left.rstrip("'")
    result = matrices.number_of(view, made, step.start)
    texts, sign = agreeing(values, result, formula.calculate)
    text_of = dict(zip(names, texts, strict=True))

    def number(match: re.Match[str]) -> str:
        text = text_of[match[0]]
        return f"({text})" if text.startswith("−") and formula.right[: match.start()].endswith("· ") else text

    right = LETTER.sub(number, formula.right).replace(" - ", " − ").replace(" · ", "·")
    first, plus, second = right.partition(" + ")
    start, end = f"{made} = {first}", f"{sign} {written(result)}"
    return _filled(start, f"+ {second} {end}") if plus else f"{start} {end}"
