"""What a measurement says, in a sentence: never more than its spread allows."""

from __future__ import annotations

from packviz.cost.measuring import Measurement
from packviz.cost.timing import LEAST_ROUNDS, Timing

__all__ = ["verdict"]


def verdict(measurement: Measurement) -> str:
    """Return one sentence on padding and packing, computed from the numbers, and another where the machine was busy.

    "Here packing takes 2.0 times as long as padding (LSTM, fill 46 %)."
    """
    said = _sentence(measurement, _where(measurement))
    reasons = measurement.strain.reasons
    return f"{said} The machine was busy meanwhile: {'; '.join(reasons)}." if reasons else said


def _sentence(measurement: Measurement, where: str) -> str:
    padded, packed, ratio = measurement.padded, measurement.packed, measurement.ratio
    if measurement.rounds < LEAST_ROUNDS:
        runs = "1 run is" if measurement.rounds == 1 else f"{measurement.rounds} runs are"
        return f"{runs} too few to compare packing with padding ({where})."
    if not measurement.differs:
        middle = f"the middle half of the runs took {_range(padded)} padded and {_range(packed)} packed"
        return f"Here there is no difference that this measurement can show ({where}): {middle}."
    if ratio > 1:
        return f"Here packing takes {_times(ratio)} times as long as padding ({where})."
    return f"Here packing takes {min(100 * ratio, 99):.0f} % of the time that padding takes ({where})."


def _where(measurement: Measurement) -> str:
    setup = measurement.setup
    parts = [setup.name, f"fill {_percent(measurement.fill)}"]
    if setup.backward:
        parts.append("forward with backward")
    if setup.device != "cpu":
        parts.append(f"on {setup.device.upper()}")
    elif not setup.onednn:
        parts.append("oneDNN off")
    return ", ".join(parts)


def _times(ratio: float) -> str:
    """Return 1.04, 1.3, 2.0: so many digits that it is not 1."""
    return f"{ratio:.1f}" if ratio >= 1.1 else f"{max(ratio, 1.01):.2f}"


def _percent(fill: float) -> str:
    return "over 99 %" if 0.995 <= fill < 1 else f"{100 * fill:.0f} %"


def _range(timing: Timing) -> str:
    return f"{timing.low:.3g} to {timing.high:.3g} ms"
