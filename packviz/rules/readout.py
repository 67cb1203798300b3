"""Decides how a given vector per sequence was read from the output, and whether that is right."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.inputs.config import DIRECTIONS
from packviz.inputs.module import directions, run_module, states_of
from packviz.inputs.torch_answers import Answer, ask, filtered
from packviz.rules.case import Case, can_be_packed, has_this_layout, has_valid_lengths, rule
from packviz.rules.finding import Fault, Severity
from packviz.rules.words import Cause, Said
from packviz.text import sequence_label

MAX_ROWS = 2_000  # of a state whose order is looked for


@dataclass(frozen=True, eq=False)
class _PackedRun:
    """The unpacked output (B, T, D*H), the lengths, and h_n and c_n (L*D, B, H) if a module could be run."""

    output: Tensor
    lengths: list[int]
    D: int
    column: str  # code that reads the last column of the output
    h_n: Tensor | None = None
    c_n: Tensor | None = None

    @property
    def last(self) -> Tensor:
        """Return the output at each last step, (B, D*H)."""
        rows, ends = self.places
        return self.output[rows, ends - 1]

    @property
    def places(self) -> tuple[Tensor, Tensor]:
        """Return the numbers of the sequences and the lengths, (B,) each, to index the output with."""
        device = self.output.device
        return torch.arange(len(self.lengths), device=device), torch.tensor(self.lengths, device=device)

    @property
    def right(self) -> Tensor:
        """Return (B, D*H): every direction's state after it has seen the whole sequence."""
        H = self.output.size(2) // 2
        return self.last if self.D == 1 else torch.cat([self.last[:, :H], self.output[:, 0, H:]], 1)


# The keys of the findings about a state that is read in a wrong way.
ReadoutKey = Literal[
    "naive_last",
    "pads_pooled",
    "off_by_one",
    "backward_one_step",
    "one_direction",
    "state_after_pads",
    "states_mixed",
    "lower_layer",
    "cell_state",
    "states_order",
]


class _WrongReadout(NamedTuple):
    """A wrong way to read the state: the code, what it reads (B, width), and what the sentence is about."""

    key: ReadoutKey
    code: str
    value: Tensor
    about: object = None
    says: tuple[Said, ...] = ()


@rule("state", needs=(has_valid_lengths, has_this_layout, can_be_packed))
def state_is_right(case: Case) -> Iterator[Fault]:
    """Find out which reading the state (B, width) is; one that is not known is a note.

    Without a module, nothing shows that an output holds two directions: the state at each last step is then right.
    The module is run as in evaluation, so that dropout between its layers does not blur the comparison.
    """
    given = case.output
    if (given is None and case.module is None) or (given is not None and given.dim() != 3):
        return
    with torch.no_grad(), filtered("ignore"):
        fault = _judged(case)
    if fault is not None:
        yield fault


def _packed_run(case: Case, lengths: list[int]) -> _PackedRun | None:
    """Return the output that was given, else that of the module, with the sequences first; and the final states."""
    output, column, answer = None, "output[:, -1]" if case.batch_first else "output[-1]", None
    if case.output is not None:
        output = case.output.detach() if case.batch_first else case.output.detach().transpose(0, 1)
    if case.module is not None:
        packed = case.packed or pack_padded_sequence(case.by_sequence.detach(), lengths, True, enforce_sorted=False)
        answer = ask(partial(run_module, case.module, packed, case.hx))
    D = 1 if case.module is None else directions(case.module)
    if answer is None or answer.result is None:
        return None if output is None else _PackedRun(output, lengths, D, column)
    rows, final = answer.result
    output = pad_packed_sequence(rows, batch_first=True)[0] if output is None else output
    return _PackedRun(output, lengths, D, column, *states_of(final))


def _sound(run: _PackedRun) -> Iterator[Tensor]:
    """Yield the readouts that are right: the last states, the mean and maximum over the tokens alone, all layers."""
    yield run.right
    rows = [run.output[b, :length] for b, length in enumerate(run.lengths)]
    yield torch.stack([row.mean(0) for row in rows])
    yield torch.stack([row.amax(0) for row in rows])
    if run.D == 2:
        both = torch.stack(run.right.chunk(2, 1))
        yield from (both.sum(0), both.mean(0))
    if run.h_n is not None:
        yield run.h_n.transpose(0, 1).flatten(1)


def _judged(case: Case) -> Fault | None:
    """Return the fault if the state is not a correct readout: the first known mistake, or a note that it is unknown."""
    run = _packed_run(case, case.valid_lengths)
    if run is None or run.output.size(0) != len(run.lengths) or max(run.lengths) > run.output.size(1):
        return None
    if run.output.size(2) % run.D:  # it holds no two directions
        return None
    state = cast(Tensor, case.state).detach().to(run.output.device)
    state = state[0] if state.dim() == 3 and len(state) == 1 else state  # h_n of one layer and direction
    if any(_same(state, value).all() for value in _sound(run)):
        return None
    known = (*_wrong(run), *_padded_run(case, run), *_in_another_order(state, run.right))
    right, comparable = run.right, state.shape == run.right.shape
    rows = (~_same(state, right)).nonzero().flatten().tolist() if comparable else list(range(len(run.lengths)))
    apart = f"{(state.double() - right.double())[rows].abs().max().item():.3g}" if comparable else None
    answer, steps, shape = Answer(state), [run.lengths[b] - 1 for b in rows], tuple(right.shape)
    for one in known:
        if bool(_same(state, one.value).all()):
            severity: Severity = "note" if one.key == "one_direction" else "silent"
            says: list[Said] = [*one.says, "other_width" if apart is None else "differs"]
            return Fault(
                one.key,
                answer,
                rows,
                steps,
                severity=severity,
                says=says,
                apart=apart,
                shape=shape,
                code=one.code,
                about=one.about,
            )
    module = case.module
    drops = module is not None and module.training and module.dropout and module.num_layers > 1
    cause: Cause | None = "dropout_between_layers" if drops else None
    if apart is None:
        return Fault("state_width", answer, rows, steps, severity="note", cause=cause, shape=shape)
    return Fault("state_unknown", answer, rows, steps, severity="note", cause=cause, apart=apart)


def _wrong(run: _PackedRun) -> Iterator[_WrongReadout]:
    """Yield wrong readings of the output, and of h_n and c_n (L*D, B, H) if these are known."""
    output, (B, ends) = run.output, run.places
    if run.D == 2:
        yield _WrongReadout("backward_one_step", "the output at each last step", run.last)
    yield _WrongReadout("naive_last", run.column, output[:, -1])
    yield _WrongReadout("pads_pooled", "the mean over all steps", output.mean(1))
    yield _WrongReadout("pads_pooled", "the maximum over all steps", output.amax(1))
    yield _WrongReadout("off_by_one", "output at lengths - 2", output[B, ends - 2], says=("early",))
    yield _WrongReadout("off_by_one", "output at lengths - 2", output[B, (ends - 2).clamp(min=0)], says=("early",))
    after = output[B, ends.clamp(max=output.size(1) - 1)]
    yield _WrongReadout("off_by_one", "output at lengths", after, says=("late",))
    if run.D == 2:
        for code, value in (("the output at each last step", run.last), (run.column, output[:, -1])):
            both = torch.stack(value.chunk(2, 1)).sum(0)
            yield _WrongReadout("backward_one_step", f"the sum of both halves of {code}", both)
        for slot, direction, value in zip((-2, -1), DIRECTIONS, run.right.chunk(2, 1), strict=True):
            yield _WrongReadout("one_direction", f"h_n[{slot}]", value, direction)
    D, h_n = run.D, run.h_n
    if h_n is None:
        return
    yield _WrongReadout("states_mixed", "h_n.view(B, -1)", h_n.reshape(h_n.size(1), -1))
    yield _WrongReadout("states_mixed", f"h_n[-{D}:].view(B, -1)", h_n[-D:].reshape(h_n.size(1), -1))
    yield from _slots("lower_layer", "h_n", h_n[:-D], D)
    if run.c_n is not None:
        yield from _slots("cell_state", "c_n", run.c_n, D)


def _slots(key: ReadoutKey, name: str, states: Tensor, D: int) -> Iterator[_WrongReadout]:
    """Yield each of the states (n, B, H), and the two directions of a layer side by side."""
    for slot, state in enumerate(states):
        yield _WrongReadout(key, f"{name}[{slot}]", state, slot // D)
    for slot in range(0, len(states) if D == 2 else 0, 2):
        both = torch.cat([*states[slot : slot + 2]], 1)
        yield _WrongReadout(key, f"both directions of {name}, layer {slot // 2}", both, slot // 2)


def _padded_run(case: Case, run: _PackedRun) -> Iterator[_WrongReadout]:
    """Yield readings of a run over x as it is, pads and all."""
    if case.module is None or case.x is None:
        return
    first = case.module.batch_first
    padded = case.by_sequence.detach()
    answer = ask(partial(run_module, case.module, padded if first else padded.transpose(0, 1), case.hx))
    if answer.result is None:
        return
    output, final = answer.result
    h_n, _ = states_of(final)
    yield _WrongReadout("state_after_pads", f"{run.column} of the padded run", output[:, -1] if first else output[-1])
    yield _WrongReadout("state_after_pads", "h_n of the padded run", torch.cat(list(h_n[-run.D :]), 1))


def _in_another_order(state: Tensor, right: Tensor) -> Iterator[_WrongReadout]:
    """Yield the right states in the order that the state has them, unless one of them is missing."""
    if state.shape != right.shape or len(state) > MAX_ROWS or not bool((state.isfinite() & right.isfinite()).all()):
        return  # to cdist, a NaN is at no distance
    apart = torch.cdist(state.double(), right.double(), p=float("inf"))
    fits = apart <= (1e-2 if in_half(state, right) else 1e-5)  # (B, B): row b of the state is that of sequence p
    if not bool(fits.any(1).all()) or not bool(fits.any(0).all()):
        return
    order = fits.int().argmax(1)
    moved = next(b for b in range(len(order)) if not fits[b, b])
    about = {"row": moved, "owner": sequence_label(int(order[moved]))}
    yield _WrongReadout("states_order", "in a different order from the sequences", right[order], about)


def _same(one: Tensor, other: Tensor) -> Tensor:
    """Return (B,) bool: which rows are equal up to rounding; none if the shapes differ."""
    if one.shape != other.shape:
        return torch.zeros(1, dtype=torch.bool, device="cpu")
    half = in_half(one, other)
    return torch.isclose(one, other.to(one.dtype), rtol=1e-2 if half else 1e-4, atol=1e-2 if half else 1e-5).all(-1)


def in_half(one: Tensor, other: Tensor) -> bool:
    """Return whether bfloat16 or float16 was involved."""
    half = bool({torch.bfloat16, torch.float16} & {one.dtype, other.dtype})
    return half or torch.is_autocast_enabled(one.device.type)
