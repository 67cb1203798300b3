import pickle

from packviz.errors import PackvizError
from packviz.text import visible

ERROR = PackvizError("hidden_size", expected="an integer", got="0.5", fix="choose 1 or more")


def test_what_torch_says_stands_in_the_message() -> None:
    error = PackvizError("lengths", expected="3 lengths", got="2", fix="give one each", torch_says="no, never")
    assert str(error) == 'lengths: expected 3 lengths, but got 2 (torch: "no, never"). Give one each.'


def test_an_error_is_a_value_error_and_survives_pickling() -> None:
    assert isinstance(ERROR, ValueError)
    copy = pickle.loads(pickle.dumps(ERROR))
    assert (str(copy), copy.parameter, copy.torch_says) == (str(ERROR), "hidden_size", None)


def test_every_character_that_cannot_be_seen_gets_a_symbol() -> None:
    assert visible("a\x00b\x7fc\x85d\u202ee\ud800") == "a␀b␡c\ufffdd\ufffde\ufffd"
    assert visible("  ") == "␣␣"
    assert visible("👩‍🔬 שלום <b>") == "👩‍🔬 שלום <b>"
