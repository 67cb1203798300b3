"""Code in a sentence stays in one line, and makes no page wider than its window."""

import pytest
from visits import Open, wider_by

import packviz

SHORT = 20  # characters
BROKEN = """(short) => [...document.querySelectorAll(".stMain :is(p, li, td) code")].filter((code) => {
  const range = document.createRange();
  range.selectNodeContents(code);
  const tops = new Set([...range.getClientRects()].filter((box) => box.width > 1).map((box) => Math.round(box.top)));
  return code.textContent.length <= short && tops.size > 1;
}).map((code) => code.textContent)"""


@pytest.mark.parametrize("path", ["questions?entry=last-column", "questions?entry=read-the-last-output", "compare"])
def test_short_code_is_in_one_line_at_every_width(visit: Open, path: str) -> None:
    seen = visit("", path=path, size=(1280, 720))
    for width in (1280, *range(1000, 319, -17), 320):
        seen.page.set_viewport_size({"width": width, "height": 800})
        assert seen.page.evaluate(BROKEN, SHORT) == [], width
    seen.settle()
    assert wider_by(seen) <= 0


def test_code_in_a_caption_has_no_space_at_which_a_line_may_break() -> None:
    run = packviz.trace(packviz.Batch.parse("1 2 3\n4"), packviz.Config())
    said = " ".join(step.caption for step in packviz.movie(run).steps)
    assert "out[:,\u00a0-1]" in said
    assert "out[:, -1]" not in said
