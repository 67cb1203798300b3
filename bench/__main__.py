"""Run the benchmarks and print the results line by line: `python -m bench`, or only some parts by name.

`python -m bench list` says what each part measures. `editing` and `soak` load a separate server for minutes, so they
run only by name, and only on Linux.
"""

import sys
import traceback
from collections.abc import Callable, Iterable, Sequence

from bench.classroom import classroom
from bench.computing import doctor, fills, movie_cost, trace_cost, watching
from bench.editing import editing
from bench.pages import first_paint, rerun
from bench.report import Measured, heading
from bench.soak import soak

Part = Callable[[], Iterable[Measured]]


_COMPUTING = (trace_cost, movie_cost, fills, doctor, watching)
_ALL: tuple[Part, ...] = (first_paint, rerun, *_COMPUTING, classroom, editing, soak)
PARTS = {part.__name__: part for part in _ALL}
ALONE = ("editing", "soak")  # run only by name


def main(names: Sequence[str]) -> int:
    """Run the named parts, or all except those in ALONE; return 0, or 1 if one of them failed."""
    if list(names) == ["list"]:
        heads = {name: (part.__doc__ or "").splitlines()[0] for name, part in PARTS.items()}
        print("\n".join(f"python -m bench {name:<12}  {told}" for name, told in heads.items()))
        return 0
    print(heading(), flush=True)
    failed = [name for name in names or PARTS if (names or name not in ALONE) and not _printed(name)]
    if failed:
        print(f"Could not be measured: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _printed(name: str) -> bool:
    """Print the lines of one part; return whether it finished."""
    try:
        for line in PARTS[name]():
            print(line, flush=True)
    except Exception:  # the other parts still run
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
