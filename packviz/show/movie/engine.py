"""The player's own code in a small JavaScript engine: what Python must know of a movie it asks there."""

import json
from collections.abc import Mapping
from typing import Any

from packviz.show.movie.page import HERE


class Engine:
    """An engine with the player's code (player/still.js) and a movie, which is called `movie` there."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        import quickjs  # here: who never asks for a picture does not need it

        self._context = quickjs.Context()
        self._context.eval((HERE / "still.js").read_text("utf-8"))
        self.give("movie", data)

    def give(self, name: str, value: Any) -> None:
        """Set a variable to a function that takes and returns text or numbers, or to what JSON can express."""
        if callable(value):
            self._context.add_callable(name, value)
        else:
            self._context.set(name, self._context.parse_json(json.dumps(value)))

    def ask(self, expression: str) -> Any:
        """Return what an expression comes to, by way of JSON."""
        return json.loads(self._context.eval(f"JSON.stringify({expression})"))
