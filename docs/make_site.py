"""Build the site from the pages in this folder, the questions, and the docstrings: `make docs`.

A page is Markdown with Jinja2 in it: `movie(...)` puts a live movie there, `rows(...)` one of the same batch in rows,
`question(key)` links to an answer, and what stands between `{% filter python %}` and `{% endfilter %}` is run and shown
with what it prints. The programs of one page share their names. Whatever fails, fails the build.
"""

import argparse
import contextlib
import html
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import packviz as pv
from packviz.show.charts.panels import Panel, panels
from packviz.show.movie import beside
from packviz.show.theme import LIGHT, diverging, sequence_color, text_on
from packviz.teach.questions import ENTRIES, GROUPS, Entry, EntryResult, answer
from packviz.text import unlinked

__all__ = ["build"]

HERE = Path(__file__).parent
VERDICTS = {"true": "success", "false": "failure", "depends": "warning", "cited": "quote"}
FRAME = """<iframe class="movie" src="{up}movies/{name}.html#fit" title="{title}" height="560" loading="lazy"></iframe>
[Open this movie on a page of its own]({up}movies/{name}.html){{ target=_blank }}"""


def build(folder: Path, entries: Sequence[Entry] = ENTRIES) -> Path:
    """Write the pages and the site into a folder, which is emptied first, and return the site's folder.

    entries: the questions that get a page, beside those to which a page links.
    """
    shutil.rmtree(folder, ignore_errors=True)
    pages = _Pages(folder / "pages")
    shutil.copytree(HERE / "assets", pages.folder / "assets")
    (pages.folder / "movies").mkdir()
    for notebook in HERE.glob("*.ipynb"):
        shutil.copy(notebook, pages.folder)
    for path in sorted(HERE.rglob("*.md")):
        pages.page(path.relative_to(HERE))
    shown = [entry for entry in ENTRIES if entry in entries or entry.key in pages.linked]
    pages.questions(shown)
    questions = json.dumps(_nav(shown), ensure_ascii=False).replace('": ', '" = ')
    settings = (HERE / "zensical.toml").read_text("utf-8").replace("\n]\n", f"\n  {questions},\n]\n", 1)
    (folder / "zensical.toml").write_text(settings, "utf-8")
    shutil.copy(HERE / "docstrings.py", folder)
    subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(HERE.parent)},
        check=True,
    )
    return folder / "site"


def _nav(entries: Sequence[Entry]) -> dict[str, Any]:
    groups = {group: [f"questions/{entry.key}.md" for entry in entries if entry.group == group] for group in GROUPS}
    return {"Questions": ["questions/index.md", *({group: pages} for group, pages in groups.items() if pages)]}


class _Pages:
    """Writes pages into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.linked: set[str] = set()  # the keys of the questions to which pages link
        self.jinja = Environment(
            loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
        )

    def questions(self, entries: Sequence[Entry]) -> None:
        """Write a page for each entry, and their list."""
        answers = [answer(entry) for entry in entries]
        page = self.jinja.get_template("question.jinja")
        for done in answers:
            small: Sequence[Panel] = done.chart.of[0] if done.chart is not None and done.chart.draw is panels else ()
            told = {
                "description": json.dumps(done.entry.claim),
                "explanation": unlinked(done.explanation),  # of the app, which this site is not a part of
                "admonition": VERDICTS[done.verdict],
                "small": small,
                "most": max((abs(value) for panel in small for row in panel.values for value in row), default=0) or 1,
                "picture": "" if small else self._picture(done),
            }
            self._save(f"questions/{done.entry.key}.md", page.render(done=done, style=_style, **told))
        self._save(
            "questions/index.md", self.jinja.get_template("questions.jinja").render(answers=answers, groups=GROUPS)
        )

    def page(self, name: Path) -> None:
        """Write one page of this folder, with what its programs print now."""
        up = "../" * len(name.parts[:-1])
        names: dict[str, Any] = {}
        environment = self.jinja.overlay()
        environment.filters = {**environment.filters, "python": lambda code: _ran(code, names)}
        page = environment.get_template(name.as_posix())
        self._save(
            name.as_posix(),
            page.render(
                movie=lambda key, text, stages=None, deep=False, **config: self._movie(
                    key, pv.movie(pv.trace(pv.Batch.parse(text), pv.Config(**config)), stages, deep=deep), up
                ),
                rows=lambda key, text, stages, **config: self._movie(
                    key, pv.movie(pv.trace_rows(pv.Batch.parse(text), pv.RowConfig(**config)), stages), up
                ),
                beside=lambda key, text, **config: self._movie(
                    key, beside(pv.trace(pv.Batch.parse(text), pv.Config(**config))), up
                ),
                question=lambda key: self._link(key, up),
                pv=pv,
            ),
        )

    def _movie(self, name: str, movie: pv.Movie, up: str) -> str:
        movie.save(self.folder / "movies" / f"{name}.html")
        return FRAME.format(up=up, name=name, title=html.escape(movie.title))

    def _link(self, key: str, up: str) -> str:
        self.linked.add(key)
        return f"[{_BY_KEY[key].question}]({up}questions/{key}.md)"

    def _picture(self, done: EntryResult) -> str:
        """Return the chart of an answer in words, or its movie; "" if it has neither."""
        film = done.entry.film
        if done.chart is not None:
            return str(done.chart.draw(*done.chart.of).layout.meta["alt"])
        if film is None:
            return ""
        if film.stage == "beside":
            shot = beside(done.trace, direction=film.direction)
        else:
            shot = pv.movie(done.trace, (film.stage,), direction=film.direction, deep=True)
        return self._movie(done.entry.key, shot, "../")

    def _save(self, name: str, text: str) -> None:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")


_BY_KEY = {entry.key: entry for entry in ENTRIES}


def _ran(code: str, names: dict[str, Any]) -> str:
    """Run a program and return it as Markdown, with what it prints below it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "the program of a page", "exec"), names)
    shown = f"```text\n{printed.getvalue().rstrip()}\n```\n" if printed.getvalue() else ""
    return f"```python\n{code.strip()}\n```\n{shown}"


def _style(panel: Panel, i: int, j: int, most: float) -> str:
    """Return the style of a cell of a small tensor, with the colours that it has in the app."""
    owner = panel.owners[i][j] if panel.owners else None
    fill = LIGHT.pad if owner is None else sequence_color(owner)
    if panel.values:
        fill = diverging(panel.values[i][j] / most, LIGHT)
    return f"background:{fill};color:{text_on(fill)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE.parent / "build" / "docs")
    print(f"Open {build(parser.parse_args().folder.resolve()) / 'index.html'}")
