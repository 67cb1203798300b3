"""A movie as an anywidget for Jupyter, VS Code, Colab and marimo; needs the extra `notebook`."""

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from packviz.errors import extra
from packviz.show.movie.page import HERE, assets, compressed
from packviz.validate import integer

with extra("notebook"):
    from anywidget import AnyWidget
    from ipywidgets import Widget, widget_serialization
    from traitlets import Dict, Instance, Int, Unicode, validate

if TYPE_CHECKING:
    from packviz.show.movie.data import Movie


class Player(Widget):  # type: ignore[misc] # ipywidgets has no types
    """The player, as one model for all movies."""

    style, code = (Unicode(each).tag(sync=True) for each in assets())


class MovieWidget(AnyWidget):
    """A player of a movie, synchronized with Python.

    step    which step is on screen, from 1; can be read, observed and set
    picked  the cell clicked last: its role, seq, k, token and the step; setting it to some of these, such as
            {"token": 3}, outlines the first such cell; {} for none
    """

    _esm = (HERE / "loader.js").read_text("utf-8")
    player = Instance(Player).tag(sync=True, **widget_serialization)
    movie = Unicode().tag(sync=True)
    step = Int(1).tag(sync=True)
    picked = Dict().tag(sync=True)

    def __init__(self, movie: "Movie", step: int = 1) -> None:
        self._steps = len(movie.steps)
        super().__init__(player=_shared(), movie=compressed(movie.to_dict()), step=step)
        self._still, self._line = movie.still(), repr(movie)
        _MADE.add(self)

    @validate("step")
    def _in_range(self, proposal: Any) -> int:
        return integer("step", proposal["value"], 1, self._steps)

    def __repr__(self) -> str:
        return f"MovieWidget({self._line})"

    def _repr_mimebundle_(self, **how: Any) -> Any:
        bundle = super()._repr_mimebundle_(**how)
        return bundle and ({**bundle[0], "text/plain": self._line, "text/html": self._still}, bundle[1])


_MADE = WeakSet[MovieWidget]()


def _shared() -> Player:
    """Return the player shared by all widgets; a new one if it was closed.

    marimo closes the widgets of a cell when it runs again.
    """
    players = {each.player for each in _MADE if each.player.comm and not each.player.comm._closed}
    player = players.pop() if players else Player()
    for each in _MADE:
        each.player = player
    return player
