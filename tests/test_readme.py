"""The README promises what the package does: its example runs, and prints what stands there."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_the_example_prints_what_the_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script, printed = re.findall(r"```(?:python)?\n(import torch.*?)```\s+```\n(.*?)```", README, re.S)[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed
    assert (tmp_path / "packing.html").stat().st_size > 10_000


def test_every_place_that_the_readme_names_is_there() -> None:
    root = Path(__file__).parent.parent
    named = re.findall(r"`((?:packviz|ui|pages|tests|bench|docs)/[\w./]*|app\.py|LICENSE)`", README) + re.findall(
        r"\]\((docs/[^)]+|LICENSE)\)", README
    )
    assert named
    assert [name for name in named if not (root / name).exists()] == []


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 160
