"""One picture of a movie: where caption, cells and code stand in it, and the marks of each step."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from packviz.charts.brush import Brush
from packviz.charts.captions import caption, folded, lines
from packviz.charts.geometry import Camera, Look, Rect, camera
from packviz.charts.marks import Drawn, Tile, Word
from packviz.charts.template import plain
from packviz.theme import SEQUENCE_HUES, Palette, with_contrast

__all__ = ["Page"]

SIDE, TOP, BAR = 310, 96, 96  # pixels for the code, the caption and the controls
ROOMY = 1000  # pixels of width from which on the code stands beside the picture
CODE, SAID = 12.5, 18.0  # pixels of their text
MANY = 400  # tokens from which on cells have no stripes
TOGETHER = 36  # letters of a row of code and its shape that stand side by side
LINE = 1.32  # from line to line, as a share of the text's size

Named = tuple[str, list[Drawn]]


class Page:
    """Set a movie on a figure of `width` by `height` pixels."""

    def __init__(self, movie: Mapping[str, Any], palette: Palette, width: int, height: int) -> None:
        self.movie, self.palette, self.width, self.height = movie, palette, width, height
        self.many = len(movie["tokens"]) > MANY
        self.roomy = width >= ROOMY
        self.said = SAID if self.roomy else 15.0
        self.top = TOP if self.roomy else TOP + 84
        size = width - (SIDE if self.roomy else 0), height - self.top - BAR
        cameras = {stage: camera(scene, *size) for stage, scene in movie["scenes"].items()}
        self.cameras = {stage: seen._replace(top=seen.top + self.top) for stage, seen in cameras.items()}
        shades = {letter: SEQUENCE_HUES[hue] for letter, hue, _ in movie["sequences"]}
        self.hues = {letter: with_contrast(shade, palette.background, 4.5) for letter, shade in shades.items()}

    def camera_at(self, k: int) -> Camera:
        """Return how the panels of the k-th step are set."""
        step = self.movie["steps"][k]
        return self.cameras[step.get("scene", step["stage"])]

    def marks(self, k: int, frame: list[Look]) -> list[Named]:
        """Return the marks of the k-th step: those of each cell, then the words around the picture."""
        seen = self.camera_at(k)
        brush = Brush(self.movie, self.palette, seen.unit, frame, bare=self.many)
        cells = [(look["id"], self._shown(brush, look, seen.rect(look))) for look in frame]
        return [*cells, ("caption", list(self._caption(k))), ("error", list(self._error(k))), *self._code(k)]

    def _shown(self, brush: Brush, look: Look, rect: Rect | None) -> list[Drawn]:
        return list(brush.paint(look, rect)) if rect is not None and look["shown"] else []

    def _caption(self, k: int) -> Iterator[Drawn]:
        step = self.movie["steps"][k]
        ink = self.palette.wrong if step.get("tone") == "wrong" else self.palette.text
        text = caption(step["caption"], self.hues, self.width - 40, self.said)
        yield Drawn("words", "", Word(16, 12, text, self.said, ink, "bottom right"))

    def _error(self, k: int) -> Iterator[Drawn]:
        error = self.movie["steps"][k].get("error")
        if error:
            room = self.width - (SIDE if self.roomy else 0) - 40
            text = lines(error, room, CODE)
            tall = (text.count("<br>") + 1) * CODE * LINE + 16
            top = self.height - BAR - tall
            yield Drawn("rings", "", Tile(14, top, room + 12, tall, self.palette.surface, self.palette.wrong, 2))
            yield Drawn("words", "", Word(20, top + 4, text, CODE, self.palette.text, "bottom right"))

    def _code(self, k: int) -> list[Named]:
        """Return the lines of the program, the current one strong; only that one where there is little room."""
        step, code = self.movie["steps"][k], self._fitted(self.movie["code"])
        if not self.roomy:
            return [("code", [self._line(code[step["code"]], 16, self.top - 44, now=True)])] if code else []
        top, shown = float(self.top - 12), []
        for i, line in enumerate(code):
            now, known = i == step["code"], i <= step["code"]
            part = line if known else [line[0], ""]
            shown.append((f"code:{i}", [self._line(part, self.width - SIDE + 8, top, now=now)]))
            top += self._rows(line) * CODE * LINE + 5
        top += 7
        detail = self._fitted(step.get("detail", ()))
        for i in range(max(len(step.get("detail", ())) for step in self.movie["steps"])):
            marks = [self._line(detail[i], self.width - SIDE + 8, top, now=False)] if i < len(detail) else []
            shown.append((f"detail:{i}", marks))
            top += (self._rows(detail[i]) if i < len(detail) else 2) * CODE * LINE + 2
        return shown

    def _fitted(self, code: Iterable[Sequence[str]]) -> list[list[str]]:
        room = SIDE - 16 if self.roomy else self.width - 32
        return [[folded(text, room, CODE), shape] for text, shape in code]

    def _rows(self, line: Sequence[str]) -> int:
        return line[0].count("\n") + 1 + (bool(line[1]) and not self._beside(line))

    def _beside(self, line: Sequence[str]) -> bool:
        """Return whether a shape has room in the last row of its line."""
        return len(line[0].rpartition("\n")[2]) + len(line[1]) <= TOGETHER

    def _line(self, line: list[str], x: float, y: float, *, now: bool) -> Drawn:
        rows = [plain(row).replace("  ", "\u00a0\u00a0") for row in line[0].split("\n")]
        text = "<br>".join(rows)
        text = f"<b>{text}</b>" if now else text
        start = "" if self._beside(line) else "<br>"
        shape = f"{start}\u00a0\u00a0→ {plain(line[1])}" if line[1] else ""
        ink = self.palette.now if now else self.palette.quiet
        return Drawn("words", "", Word(x, y, text + shape, CODE, ink, "bottom right"))
