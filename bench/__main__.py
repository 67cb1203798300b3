"""Measure what the project promises and print it, line by line: `python -m bench`, or only some parts by name.

`python -m bench list` says what each part measures. `editing` and `soak` put load on a server of their own for minutes,
so they run only by name, and on Linux.
"""

import sys
import traceback
from collections.abc import Callable, Iterable, Sequence

from playwright.sync_api import Browser

from bench.browser import chromium
from bench.classroom import classroom
from bench.computing import doctor, fills, growth, movie_cost, trace_cost, watching
from bench.editing import editing
from bench.pages import first_paint, frames, rerun
from bench.report import Line, heading
from bench.size import size
from bench.soak import soak

Part = Callable[[], Iterable[Line]]


def _in_browser(part: Callable[[Browser], Iterable[Line]]) -> Part:
    def measured() -> Iterable[Line]:
        with chromium() as browser:
            yield from part(browser)

    return measured


PARTS: dict[str, tuple[str, Part]] = {
    "size": ("lines and files of Python, names at the top of packviz/, repeated places", size),
    "first_paint": ("first painted grid ÷ first paint of a plain app", _in_browser(first_paint)),
    "rerun": ("edit to repainted grid ÷ a plain app's rerun", _in_browser(rerun)),
    "frames": ("painted frames a second while the player sorts a batch", _in_browser(frames)),
    "trace_cost": ("recorded forward ÷ torch's packed forward", trace_cost),
    "movie_cost": ("movie(t).to_dict() ÷ trace(...), and the movie's size as JSON", movie_cost),
    "growth": ("time and memory of a trace, and a movie's file, at 1, 10 and 100 times the tokens", growth),
    "fills": ("packed ÷ padded time for the three cells and three shares of fill", fills),
    "doctor": ("examining a sound batch ÷ one forward of its module", doctor),
    "watching": ("training steps that are watched ÷ the same steps", watching),
    "classroom": ("a class of 500 phones: joins, votes, phase changes; memory over an hour of class", classroom),
    "editing": (
        "10, 100 and 300 visitors editing, and the same in the least app: ms to the picture, CPU, bytes",
        editing,
    ),
    "soak": ("memory and descriptors that crowds leave behind in the server", soak),
}
ALONE = ("editing", "soak")  # run only by name


def main(names: Sequence[str]) -> int:
    """Run the named parts, or all but those of ALONE, and return 0; 1 if one of them could not be run."""
    if list(names) == ["list"]:
        print("\n".join(f"python -m bench {name:<12}  {told}" for name, (told, _) in PARTS.items()))
        return 0
    print(heading(), flush=True)
    failed = [name for name in names or PARTS if (names or name not in ALONE) and not _printed(name)]
    if failed:
        print(f"Could not be measured: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _printed(name: str) -> bool:
    """Print the lines of one part; return whether it ran to its end."""
    try:
        for line in PARTS[name][1]():
            print(line, flush=True)
    except Exception:  # the other parts are measured all the same
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
