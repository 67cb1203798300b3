"""Facts that Python and JavaScript both state: both state the same."""

import re
from pathlib import Path

import pytest

from packviz.show.movie import legend, staging
from packviz.show.theme import SEQUENCE_HUES
from packviz.teach.predictions.prediction import MAX_CHARACTERS

ROOT = Path(__file__).parent.parent
CONSTANTS = {  # the file in JavaScript, the name there, and the value in Python
    "hues of sequences": ("classroom/phone/answer.js", "HUES", len(SEQUENCE_HUES)),
    "characters of an answer": ("player/answers.js", "LONGEST", MAX_CHARACTERS),
    "the least width of a number": ("player/layout.js", "NUMBERED", staging.NUMBERED),
    "the width of a letter": ("player/layout.js", "LETTER", staging.LETTER),
    "the width of a bold letter": ("player/layout.js", "BOLD", staging.BOLD),
}


@pytest.mark.parametrize(("file", "name", "value"), CONSTANTS.values(), ids=CONSTANTS)
def test_a_constant_is_the_same_in_both_languages(file: str, name: str, value: float) -> None:
    (found,) = re.findall(rf"\b{name} = ([\d._]+)[,;]", (ROOT / file).read_text("utf-8"))
    assert float(found) == value


def test_the_legends_of_player_and_stills_have_the_same_names() -> None:
    code = (ROOT / "player/numbers.js").read_text("utf-8")
    (names,), (above,) = re.findall(r"SCALES = \{(.+)\}", code), re.findall(r"ABOVE = new Set\(\[(.+)\]\)", code)
    scales = dict(re.findall(r'(\w+): "([^"]+)"', names))
    assert scales == {scale: legend.NAMES.get(scale, scale) for scale in scales}
    assert set(scales) - set(re.findall(r'"(\w+)"', above)) == set(legend.NAMES)
