"""check_samples(): what comes out for a sample may not depend on the other samples of its batch."""

import random
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jinja2 import Template
from torch.utils._python_dispatch import TorchDispatchMode

from packviz.doctor.causes import Pattern, patterns
from packviz.doctor.influence import Checked, Influence
from packviz.doctor.runs import Change, Evidence, Run, collect
from packviz.doctor.variations import Variations
from packviz.errors import PackvizError
from packviz.rules.finding import Finding
from packviz.rules.preconditions import refusal_of
from packviz.text import ENVIRONMENT, counted, joined, letters, sequence_label, two_digits
from packviz.validate import integer, is_number

__all__ = ["check_samples"]

LEAST = 12  # forwards: with fewer, most variations are left out


def check_samples(
    run: Run,
    samples: Sequence[Any],
    *,
    rows: int | Sequence[int] | None = None,
    seed: int = 0,
    forwards: int = 80,
    tolerance: float | None = None,
    ignore: str | Collection[str] = (),
) -> Checked:
    """Check that what `run` returns for a sample is the same whichever samples are in its batch.

    The samples are run as they are (twice), each alone, in two other orders, with other values in the place of one of
    them, beside a longer one, and in pairs. What belongs to a sample must agree at all entries that it has alone.

    run         run(samples) takes a list of samples, makes its own batch of them (collate, pad, pack, fill a row), and
                returns one output for each: a list, or a tensor whose first dimension counts them. An output is a
                tensor, a number, a text, or a tuple, list, dict or dataclass of these
    samples     at least two: tensors or arrays (length, ...), lists of ids, texts, or tuples, lists and dicts of these
    rows        of a large batch: how many samples to take, drawn with the seed, or their indices
    seed        of the variations: order, other values, pairs
    forwards    how often `run` may be called: at least 12
    tolerance   the largest difference that counts as rounding. None: 1,024 units of the dtype's precision times the
                largest number of the sample's output, or 1: 1.2e-4 in float32, 2.3e-13 in float64; 16 units in float16,
                bfloat16 and TensorFloat-32. The same number on both sides is equal, and so are nan and nan
    ignore      keys of findings that are left out

    `run` gets copies of the samples; what it changes itself stays changed, such as the statistics of a batch
    normalization in training, so call model.eval() before. No random state changes: see random_states_kept(). An error
    of `run` on the samples themselves is passed on. Raises PackvizError for unsupported inputs.
    """
    chosen = _chosen(run, samples, rows, seed)
    integer("forwards", forwards, LEAST)
    if tolerance is not None and not (is_number(tolerance) and tolerance >= 0):
        raise refusal_of("tolerance", "a number of at least 0", tolerance, "leave it out, or give one such as 1e-5")
    vary = Variations([samples[b] for b in chosen], seed)
    with random_states_kept(run) as watched:
        done = collect(watched, vary.samples, vary, forwards, tolerance)
        watched.differs = any(one.way == "again" for one in done.changes)
        found = [*findings_of(done, drawn=watched.draws())]
    if chosen != [*range(len(samples))]:
        found = [_renumbered(one, chosen) for one in found]
    return Checked(found, influence_of(done, chosen)).ignoring(ignore)


def _chosen(run: object, samples: object, rows: int | Sequence[int] | None, seed: int) -> list[int]:
    if not callable(run):
        fix = "give run=lambda samples: model(**collate(samples))"
        raise refusal_of("run", "a function of a list of samples", run, fix)
    fix = "give a list of at least two samples"
    if isinstance(samples, str | bytes) or not hasattr(samples, "__len__") or not hasattr(samples, "__getitem__"):
        raise refusal_of("samples", "a list of samples", samples, fix)
    B = len(samples)
    if B < 2:
        raise PackvizError("samples", expected="at least two", got=str(B), fix=fix)
    if rows is None:
        return [*range(B)]
    if isinstance(rows, int):
        return sorted(random.Random(seed).sample(range(B), min(integer("rows", rows, 2), B)))
    chosen = [integer("rows", row, 0, B - 1) for row in rows]
    if len(set(chosen)) != len(chosen) or len(chosen) < 2:
        raise PackvizError("rows", expected="at least two different rows", got=str(chosen), fix="name each row once")
    return chosen


class _Drawing(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Record whether an operation in this thread draws random numbers."""

    drawn = False

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        own = any(isinstance(one, torch.Generator) for one in (*args, *(kwargs or {}).values()))
        self.drawn |= torch.Tag.nondeterministic_seeded in call.tags and not own
        return call(*args, **(kwargs or {}))


class WatchedRun:
    """A run whose first call is watched for random numbers.

    drawn    whether torch drew in the first call; differs: whether two calls were seen to differ, set by the caller
    """

    def __init__(self, run: Callable[[Any], Any]) -> None:
        self.run, self.drawn, self.differs, self.calls = run, False, False, 0
        self.before = torch.get_rng_state(), random.getstate(), np.random.get_state()

    def draws(self) -> bool:
        """Return whether the run draws random numbers, as far as can be seen."""
        numpy = str(np.random.get_state()) != str(self.before[2])
        return self.drawn or numpy or random.getstate() != self.before[1]

    def __call__(self, samples: Any) -> Any:
        self.calls += 1
        if self.calls > 1:
            return self.run(samples)
        with _Drawing() as seen:  # type: ignore[no-untyped-call]
            result = self.run(samples)
        self.drawn = seen.drawn
        return result


@contextmanager
def random_states_kept(run: Callable[[Any], Any]) -> Iterator[WatchedRun]:
    """Put the random states back to what they were if the run draws from them; else leave them alone.

    Variations are drawn from a generator of their own. Random operations of torch in the first run are seen in this
    thread alone; if there is one, or if two runs differ, the states are put back at the end. A run that draws nothing
    thus never takes back what another thread draws meanwhile.
    """
    watched = WatchedRun(run)
    on_gpu = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    try:
        yield watched
    finally:
        if watched.drawn or watched.differs:
            torch.set_rng_state(watched.before[0])
            torch.cuda.set_rng_state_all(on_gpu)
        if watched.differs:
            random.setstate(watched.before[1])
            np.random.set_state(watched.before[2])


def findings_of(done: Evidence, *, drawn: bool) -> Iterator[Finding]:
    """Yield what follows from the evidence."""
    if "again" in done.failures or any(one.way == "again" for one in done.changes):
        error = done.failures.get("again")
        told = f"the second run raises {said_by(error)}" if error else told_of(done.changes)
        yield _finding("run_differs", done, done.changes, {"told": told, "drawn": drawn})
        return
    ways = {way for way in done.compared if way != "again"}
    if not ways:
        failure = said_by(next(iter(done.failures.values())))
        yield _finding("nothing_compared", done, (), {"failure": failure}, severity="error")
        return
    for way in ("alone", "order"):
        if way in done.failures and (way not in ways or done.copies > 1):
            why: dict[str, object] = {"failure": said_by(done.failures[way]), "alone": way == "alone"}
            why["copies"] = done.copies > 1 and way == "alone"
            yield _finding("alone_fails" if way == "alone" else "order_fails", done, (), why, severity="note")
    for one in patterns(done):
        yield _finding(one.kind, done, _telling(one.changes), _values(done, one))


def _telling(changes: Sequence[Change]) -> Sequence[Change]:
    """Return the changes that show the cause: by other values if there are any, else beside others or alone."""
    for ways in (("values",), ("alone", "pair")):
        if found := [one for one in changes if one.way in ways]:
            return found
    return changes


def _values(done: Evidence, pattern: Pattern) -> dict[str, object]:
    changes = _telling(pattern.changes)
    hit = sorted({one.on for one in changes})
    full = [b for b in done.alone if done.full(b) and b not in hit]
    moved = [f"{sequence_label(b)} gets that of {sequence_label(of)}" for b, of in enumerate(pattern.order) if b != of]
    return {
        "told": told_of(changes),
        "hit": letters(hit),
        "who": who_of(changes),
        "change": f"the result of {letters(hit)} changes: {told_of(changes)}{_beside(changes)}.",
        "order": joined(moved, 4),
        "full": letters(full) if full else "",
        "one_full": len(full) == 1,
        "first_is_right": 0 not in {one.on for one in changes if one.way == "alone"},
    }


def _beside(changes: Sequence[Change]) -> str:
    pairs = [one for one in changes if one.way == "pair"]
    return f" ({who_of(pairs)} when it stands beside it)" if pairs else ""


def told_of(changes: Sequence[Change]) -> str:
    """Return by how much each output differs: "output by up to 0.25 and state in its shape"."""
    parts = []
    for name in dict.fromkeys(one.name for one in changes):
        sizes = [one.size for one in changes if one.name == name]
        parts.append(f"{name} in its shape" if any(map(isnan, sizes)) else f"{name} by up to {two_digits(max(sizes))}")
    return joined(parts)


def who_of(changes: Sequence[Change]) -> str:
    """Return who changes whom: "A changes B and C, B changes C"."""
    told = [one for one in changes if one.way == "values"] or [one for one in changes if one.by is not None]
    changed = sorted({one.by for one in told if one.by is not None})
    by = {j: sorted({one.on for one in told if one.by == j}) for j in changed}
    return joined([f"{sequence_label(j)} changes {letters(hit)}" for j, hit in by.items()], 4)


def said_by(error: BaseException) -> str:
    """Return the type of an error and the line that says what is wrong: TorchScript's last one, else the first."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()] or [""]
    said = lines[-1] if "TorchScript interpreter" in lines[0] else lines[0]
    name = type(error).__name__
    return said if said.startswith(f"{name}:") else f"{name}: {said}".removesuffix(": ")


def rounding_of(done: Evidence) -> str:
    """Return what counts as rounding, in words."""
    if done.tolerance is not None:
        return f"Differences of up to {two_digits(done.tolerance)} count as rounding."
    units = {unit for leaves in done.outputs for name in leaves if (unit := done.unit(name))}
    if not units:
        return "The outputs are integers: each difference counts."
    told = joined([two_digits(unit) for unit in sorted(units)])
    return f"Differences of up to {told} times the largest number of a result, or 1, count as rounding."


def _finding(
    key: str, done: Evidence, changes: Sequence[Change], values: Mapping[str, object], severity: Any = "silent"
) -> Finding:
    words = _words()[key]
    found = " ".join(words["found"].render(**values).split())
    rows = sorted({one.on for one in changes})
    steps = [sorted({step for one in changes if one.on == b for step in one.steps}) for b in rows]
    timed = bool(rows) and all(steps)
    if severity == "silent":
        found = f"{found} {rounding_of(done)}"
    where = joined([f"sample {sequence_label(b)}{_at(each)}" for b, each in zip(rows, steps, strict=True)], 4)
    first = tuple(each[0] for each in steps) if timed else ()
    repair = words["repair"].render(**values).strip()
    return Finding(key, severity, found, where or "the whole batch", "", repair, tuple(rows), first)


def _at(steps: Sequence[int]) -> str:
    """Return steps in words: " at t = 3", " from t = 0 to 4"."""
    if not steps:
        return ""
    if len(steps) == 1:
        return f" at t = {steps[0]}"
    if steps[-1] - steps[0] == len(steps) - 1:
        return f" from t = {steps[0]} to {steps[-1]}"
    return f" at t = {joined([str(step) for step in steps], 4)}"


def _renumbered(one: Finding, chosen: Sequence[int]) -> Finding:
    told = f"{one.found} Of the samples, {counted(len(chosen), 'row')} were taken: A is row {chosen[0]}"
    rest = [f"{sequence_label(at)} is row {row}" for at, row in enumerate(chosen) if at]
    found = f"{told}, {joined(rest, 4)}."
    values = {**vars(one), "found": found, "sequences": tuple(chosen[b] for b in one.sequences)}
    return Finding(**values)


def influence_of(done: Evidence, chosen: Sequence[int]) -> Influence:
    """Return who changes whom, as numbers."""
    B = len(done.outputs)
    sizes: dict[tuple[int | None, int], float] = {}
    for one in done.changes:
        if one.way != "again":
            size = float("inf") if isnan(one.size) else one.size
            sizes[one.by, one.on] = max(size, sizes.get((one.by, one.on), 0.0))
    names = [sequence_label(b) if chosen == [*range(B)] else str(chosen[b]) for b in range(B)]
    return Influence(tuple(names), sizes, done.forwards, "Which sample changes which")


@cache
def _words() -> dict[str, dict[str, Template]]:
    table = tomllib.loads(Path(__file__).with_name("samples.toml").read_text(encoding="utf-8"))
    return {key: {name: ENVIRONMENT.from_string(text) for name, text in each.items()} for key, each in table.items()}
