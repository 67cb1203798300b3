"""A round: its questions, each with a batch and the run that judges it, the same on every machine."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, get_args

from packviz.compute.record import Refusal, Trace
from packviz.compute.row_record import RowsTrace
from packviz.compute.runs import run_kind_of
from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.config import Config
from packviz.inputs.limits import limited_batch
from packviz.inputs.row_config import STRATEGIES, RowConfig
from packviz.teach.predictions import KINDS, MovieMoment, Prediction, Stage, rows
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["LAST_ROUND", "LEVELS", "MAX_QUESTIONS", "Level", "QuizQuestion", "questions"]

LAST_ROUND = 9999
MAX_QUESTIONS = 20

_LEAST_SLIPS = 2
_WORD = re.compile(r"\w+")
_WORDS = ("rain", "fell", "fast", "on", "the", "old", "town", "and", "we", "ran", "home", "so", "wet", "but", "glad")
_CELLS: tuple[Cell, ...] = get_args(Cell)
_ABOUT_THE_SORT = ("sorted_row", "sorted_indices")  # on a sorted batch the question would give the order away


@dataclass(frozen=True, eq=False, repr=False)
class QuizQuestion(Brief):
    """One question of a round."""

    text: str  # the batch, one sequence per line
    batch: Batch
    config: Config | RowConfig
    trace: Trace | Refusal | RowsTrace  # torch's run of the batch with these settings, which the answer is judged by
    prediction: Prediction  # the question itself, its answer, and the reasons for typical wrong ones
    number: int  # of the prediction among those of its kind on this batch: KINDS[prediction.key](trace, number)

    @property
    def moment(self) -> MovieMoment:
        """Return the moment that shows why: which sequences are live is simpler to see in the packing than in a run."""
        moment = self.prediction.moment
        return replace(moment, stage="pack") if self.prediction.key == "alive" else moment

    @property
    def stage(self) -> Stage:
        """Return the stage whose movie shows why."""
        return self.moment.stage

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Return the stages of that movie: one, except that the embedding is shown with the padding before it."""
        return ("pad", "embed") if self.stage == "embed" else (self.stage,)

    @property
    def direction(self) -> int:
        """Return the direction that the movie watches: 1, backward, if the question is about it."""
        return KINDS[self.prediction.key].direction

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the settings as code, by name: the main ones, and everything else that differs from the defaults."""
        return KINDS[self.prediction.key].subject.code(self.trace)


Drawn = tuple[str, Config | RowConfig]


@dataclass(frozen=True)
class Level:
    """What is asked at one level."""

    name: str  # in two words
    about: str  # a short description of its batches
    kinds: tuple[str, ...]  # of predictions, keys of packviz.predictions.KINDS
    # returns a random batch, as text, and the settings, for a question of one kind
    draw: Callable[[Random, str], Drawn]


def questions(level: int, seed: int, count: int = 10) -> tuple[QuizQuestion, ...]:
    """Return the questions of a round.

    level: 1 to 5, a key of LEVELS. seed: the number of the round, from 1 to LAST_ROUND. count: from 1 to
    MAX_QUESTIONS; a smaller count gives a prefix. No kind comes twice before each kind of the level has come once,
    and none more than twice. Raises PackvizError for other numbers, and if a batch exceeds the limits of the app.
    """
    level, seed = integer("level", level, 1, len(LEVELS)), integer("seed", seed, 1, LAST_ROUND)
    count = integer("count", count, 1, MAX_QUESTIONS)
    draw, kinds = Random(f"packviz {level} {seed}"), LEVELS[level].kinds  # seeded by the text's SHA-512
    order = [*draw.sample(kinds, len(kinds)), *draw.sample(kinds, len(kinds))]
    chosen: dict[tuple[str, str], QuizQuestion] = {}
    for kind in order[:count]:
        new = next(
            each for each in drawn(draw, LEVELS[level], kind) if (each.text, each.prediction.prompt) not in chosen
        )
        chosen[new.text, new.prediction.prompt] = new
    return tuple(chosen.values())


def drawn(draw: Random, level: Level, kind: str) -> Iterator[QuizQuestion]:
    """Draw batches endlessly; yield a question of a kind about each that distinguishes two typical mistakes.

    Raises PackvizError, before anything is computed, if a batch or its settings exceed the limits of the app.
    """
    while True:
        text, config = level.draw(draw, kind)
        batch = limited_batch(text)
        seen = run_kind_of(config).limited(batch, config)
        number = draw.choice((0, 1, 2, 3))
        prediction = KINDS[kind](seen, number)
        if prediction is None or len(prediction.slips) < _LEAST_SLIPS:
            continue
        question = QuizQuestion(text, batch, config, seen, prediction, number)
        prompt = prediction.prompt.replace("counted from 0", "")
        shown = f" {' '.join(_WORD.findall(' '.join((prompt, *question.settings.values()))))} "
        typed = prediction.form != "choice" and bool(prediction.answer)
        if not typed or f" {prediction.solution} " not in shown:  # else the question would contain the answer
            yield question


def _first(draw: Random, kind: str) -> Drawn:
    in_order = draw.random() < (0.5 if kind == "enforced" else 0.7) and kind not in _ABOUT_THE_SORT
    lengths = _lengths(draw, count=(3, 4), longest=(3, 5), ties=False, in_order=in_order)
    return _values(draw, lengths), Config(cell=draw.choice(_CELLS), enforce_sorted=kind == "enforced")


def _second(draw: Random, kind: str) -> Drawn:
    in_order = kind == "enforced" and draw.random() < 0.5
    lengths = _lengths(draw, count=(4, 6), longest=(3, 7), ties=draw.random() < 0.6, in_order=in_order)
    write = _words if kind == "padded_shape" or draw.random() < 0.5 else _values
    cell, batch_first = draw.choice(_CELLS), draw.random() < 0.5
    return write(draw, lengths), Config(cell=cell, batch_first=batch_first, enforce_sorted=kind == "enforced")


def _third(draw: Random, kind: str) -> Drawn:
    enforce_sorted = kind == "enforced" or (kind != "sorted_row" and draw.random() < 0.3)
    in_order = enforce_sorted and (kind != "enforced" or draw.random() < 0.5)
    lengths = _lengths(draw, count=(4, 6), longest=(4, 8), ties=draw.random() < 0.6, in_order=in_order)
    write = _words if draw.random() < 0.4 else _values
    widened = kind == "last_column" and draw.random() < 0.2
    config = Config(
        cell=draw.choice(_CELLS),
        num_layers=draw.choice((1, 2, 2, 3)),
        bidirectional=KINDS[kind].direction == 1 or draw.random() < 0.6,
        batch_first=draw.random() < 0.6,
        enforce_sorted=enforce_sorted,
        padding_side="left" if draw.random() < 0.35 else "right",
        total_length=max(lengths) + draw.randint(1, 2) if widened else None,
    )
    return write(draw, lengths), config


def _of_rows(draw: Random, kind: str) -> tuple[str, RowConfig]:
    """Draw sequences in rows, and of the settings those that a question of this kind depends on."""
    if kind in ("row_count", "dropped_from", "dropped_tokens"):
        lengths = _lengths(draw, count=(3, 5), longest=(4, 7), ties=draw.random() < 0.4, in_order=False)
        longest, strategy = max(lengths), draw.choice(STRATEGIES)
        return _ids(draw, lengths), RowConfig(max_length=draw.randint(longest - 2, longest + 2), strategy=strategy)
    lengths = _lengths(draw, count=(3, 5), longest=(3, 5), ties=draw.random() < 0.4, in_order=False)
    settings: dict[str, Any] = {
        "max_length": draw.choice((8, 9, 10)),
        "strategy": draw.choice(("next_fit", "first_fit")),
    }
    if kind in ("keys_read", "mask_cells", "changed_tokens", "changed_documents"):
        settings["isolate"] = draw.random() < 0.5
    if kind in ("changed_tokens", "changed_documents"):
        settings["layer"] = draw.choice(("attention", "gru", "lstm", "conv"))
    if kind == "conv_hit":
        settings |= {"layer": "conv", "isolate": False}
    if settings.get("layer") == "conv":
        settings["kernel_size"] = draw.randint(2, 5)
    elif kind in ("keys_read", "mask_cells"):
        settings["causal"] = draw.random() < 0.7
    if kind == "last_label":
        settings["shift_labels"] = draw.choice(("document", "row"))
    write = _words if kind == "last_label" and draw.random() < 0.5 else _ids
    return write(draw, lengths), RowConfig(**settings)


def _of_losses(draw: Random, kind: str) -> Drawn:
    """Draw rows for a question about labels and weights, else a batch whose gradients, or states, are asked for."""
    if kind not in ("heavier", "last_label"):
        return _third(draw, kind)
    text, config = _of_rows(draw, kind)
    return text, replace(config, shift_labels="row") if kind == "last_label" and draw.random() < 0.5 else config


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


def _values(draw: Random, lengths: Sequence[int]) -> str:
    """Return numbers up to 2.0 in size, none of them 0: with larger ones gates saturate, and states look alike."""
    numbers = ([draw.randint(10, 99) for _ in range(length)] for length in lengths)
    return "\n".join(" ".join(f"{(n if n % 2 else -n) / 50:.1f}" for n in row) for row in numbers)


def _ids(draw: Random, lengths: Sequence[int]) -> str:
    return "\n".join(" ".join(str(draw.randint(10, 99)) for _ in range(length)) for length in lengths)


def _words(draw: Random, lengths: Sequence[int]) -> str:
    return "\n".join(" ".join(draw.choice(_WORDS) for _ in range(length)) for length in lengths)


_LEVELS_OF: Mapping[str, tuple[int, ...]] = {  # in this order: it decides which questions a round has
    "joins_backward": (3, 5),
    "final_backward": (3, 5),
    "fed_backward": (3, 5),
    "padded_shape": (1, 2),
    "pad_count": (1, 2),
    "enforced": (1, 2, 3),
    "sorted_row": (1, 2, 3),
    "sorted_indices": (2, 3),
    "batch_sizes": (1, 2, 3),
    "batch_size": (1, 2),
    "packed_row": (1, 2, 3),
    "packed_token": (1, 2, 3),
    "alive": (1, 2, 5),
    "ended": (1, 2, 3, 5),
    "final_step": (1,),
    "last_column": (1, 2, 3),
    "unpacked_width": (1, 3),
    # a kind that is added to a level changes its rounds, to which there are links
    **{kind.key: (4,) for kind in rows.ROW_KINDS},
    "row_documents": (),
    "last_label": (4, 5),
    "heavier": (5,),
    "gradient_enters": (5,),
    "live_going_back": (5,),
    "pad_gradient": (5,),
}


def _level(number: int, name: str, about: str, draw: Callable[[Random, str], Drawn]) -> Level:
    return Level(name, about, tuple(kind for kind, levels in _LEVELS_OF.items() if number in levels), draw)


LEVELS: Mapping[int, Level] = {
    1: _level(1, "short batches", "short batches of numbers, most of them sorted", _first),
    2: _level(2, "larger batches", "larger batches in any order, equal lengths, words", _second),
    3: _level(3, "both directions", "both directions, layers, padding on the left, errors", _third),
    4: _level(4, "transformer rows", "rows of several sequences, as transformers read them", _of_rows),
    5: _level(5, "losses, gradients", "losses and gradients, and the run that they go back through", _of_losses),
}
