"""Results are told to screen readers: once, when they come, and not when the page does."""

import json

from playwright.sync_api import Browser, Locator, expect
from streamlit.testing.v1 import AppTest
from visits import Visit, visit

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


def line_of(visited: Visit) -> Locator:
    return visited.page.locator(".st-key-status-prediction").get_by_role("status")


def test_a_prediction_is_spoken_when_it_is_checked_again_on_the_same_answer_and_not_on_other_reruns(
    browser: Browser, address: str
) -> None:
    with visit(browser, address, {"sequences": "1 2 3\n4 5\n6 7 8 9", "example": "own"}, path="packing") as visited:
        line = line_of(visited)
        expect(line).to_have_count(1)
        assert line.inner_text() == ""
        visited.page.evaluate(
            """() => {
                const inside = (each) => each.shadowRoot && find(each.shadowRoot);
                const find = (root) => root.querySelector("[role=status]")
                    ?? [...root.querySelectorAll("*")].map(inside).find(Boolean);
                const line = find(document.querySelector(".st-key-status-prediction")), all = [];
                new MutationObserver(() => { if (line.textContent) all.push(line.textContent); })
                    .observe(line, { childList: true, characterData: true, subtree: true });
                window.heard = all;
            }"""
        )
        prediction = visited.page.locator(".st-key-prediction")
        answer = prediction.get_by_role("textbox")
        answer.fill("9 9 9")
        answer.press("Enter")
        expect(line).to_contain_text("Not quite.")
        visited.settle()
        visited.press("ArrowLeft")
        heard = visited.page.evaluate("window.heard")
        assert len(heard) == 1
        prediction.get_by_role("button", name="Check").click()
        visited.page.wait_for_function("window.heard.length === 2")
        assert visited.page.evaluate("window.heard")[1] == heard[0]
