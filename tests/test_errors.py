import pickle

from packviz.errors import PackvizError
from packviz.text import quoted, visible

ERROR = PackvizError("hidden_size", expected="an integer", got="0.5", fix="choose 1 or more")


def test_the_message_says_parameter_expectation_what_came_and_how_to_fix_it() -> None:
    assert str(ERROR) == "hidden_size: expected an integer, but got 0.5. Choose 1 or more."
    assert ERROR.sentence == "Expected an integer, but got 0.5. Choose 1 or more."


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


def test_a_long_text_is_shortened_in_a_message() -> None:
    assert quoted("short") == "'short'"
    assert quoted("x" * 1000, width=5) == "'xxxx…'"
