"""The README promises what the package does: its example runs, and prints what stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_example_prints_what_the_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script, printed = re.findall(r"```(?:python)?\n(import torch.*?)```\s+```\n(.*?)```", README, re.S)[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed
    assert (tmp_path / "packing.html").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_every_place_that_a_paper_names_is_there(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    named = re.findall(
        r"`((?:packviz|ui|pages|tests|bench|docs|deploy|classroom|player)/[\w./]*|app\.py|LICENSE)`", text
    )
    named += re.findall(r"\]\(((?!https?:|#)[^)#]+)", text)
    assert named
    assert [place for place in named if not (ROOT / place).exists()] == []


def test_the_readme_is_short_and_needs_no_scrolling_sideways() -> None:
    lines = README.splitlines()
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 120] == []


def test_no_line_about_changing_packviz_is_long() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
    assert [line for line in lines if len(line) > 140] == []
