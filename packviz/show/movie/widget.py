"""A movie as a widget of Jupyter, VS Code, Colab and marimo, by anywidget: needs the extra `notebook`."""

from typing import TYPE_CHECKING, Any

from packviz.errors import extra
from packviz.show.movie.page import assets, packed

with extra("notebook"):
    from anywidget import AnyWidget
    from traitlets import Dict, Int, Unicode

if TYPE_CHECKING:
    from packviz.show.movie.data import Movie


class MovieWidget(AnyWidget):
    """Play a movie, and keep in step with Python.

    step    which step is on screen, from 1; to be read, observed and set
    picked  the cell that was clicked last: its role, seq, k, token and the step; set to some of these, such as
            {"token": 3}, it outlines the first such cell; {} for none
    """

    _css, _esm = assets()
    movie = Unicode().tag(sync=True)
    step = Int(1).tag(sync=True)
    picked = Dict().tag(sync=True)

    def __init__(self, movie: "Movie", step: int = 1) -> None:
        super().__init__(movie=packed(movie.to_dict()), step=step)
        self._still, self._line = movie.still(), repr(movie)

    def _repr_mimebundle_(self, **how: Any) -> Any:
        told = super()._repr_mimebundle_(**how)
        return told and ({**told[0], "text/plain": self._line, "text/html": self._still}, told[1])
