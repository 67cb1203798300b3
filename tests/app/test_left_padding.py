"""With padding on the left nothing below a movie is called right, and nothing is ticked in green."""

from streamlit.testing.v1 import AppTest


def below(side: str) -> None:
    from ui import part, unpacking
    from ui.runs import Request, run

    shown = run(Request(settings=(("padding_side", side),)))
    part.proof(shown)
    unpacking.which_one(shown)


def said(side: str) -> str:
    app = AppTest.from_function(below, default_timeout=60, args=(side,)).run()
    assert not app.exception
    return "\n".join([*(each.value for each in app.markdown), *(each.label for each in app.expander)])


def test_padding_on_the_right_is_right_and_equal() -> None:
    text = said("right")
    assert ":green-badge[:material/check: equal to torch.nn.GRU, bit for bit]" in text
    assert text.count(":green[**✓ right here**]") == 4


def test_padding_on_the_left_is_wrong_throughout_and_never_green() -> None:
    text = said("left")
    assert ":orange-badge[:material/error: what torch.nn.GRU makes of this packed input: 3 pads were packed" in text
    assert ":red[**✗ 3 of the " in text
    assert text.count(":red[**✗ wrong here**]") == 5
    assert "green" not in text
    assert "right" not in text
