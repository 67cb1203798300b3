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
shares = [step / 20 for step in range(-20, 21)]


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#3a5bd9", "#3a5bd9") == 1.0


@pytest.mark.parametrize("color", SEQUENCE_HUES)
def test_text_on_every_sequence_hue_reaches_4_5(color: str) -> None:
    assert contrast(text_on(color), color) >= 4.5


@both
@pytest.mark.parametrize("share", shares)
def test_text_on_every_number_reaches_4_5(palette: Palette, share: float) -> None:
    color = diverging(share, palette)
    assert contrast(text_on(color), color) >= 4.5


@both
@pytest.mark.parametrize("color", SEQUENCE_HUES)
@pytest.mark.parametrize("ratio", [3.0, 4.5])
def test_a_hue_can_be_moved_to_any_contrast(palette: Palette, color: str, ratio: float) -> None:
    moved = with_contrast(color, palette.background, ratio)
    assert contrast(moved, palette.background) >= ratio


def test_a_colour_with_enough_contrast_stays_as_it_is() -> None:
    assert with_contrast("#bd1f01", LIGHT.background, 3.0) == "#bd1f01"


@both
@pytest.mark.parametrize("name", ["text", "quiet", "now", "good", "wrong"])
@pytest.mark.parametrize("ground", ["background", "surface"])
def test_every_colour_for_text_reaches_4_5(palette: Palette, name: str, ground: str) -> None:
    assert contrast(getattr(palette, name), getattr(palette, ground)) >= 4.5


@both
@pytest.mark.parametrize("name", ["line", "pad_hatch"])
def test_every_colour_for_lines_reaches_3(palette: Palette, name: str) -> None:
    assert contrast(getattr(palette, name), palette.background) >= 3.0
    assert contrast(getattr(palette, name), palette.pad) >= 3.0


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
