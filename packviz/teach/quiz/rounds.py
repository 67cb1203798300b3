"""A round: its questions, each with a batch and the run that judges it, the same on every machine."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import get_args

from packviz.compute.record import Refusal, Trace
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.config import Config
from packviz.teach.predictions import KINDS, Prediction, Stage
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["LAST_ROUND", "LEVELS", "MAX_QUESTIONS", "Level", "Question", "questions"]

LAST_ROUND = 9999
MAX_QUESTIONS = 20

_LEAST_SLIPS = 2
_WORD = re.compile(r"\w+")
_WORDS = ("rain", "fell", "fast", "on", "the", "old", "town", "and", "we", "ran", "home", "so", "wet", "but", "glad")
_CELLS: tuple[Cell, ...] = get_args(Cell)
_ABOUT_THE_SORT = ("sorted_row", "sorted_indices")  # on a sorted batch the question would give the order away


@dataclass(frozen=True, eq=False, repr=False)
class Question(Brief):
    """One question of a round."""

    text: str  # the batch, one sequence per line
    batch: Batch
    config: Config
    trace: Trace | Refusal  # torch's run of the batch with these settings, which the answer is judged by
    prediction: Prediction  # the question itself, its answer, and the reasons for typical wrong ones
    number: int  # of the prediction among those of its kind on this batch: KINDS[prediction.key](trace, number)

    @property
    def stage(self) -> Stage:
        """Return the stage whose movie shows why."""
        return self.prediction.moment.stage

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Return the stages of that movie: one, except that the embedding is shown with the padding before it."""
        return ("pad", "embed") if self.stage == "embed" else (self.stage,)

    @property
    def direction(self) -> int:
        """Return the direction that the movie watches: 1, backward, if the question is about it."""
        return int(self.prediction.key.endswith("_backward"))

    @property
    def settings(self) -> tuple[str, ...]:
        """Return the settings as code: the cell, enforce_sorted, and everything that differs from the defaults."""
        config, table = self.config, self.trace.padded.embedding
        shown: dict[str, object] = {"enforce_sorted": config.enforce_sorted}
        if table is not None:
            shown["embedding_dim"] = table.size(1)
        for name in ("num_layers", "bidirectional", "batch_first", "padding_side", "total_length"):
            if getattr(config, name) != getattr(Config(), name):
                shown[name] = getattr(config, name)
        return f"nn.{config.cell.upper()}", *(f"{name}={value!r}" for name, value in shown.items())


Drawn = tuple[str, Config]


@dataclass(frozen=True)
class Level:
    """What is asked at one level."""

    told: str  # a short description of its batches
    kinds: tuple[str, ...]  # of predictions, keys of packviz.predictions.KINDS
    # returns a random batch, as text, and the settings, for a question of one kind
    draw: Callable[[Random, str], Drawn]


def questions(level: int, seed: int, count: int = 10) -> tuple[Question, ...]:
    """Return the questions of a round.

    level: 1 to 3, a key of LEVELS. seed: the number of the round, from 1 to LAST_ROUND. count: from 1 to
    MAX_QUESTIONS; a smaller count gives a prefix. No kind comes twice before each kind of the level has come once,
    and none more than twice. Raises PackvizError for other numbers.
    """
    integer("level", level, 1, len(LEVELS))
    integer("seed", seed, 1, LAST_ROUND)
    integer("count", count, 1, MAX_QUESTIONS)
    draw, kinds = Random(f"packviz {level} {seed}"), LEVELS[level].kinds  # seeded by the text's SHA-512
    order = [*draw.sample(kinds, len(kinds)), *draw.sample(kinds, len(kinds))]
    chosen: dict[tuple[str, str], Question] = {}
    for kind in order[:count]:
        new = next(each for each in _drawn(draw, level, kind) if (each.text, each.prediction.prompt) not in chosen)
        chosen[new.text, new.prediction.prompt] = new
    return tuple(chosen.values())


def _drawn(draw: Random, level: int, kind: str) -> Iterator[Question]:
    """Draw batches endlessly; yield a question of a kind about each that distinguishes two typical mistakes."""
    while True:
        text, config = LEVELS[level].draw(draw, kind)
        batch = Batch.parse(text)
        seen = trace(batch, config)
        number = draw.choice((0, 1, 2, 3))
        prediction = KINDS[kind](seen, number)
        if prediction is None or len(prediction.slips) < _LEAST_SLIPS:
            continue
        question = Question(text, batch, config, seen, prediction, number)
        prompt = prediction.prompt.replace("counted from 0", "")
        shown = f" {' '.join(_WORD.findall(f'{prompt} {question.settings}'))} "
        typed = prediction.form != "choice" and bool(prediction.answer)
        if not typed or f" {prediction.solution} " not in shown:  # else the question would contain the answer
            yield question


def _first(draw: Random, kind: str) -> Drawn:
    in_order = draw.random() < (0.5 if kind == "enforced" else 0.7) and kind not in _ABOUT_THE_SORT
    lengths = _lengths(draw, count=(3, 4), longest=(3, 5), ties=False, in_order=in_order)
    return _numbers(draw, lengths), Config(cell=draw.choice(_CELLS), enforce_sorted=kind == "enforced")


def _second(draw: Random, kind: str) -> Drawn:
    in_order = kind == "enforced" and draw.random() < 0.5
    lengths = _lengths(draw, count=(4, 6), longest=(3, 7), ties=draw.random() < 0.6, in_order=in_order)
    write = _words if kind == "padded_shape" or draw.random() < 0.5 else _numbers
    cell, batch_first = draw.choice(_CELLS), draw.random() < 0.5
    return write(draw, lengths), Config(cell=cell, batch_first=batch_first, enforce_sorted=kind == "enforced")


def _third(draw: Random, kind: str) -> Drawn:
    enforce_sorted = kind == "enforced" or (kind != "sorted_row" and draw.random() < 0.3)
    in_order = enforce_sorted and (kind != "enforced" or draw.random() < 0.5)
    lengths = _lengths(draw, count=(4, 6), longest=(4, 8), ties=draw.random() < 0.6, in_order=in_order)
    write = _words if draw.random() < 0.4 else _numbers
    widened = kind == "last_column" and draw.random() < 0.2
    config = Config(
        cell=draw.choice(_CELLS),
        num_layers=draw.choice((1, 2, 2, 3)),
        bidirectional=kind.endswith("_backward") or draw.random() < 0.6,
        batch_first=draw.random() < 0.6,
        enforce_sorted=enforce_sorted,
        padding_side="left" if draw.random() < 0.35 else "right",
        total_length=max(lengths) + draw.randint(1, 2) if widened else None,
    )
    return write(draw, lengths), config


def _lengths(
    draw: Random, *, count: tuple[int, int], longest: tuple[int, int], ties: bool, in_order: bool
) -> list[int]:
    """Return lengths that are not all equal and, sorted, differ from `batch_sizes`, with which they are often confused.

    count, longest: the minimum and maximum of each. ties: whether some lengths are equal; otherwise as many as
    possible differ. in_order: whether none is longer than the one before it; otherwise at least one is.
    """
    while True:
        B, T = draw.randint(*count), draw.randint(*longest)
        lengths = [T, *(draw.randint(1, T) for _ in range(B - 1))]
        draw.shuffle(lengths)
        different = len(set(lengths))
        falling = sorted(lengths, reverse=True)
        batch_sizes = [sum(length > t for length in lengths) for t in range(T)]
        if different > 1 and (different < B if ties else different == min(B, T)) and falling != batch_sizes:
            break
    if in_order:
        return falling
    while lengths == falling:
        draw.shuffle(lengths)
    return lengths


def _numbers(draw: Random, lengths: Sequence[int]) -> str:
    return "\n".join(" ".join(str(draw.randint(10, 99)) for _ in range(length)) for length in lengths)


def _words(draw: Random, lengths: Sequence[int]) -> str:
    return "\n".join(" ".join(draw.choice(_WORDS) for _ in range(length)) for length in lengths)


_LEVELS_OF: Mapping[str, tuple[int, ...]] = {  # in this order: it decides which questions a round has
    "joins_backward": (3,),
    "final_backward": (3,),
    "fed_backward": (3,),
    "padded_shape": (1, 2),
    "pad_count": (1, 2),
    "enforced": (1, 2, 3),
    "sorted_row": (1, 2, 3),
    "sorted_indices": (2, 3),
    "batch_sizes": (1, 2, 3),
    "batch_size": (1, 2),
    "packed_row": (1, 2, 3),
    "packed_token": (1, 2, 3),
    "alive": (1, 2),
    "ended": (1, 2, 3),
    "final_step": (1,),
    "last_column": (1, 2, 3),
    "unpacked_width": (1, 3),
}


def _level(number: int, told: str, draw: Callable[[Random, str], Drawn]) -> Level:
    return Level(told, tuple(kind for kind, levels in _LEVELS_OF.items() if number in levels), draw)


LEVELS: Mapping[int, Level] = {
    1: _level(1, "short batches of numbers, most of them sorted", _first),
    2: _level(2, "larger batches in any order, equal lengths, words", _second),
    3: _level(3, "both directions, layers, padding on the left, errors", _third),
}
