"""Movie: steps and scenes as pure data, with everything that a player needs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from packviz.errors import PackvizError
from packviz.show.movie.about import About
from packviz.show.movie.changes import Changes, changes
from packviz.show.movie.drawing import draw, svg
from packviz.show.movie.format import FORMAT
from packviz.show.movie.frames import Moment, moments
from packviz.show.movie.layout import Scene, plain
from packviz.show.movie.marks import CodeLine, Frame, Shot, Stage, Step, StepSeries
from packviz.show.movie.page import framed, pictured, standalone
from packviz.show.movie.stills import Picture
from packviz.show.theme import DARK, LIGHT, SEQUENCE_HUES
from packviz.text import counted, joined, sequence_label, shown
from packviz.validate import choice, integer, is_number

if TYPE_CHECKING:
    from packviz.show.movie.widget import MovieWidget

Theme = Literal["light", "dark"]
KINDS = (".html", ".svg", ".png", ".gif", ".apng")  # of files, by suffix


@dataclass(frozen=True, repr=False)
class Movie:
    """The steps and scenes of a movie; the same for the app, a notebook and a file.

    questions: what the player asks before it shows the answer, from packviz.predictions.asking.
    """

    about: About
    changes: Changes
    steps: tuple[Step, ...]
    scenes: Mapping[str, Scene]
    code: tuple[CodeLine, ...]
    lines: Mapping[Stage, int]
    questions: tuple[Mapping[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"Movie({self.title}: {counted(len(self.steps), 'step')} of {joined(list(self._shown))})"

    @property
    def run(self) -> Any:
        """The record of the run, such as a Trace."""
        return self.about.run

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages that a run of its kind can have, in order; of padded beside packed, those that it shows."""
        return self.about.stages or self._shown

    @property
    def _shown(self) -> tuple[Stage, ...]:
        """The stages that it shows, in order."""
        return tuple(dict.fromkeys(step.stage for step in self.steps))

    @property
    def title(self) -> str:
        """The batch and the cell in a few words."""
        return self.about.title

    @property
    def scales(self) -> Mapping[str, float]:
        """The numbers at which the diverging scale ends: `input` for what enters, `state`, `weight` or `gradient`."""
        return self.about.scales

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not shown, and other remarks."""
        return self.about.notes

    @property
    def proof(self) -> str:
        """How the numbers compare with torch's own."""
        return self.about.proof

    @property
    def exact(self) -> bool:
        """Whether the numbers are bitwise equal to those of torch's own run, and no padding was packed.

        Of rows: whether the results of every stage shown come from torch's own functions.
        """
        return self.about.exact

    @property
    def ids(self) -> list[str]:
        """The name of each mark, in the order of the data."""
        return [name for group in self.changes.marks for name in group.ids]

    @property
    def tokens(self) -> list[tuple[int, int]]:
        """Sequence and time step of every token shown, in the order of their numbers."""
        return list(zip(self.about.tokens["b"], self.about.tokens["t"], strict=True))

    def step_at(self, stage: Stage, time: int | None = None, name: str = "") -> int:
        """Return the number, from 1, of a stage's step with this name, else with this time, else of its last step.

        Raises PackvizError for a stage that the movie does not show.
        """
        choice("stage", stage, self._shown)
        here = [(i, played) for i, played in enumerate(self.steps, 1) if played.stage == stage]
        named = [i for i, played in here if name and played.name == name]
        timed = [i for i, played in here if time is not None and played.time == time]
        return (named or timed or [here[-1][0]])[0]

    def frame(self, step: int) -> dict[str, Any]:
        """Return the content of the last frame of a step, counted from 1, without any encoding.

        stage, scene, caption; code: the statement that runs, and its shape; detail: the lines within it; marks: every
        visible mark by its name, with its role, panel p, place x and y in units of its panel, size, texts and numbers.

        >>> from packviz import Batch, movie, trace
        >>> shown = movie(trace(Batch.parse("1 2"))).frame(1)
        >>> shown["stage"], [mark["text"] for mark in shown["marks"].values() if mark["role"] == "token"]
        ('pad', ['1', '2'])
        """
        integer("step", step, 1, len(self.steps))
        told, last = self.steps[step - 1], self._last[step]
        cells = zip(self.ids, last.cells, strict=True)
        return {
            "stage": told.stage,
            "scene": last.scene,
            "caption": told.caption,
            "code": self.code[self.lines[told.stage]],
            "detail": told.detail,
            "marks": {name: cell._asdict() for name, cell in cells if cell.shown},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the movie as lists, dicts, strings and numbers, as in format.py, ready for JSON; do not modify it."""
        return self._data

    def to_html(self, step: int = 1) -> str:
        """Return a standalone page with the player, which opens on a step and needs no server and no network."""
        integer("step", step, 1, len(self.steps))
        return standalone(self.title, self._data, f' data-step="{step}"' if step > 1 else "")

    def to_svg(self, step: int | None = None, *, width: int = 960, height: int = 480, theme: Theme = "light") -> str:
        """Return the picture at the end of a step, by default the last one, as SVG with its caption below.

        width, height: pixels of the picture without the caption. theme: light or dark.
        """
        return svg(self._picture(self._step(step), width, height, theme))

    def save(
        self,
        path: str | Path,
        step: int | None = None,
        *,
        width: int = 960,
        height: int = 480,
        theme: Theme = "light",
        scale: float = 1.0,
    ) -> Path:
        """Write the movie to a file in the format given by its suffix, and return its path.

        .html: the page with the player, which opens on a step, by default the first. .svg, .png: the picture at the end
        of a step, as in `to_svg`. .gif, .apng: the pictures of all steps. scale: pixels of a PNG, GIF or APNG for each
        pixel of width and height.
        """
        target = Path(path)
        kind = choice("path", target.suffix.lower(), KINDS)
        if kind in (".html", ".svg"):
            look: dict[str, Any] = {"width": width, "height": height, "theme": theme}
            text = self.to_html(1 if step is None else step) if kind == ".html" else self.to_svg(step, **look)
            target.write_text(text, encoding="utf-8")
        else:
            last = self._step(step)
            picture = self._picture(last if kind == ".png" else None, width, height, theme)
            largest = max(1.0, 20_000 / max(picture.width, picture.full))
            if not is_number(scale) or not 0.1 <= scale <= largest:
                expected = f"a number from 0.1 to {largest:.1f}, for at most 20,000 pixels a side"
                raise PackvizError("scale", expected=expected, got=shown(scale), fix="choose a number such as 2")
            draw(target, picture, scale)
        return target

    def _picture(self, step: int | None, width: int, height: int, theme: Theme) -> Picture:
        """Return the last frame of a step, or all frames, as shapes."""
        place = integer("width", width, 200, 20_000), integer("height", height, 150, 20_000)
        palette = {"light": LIGHT, "dark": DARK}[choice("theme", theme, get_args(Theme))]
        return Picture(self._data, place, palette, step)

    def _step(self, step: int | None) -> int:
        return len(self.steps) if step is None else integer("step", step, 1, len(self.steps))

    def widget(self, step: int = 1) -> "MovieWidget":
        """Return a widget for a notebook with a kernel; its `step` and `picked` can be read and set from Python.

        Raises ImportError without the extra `notebook`.
        """
        from packviz.show.movie.widget import MovieWidget

        return MovieWidget(self, integer("step", step, 1, len(self.steps)))

    def _repr_html_(self) -> str:
        return framed(self.title, self._data, self.still())

    def still(self) -> str:
        """Return the picture of the last step as HTML without scripts, with a line of text."""
        return pictured(f"{self!r}. Trust this notebook or run the cell again to play it here.", self.to_svg())

    @cached_property
    def _last(self) -> Mapping[int, Moment]:
        """The last frame of each step, by its number: decoding takes the player's engine, and seconds."""
        return {each.step: each for each in moments(self._data)}

    @cached_property
    def _data(self) -> dict[str, Any]:
        about = self.about
        return {
            "format": FORMAT,
            "title": about.title,
            "stages": {stage: stage.capitalize() for stage in self._shown},
            "groups": list(map(dict, self.changes.groups)),
            "tips": [[list(line) for line in tip] for tip in self.changes.tips],
            "tokens": dict(about.tokens),
            "numbers": list(map(list, about.numbers)),
            "steps": [*self._steps()],
            "lines": dict(self.lines),
            **plain(self.scenes),
            "code": list(map(list, self.code)),
            "sequences": [
                [sequence_label(b), b % len(SEQUENCE_HUES), b // len(SEQUENCE_HUES)] for b in range(about.sequences)
            ],
            "scales": dict(about.scales),
            "notes": list(about.notes),
            "proof": about.proof,
            "exact": about.exact,
            **({"stack": dict(about.stack)} if about.stack else {}),
            **({"questions": list(map(dict, self.questions))} if self.questions else {}),
        }

    def _steps(self) -> Iterator[dict[str, Any]]:
        frames, stage = iter(self.changes.frames), ""
        for step in self.steps:
            fields = {
                "stage": step.stage if step.stage != stage else "",
                "caption": step.caption,
                "detail": list(map(list, step.detail)),
                "tone": step.tone,
                "error": step.error,
                "scene": step.scene[0] if step.scene else "",
            }
            stage = step.stage
            changing = [frame for frame in islice(frames, step.beats) if frame]
            yield {**{name: value for name, value in fields.items() if value}, "frames": changing or [[]]}


def _is_seen(frame: Frame, scene: Scene) -> bool:
    """Return whether a scene has a panel of the frame. If not, its cells move to where the next frame has them."""
    panels = {name for box in (*scene.wide, *scene.tall) for name in box.panels}
    return any(not panels.isdisjoint(np.ravel(group.look["p"]).tolist()) for group in frame.values())


def made(
    about: About,
    opening: Frame,
    shots: Iterable[tuple[Stage, Frame | None, Shot]],
    scenes: Mapping[str, Scene],
    code: Mapping[str, CodeLine],
    lines: Mapping[Stage, int],
) -> Movie:
    """Return the movie of these shots, some preceded by another frame; opening: the frame before the first shot."""
    frames, played = [(opening, 1)], list[Step]()
    for stage, before, shot in shots:
        if isinstance(shot, StepSeries):
            steps, shown = list(shot.steps), [(shot.groups, sum(step.beats for step in shot.steps))]
        else:
            steps, shown = [shot._replace(frames=(), beats=len(shot.frames))], [(frame, 1) for frame in shot.frames]
        if before is not None and _is_seen(before, steps[0].scene[1] if steps[0].scene else scenes[stage]):
            steps[0], shown = steps[0]._replace(beats=steps[0].beats + 1), [(before, 1), *shown]
        frames += shown
        played += [step._replace(stage=stage) for step in steps]
    changed = changes(frames)
    scenes = {**scenes, **dict(step.scene for step in played if step.scene)}
    return Movie(about, changed, tuple(played), scenes, tuple(code.values()), lines)
