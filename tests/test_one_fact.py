"""Facts that Python and JavaScript both state: both state the same."""

import re
from pathlib import Path

import pytest

from packviz.show.theme import DARK, LIGHT, SEQUENCE_HUES
from packviz.teach.predictions.prediction import MAX_CHARACTERS

ROOT = Path(__file__).parent.parent
CONSTANTS = {  # the file in JavaScript, the name there, and the value in Python
    "hues of sequences": ("classroom/phone/answer.js", "HUES", len(SEQUENCE_HUES)),
    "characters of an answer": ("player/answers.js", "LONGEST", MAX_CHARACTERS),
}


@pytest.mark.parametrize(("file", "name", "value"), CONSTANTS.values(), ids=CONSTANTS)
def test_a_constant_is_the_same_in_both_languages(file: str, name: str, value: float) -> None:
    (found,) = re.findall(rf"\b{name} = ([\d._]+)[,;]", (ROOT / file).read_text("utf-8"))
    assert float(found) == value


def test_a_page_in_a_frame_has_the_backgrounds_of_the_theme() -> None:
    found = re.findall(r'\b(light|dark): "(.*?)"', (ROOT / "player" / "frame.js").read_text("utf-8"))
    assert dict(found) == {"light": LIGHT.background, "dark": DARK.background}
