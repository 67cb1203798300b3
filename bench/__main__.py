"""Measure what the project promises and print it, line by line: `python -m bench`, or only some parts by name.

`editing` and `soak` put load on a server of their own for minutes, so they run only by name, and on Linux.
"""

import sys
import traceback
from collections.abc import Callable, Sequence

from playwright.sync_api import Browser

from bench.browser import chromium
from bench.doctor import doctor
from bench.editing import editing
from bench.fills import fills
from bench.first_paint import first_paint
from bench.frames import frames
from bench.growth import growth
from bench.movie_cost import movie_cost
from bench.report import Line, heading
from bench.rerun import rerun
from bench.soak import soak
from bench.trace_cost import trace_cost

__all__ = ["BY_NAME", "PARTS", "main"]

Part = Callable[[], Sequence[Line]]


def _in_browser(part: Callable[[Browser], Sequence[Line]]) -> Part:
    def measured() -> Sequence[Line]:
        with chromium() as browser:
            return part(browser)

    return measured


PARTS: dict[str, Part] = {
    "first_paint": _in_browser(first_paint),
    "rerun": _in_browser(rerun),
    "frames": _in_browser(frames),
    "trace_cost": trace_cost,
    "movie_cost": movie_cost,
    "growth": growth,
    "fills": fills,
    "doctor": doctor,
}
BY_NAME: dict[str, Part] = {**PARTS, "editing": editing, "soak": soak}


def main(names: Sequence[str]) -> int:
    """Run the named parts, or all, and return 0; 1 if one of them could not be run."""
    print(heading(), flush=True)
    failed = [name for name in names or PARTS if not _printed(name)]
    if failed:
        print(f"Could not be measured: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _printed(name: str) -> bool:
    """Print the lines of one part; return whether there are any."""
    try:
        for line in BY_NAME[name]():
            print(line, flush=True)
    except Exception:  # the other parts are measured all the same
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
