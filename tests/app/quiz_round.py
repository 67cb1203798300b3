"""A round of the quiz, and how it is answered in a browser."""

from playwright.sync_api import Locator
from visits import Visit

from packviz.teach.predictions import spelled
from packviz.teach.quiz import QuizQuestion, questions

LEVEL, ROUND = 2, 1234
ASKED = questions(LEVEL, ROUND)
START = {"level": str(LEVEL), "round": str(ROUND)}  # what the link of a round says before the first answer


def right(i: int) -> str:
    return ASKED[i].prediction.solution


def wrong(i: int, which: int = 0) -> str:
    return spelled(ASKED[i].prediction.slips[which].answer)


def prompt(visited: Visit) -> Locator:
    return visited.page.locator(".st-key-prompt").first  # that of the question before may still be on its way out


def plain(question: QuizQuestion) -> str:
    return question.prediction.prompt.replace("`", "")


def answer(visited: Visit, question: QuizQuestion, typed: str) -> None:
    if question.prediction.form == "choice":
        visited.main.locator(".st-key-question").get_by_role("radio", name=typed.replace("`", "")).check(force=True)
        click(visited, "Check")
    else:
        visited.enter(visited.main.get_by_role("textbox"), typed)


def click(visited: Visit, *names: str) -> None:
    for name in names:
        visited.click(visited.main.get_by_role("button", name=name).first)
