"""The size of the project: lines and files of Python, and names at the top of the package."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.report import Line

ROOT = Path(__file__).parent.parent
PROGRAM = ("packviz", "ui", "pages", "player", "bench", "app.py")


def size() -> Iterator[Line]:
    """Count lines and files of Python, names at the top of packviz/, and repeated places (if `duplicates` is there)."""
    library, program, tests = (_python(*parts) for parts in (("packviz",), PROGRAM, ("tests",)))
    folder = (ROOT / "packviz").iterdir()
    top = [path for path in folder if path.suffix == ".py" or (path / "__init__.py").exists()]
    names = [path.stem for path in top if not path.stem.startswith("__")]
    yield Line("lines of Python in packviz/", _lines(library), "", at_most=16_000)
    yield Line("files of Python in packviz/", len(library), "", at_most=140)
    yield Line("lines of Python but the tests", _lines(program), ", ".join(PROGRAM), at_most=21_000)
    yield Line("lines of Python in tests/", _lines(tests), "", at_most=16_000)
    yield Line("names at the top of packviz/", len(names), "modules and folders that can be imported", at_most=15)
    if shutil.which("duplicates"):
        told = subprocess.run(["duplicates", "--seconds", "120"], cwd=ROOT, capture_output=True, text=True, check=True)
        pairs = told.stdout.split(maxsplit=1)[0]
        yield Line("pairs of repeated places", int(pairs) if pairs.isdecimal() else 0, "duplicates", at_most=80)


def _python(*parts: str) -> list[Path]:
    roots = [ROOT / part for part in parts]
    return [path for root in roots for path in (root.rglob("*.py") if root.is_dir() else [root])]


def _lines(files: list[Path]) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in files)
