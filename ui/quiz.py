"""The quiz: a round of questions, one on the screen at a time, then what came of it. All of its state is here."""

from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom

import streamlit as st

from packviz.errors import PackvizError
from packviz.movie import Movie, movie
from packviz.quiz import LAST_ROUND, LEVELS, Question, Sheet, questions
from ui.player import clip
from ui.quiz_batch import batch, marks
from ui.quiz_result import result
from ui.widgets import choice, maybe_whole

__all__ = ["quiz"]

_STYLE = Path(__file__).parent / "quiz.css"
_ROUND = "Ten questions have a number. Read it out, or share the link: everybody gets the same ten."


@dataclass
class _Game:
    """Hold how far somebody is in a round; `at` is the question on the screen, behind the last one the result."""

    level: int
    number: int
    sheet: Sheet
    at: int = 0
    problem: str = ""

    def key(self, i: int) -> str:
        """Return the key of what is typed for question i."""
        return f"quiz {self.level} {self.number} {i}"


def quiz(told: str) -> None:
    """Show the round that the controls, and thereby the link, name.

    told: one or two sentences for who has not answered anything yet.
    """
    st.html(_STYLE)
    with st.container(key="measured"), st.container(key="quiz"):
        with st.container(horizontal=True, vertical_alignment="center", key="quiz-round"):
            game = _game(*_chosen())
            st.button("New round", on_click=_begin)
            marks(game.sheet.marks, game.at)
            if game.at < len(game.sheet.questions):
                st.markdown(_standing(game))
        if game.at < len(game.sheet.questions):
            _question(game, game.at)
            if game.sheet.untouched:
                st.markdown(told)
        else:
            result(game.sheet, game.level, game.number, begin=_begin, again=_again, see=_see)


def _chosen() -> tuple[int, int]:
    """Draw the level and the number of the round, which are all that a link holds."""
    last: tuple[int, int] | None = st.session_state.get("last round")
    there = last[1] if last is not None else _any_round()
    if last is not None:  # Streamlit forgets widgets while another page is shown
        st.session_state.setdefault("level", last[0])
    if "round" not in st.session_state:
        _mend_link(there)
    elif st.session_state["round"] is None:  # somebody has emptied it
        st.session_state["round"] = there
    level = choice("level", tuple(LEVELS), 1)
    number = maybe_whole("round", 1, LAST_ROUND, _ROUND)
    assert number is not None
    st.session_state["last round"] = level, number
    return level, number


def _mend_link(number: int) -> None:
    """Put the number of the round into a link without a good one, where its widget finds it; drop a bad level."""
    link = st.query_params
    bad = "level" in link and link["level"] not in map(str, LEVELS)
    if bad:
        del link["level"]
    if not _is_round(link.get("round", "")):
        bad, link["round"] = True, str(number)
    if bad:
        st.rerun()


def _is_round(raw: str) -> bool:
    return raw.isascii() and raw.isdigit() and len(raw) < 9 and 1 <= int(raw) <= LAST_ROUND


def _any_round() -> int:
    return SystemRandom().randint(1, LAST_ROUND)


def _game(level: int, number: int) -> _Game:
    games: dict[tuple[int, int], _Game] = st.session_state.setdefault("quiz games", {})
    if (level, number) not in games:
        games[level, number] = _Game(level, number, Sheet(_questions(level, number)))
    return games[level, number]


def _standing(game: _Game) -> str:
    points = game.sheet.points
    return f"**Question {game.at + 1} of {len(game.sheet.questions)}**, {points} point{'' if points == 1 else 's'}"


def _question(game: _Game, i: int) -> None:
    asked = game.sheet.questions[i]
    with st.container(border=True, key="question"):
        with st.container(key="prompt"):
            st.markdown(asked.prediction.prompt)
        if game.sheet.settled(i):
            _settled(game, i)
        else:
            _open(game, i)
    if game.sheet.settled(i):
        film, moment = _film(game.level, game.number, i), asked.prediction.moment
        clip(film.to_dict(), film.step_at(moment.stage, moment.timestep, moment.name), game.key(i))


def _open(game: _Game, i: int) -> None:
    """Show the batch, and where the answer is typed or chosen."""
    asked, key = game.sheet.questions[i], game.key(i)
    seen, answer = st.columns([3, 2], gap="large", vertical_alignment="top")
    with seen:
        batch(asked)
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


def _answer(asked: Question, key: str) -> None:
    prediction = asked.prediction
    if prediction.form == "choice":
        st.radio(prediction.prompt, prediction.choices, None, key=key, label_visibility="collapsed")
    else:
        hint = prediction.example
        st.text_input(prediction.prompt, key=key, placeholder=hint, label_visibility="collapsed", autocomplete="off")


def _settled(game: _Game, i: int) -> None:
    """Show what was said, the verdict, the answer, and the way on."""
    asked, verdict, mark = game.sheet.questions[i].prediction, game.sheet.verdict(i), game.sheet.mark(i)
    solution = asked.solution.replace("`", "").removesuffix(".")
    told, on = st.columns([5, 1], vertical_alignment="center")
    with told:
        if verdict is not None and verdict.right:
            st.markdown(f":green[**✓ Right: {solution}.**] {asked.why}")
        else:
            if verdict is not None and mark == "missed" and i not in game.sheet.shown:
                st.markdown(f":red[**✗ Not quite.**] {verdict.reason}")
            st.markdown(f"**The answer: {solution}.** {asked.why}")
    with on:
        label = "The result" if game.sheet.over else "Next"
        st.button(
            label,
            on_click=_next,
            args=(game,),
            key=f"next {game.key(i)}",
            width="stretch",
            shortcut="Enter",
        )


def _check(game: _Game, i: int) -> None:
    typed = st.session_state.get(game.key(i)) or ""
    try:
        game.sheet, game.problem = game.sheet.answered(i, typed), ""
    except PackvizError as problem:
        game.problem = problem.sentence


def _give_up(game: _Game, i: int) -> None:
    game.sheet, game.problem = game.sheet.given_up(i), ""


def _next(game: _Game) -> None:
    game.at = len(game.sheet.questions) if game.sheet.over else game.at + 1


def _see(i: int) -> None:
    level, number = st.session_state["last round"]
    _game(level, number).at = i


def _begin(level: int | None = None) -> None:
    """Begin another round, of another level if one is given."""
    st.session_state["round"] = _any_round()
    if level is not None:
        st.session_state["level"] = level


def _again() -> None:
    """Begin the same round again."""
    del st.session_state["quiz games"][st.session_state["last round"]]


@st.cache_resource(max_entries=64, show_spinner=False)
def _questions(level: int, number: int) -> tuple[Question, ...]:
    return questions(level, number)


@st.cache_resource(max_entries=48, show_spinner=False)
def _film(level: int, number: int, i: int) -> Movie:
    asked = _questions(level, number)[i]
    return movie(asked.trace, asked.stages, direction=asked.direction, deep=True)
