"""The batches and settings that every movie is held to: at random by seed, and the corners by name."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from inspect import signature
from typing import Any

import pytest
import torch
from movie_case import Case
from movie_screen import Show, typed
from random_runs import random_run
from seeds import seeds
from torch import Tensor, nn

import packviz as pv
from packviz import Batch, Config

__all__ = [
    "BESIDE",
    "CASES",
    "DEEP",
    "ENFORCED",
    "FILMS",
    "ORDINARY",
    "PACKED",
    "REFUSED",
    "Case",
    "CaseMovie",
    "case_of",
    "over",
]


def _random(seed: int) -> Case:
    """Return a case that depends on the seed alone."""
    run, r = random_run(seed), random.Random(seed)
    layer = r.choice([None, 0, run.config.num_layers - 1])
    direction = int(run.config.bidirectional and r.random() < 0.6)
    return Case(pv.trace(run.batch, run.config), layer, direction)


def _typed(given: str | list[int] | Batch, direction: int = 0, **settings: Any) -> Case:
    """A batch, or what is typed for it, or the lengths of its sequences."""
    text = typed(given) if isinstance(given, list) else given
    batch = Batch.parse(text) if isinstance(text, str) else text
    return Case(pv.trace(batch, Config(**settings)), None, direction)


def _example(name: str, **settings: Any) -> Case:
    return Case(pv.trace(Batch.example(name), Config(**settings)))


def _own(build: Callable[[], nn.RNNBase], grid: Callable[[], Tensor], **given: Any) -> Case:
    """A module of one's own over a padded grid (B,T,F) of sequences of lengths 3, 4 and 2."""
    torch.manual_seed(0)
    module, x = build(), grid()
    return Case(pv.trace_module(module, x if module.batch_first else x.transpose(0, 1), [3, 4, 2], **given))


def _broken(features: int, *holes: tuple[int, int, float]) -> Tensor:
    x = torch.randn(3, 4, features)
    for b, t, value in holes:
        x[b, t, 0] = value
    return x


NAN, INF = float("nan"), float("inf")

_MAKE: dict[str, Callable[[], Case]] = {
    "one-token": partial(_typed, "7"),
    "one-sequence": partial(_typed, "1 2 3 4", cell="lstm"),
    "equal-lengths": partial(_typed, "1 2\n3 4\n5 6"),
    "one-pad": partial(_typed, "1 2\n3"),
    "one-empty-place": partial(_typed, "7", embedding_dim=1, total_length=2),
    "vectors-of-one-number": partial(_typed, Batch.from_tensors([torch.ones(2, 1), torch.zeros(3, 1)])),
    "decreasing-enforced": partial(_typed, "1 2 3\n4 5\n6", enforce_sorted=True),
    "forum": partial(_typed, "1 2 3\n4 5\n6"),
    "unsorted": partial(_typed, "1 2 3\n4 5\n6 7 8 9"),
    "unsorted-backward": partial(_typed, "1 2 3\n4 5\n6 7 8 9", 1, bidirectional=True),
    "words": partial(_typed, "on your mark\nget set\ngo"),
    "pads-on-the-left": partial(_typed, "1 2 3\n4\n5 6", padding_side="left", total_length=5),
    "pads-on-the-left-backward": partial(_typed, "1 2 3 4\n4 5 6\n5 6", 1, padding_side="left", bidirectional=True),
    "pads-on-the-left-words": partial(_typed, "on your mark\nget set\ngo", padding_side="left", num_layers=2),
    "padding-idx": partial(_typed, "a b c\nd e\nf", padding_idx=2),
    "padding-idx-time-first": partial(_typed, "1 2 3\n4 5\n6", embedding_dim=3, padding_idx=5, batch_first=False),
    "refused": partial(_typed, "1 2\n3 4 5\n6", enforce_sorted=True),
    "refused-words-time-first": partial(_typed, "go\nget set\non your mark", enforce_sorted=True, batch_first=False),
    "large-numbers": partial(_typed, "1e30 -2.5e20 3\n1e-8 4", cell="rnn", nonlinearity="relu"),
    "twenty-four": partial(_typed, [n % 5 + 1 for n in range(24)]),
    "forty": partial(_typed, [(7 * n) % 11 + 1 for n in range(40)], cell="lstm"),
    "forty-time-first-backward": partial(
        _typed, [(7 * n) % 6 + 1 for n in range(40)], 1, batch_first=False, bidirectional=True
    ),
    "window": partial(_typed, [1, *(n % 3 + 2 for n in range(132)), 1, 1]),
    "long": partial(_typed, [3, 130]),
    "long-backward": partial(_typed, [3, 130], 1, bidirectional=True, batch_first=False),
    "long-lstm-backward": partial(
        _typed, [64, 61], 1, cell="lstm", bidirectional=True, num_layers=2, initial_state="carried"
    ),
    "long-left-backward": partial(
        _typed, [59, 66, 61, 60], 1, padding_side="left", bidirectional=True, initial_state="learned"
    ),
    "window-long-backward": partial(
        _typed, [59 + n % 4 for n in range(26)], 1, bidirectional=True, initial_state="random"
    ),
    "zen": partial(_example, "zen", num_layers=2),
    "vowels": partial(_example, "vowels", cell="lstm", bidirectional=True),
    "hundred": partial(_example, "hundred", cell="lstm"),
    "own-gru": partial(_own, lambda: nn.GRU(2, 4, batch_first=True), lambda: torch.randn(3, 4, 2)),
    "own-one-feature": partial(_own, lambda: nn.GRU(1, 4), lambda: torch.randn(3, 4, 1)),
    "own-projection": partial(
        _own, lambda: nn.LSTM(2, 6, 2, bidirectional=True, proj_size=3), lambda: torch.randn(3, 4, 2)
    ),
    "own-wide-grid": partial(_own, lambda: nn.GRU(2, 4, batch_first=True), lambda: torch.randn(3, 7, 2)),
    "own-filler": partial(_own, lambda: nn.GRU(1, 4, batch_first=True), lambda: torch.full((3, 4, 1), 9.0)),
    "own-not-finite": partial(
        _own, lambda: nn.GRU(2, 4, batch_first=True), lambda: _broken(2, (0, 1, NAN), (1, 0, INF))
    ),
    "own-not-finite-single": partial(_own, lambda: nn.LSTM(1, 4), lambda: _broken(1, (0, 1, NAN), (1, 0, -INF))),
    "own-nan-in-the-padding": partial(_own, lambda: nn.GRU(2, 4, batch_first=True), lambda: _broken(2, (0, 3, NAN))),
    "own-filled-with-nan": partial(_own, lambda: nn.RNN(2, 4), lambda: torch.randn(3, 4, 2), padding_value=NAN),
    "own-filled-with-infinity": partial(_own, lambda: nn.RNN(2, 4), lambda: torch.randn(3, 4, 2), padding_value=-INF),
    "own-refused": partial(_own, lambda: nn.LSTM(2, 6), lambda: torch.randn(3, 4, 2), enforce_sorted=True),
}
_MAKE |= {f"random-{seed}": partial(_random, seed) for seed in seeds(16)}


CASES = [*_MAKE]  # by name: a case is made for the first test that looks at it
REFUSED = [name for name in CASES if "refused" in name]
PACKED = [name for name in CASES if name not in REFUSED]
ENFORCED = ["decreasing-enforced", *(f"random-{n}" for n in seeds(16) if random_run(n).config.enforce_sorted)]


@cache
def case_of(name: str) -> Case:
    """Return one of CASES, the same for every test in this process."""
    case = _MAKE[name]()
    case.name = name
    assert case.refused == (name in REFUSED)
    return case


@dataclass(frozen=True)
class CaseMovie:
    """One of the movies of a case: "show", "deep" or "beside"."""

    of: str
    kind: str

    def __str__(self) -> str:
        return f"{self.of}-{self.kind}"

    @property
    def case(self) -> Case:
        return case_of(self.of)

    @property
    def show(self) -> Show:
        shown: Show = getattr(self.case, self.kind)
        return shown


ORDINARY = [CaseMovie(name, "show") for name in CASES]
DEEP = [CaseMovie(name, "deep") for name in CASES]
BESIDE = [CaseMovie(name, "beside") for name in PACKED]
FILMS = [*ORDINARY, *DEEP, *BESIDE]


def over(cases: Sequence[str] | Sequence[CaseMovie]) -> Callable[[Callable[[Any], int | None]], Callable[..., None]]:
    """Make a test of a fact for each of these cases or films.

    A fact that applies only if something is the case returns how often it spoke. The last case of a fact that never
    spoke fails; a quick run, which leaves cases out, does not look.
    """

    def decorate(fact: Callable[[Any], int | None]) -> Callable[..., None]:
        spoke: dict[str, int] = {}
        (name,) = signature(fact).parameters

        @wraps(fact)
        def test(**given: Any) -> None:
            each = given[name]
            times = fact(case_of(each) if isinstance(each, str) else each)
            spoke[str(each)] = 1 if times is None else times
            assert len(spoke) < len(cases) or any(spoke.values()), "the fact never spoke"

        tests: Callable[..., None] = pytest.mark.parametrize(name, cases, ids=str)(test)
        return tests

    return decorate
