"""How likely it is that real zeros look like pads: the measure of evidence where nobody told what a pad looks like.

Suppose that K of N steps are zero because the data are so, and that every place is as likely as any other. Of the
C(N, K) ways to place them, those in which k of them stand at the ends of B sequences number at most
C(B + k - 1, k) * C(N - k, K - k): the first factor spreads k over the ends, the second places the rest anywhere.
"""

from __future__ import annotations

from math import lgamma, log

__all__ = ["ALMOST_NEVER", "SELDOM", "log_chance_of_ends", "log_chance_of_vectors"]

ALMOST_NEVER = log(1e-6)
SELDOM = log(1e-3)


def log_chance_of_ends(B: int, N: int, K: int, k: int) -> float:
    """Return the log of a bound on the chance that k of K zero steps, among N steps, end the B sequences."""
    return _log_ways(B, k) + _log_choose(N - k, K - k) - _log_choose(N, K)


def log_chance_of_vectors(B: int, F: int, elements: int, zeros: int, k: int) -> float:
    """Return the log of a bound on the chance that zeros among the elements make k steps of F zeros at the ends.

    It takes every element for itself: right for values that are cut at zero one by one, not for silence.
    """
    return _log_ways(B, k) + _log_choose(elements - k * F, zeros - k * F) - _log_choose(elements, zeros)


def _log_ways(B: int, k: int) -> float:
    return _log_choose(B + k - 1, k)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
