"""Results are told to screen readers: once, when they come, and not when the page does."""

import json

from streamlit.testing.v1 import AppTest

from pages import opened


def spoken(app: AppTest) -> str:
    """Return what the page's line for screen readers holds."""
    assert not app.exception
    all_data = [json.loads(each.proto.json) for each in app.get("bidi_component") if each.proto.json]
    (text,) = [str(data["text"]) for data in all_data if set(data) == {"text", "number"}]
    return text


def test_the_findings_are_spoken_with_their_places() -> None:
    text = spoken(opened("doctor"))
    assert "finding" in text
    assert not set("*`[]") & set(text)


def test_the_verdict_on_a_claim_is_spoken_and_the_number_of_answers_found() -> None:
    assert spoken(opened("questions")) == ""
    assert spoken(opened("questions", {"search": "is padding bad"})).endswith(("answer", "answers"))
    text = spoken(opened("questions", {"entry": "is-padding-bad"}))
    assert text.startswith("Claim: ")
    assert any(verdict in text for verdict in ("true", "false", "depends"))


def test_the_answer_in_the_quiz_is_spoken_once_there_is_one() -> None:
    app = opened("quiz", {"round": 3})
    assert spoken(app) == ""
    next(button for button in app.button if button.label == "Show me").click().run()
    assert spoken(app).startswith("The answer: ")
