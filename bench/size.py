"""How large the project is: lines and files of Python, and names at the top of the package."""

from pathlib import Path

from bench.report import Line

__all__ = ["size"]

ROOT = Path(__file__).parent.parent
PROGRAM = ("packviz", "ui", "pages", "player", "bench", "app.py")


def size() -> list[Line]:
    """Count what is there now."""
    library, program, tests = (_python(*parts) for parts in (("packviz",), PROGRAM, ("tests",)))
    top = [path for path in (ROOT / "packviz").iterdir() if not path.name.startswith("__pycache__")]
    return [
        Line("lines of Python in packviz/", _lines(library), "", at_most=16_000),
        Line("files of Python in packviz/", len(library), "", at_most=140),
        Line("lines of Python but the tests", _lines(program), ", ".join(PROGRAM), at_most=21_000),
        Line("lines of Python in tests/", _lines(tests), "", at_most=16_000),
        Line("names at the top of packviz/", len(top), "files and folders", at_most=15),
    ]


def _python(*parts: str) -> list[Path]:
    roots = [ROOT / part for part in parts]
    return [path for root in roots for path in (root.rglob("*.py") if root.is_dir() else [root])]


def _lines(files: list[Path]) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in files)
