"""The quiz: a round of questions, one on the screen at a time, then what came of it. All of its state is here."""

from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from packviz.errors import PackvizError
from packviz.movie import Movie, movie
from packviz.quiz import Question, Sheet, kept, questions, taken_up
from ui.player import clip
from ui.quiz_address import begin, chosen, last, said, write
from ui.quiz_batch import batch, marks, settings
from ui.quiz_result import result

__all__ = ["quiz"]

_STYLE = Path(__file__).parent / "quiz.css"


@dataclass
class _Game:
    """Hold how far somebody is in a round; `at` is the question on the screen, behind the last one the result.

    unread: for each question, what was typed last that could not be read.
    """

    level: int
    number: int
    sheet: Sheet
    at: int = 0
    problem: str = ""
    unread: dict[int, str] = field(default_factory=dict)

    def key(self, i: int) -> str:
        """Return the key of what is typed for question i."""
        return f"quiz {self.level} {self.number} {i}"


def quiz(told: str) -> None:
    """Show the round that the address names.

    told: one or two sentences for who has not answered anything yet.
    """
    st.html(_STYLE)
    with st.container(key="measured"), st.container(key="quiz"):
        with st.container(horizontal=True, vertical_alignment="center", key="quiz-round"):
            game = _game(*chosen())
            _new_round(game)
            marks(game.sheet.marks, game.at)
            if game.at < len(game.sheet.questions):
                st.markdown(_standing(game))
        if game.at < len(game.sheet.questions):
            _question(game, game.at)
            if game.sheet.untouched:
                st.markdown(told)
        else:
            result(game.sheet, game.level, game.number, game.unread, begin=begin, again=_again, see=_see)
        write(game.level, game.number, kept(game.sheet, game.at))


def _game(level: int, number: int) -> _Game:
    """Return the round as it was left, or, after a reload, as the address has it."""
    games: dict[tuple[int, int], _Game] = st.session_state.setdefault("quiz games", {})
    if (level, number) not in games:
        asked = _questions(level, number)
        games[level, number] = _Game(level, number, *(taken_up(asked, said()) or (Sheet(asked), 0)))
    return games[level, number]


def _new_round(game: _Game) -> None:
    """Offer another round; in the middle of one, after a question."""
    if game.sheet.untouched or game.sheet.over:
        st.button("New round", on_click=begin)
        return
    with st.popover("New round"):
        st.markdown(f"Leave round {game.number} at question {game.at + 1}?")
        st.button("Yes, another round", on_click=begin)


def _standing(game: _Game) -> str:
    points = game.sheet.points
    return f"**Question {game.at + 1} of {len(game.sheet.questions)}**, {points} point{'' if points == 1 else 's'}"


def _question(game: _Game, i: int) -> None:
    asked = game.sheet.questions[i]
    with st.container(border=True, key="question"):
        if game.sheet.settled(i):
            _settled(game, i)
        else:
            _prompt(asked)
            _open(game, i)
    if game.sheet.settled(i):
        film, moment = _film(game.level, game.number, i), asked.prediction.moment
        clip(film.to_dict(), film.step_at(moment.stage, moment.timestep, moment.name), game.key(i))


def _prompt(asked: Question) -> None:
    with st.container(key="prompt"):
        st.markdown(asked.prediction.prompt)


def _open(game: _Game, i: int) -> None:
    """Show the batch, and where the answer is typed or chosen."""
    asked, key = game.sheet.questions[i], game.key(i)
    seen, answer = st.columns([3, 2], gap="large", vertical_alignment="top")
    with seen:
        batch(asked)
        settings(asked)
    with answer:
        with st.form(f"form {key}", border=False):
            _answer(asked, key)
            with st.container(horizontal=True, gap="small"):
                st.form_submit_button("Check", on_click=_check, args=(game, i))
                st.form_submit_button("Show me", on_click=_give_up, args=(game, i))
        verdict = game.sheet.verdict(i)
        if game.problem:
            st.text(f"⚠ {game.problem}")
        elif verdict is not None:
            st.markdown(f":red[**✗ Not quite.**] {verdict.reason} You have one more try.")
        elif game.sheet.half == i:
            st.markdown("One answer was wrong. You have one more try.")


def _answer(asked: Question, key: str) -> None:
    prediction = asked.prediction
    if prediction.form == "choice":
        st.radio(prediction.prompt, prediction.choices, None, key=key, label_visibility="collapsed")
    else:
        hint = prediction.example
        st.text_input(prediction.prompt, key=key, placeholder=hint, label_visibility="collapsed", autocomplete="off")


def _settled(game: _Game, i: int) -> None:
    """Show what was said, the verdict, the answer, the batch that they speak of, and the way on."""
    question = game.sheet.questions[i]
    with st.container(horizontal=True, vertical_alignment="top", key="settled"):
        with st.container(width="stretch", key="verdict"):
            _prompt(question)
            _verdict(game, i)
        batch(question, small=True)
        label = "The result" if game.sheet.over else "Next"
        st.button(label, on_click=_next, args=(game,), key=f"next {game.key(i)}", shortcut="Enter")


def _verdict(game: _Game, i: int) -> None:
    asked, verdict, mark = game.sheet.questions[i].prediction, game.sheet.verdict(i), game.sheet.mark(i)
    solution = asked.solution.replace("`", "").removesuffix(".")
    if mark in ("first", "second"):
        st.markdown(f":green[**✓ Right: {solution}.**] {asked.why}")
        return
    if verdict is not None and i not in game.sheet.shown:
        st.markdown(f":red[**✗ Not quite.**] {verdict.reason}")
    st.markdown(f"**The answer: {solution}.** {asked.why}")


def _check(game: _Game, i: int) -> None:
    typed = st.session_state.get(game.key(i)) or ""
    try:
        game.sheet, game.problem = game.sheet.answered(i, typed), ""
    except PackvizError as problem:
        game.problem = problem.sentence
        if typed.strip():
            game.unread[i] = typed


def _give_up(game: _Game, i: int) -> None:
    game.sheet, game.problem = game.sheet.given_up(i), ""


def _next(game: _Game) -> None:
    game.at = len(game.sheet.questions) if game.sheet.over else game.at + 1


def _see(i: int) -> None:
    _game(*last()).at = i


def _again() -> None:
    """Begin the same round again."""
    level, number = last()
    st.session_state["quiz games"][level, number] = _Game(level, number, Sheet(_questions(level, number)))


@st.cache_resource(max_entries=64, show_spinner=False)
def _questions(level: int, number: int) -> tuple[Question, ...]:
    return questions(level, number)


@st.cache_resource(max_entries=48, show_spinner=False)
def _film(level: int, number: int, i: int) -> Movie:
    asked = _questions(level, number)[i]
    return movie(asked.trace, asked.stages, direction=asked.direction, deep=True)
