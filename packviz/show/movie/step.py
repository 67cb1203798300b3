"""A step of a movie: what is said, which lines run, and the frames that show it."""

from typing import Literal, NamedTuple

from packviz.show.movie.layout import Scene
from packviz.show.movie.marks import Frame

Stage = str  # its name: captions.toml lists them


class CodeLine(NamedTuple):
    """One line of the program, and the shape of what it makes."""

    text: str
    shape: str = ""


class Step(NamedTuple):
    """One step of a stage.

    caption: one or two plain sentences; `{A}` is the letter of a sequence, `**...**` is strong. frames: what is shown,
    one after the other. detail: the lines that run within it. error: torch's own message, where it refuses. scene: a
    name and where things stand in it, if not as in all of its stage. time: the time step t that it shows, if it shows
    one. name: by which others lead to it, if they do. stage, beats: its stage and how many frames it has, as a movie
    keeps them, which keeps no frames.
    """

    caption: str
    frames: tuple[Frame, ...]
    detail: tuple[CodeLine, ...] = ()
    tone: Literal["", "wrong"] = ""
    error: str = ""
    scene: tuple[str, Scene] | None = None
    time: int | None = None
    name: str = ""
    stage: Stage = ""
    beats: int = 1

    def after(self, frame: Frame) -> "Step":
        """Return the step with a frame before its own."""
        return self._replace(frames=(frame, *self.frames))
