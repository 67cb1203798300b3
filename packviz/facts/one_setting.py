"""What changes the verdict: the same comparison with one setting changed at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from packviz.compute.record import Trace
from packviz.compute.trace import trace as run
from packviz.errors import PackvizError
from packviz.facts.comparison import Comparison, Finding, compare
from packviz.inputs.config import Config

__all__ = ["Switch", "switches"]

_MAX_LAYERS = 4


@dataclass(frozen=True)
class Switch:
    """Hold what one changed setting does to the verdicts.

    setting   the name of the setting in Config
    before    its value in the trace
    after     the value that was tried
    findings  the verdicts with it
    changed   the keys of the verdicts that change: from equal to different, from right to wrong, or back; a half that
              is not there counts as equal
    """

    setting: str
    before: object
    after: object
    findings: tuple[Finding, ...]
    changed: tuple[str, ...]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return the sentences of all verdicts with the changed setting."""
        return tuple(finding.told for finding in self.findings)

    @property
    def told(self) -> str:
        """Return what the changed setting does, with the sentences of the verdicts that change."""
        head = f"{self.setting}={self.after!r} instead of {self.before!r}"
        if not self.changed:
            return f"{head}: no verdict on the outputs changes."
        now = {finding.key: finding.told for finding in self.findings}
        said = [now.get(key, f"{_named(key)}: no longer there.") for key in self.changed]
        count = len(said)
        return f"{head}: {count} verdict{' changes' if count == 1 else 's change'}. {' '.join(said)}"


def switches(trace: Trace) -> tuple[Switch, ...]:
    """Trace and compare the batch again with one setting changed at a time: which verdicts change?

    The weights are drawn from the same seed. A change that makes the module too large is left out. Return () for a
    module of your own. Raises PackvizError where torch refused to pack the lengths.
    """
    now = compare(trace)
    if trace.batch is None or trace.config is None:
        return ()
    done = []
    for setting, value in _changes(trace.config, embedded=trace.padded.embedding is not None):
        try:
            other = run(trace.batch, replace(trace.config, **{setting: value}))
        except PackvizError:
            continue
        then = compare(other)
        before = getattr(trace.config, setting)
        done.append(Switch(setting, before, value, then.findings, _changed(now, then)))
    return tuple(done)


def _changes(config: Config, *, embedded: bool) -> Iterator[tuple[str, Any]]:
    yield "bias", not config.bias
    yield "bidirectional", not config.bidirectional
    yield "padding_side", "left" if config.padding_side == "right" else "right"
    if embedded:
        yield "padding_idx", 0 if config.padding_idx is None else None
    if config.num_layers < _MAX_LAYERS:
        yield "num_layers", config.num_layers + 1


def _changed(now: Comparison, then: Comparison) -> tuple[str, ...]:
    before, after = ({finding.key: finding.verdict for finding in done.findings} for done in (now, then))
    return tuple(key for key in dict.fromkeys((*before, *after)) if _all_well(before, key) != _all_well(after, key))


def _all_well(verdicts: dict[str, tuple[bool, ...]], key: str) -> tuple[bool, ...]:
    """Return what is wrong and what is not; () where all is well, or where there is no such thing."""
    verdict = verdicts.get(key, ())
    return () if all(verdict) else verdict


def _named(key: str) -> str:
    if key == "packed_pads":
        return "Packed pads"
    name, _, half = key.rpartition("_")
    return f"{name}, {half} half" if name else f"{key.capitalize()} half"
