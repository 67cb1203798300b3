"""The colours, by their contrast ratios."""

import tomllib
from pathlib import Path

import pytest

from packviz.theme import (
    DARK,
    LIGHT,
    SEQUENCE_HUES,
    Palette,
    contrast,
    diverging,
    hue,
    mix,
    text_on,
    with_contrast,
)

CONFIG = Path(__file__).parent.parent / ".streamlit" / "config.toml"
both = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#3a5bd9", "#3a5bd9") == 1.0


@both
def test_text_on_every_colour_of_a_cell_reaches_4_5(palette: Palette) -> None:
    for color in (*SEQUENCE_HUES, *(diverging(step / 20, palette) for step in range(-20, 21))):
        assert contrast(text_on(color), color) >= 4.5


@both
@pytest.mark.parametrize("ratio", [3.0, 4.5])
def test_a_hue_can_be_moved_to_any_contrast(palette: Palette, ratio: float) -> None:
    for color in SEQUENCE_HUES:
        assert contrast(with_contrast(color, palette.background, ratio), palette.background) >= ratio
    assert with_contrast("#bd1f01", LIGHT.background, 3.0) == "#bd1f01"


@both
def test_text_reaches_4_5_on_its_grounds_and_lines_reach_3(palette: Palette) -> None:
    for color in (palette.text, palette.quiet, palette.now, palette.good, palette.wrong):
        assert min(contrast(color, ground) for ground in (palette.background, palette.surface)) >= 4.5
    for color in (palette.line, palette.pad_hatch):
        assert min(contrast(color, ground) for ground in (palette.background, palette.pad)) >= 3.0


@both
def test_zero_is_the_middle_and_the_signs_have_their_own_side(palette: Palette) -> None:
    assert diverging(0.0, palette) == palette.diverging[len(palette.diverging) // 2]
    assert diverging(-9.0, palette) == diverging(-1.0, palette) == palette.diverging[0]
    assert diverging(9.0, palette) == diverging(1.0, palette) == palette.diverging[-1]


@both
def test_the_further_from_zero_the_further_from_the_background(palette: Palette) -> None:
    for sign in (-1, 1):
        seen = [contrast(diverging(sign * step / 20, palette), palette.background) for step in range(21)]
        assert seen == sorted(seen)


def test_hues_repeat_with_another_lap() -> None:
    assert [hue(b) for b in (0, 9, 10, 19, 20)] == [(0, 0), (9, 0), (0, 1), (9, 1), (0, 2)]


def test_mix_goes_from_one_colour_to_the_other() -> None:
    assert [mix("#000000", "#ff8000", share) for share in (0.0, 0.5, 1.0)] == ["#000000", "#804000", "#ff8000"]


def test_the_apps_theme_uses_the_same_colours() -> None:
    theme = tomllib.loads(CONFIG.read_text())["theme"]
    for palette, section in ((LIGHT, theme["light"]), (DARK, theme["dark"])):
        assert section["primaryColor"] == palette.now
        assert section["backgroundColor"] == palette.background
        assert section["secondaryBackgroundColor"] == palette.surface
        assert section["textColor"] == palette.text
