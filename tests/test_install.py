"""What is installed: the wheel with the app in it, the command, and the papers beside the code."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path
from socket import create_server
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from packaging.requirements import Requirement
from page_elements import carried
from test_architecture import LIBRARY, heads_of
from torch.nn.utils.rnn import pad_sequence

import packviz as pv
from bench.visitors import visitor
from packviz.__main__ import main
from ui.state.names import default

ROOT = Path(__file__).parent.parent
APP = ("app.py", ".streamlit/config.toml", "classroom", "pages", "ui")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NEEDS: list[str] = PYPROJECT["project"]["dependencies"]
EXTRAS: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]
BUILD = "from setuptools import build_meta; import sys; getattr(build_meta, f'build_{sys.argv[1]}')(sys.argv[2])"

Command = tuple[str, Mapping[str, Any]]


def files(*tops: str) -> set[str]:
    """Return the files of the repository under these places."""
    found = [path for top in tops for path in ((ROOT / top).rglob("*") if (ROOT / top).is_dir() else [ROOT / top])]
    kept = [path.relative_to(ROOT) for path in found if path.is_file()]
    return {path.as_posix() for path in kept if not {"__pycache__", ".ruff_cache"} & set(path.parts)}


def made(text: str, **settings: Any) -> object:
    """Return a movie as a page carries it."""
    return json.loads(json.dumps(pv.movie(pv.trace(pv.Batch.parse(text), pv.Config(**settings))).to_dict()))


def build(kind: str, source: Path, target: Path) -> Path:
    subprocess.run([sys.executable, "-c", BUILD, kind, str(target)], cwd=source, check=True, capture_output=True)
    (built,) = target.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source distribution from a copy of the repository, and the wheel from what was in that."""
    there = tmp_path_factory.mktemp("build")
    beside = shutil.ignore_patterns(".git", ".venv", "__pycache__", "build", "dist", "*.egg-info", ".*_cache")
    shutil.copytree(ROOT, there / "copy", ignore=beside)
    for left in ("ui/__pycache__/path.cpython-311.pyc", "packviz/rules/.ruff_cache/0.17/1"):  # by other programs
        (there / "copy" / left).parent.mkdir(parents=True)
        (there / "copy" / left).touch()
    with tarfile.open(build("sdist", there / "copy", there)) as archive:
        archive.extractall(there, filter="data")
    (source,) = (path for path in there.glob("packviz-*") if path.is_dir())
    needed = files("tests", "bench", "player", "deploy", "docs", ".github", ".ci", "Makefile")  # by `make test`
    assert {path for path in needed if not (source / path).is_file()} == set()
    return build("wheel", source, there)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own, which borrows from this one what the wheel requires."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home)
    install = ["install", "--quiet", "--no-index", "--no-deps", "--no-compile", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), *install], check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    names = {path.name for path in packages.iterdir()}
    assert names == {"packviz", f"packviz-{pv.__version__}.dist-info"}  # and no `ui`, `pages` or `app` beside it
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return home


@pytest.fixture
def command(environment: Path, tmp_path: Path) -> Command:
    """Return the installed command, and how it is run: in an empty folder, and without a path to the repository."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STREAMLIT_"))}
    where = {"cwd": tmp_path, "env": clean, "text": True}
    return str(environment / "bin" / "packviz"), where


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_library_and_of_the_app(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = archive.read(f"packviz-{pv.__version__}.dist-info/METADATA").decode()
    assert held == files("packviz") | {f"packviz/_app/{name}" for name in files(*APP)}
    told = metadata.partition("\n\n")[2]
    assert "## Install" in told
    assert re.findall(r"\]\((?!https?:|#)", told) == []  # no picture and no link that a package index could not show


@pytest.mark.slow
def test_the_installed_command_makes_movies_and_serves_the_app(command: Command, tmp_path: Path) -> None:
    packviz, where = command
    subprocess.run([packviz, "movie", "1 2 3 / 4 5", "--out", "packing.html"], **where, check=True)
    assert carried((tmp_path / "packing.html").read_text("utf-8")) == made("1 2 3\n4 5")
    with create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    with subprocess.Popen([packviz, "run", "--port", port, "--headless"], **where, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout
            said = next(line for line in server.stdout if line.strip())
            assert said == f"packviz is ready: http://localhost:{port}\n"  # config.toml hides Streamlit's own words
            lengths = pv.Batch.example(default("example")).lengths.tolist()
            assert asyncio.run(seen(port, "")) == asyncio.run(seen(port, "packing")) == lengths
        finally:
            server.terminate()


async def seen(port: str, page: str) -> list[int]:
    """Return the lengths of the sequences that the movie on a page shows."""
    async with visitor(f"http://localhost:{port}", page) as here:
        await here.look()
        return here.lengths


def test_the_library_requires_what_it_imports() -> None:
    imported = {head for path in LIBRARY for head in heads_of(path)} - {"packviz", *sys.stdlib_module_names}
    required = {Requirement(each).name for each in NEEDS}
    extra = {Requirement(each).name for name in EXTRAS.keys() - {"app", "cluster"} for each in EXTRAS[name]}
    named = {{"PIL": "pillow", "quickjs": "quickjs-ng"}.get(head, head) for head in imported}
    assert named | {"packviz"} == required | extra | {"packviz", "rapidfuzz", "safetensors"}
    assert {"pandas", "plotly"} <= extra


WITHOUT = """
import importlib, sys
sys.modules |= dict.fromkeys(["streamlit", "plotly", "pandas", "safetensors", "redis"])
import packviz as pv
from packviz import predictions, testing
from packviz.__main__ import main
from packviz.doctor import read_file
trace = pv.trace(pv.Batch.parse("1 2 3\\n4 5"))
pv.movie(trace, deep=True).to_html(), pv.snippet(trace), pv.watch(trace.module), predictions.ask(trace, "pack")
chart, table = (lambda name=name: importlib.import_module(f"packviz.{name}") for name in ("charts", "tables"))
for what in (chart, table, lambda: read_file("x.safetensors", b"")):
    try:
        what()
    except (ImportError, pv.PackvizError) as problem:
        print(problem)
sys.stderr = sys.stdout
print(main(["run"]))
"""


@pytest.mark.slow
def test_the_library_works_without_the_extras() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        *('pandas is not installed. Fix: pip install "packviz[charts]".',) * 2,
        "file: expected the package safetensors, which reads such files, but got an environment without it. "
        "Install it: pip install safetensors.",
        'packviz: streamlit is not installed. Fix: pip install "packviz[app]".',
        "2",
    ]


def test_the_releases_of_torch_that_were_tested_are_the_same_everywhere() -> None:
    (asked,) = (Requirement(each).specifier for each in NEEDS if each.startswith("torch"))
    readme = (ROOT / "README.md").read_text("utf-8")
    oldest, newest = re.findall(r"\d+\.\d+\.\d+", readme.partition("Tested with torch ")[2])[:2]
    assert f">={oldest.removesuffix('.0')}" in str(asked)
    assert newest in asked
    guide = " ".join((ROOT / "docs" / "engineers.md").read_text("utf-8").split())
    assert f"torch {oldest} and {newest} were tested" in guide
    assert f"torch=={oldest}" in (ROOT / "requirements.txt").read_text("utf-8")


def test_the_pins_of_the_app_lie_in_what_the_package_asks_for() -> None:
    pins = [Requirement(line) for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if line[0] != "#"]
    pinned = {pin.name: next(iter(pin.specifier)).version for pin in pins}
    asked = [Requirement(each) for each in (*NEEDS, *EXTRAS["charts"], *EXTRAS["app"])]
    outside = [str(each) for each in asked if each.name in pinned and pinned[each.name] not in each.specifier]
    assert outside == []
    assert {each.name for each in asked} - {"packviz", "numpy"} == set(pinned)  # numpy comes with pandas


@pytest.mark.parametrize(("given", "options", "text", "settings"), [
    ("1 2 3 / 4 5", "--cell lstm --no-batch-first", "1 2 3\n4 5", {"cell": "lstm", "batch_first": False}),
    ("on and/or off\ngo", "--hidden-size 2 --padding-idx 3", None, {"hidden_size": 2, "padding_idx": 3}),
    ("[[1, 2], [3]]", "--total-length 4 --padding-value=-1", "1 2\n3", {"total_length": 4, "padding_value": -1.0}),
])  # fmt: skip
def test_a_movie_is_that_of_the_text_and_settings(
    given: str, options: str, text: str | None, settings: Any, tmp_path: Path
) -> None:
    assert main(["movie", given, *options.split(), "--out", str(tmp_path / "movie.html")]) == 0
    assert carried((tmp_path / "movie.html").read_text("utf-8")) == made(text or given, **settings)


def test_the_help_names_every_stage_and_those_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["movie", "--help"])
    (stages, left_out) = re.findall(r"some of (\S+)\s+\(default: all but (.+?)\)", capsys.readouterr().out, re.DOTALL)[
        0
    ]
    film = pv.movie(pv.trace(pv.Batch.parse("1 2"), pv.Config(embedding_dim=2)))
    assert stages.split(",") == [*film.stages]
    assert {*film.stages} - {step.stage for step in film.steps} == {left_out}


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    """Store a batch, (5, 3, 4), with lengths that fit it, and lengths of which the first is one too large."""
    x = pad_sequence([torch.randn(length, 4) for length in (5, 3, 2)])
    np.savez(tmp_path / "batch.npz", x=x.numpy(), lengths=np.array([5, 3, 2]), wrong=np.array([6, 3, 2]))
    torch.save(torch.nn.GRU(4, 3).state_dict(), tmp_path / "gru.pt")
    return tmp_path / "batch.npz"


@pytest.mark.parametrize(("options", "status", "keys"), [
    ([], 0, []),
    (["--lengths", "5.0, 3.0, 2.0"], 0, ["float_lengths"]),  # a note
    (["--lengths", "wrong"], 1, ["length_over_T"]),
    (["--lengths", "2,3,5"], 1, ["lengths_order", "unsorted"]),
    (["--lengths", "3,5", "--no-enforce-sorted"], 1, ["wrong_count"]),
])  # fmt: skip
def test_the_status_of_examine_says_whether_something_is_wrong(
    options: list[str], status: int, keys: list[str], batch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["examine", str(batch), str(batch.with_name("gru.pt")), *options, "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert [each["key"] for each in found] == keys
    assert main(["examine", str(batch), *options]) == status
    assert all(each["found"] in capsys.readouterr().out for each in found[:1])


def test_the_layout_that_was_not_told_follows_from_the_lengths_and_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = tmp_path / "batch.npz"
    np.savez(batch, x=pad_sequence([torch.randn(length, 4) for length in (5, 3, 2)], batch_first=True).numpy())
    assert main(["examine", str(batch), "--lengths", "5,3,2"]) == 0
    assert "(3, 5, 4) was read as (B, T, ...), to fit 3 lengths; --no-batch-first" in capsys.readouterr().out
    assert main(["examine", str(batch)]) == 0
    assert "was read as (T, B, ...), torch's default; --batch-first" in capsys.readouterr().out
    assert main(["examine", str(batch), "--lengths", "5,3,2", "--no-batch-first", "--json"]) == 1
    told = capsys.readouterr()
    assert ([each["key"] for each in json.loads(told.out)], told.err) == (["batch_first"], "")
    assert main(["examine", str(batch), "--lengths", "5", "--json"]) == 1
    assert "torch's default" in capsys.readouterr().err


@pytest.fixture
def collated(tmp_path: Path) -> list[str]:
    """Store rows of a collator: right, with labels that cross the border, and of a mask that does not fit."""
    right = {"input_ids": [[5, 6, 7, 8]], "position_ids": [[0, 1, 0, 1]], "labels": [[-100, 6, -100, 8]]}
    each = {"good": right, "bad": right | {"labels": [[5, 6, 7, 8]]}, "unfit": right | {"labels": [[6, 8]]}}
    for name, rows in each.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), "utf-8")
    return [str(tmp_path / f"{name}.json") for name in each]


def test_each_file_of_rows_is_examined_and_the_worst_is_the_status(
    collated: list[str], batch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, unfit = collated
    for order, status in (((good, bad), 1), ((bad, good), 1), ((good, unfit, bad), 2), ((good, str(batch)), 0)):
        assert main(["examine", *order]) == status
        told = capsys.readouterr()
        assert re.findall(r"^(/.*):$", told.out, re.M) == [each for each in order if each != unfit]
        assert ("Labels cross the border" in told.out) == (bad in order)
        assert told.err.startswith(f"packviz: {unfit}: examine_rows: expected rows of one") == (unfit in order)
    assert main(["examine", good, bad, str(batch), "--lengths", "6,3,2"]) == 2  # then all files are parts of one batch
    assert f"{good} and {bad} beside {batch}" in capsys.readouterr().err


def test_a_batch_that_cannot_be_examined_hides_no_report(
    collated: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unclear = tmp_path / "unclear.npz"
    np.savez(unclear, a=np.ones((5, 3, 4), "float32"), b=np.ones((5, 3, 4), "float32"))
    assert main(["examine", collated[1], str(unclear)]) == 2
    told = capsys.readouterr()
    assert "Labels cross the border" in told.out
    assert told.err.startswith(f"packviz: {unclear}: --x: expected the name of the batch")


def test_a_name_in_two_files_is_refused_only_if_it_is_asked_for(tmp_path: Path) -> None:
    x, meta, files = np.ones((5, 3, 4), "float32"), np.ones(2), [tmp_path / name for name in ("x.npz", "lengths.npz")]
    np.savez(files[0], x=x, meta=meta)
    np.savez(files[1], lengths=np.array([5, 3, 2]), meta=meta)
    assert main(["examine", *map(str, files)]) == 0


def test_the_json_of_several_files_is_one_list_that_names_them(
    collated: list[str], batch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, _ = collated
    np.savez(batch, x=np.ones((5, 3, 4), "float32"), lengths=np.array([6, 3, 2]))
    assert main(["examine", bad, good, str(batch), "--json"]) == 1
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert [(each["file"], each["key"]) for each in found[:2]] == [(bad, "labels_cross"), (str(batch), "length_over_T")]
    assert {each["file"] for each in found[1:]} == {str(batch)}
    assert told.err.startswith(f"{batch}: x (5, 3, 4) was read as (T, B, ...)")


@pytest.mark.parametrize(("names", "said"), [
    (("batch", "again"), "'x' in one file, but got it in /batch.npz and in /again.npz"),
    (("batch", "y"), "the batch and its lengths, but got /y.npz beside /batch.npz"),
    (("ragged", "ends"), "the batch and its lengths, but got /ends.npz beside /ragged.npz"),
    (("batch", "gru", "gru2"), "the weights in one file, but got /gru.pt and /gru2.pt"),
    (("gru",), "a batch for the weights, but got none"),
])  # fmt: skip
def test_no_file_is_left_out_in_silence(
    names: tuple[str, ...], said: str, batch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, x = batch.parent, np.load(batch)["x"]
    np.savez(folder / "again.npz", x=x, lengths=np.array([5, 3, 2]))
    np.savez(folder / "y.npz", y=x)
    np.savez(folder / "ragged.npz", a=np.ones((3, 2)), b=np.ones((5, 2)))
    np.savez(folder / "ends.npz", lengths=np.array([3, 5]))
    torch.save(torch.nn.GRU(4, 3).state_dict(), folder / "gru2.pt")
    files = [next(folder.glob(f"{name}.*")) for name in names]
    assert main(["examine", *map(str, files)]) == 2
    assert said in capsys.readouterr().err.replace(str(folder), "")


@pytest.mark.parametrize(("arguments", "said"), [
    (["movie", " "], "text: expected at least one sequence, but got nothing."),
    (["movie", "1", "--hidden-size", "0"], "hidden_size: expected an integer of at least 1, but got 0."),
    (["movie", "1", "--stages", "pack,fly"], "stages: expected"),
    (["movie", "1", "--out", "no/such/folder.html"], "no/such/folder.html: No such file or directory"),
    (["examine", "nothing.npz"], "nothing.npz: No such file or directory"),
    (["examine", "BATCH", "--x", "y"], "--x: expected the name of the batch, but got 'y'. Choose from the tensors in"),
    (["examine", "BATCH", "--lengths", "five"], "expected numbers such as 5,3,2, or the name of a tensor, but got 'f"),
    (["movie", "1", "--cell", "lstn"], "argument --cell: invalid choice: 'lstn'"),
    ([], "the following arguments are required: COMMAND"),
])  # fmt: skip
def test_what_cannot_be_used_is_said_without_a_traceback(
    arguments: list[str], said: str, batch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(batch) if each == "BATCH" else each for each in arguments]
    try:
        status = main(given)
    except SystemExit as refused:  # argparse's own
        status = int(str(refused.code))
    told = capsys.readouterr().err
    assert status == 2
    assert said in told
    assert "Traceback" not in told


def test_the_papers_say_what_the_package_says() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # of the Citation File Format 1.2.0
    assert (str(citation["version"]), citation["license"]) == (pv.__version__, PYPROJECT["project"]["license"])
    assert citation["authors"] == PYPROJECT["project"]["authors"]
    assert f"## {pv.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_hooks_and_the_workflow_run_what_make_and_ci_run() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [hook["entry"].split()[0] for hook in local["hooks"]] == ["make"]
    assert [hook["entry"].split()[1] in targets for hook in local["hooks"]] == [True]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))
    assert set(workflow[True]) == {"push", "pull_request"}  # YAML 1.1 reads `on` as true
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == ["bash .ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.R_OK)
