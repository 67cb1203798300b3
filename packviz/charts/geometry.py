"""Where the cells of a movie stand at the end of each step, in pixels: the player's arithmetic for one size."""

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Camera", "Look", "Rect", "camera", "looks"]

MAX_UNIT = 58.0  # pixels of a cell, at most
WIDE = 1.12  # width by height from which on a picture counts as wide
DEFAULTS: dict[str, Any] = {"w": 1, "h": 1, "text": "", "sub": "", "scale": "state", "tone": "", "shown": True}

Look = dict[str, Any]  # a cell as it is now, under the short names of Cell.to_dict


class Rect(NamedTuple):
    """A rectangle in pixels; y counts downwards."""

    x: float
    y: float
    w: float
    h: float


class Camera(NamedTuple):
    """One way to set the panels of a stage on a picture: `unit` pixels for a unit, from the corner left, top."""

    view: Mapping[str, Any]
    unit: float
    left: float
    top: float

    def rect(self, look: Look) -> Rect | None:
        """Return where a cell stands, or None where its panel is not shown."""
        at = self.view["at"].get(look["p"])
        if at is None:
            return None
        x, y, w = look["x"], look["y"], look["w"]
        starts = self.view["breaks"].get(look["p"])
        if starts:
            x, down, end = _in_strip(starts, x)
            y += down
            if end is not None and look["x"] + w > end + 1e-6:
                w = end - look["x"] - 0.1
        return Rect(
            self.left + (at[0] + x) * self.unit,
            self.top + (at[1] + y) * self.unit,
            w * self.unit,
            look["h"] * self.unit,
        )


def camera(scene: Mapping[str, Any], width: float, height: float) -> Camera:
    """Return the view of a scene whose cells come out largest in `width` by `height` pixels."""
    views = scene["wide"] if width / height > WIDE else scene["tall"]
    most = max(len(view["at"]) for view in views)

    def size(view: Mapping[str, Any]) -> float:
        return float(min((width - 20) / view["w"], (height - 14) / view["h"], MAX_UNIT))

    best = views[0]
    for view in views[1:]:
        if _worth(view, size(view), most) > _worth(best, size(best), most) + 0.01:
            best = view
    unit = size(best)
    return Camera(best, unit, (width - best["w"] * unit) / 2, max(4.0, (height - best["h"] * unit) / 2))


def looks(movie: Mapping[str, Any]) -> list[list[Look]]:
    """Return all cells of a movie as they are at the end of each step."""
    cells = [DEFAULTS | cell | {"k": _last_number(cell["id"])} for cell in movie["cells"]]
    frames = []
    for step in movie["steps"]:
        cells = list(cells)
        for beat in step["beats"]:
            for change in beat:
                named = {name: value for name, value in change.items() if name not in ("c", "from")}
                cells[change["c"]] = cells[change["c"]] | named
        frames.append(cells)
    return frames


def _worth(view: Mapping[str, Any], size: float, most: int) -> float:
    return size * (0.8 if len(view["at"]) < most else 1)  # better all panels than large cells


def _in_strip(starts: list[float], x: float) -> tuple[float, float, float | None]:
    """Return x within its line, how far down that line is, and where it ends; starts[0] is the pitch of the lines."""
    line = 1
    while line + 1 < len(starts) and starts[line + 1] <= x + 1e-6:
        line += 1
    return x - starts[line], (line - 1) * starts[0], starts[line + 1] if line + 1 < len(starts) else None


def _last_number(name: str) -> int:
    tail = name.rpartition(":")[2]
    return int(tail) if tail.isdigit() else 0
