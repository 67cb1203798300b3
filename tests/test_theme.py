"""The colours, by their contrast ratios."""

import tomllib
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser
from tabs import tab

from packviz.show.theme import DARK, LIGHT, SEQUENCE_HUES, Palette, contrast, diverging, text_on

STYLE = Path(__file__).parent.parent / "ui" / "server" / "style.css"
PRIMARY = '<button data-testid="stBaseButton-primary" style="color: rgb(90, 90, 90)" {}><p>Ask it</p></button>'
COLOUR = "node => getComputedStyle(node.querySelector('p')).color"
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


def test_in_the_dark_the_digits_of_large_numbers_reach_7() -> None:
    """Black on a middle blue is legible by day, but not in the dark: soon after it turns black, the cell is bright."""
    for share in (share / 100 for size in range(75, 101) for share in (-size, size)):
        color = diverging(share, DARK)
        assert contrast(text_on(color), color) >= 7


@both
def test_text_reaches_4_5_on_its_grounds_and_lines_reach_3(palette: Palette) -> None:
    for color in (palette.text, palette.quiet, palette.now, palette.good, palette.wrong):
        assert min(contrast(color, ground) for ground in (palette.background, palette.surface)) >= 4.5
    for color in (palette.line, palette.pad_hatch):
        assert min(contrast(color, ground) for ground in (palette.background, palette.pad)) >= 3.0


# What is left of linear red, green and blue in sight of one kind: Machado, Oliveira, Fernandes 2009, severity 1.
SIGHTS: dict[str, list[list[float]]] = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopic": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopic": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopic": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
# From linear red, green and blue to the cones, and from their cube roots to Oklab: Ottosson 2020.
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
LAB = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
]
PETROFF = ["#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"]


def seen(colors: Iterable[str], sight: str = "normal") -> np.ndarray:
    """Return colours as points of Oklab, where distance is how different they look."""
    rgb = np.array([list(bytes.fromhex(color[1:])) for color in colors]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.transpose(SIGHTS[sight]), 0, 1)
    points: np.ndarray = np.cbrt(linear @ np.transpose(CONES)) @ np.transpose(LAB)
    return points


def apart(colors: Sequence[str], sight: str) -> float:
    """Return how different the two most similar ones look."""
    return min(float(np.linalg.norm(one - other)) for one, other in combinations(seen(colors, sight), 2))


@pytest.mark.parametrize("sight", SIGHTS)
def test_sequences_are_told_apart_in_every_kind_of_sight(sight: str) -> None:
    assert apart(SEQUENCE_HUES, sight) > apart(PETROFF, sight)
    assert apart(SEQUENCE_HUES[:3], sight) > 0.15


@both
def test_no_sequence_has_the_colour_of_a_sign_an_error_or_now(palette: Palette) -> None:
    taken = [palette.now, palette.wrong, palette.pad, *(diverging(step / 20, palette) for step in range(-20, 21))]
    nearest = [
        min(float(np.linalg.norm(own - other)) for other in seen(taken)) for own in seen([*SEQUENCE_HUES, *PETROFF])
    ]
    assert min(nearest[:10]) > 0.055
    assert min(nearest[10:]) < 0.04


def test_the_apps_theme_uses_the_same_colours() -> None:
    theme = tomllib.loads(CONFIG.read_text())["theme"]
    for palette, section in ((LIGHT, theme["light"]), (DARK, theme["dark"])):
        told = [section[name] for name in ("primaryColor", "backgroundColor", "secondaryBackgroundColor", "textColor")]
        assert told == [palette.now, palette.background, palette.surface, palette.text]


def test_a_disabled_button_keeps_the_colour_of_its_text(browser: Browser) -> None:
    with tab(browser, (400, 300)) as taken:
        buttons = "".join(map(PRIMARY.format, ("", "disabled")))
        taken.page.set_content(f'<style>{STYLE.read_text("utf-8")}</style><div class="stApp">{buttons}</div>')
        told = [node.evaluate(COLOUR) for node in taken.page.get_by_role("button").all()]
    assert told == ["rgb(255, 255, 255)", "rgb(90, 90, 90)"]
