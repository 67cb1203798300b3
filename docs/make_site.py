"""Build the site from the pages in this folder, the questions, and the docstrings: `make docs`.

A page is Markdown with Jinja2 in it: `movie(...)` puts a live movie there, `question(key)` links to an answer, and what
stands between `{% filter python %}` and `{% endfilter %}` is run and shown with what it prints. The programs of one
page share their names. Whatever fails, fails the build.
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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import packviz as pv
from packviz.show.charts.panels import Panel, panels
from packviz.show.charts.template import sequence_color
from packviz.show.movie import beside
from packviz.show.theme import LIGHT, diverging, text_on
from packviz.teach.questions import ENTRIES, GROUPS, Answer, Chart, Entry, Program, answer

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
        for done in answers:
            self._save(f"questions/{done.entry.key}.md", "\n".join(self._question(done)))
        self._save("questions/index.md", "\n".join(_list(answers)))

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

    def _question(self, done: Answer) -> Iterator[str]:
        """Yield the lines of one answer's page: the verdict, the picture, both programs."""
        entry = done.entry
        yield f"---\ndescription: {json.dumps(entry.claim)}\n---\n# {entry.question}\n\n{done.told}\n"
        yield f'!!! {VERDICTS[done.verdict]} "{done.verdict.capitalize()}"\n    Claim: {entry.claim}\n'
        if len(done.cases) > 1:
            yield "\n".join(f"    - {'holds' if held else 'does not hold'} {name}" for name, held in done.cases.items())
        yield ""
        if done.chart is not None:
            yield from _chart(done.chart)
        elif entry.film is not None:
            film = entry.film
            shot = (
                beside(done.trace, direction=film.direction)
                if film.stage == "beside"
                else pv.movie(done.trace, (film.stage,), direction=film.direction, deep=True)
            )
            yield self._movie(entry.key, shot, "../") + "\n"
        yield from _program("What people write", done.wrong)
        yield from _program("What works", done.right)
        yield f"## Both programs start with\n\n```python\n{done.preparation}\n```\n"
        yield f"Asked or claimed in: {'; '.join(entry.sources)}."

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


def _program(title: str, program: Program) -> Iterator[str]:
    yield f"## {title}\n\n```python\n{program.code}\n```\n\n```text\n{program.shown or '(no output)'}\n```\n"


def _list(answers: Sequence[Answer]) -> Iterator[str]:
    yield "# Questions\n\nTwo small programs try each claim. The verdict is what they did when this page was built.\n"
    for group in GROUPS:
        here = [done for done in answers if done.entry.group == group]
        if here:
            yield f"## {group}\n\n| question | claim | verdict |\n|---|---|---|"
        for done in here:
            entry = done.entry
            claim = entry.claim.replace("|", r"\|")
            yield f"| [{entry.question}]({entry.key}.md) | {claim} | {done.verdict} |"
        yield ""


def _chart(chart: Chart) -> Iterator[str]:
    """Yield small tensors as tables, another chart in words."""
    if chart.draw is panels:
        yield from _tables(chart.of[0])
    else:
        yield chart.draw(*chart.of).layout.meta["alt"] + "\n"


def _tables(given: Sequence[Panel]) -> Iterator[str]:
    """Yield small tensors as tables, in the colours that they have in the app."""
    most = max((abs(value) for panel in given for row in panel.values for value in row), default=0.0) or 1.0
    yield f'<div class="panels">{"".join(_table(panel, most) for panel in given)}</div>\n'
    if any(panel.wrong for panel in given):
        yield "A red frame marks what is not the intended result.\n"


def _table(panel: Panel, most: float) -> str:
    rows = []
    for i, texts in enumerate(panel.texts):
        cells = [_cell(panel, i, j, text, most) for j, text in enumerate(texts)]
        name = f'<th scope="row">{html.escape(panel.rows[i])}</th>' if panel.rows else ""
        rows.append(f"<tr>{name}{''.join(cells)}</tr>")
    corner = "<td></td>" if panel.rows else ""
    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in panel.columns)
    head = f"<thead><tr>{corner}{heads}</tr></thead>" if heads else ""
    return f"<table><caption>{html.escape(panel.title)}</caption>{head}<tbody>{''.join(rows)}</tbody></table>"


def _cell(panel: Panel, i: int, j: int, text: str, most: float) -> str:
    owner = panel.owners[i][j] if panel.owners else None
    fill = LIGHT.pad if owner is None else sequence_color(owner)
    if panel.values:
        fill = diverging(panel.values[i][j] / most, LIGHT)
    wrong = ' class="wrong"' if (i, j) in panel.wrong else ""
    return f'<td{wrong} style="background:{fill};color:{text_on(fill)}">{html.escape(text)}</td>'


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE.parent / "build" / "docs")
    print(f"Open {build(parser.parse_args().folder.resolve()) / 'index.html'}")
