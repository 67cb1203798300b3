"""Colours by meaning, light and dark: sequences, padding, now, final, and numbers around zero."""

from dataclasses import dataclass

# Ten colours distinguishable with colour blindness: at least 17 apart in CAM02-UCS with normal, deuteranopic,
# protanopic and tritanopic vision (Petroff's ten, arXiv 2107.02270: 14). None is near the red and blue of signs,
# errors and now.
SEQUENCE_HUES: tuple[str, ...] = (
    "#0f9d8f",
    "#ffa90e",
    "#832db6",
    "#793d00",
    "#79e7db",
    "#0c6161",
    "#c261f3",
    "#86860c",
    "#ceaaff",
    "#b6db92",
)

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
CLEAR = "rgba(0,0,0,0)"  # fully transparent


@dataclass(frozen=True)
class Palette:
    """Name one colour for each meaning on one background.

    `diverging` runs in even steps from the most negative number through zero, its middle, to the most positive one.
    """

    background: str
    surface: str
    text: str
    quiet: str
    line: str
    pad: str
    pad_hatch: str
    now: str
    good: str
    wrong: str
    diverging: tuple[str, ...]


LIGHT = Palette(
    background="#ffffff",
    surface="#f4f5f8",
    text="#1c2030",
    quiet="#5b6272",
    line="#80879a",
    pad="#eceef2",
    pad_hatch="#7d8494",
    now="#3a5bd9",
    good="#0f6e3c",
    wrong="#b3261e",
    diverging=("#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7", "#fddbc7", "#f4a582", "#d6604d", "#b2182b"),
)

DARK = Palette(
    background="#12141b",
    surface="#1d202b",
    text="#eceef5",
    quiet="#a9b0c2",
    line="#757d92",
    pad="#252936",
    pad_hatch="#7d8599",
    now="#8ea6ff",
    good="#6fd69a",
    wrong="#ff8d85",
    diverging=("#7cc0f5", "#64abe4", "#3d6f9f", "#304a67", "#2a2e38", "#65403d", "#9c4f47", "#ea7d70", "#ff8f80"),
)


def sequence_color(b: int) -> str:
    """Return the hue of sequence `b`; the hues repeat after the last one."""
    return SEQUENCE_HUES[b % len(SEQUENCE_HUES)]


def diverging(share: float, palette: Palette = LIGHT) -> str:
    """Return the colour of a number that is `share` of the way from zero to the largest one: -1.0 to 1.0."""
    stops = palette.diverging
    place = (min(max(share, -1.0), 1.0) + 1) / 2 * (len(stops) - 1)
    below = min(int(place), len(stops) - 2)
    return mix(stops[below], stops[below + 1], place - below)


def text_on(color: str) -> str:
    """Return black or white, whichever has more contrast on `color`."""
    return max("#000000", "#ffffff", key=lambda text: contrast(text, color))


def with_contrast(color: str, background: str, ratio: float) -> str:
    """Return `color` moved towards black or white just far enough to reach `ratio` (WCAG) on `background`."""
    steps = (mix(color, text_on(background), percent / 100) for percent in range(101))
    return next(step for step in steps if contrast(step, background) >= ratio or step == text_on(background))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours as WCAG 2.2 defines it: 1.0 to 21.0."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mix(one: str, other: str, share: float) -> str:
    """Return the colour that is `share` (0.0 to 1.0) of the way from `one` to `other`."""
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _channels(color: str) -> bytes:
    return bytes.fromhex(color.removeprefix("#"))


def _luminance(color: str) -> float:
    shares = (channel / 255 for channel in _channels(color))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
