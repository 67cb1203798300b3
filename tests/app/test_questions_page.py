"""The page of questions: what is pasted finds an answer, and what is shown was run."""

import pytest
from streamlit.testing.v1 import AppTest

from packviz.teach.questions import ENTRIES, GROUPS, answer
from pages import opened, texts

BADGES = {"true": "check: true", "false": "close: false", "depends": "call_split: depends"}
BY_KEY = {entry.key: entry for entry in ENTRIES}


def listed(page: AppTest) -> list[str]:
    return [button.label for button in page.button if str(button.key).startswith("open ")]


def test_the_first_group_stands_there_with_the_verdicts_of_the_library() -> None:
    page = opened("questions")
    entries = [entry for entry in ENTRIES if entry.group == GROUPS[0]]
    assert listed(page) == [entry.question for entry in entries]
    for entry in entries:
        badge = BADGES[answer(entry).verdict]
        assert any(line.startswith(f"Claim: {entry.claim}") and badge in line for line in texts(page).splitlines())


def test_a_pasted_traceback_opens_the_answer_with_both_programs_and_what_they_said() -> None:
    entry = BY_KEY["no-size"]
    page = opened(
        "questions", {"search": f'Traceback (most recent call last): File "m.py", line 3 {entry.messages[0]}'}
    )
    assert listed(page)[0] == entry.question
    page.button(key=f"open {entry.key}").click().run()
    assert page.query_params["entry"] == entry.key
    assert page.title[0].value == entry.question
    done, codes = answer(entry), [code.value for code in page.code]
    assert [code in codes for code in (entry.wrong, done.wrong.shown, entry.right, done.right.shown)] == [True] * 4
    assert done.told in texts(page)
    back = next(button for button in page.button if button.label == "Back to the results")
    back.click().run()
    assert listed(page)[0] == entry.question
    assert entry.messages[0] in (page.text_input(key="search").value or "")


@pytest.mark.parametrize(("search", "says"), [
    ("qwzx vbnq", "Nothing found for these words."),
    ("RuntimeError: no kernel image for a packed sequence on this device", "No answer here has exactly this message."),
])  # fmt: skip
def test_what_is_not_found_is_said(search: str, says: str) -> None:
    assert says in texts(opened("questions", {"search": search}))


def test_a_link_to_no_question_says_so_and_shows_the_list() -> None:
    page = opened("questions", {"entry": "<b>nothing</b>"})
    assert "There is no question named '<b>nothing</b>'" in texts(page)
    assert listed(page)
