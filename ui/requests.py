"""What a visitor asks for: plain frozen values, by which the caches know it again."""

from dataclasses import dataclass
from typing import Literal

from packviz.inputs.batch import ReadAs
from packviz.inputs.config import Config
from packviz.inputs.examples import EXAMPLES
from packviz.show.movie.model import Stage

__all__ = ["BESIDE", "OWN", "Request", "Source", "View"]

View = Stage | Literal["beside"]
BESIDE: tuple[View, ...] = ("beside",)
OWN = "own"  # in the place of an example's key: the visitor's own text


@dataclass(frozen=True)
class Source:
    """Say where the sequences come from: a text and how to read it, or without one the example's tensors."""

    example: str = EXAMPLES[0].key
    text: str | None = EXAMPLES[0].text
    read_as: ReadAs = "auto"


@dataclass(frozen=True)
class Request:
    """Hold one state of all controls.

    settings: names and values of a Config, not checked yet. stages: those of a lesson, which are shown in full depth;
    BESIDE for padded beside packed; None for the whole way.
    """

    source: Source = Source()
    settings: tuple[tuple[str, object], ...] = ()
    layer: int | None = None
    direction: int = 0
    stages: tuple[View, ...] | None = None

    @property
    def config(self) -> Config:
        """Return the settings as a Config; raises PackvizError where it refuses them."""
        return Config(**dict(self.settings))  # type: ignore[arg-type]
