"""What the runs of a check show, in words: what differs, where, by how much, and who changes whom."""

from collections.abc import Mapping, Sequence
from math import isnan

from packviz.doctor.baseline import Baseline, Change
from packviz.doctor.leaves import AS_TEXT, is_text
from packviz.rules.finding import Fault, Finding, Severity, worded
from packviz.rules.words import Cause, Said
from packviz.text import joined, letters, sequence_label, two_digits

MOST = 4  # places, or samples that change others, in a sentence


def finding(
    key: str,
    baseline: Baseline,
    changes: Sequence[Change] = (),
    severity: Severity = "silent",
    noun: str = "sample",
    cause: Cause | None = None,
    says: Sequence[Said] = (),
    **values: object,
) -> Finding:
    """Return a finding in the words of its key, with its place, its size and what counts as rounding.

    noun   what is compared: a sample, a sequence, or a document, of which each token that differs is named
    """
    hit = steps_of(changes)
    rows, timed = [*hit], bool(hit) and all(hit.values())
    first = [steps[0] for steps in hit.values()] if timed else []
    if noun == "document" and timed:
        rows = [b for b, steps in hit.items() for _ in steps]
        first = [step for steps in hit.values() for step in steps]
    fault = Fault(
        key,
        None,
        rows,
        first,
        severity=severity,
        fails_in="",
        says=says,
        cause=cause,
        noun=noun,
        hit=letters(hit),
        amounts=amounts_of(changes),
        pairs=pairs_of(changes),
        where=where_of(hit, noun) or "the whole batch",
        rounding=rounding_of(baseline),
        **values,
    )
    return worded(fault, None)


def steps_of(changes: Sequence[Change]) -> dict[int, list[int]]:
    """Return the samples that differ, each with the steps where it does."""
    rows = sorted({one.on for one in changes if one.on is not None})
    return {b: sorted({step for one in changes if one.on == b for step in one.steps}) for b in rows}


def where_of(hit: Mapping[int, Sequence[int]], noun: str) -> str:
    """Return places in words: "sample C at t = 1", "tokens 0 to 2 of document B"; "" for the whole batch."""
    places = []
    for b, steps in hit.items():
        whole = len(steps) > 1 and steps[-1] - steps[0] == len(steps) - 1
        span = f"{steps[0]} to {steps[-1]}" if whole else joined([*map(str, steps)], MOST)
        if noun == "document":
            places.append(f"token{'s' * (len(steps) > 1)} {span} of document {sequence_label(b)}")
        else:
            places.append(f"{noun} {sequence_label(b)}" + (f" {'from' if whole else 'at'} t = {span}" if steps else ""))
    return joined(places, MOST)


def amounts_of(changes: Sequence[Change]) -> str:
    """Return by how much each output differs: "output by up to 0.25, state in its shape and name in its text"."""
    parts = []
    for name in dict.fromkeys(one.name for one in changes):
        sizes = [one.size for one in changes if one.name == name]
        shape, text = any(map(isnan, sizes)), is_text(name)
        how = "in its shape" if shape else "in its text" if text else f"by up to {two_digits(max(sizes))}"
        parts.append(f"{name.removesuffix(AS_TEXT)} {how}")
    return joined(parts)


def pairs_of(changes: Sequence[Change]) -> str:
    """Return who changes whom: "A changes B and C; B changes C"."""
    named = [one for one in changes if one.way == "values"] or [one for one in changes if one.by is not None]
    changed = sorted({one.by for one in named if one.by is not None})
    by = {j: sorted({one.on for one in named if one.by == j and one.on is not None}) for j in changed}
    pairs = [f"{sequence_label(j)} changes {letters(hit)}" for j, hit in by.items()]
    return "; ".join([*pairs[:MOST], *([f"{len(pairs) - MOST} more"] if len(pairs) > MOST else [])])


def message_of(error: BaseException) -> str:
    """Return the type of an error and the line that says what is wrong: TorchScript's last one, else the first.

    It is a part of a sentence, so the full stop at its end is left out.
    """
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()] or [""]
    said = lines[-1] if "TorchScript interpreter" in lines[0] else lines[0]
    name = type(error).__name__
    return (said if said.startswith(f"{name}:") else f"{name}: {said}".removesuffix(": ")).rstrip(".")


def rounding_of(baseline: Baseline) -> str:
    """Return what counts as rounding, in words."""
    if baseline.tolerance is not None:
        return f"Differences of up to {two_digits(baseline.tolerance)} count as rounding."
    units = sorted({unit for unit in baseline.units.values() if unit})
    if not units:
        kinds = {"texts" if is_text(name) else "integers" for name in baseline.units}
        return f"The outputs are {joined(sorted(kinds))}: each difference counts."
    sizes = joined([two_digits(unit) for unit in units])
    return f"Differences of up to {sizes} times the largest number of a result, or 1, count as rounding."
