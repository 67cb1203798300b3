"""The command `packviz`, and `python -m packviz`: run the app, write a movie, examine files."""

import json
import os
import re
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import torch
from torch.nn.utils.rnn import PackedSequence

import packviz as pv
from packviz.doctor import Findings, Loaded, module_from, read_file, read_lengths, rows_in
from packviz.errors import PackvizError, extra
from packviz.show.movie.kinds import PACKING_MOVIE
from packviz.text import counted, joined, quoted

_HERE = Path(__file__).parent
_FILES = ".npy, .npz, .pt, .pth, .safetensors, .json; what a collator returned file by file, the others as one batch"
_Report = tuple[str, Findings, list[str]]  # the names of files, what was found in them, and remarks
_APP = next(folder for folder in (_HERE / "_app", _HERE.parent) if (folder / "app.py").is_file())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (sys.argv if no arguments are given) and return the exit status.

    0: done; 1: `examine` found an error or a silent mistake; 2: unusable arguments or files, explained on stderr. If
    several reports are printed, the largest of these.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.do(options))
    except (PackvizError, ImportError) as problem:
        message = str(problem)
    except OSError as problem:
        message = f"{problem.filename}: {problem.strerror}"
    print(f"packviz: {message}", file=sys.stderr)
    return 2


def _parser() -> ArgumentParser:
    parser = ArgumentParser("packviz", description=pv.__doc__)
    parser.add_argument("--version", action="version", version=f"packviz {pv.__version__}, torch {torch.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="start the app and open it in the browser")
    run.add_argument("--port", type=int, help="the app's port; without one, the first free one from 8501")
    run.add_argument("--headless", action="store_true", help="do not open a browser")
    run.set_defaults(do=_run)

    movie = commands.add_parser(
        "movie", help="write the movie of a batch as one file: .html, .gif or .apng, or its last step as .svg or .png"
    )
    movie.add_argument("text", help='sequences of numbers or words, separated by " / " or new lines')
    movie.add_argument("--out", type=Path, default=Path("packing.html"), help="the file (default: %(default)s)")
    stages = {stage.name: stage.by_default for stage in PACKING_MOVIE.stages}
    usual = f"all but {joined([name for name, by_default in stages.items() if not by_default])}"
    movie.add_argument("--stages", help=f"some of {','.join(stages)} (default: {usual})")
    movie.add_argument("--deep", action="store_true", help="include everything that the lessons explain")
    settings = movie.add_argument_group("settings, as in packviz.Config")
    for each, hint in zip(fields(pv.Config), get_type_hints(pv.Config).values(), strict=True):
        _add_setting(settings, each.name, hint, each.default)
    movie.set_defaults(do=_movie)

    examine = commands.add_parser(
        "examine", help="report what is wrong with a batch, with weights and a batch, or with what a collator returned"
    )
    examine.add_argument("files", nargs="+", type=Path, metavar="FILE", help=_FILES)
    examine.add_argument("--x", metavar="NAME", help="which tensor is the batch (default: x, or the only one)")
    examine.add_argument("--lengths", help='as in "5,3,2", or a tensor\'s name (default: lengths, if there is one)')
    examine.add_argument(
        "--layer", metavar="PREFIX", help="which recurrent layer of the weights (default: the only one)"
    )
    hint = "x is (B, T, F), or (T, B, F); default: as the number of lengths suggests, else (T, B, F)"
    examine.add_argument("--batch-first", action=BooleanOptionalAction, default=None, help=hint)
    examine.add_argument(
        "--enforce-sorted", action=BooleanOptionalAction, default=True, help="default: on, as in torch"
    )
    examine.add_argument("--padding-value", type=float, help="the value of the pads, if it is known")
    examine.add_argument("--json", action="store_true", help="print the findings as JSON, of several with the file")
    examine.set_defaults(do=_examine)
    return parser


def _add_setting(group: Any, name: str, hint: Any, default: object) -> None:
    option = f"--{name.replace('_', '-')}"
    common = {"default": default, "help": f"default: {default}"}
    words = [word for word in get_args(hint) if isinstance(word, str)]
    kind = next((each for each in (int, float) if each in (hint, *get_args(hint))), str)
    if hint is bool:
        group.add_argument(option, action=BooleanOptionalAction, **common)
    elif words:
        group.add_argument(option, choices=words, **common)
    else:
        group.add_argument(option, type=kind, metavar=kind.__name__.upper(), **common)


def _run(options: Namespace) -> int:
    os.chdir(_APP)  # Streamlit looks for its settings there
    sys.path.insert(0, str(_APP))
    with extra("app"):
        import_module("ui.server.__main__").serve(options.port, headless=options.headless)
    return 0


def _movie(options: Namespace) -> int:
    config = pv.Config(**{each.name: getattr(options, each.name) for each in fields(pv.Config)})
    batch = pv.Batch.parse(re.sub(r"(?:^|\s+)/(?=\s|$)\s*", "\n", options.text))
    stages = options.stages and options.stages.replace(",", " ").split()
    pv.movie(pv.trace(batch, config), stages, deep=options.deep).save(options.out)
    print("\n".join([f"{options.out}: {batch.summary}", *batch.notes]))
    return 0


def _examine(options: Namespace) -> int:
    loaded = {path: read_file(path.name, path.read_bytes()) for path in options.files}
    rows = {path: found for path, each in loaded.items() if not each.prefixes and (found := rows_in(each))}
    if options.x is not None or options.lengths is not None:  # then all files are parts of one batch
        rows = {}
    others = {path: each for path, each in loaded.items() if path not in rows}
    reports, status = list[_Report](), 0
    made: list[tuple[str, Callable[[], _Report]]] = [
        (str(path), partial(_rows, path, *found)) for path, found in rows.items()
    ]
    made += [(joined([*map(str, others)]), partial(_batch, others, options))] if others else []
    for files, report in made:
        try:
            reports.append(report())
        except PackvizError as problem:
            print(f"packviz: {f'{files}: ' if rows else ''}{problem}", file=sys.stderr)
            status = 2
    if reports:
        _print(reports, as_json=options.json, named=len(made) > 1)
    return max(status, int(any(findings.wrong for _, findings, _ in reports)))


def _rows(path: Path, given: dict[str, Any], unexamined: str) -> _Report:
    return str(path), pv.examine_rows(**given), [unexamined]


def _batch(files: Mapping[Path, Loaded], options: Namespace) -> _Report:
    """Examine the one batch in the files, perhaps with weights; raises PackvizError if a file has no part in it."""
    data = {path: each for path, each in files.items() if not each.prefixes}
    weights = {path: each for path, each in files.items() if each.prefixes}
    if not data:
        expected, got, fix = "a batch for the weights", "none", "give its file, too, and --x if that holds rows"
        raise PackvizError("files", expected=expected, got=got, fix=fix)
    if len(weights) > 1:
        fix = "give one of them at a time"
        raise PackvizError("files", expected="the weights in one file", got=joined([*map(str, weights)]), fix=fix)
    named = {options.x, "x"}
    ragged = next((path for path, each in data.items() if each.is_ragged and not named & {*each.tensors}), None)
    if ragged is None:
        x, lengths, used = _data(data, options.x, options.lengths)
        batch_first, assumed = _layout(x, lengths, options.batch_first)
    else:
        batch_first, used = options.batch_first is not False, {ragged}
        x, lengths, padded = data[ragged].padded(options.padding_value, batch_first=batch_first)
        lengths = lengths if options.lengths is None else read_lengths(options.lengths)
        options.enforce_sorted = options.enforce_sorted and options.lengths is not None
        assumed = f"{padded}, examined with enforce_sorted={options.enforce_sorted}."
    if unused := [str(path) for path in data if path not in used]:
        held = joined([str(path) for path in data if path in used])
        got, fix = f"{joined(unused)} beside {held}", "examine each batch by a command of its own"
        raise PackvizError("files", expected="the batch and its lengths", got=got, fix=fix)
    examined: tuple[Any, ...] = (x, lengths)
    for each in weights.values():
        examined = (module_from(each.tensors, options.layer, batch_first=batch_first), *examined)
    settings = {name: getattr(options, name) for name in ("enforce_sorted", "padding_value")}
    unexamined = "No lengths were given, so only the data were examined." if lengths is None else ""
    findings = pv.examine(*examined, batch_first=batch_first, **settings)
    return joined([*map(str, files)]), findings, [assumed, unexamined]


def _print(reports: Sequence[_Report], *, as_json: bool, named: bool) -> None:
    """Print the reports, as JSON one list of the findings of all; named: each with its files."""
    found = list[dict[str, Any]]()
    for number, (files, findings, remarks) in enumerate(reports):
        found += [({"file": files} if named else {}) | row for row in json.loads(findings.to_json())]
        if not as_json:
            above = ["", f"{files}:"] if number else [f"{files}:"]
            print(*(above if named else []), findings, sep="\n")
        for remark in filter(None, remarks):
            print(f"{files}: {remark}" if named and as_json else remark, file=sys.stderr if as_json else None)
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))


def _layout(x: Any, lengths: Any, batch_first: bool | None) -> tuple[bool, str]:
    """Return whether the sequences come first in x, and what was assumed because no option was given."""
    if batch_first is not None or isinstance(x, PackedSequence) or x.dim() < 2:
        return bool(batch_first), ""
    number, (one, other) = None if lengths is None else torch.as_tensor(lengths, device="cpu").numel(), x.shape[:2]
    found = one == number != other
    unclear = one == other or number not in (one, other)
    why = "torch's default" if unclear else f"to fit {counted(number or 0, 'length')}"
    read, option = ("(B, T, ...)", "--no-batch-first") if found else ("(T, B, ...)", "--batch-first")
    return found, f"x {tuple(x.shape)} was read as {read}, {why}; {option} reads it the other way round."


def _data(files: Mapping[Path, Loaded], x: str | None, lengths: str | None) -> tuple[Any, Any, set[Path]]:
    """Return the batch and its lengths, looked up by their names in the files, and the files that hold them."""
    named, holders, others = dict[str, Any](), dict[str, Path](), dict[str, Path]()
    for path, each in files.items():
        for name, value in (*each.packed.items(), *each.tensors.items()):
            if holders.setdefault(name, path) != path:
                others[name] = path
            named[name] = value
    choose = f"choose from the tensors in the files: {joined([quoted(name) for name in named]) or 'no tensor'}"
    if lengths is None or lengths in named:
        found_lengths = named.pop(lengths or "lengths", None)
    else:
        try:
            found_lengths = read_lengths(lengths)
        except PackvizError:
            expected = "numbers such as 5,3,2, or the name of a tensor"
            raise PackvizError("--lengths", expected=expected, got=quoted(lengths), fix=choose) from None
    found = [name for name in named if name == (x or "x")] or list(named)
    if len(found) != 1 or x not in (None, found[0]):
        got = "nothing" if x is None else quoted(x)
        raise PackvizError("--x", expected="the name of the batch", got=got, fix=choose)
    parts = [name for name in (found[0], lengths or "lengths") if name in holders]
    for name in parts:
        if name in others:
            got, fix = f"it in {holders[name]} and in {others[name]}", "leave out one of these files"
            raise PackvizError("files", expected=f"{quoted(name)} in one file", got=got, fix=fix)
    used = {holders[name] for name in parts}
    return named[found[0]], found_lengths, used


if __name__ == "__main__":
    sys.exit(main())
