"""The quiz: a round of questions, one on the screen at a time, then the result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from packviz.errors import PackvizError
from packviz.show.movie import movie
from packviz.teach.predictions.prediction import MAX_CHARACTERS
from packviz.teach.quiz import LEVELS, Mark, QuizQuestion, Scorecard, progress_code, questions, read_progress_code
from packviz.text import counted, markup, quoted
from ui.parts.game import Game, Games
from ui.parts.part import palette
from ui.parts.player import clip
from ui.parts.quiz_views import batch, needed_settings, worksheet
from ui.parts.status import announce
from ui.state import address
from ui.state.runs import as_json
from ui.state.visit import visit
from ui.views.quiz_round import begin, choice, chosen, keep_progress, progress

_HERE = Path(__file__).parent
# The symbol of each mark, its meaning, and its points.
_MARKS: dict[Mark, tuple[str, str, str]] = {
    "open": ("", "open", ""),
    "first": ("✓", "right on the first try, 2 points", ":green[**✓** 2 points]"),
    "second": ("½", "right on the second try, 1 point", ":green[**½** 1 point of 2 (second try)]"),
    "missed": ("✗", "missed, 0 points", ":red[**✗** 0 points]"),
}


def quiz(told: str, scores: str) -> None:
    """Show the round that the address names.

    told, scores: what a round is and how it is scored, shown below and above the question before the first answer.
    """
    st.html(_HERE / "quiz.css")
    with st.container(key="measured"), st.container(key="quiz"):
        level, number = chosen()
        if st.query_params.get("worksheet") == "true":
            worksheet(level, number, _questions(level, number))
            return
        with st.container(horizontal=True, vertical_alignment="center", key="quiz-round"):
            choice(level, number)
            game = _game(level, number)
            _new_round(game)
            standing = game.scorecard.marks
            over = game.at == len(standing)
            drawn = {"standing": standing, "at": game.at, "settled": not over and game.scorecard.settled(game.at)}
            st.html(markup(_HERE / "quiz_marks.html", signs=_MARKS, palette=palette(), **drawn))
            if not over:
                place = f"**Question {game.at + 1} of {len(standing)}**, {counted(game.scorecard.points, 'point')}"
                st.markdown(f"{place}. {scores}" if game.scorecard.untouched else place)
        if not over:
            _question(game, game.at)
            if game.scorecard.untouched:
                st.markdown(told)
        else:
            _result(game)
        game.handled = False
        keep_progress(game.level, game.number, progress_code(game.scorecard, game.at))
        tries = sum(map(len, game.scorecard.answers.values()))
        announce(_spoken(game), "quiz", number=tries)


def _spoken(game: Game) -> str:
    """Return the result of the last answer for screen readers; "" if there is none yet."""
    scorecard, i = game.scorecard, game.at
    if i == len(scorecard.questions):
        return f"The round is over: {scorecard.points} of {scorecard.most} points."
    if scorecard.settled(i):
        return _verdict(game, i)
    verdict = scorecard.verdict(i)
    return game.problem or (f"Not quite. {verdict.reason} You have one more try." if verdict is not None else "")


def _game(level: int, number: int) -> Game:
    """Return the round as it was left in this session, or as the browser kept it across a reload or a restart."""
    games = visit(Games).rounds
    if (level, number) not in games:
        asked = _questions(level, number)
        linked = None if games else address.ordinal(st.query_params, "question", len(asked))  # only in the first round
        first = (linked or 1) - 1
        code = progress(level, number)
        left = read_progress_code(asked, code) if code else None
        games[level, number] = Game(level, number, *(left or (Scorecard(asked), first)))
    return games[level, number]


def _new_round(game: Game) -> None:
    """Offer another round; in the middle of one, ask for confirmation."""
    if game.scorecard.untouched or game.scorecard.over:
        st.button("New round", on_click=begin, args=(game.level,))
        return
    with st.popover("New round"):
        st.markdown(f"Leave round {game.number} at question {game.at + 1}?")
        st.button("Yes, another round", on_click=begin, args=(game.level,))


def _question(game: Game, i: int) -> None:
    asked = game.scorecard.questions[i]
    with st.container(border=True, key="question"):
        if game.scorecard.settled(i):
            _settled(game, i)
        else:
            _prompt(asked)
            _open(game, i)
    if game.scorecard.settled(i):
        film, moment = movie(asked.trace, asked.stages, direction=asked.direction, deep=True), asked.moment
        clip(as_json(film), film.step_at(moment.stage, moment.timestep, moment.name), game.key(i))


def _prompt(asked: QuizQuestion) -> None:
    with st.container(key="prompt"):
        st.markdown(asked.prediction.prompt)


def _open(game: Game, i: int) -> None:
    """Show the batch, and the field or options for the answer."""
    asked, key = game.scorecard.questions[i], game.key(i)
    batch(asked.batch.texts, needed_settings(asked))
    with st.form(f"form {key}", border=False):
        _answer(asked, key)
        with st.container(horizontal=True, gap="small"):
            checked = st.form_submit_button("Check", type="primary", on_click=_check, args=(game, i))
            given_up = st.form_submit_button("Show me", on_click=_give_up, args=(game, i))
    _make_up_for(game, checked, _check, i)
    _make_up_for(game, given_up, _give_up, i)
    verdict = game.scorecard.verdict(i)
    if game.problem:
        st.text(f"⚠ {game.problem}")
    elif verdict is not None:
        st.markdown(f":red[**✗ Not quite.**] {verdict.reason} You have one more try.")
    elif game.scorecard.standing.get(i) == "w":
        st.markdown("One answer was wrong. You have one more try.")


def _answer(asked: QuizQuestion, key: str) -> None:
    prediction = asked.prediction
    if prediction.form == "choice":
        st.radio(prediction.prompt, prediction.choices, None, key=key, label_visibility="collapsed")
    else:
        hint = prediction.example
        look: dict[str, Any] = {"label_visibility": "collapsed", "autocomplete": "off", "max_chars": MAX_CHARACTERS}
        st.text_input(prediction.prompt, key=key, placeholder=hint, **look)


def _settled(game: Game, i: int) -> None:
    """Show the prompt, the verdict, the answer, the batch, and the button for the next question."""
    question = game.scorecard.questions[i]
    with st.container(horizontal=True, vertical_alignment="top", key="settled"):
        with st.container(width="stretch", key="verdict"):
            _prompt(question)
            st.markdown(_verdict(game, i))
        batch(question.batch.texts, small=True)
        label = "The result" if game.scorecard.over else "Next"
        clicked = st.button(label, on_click=_next, args=(game,), key=f"next {game.key(i)}", shortcut="Enter")
        _make_up_for(game, clicked, _next)


def _make_up_for(game: Game, clicked: bool, act: Callable[..., None], *given: int) -> None:
    """Handle a click that the server missed because it had just been restarted."""
    if clicked and not game.handled:
        act(game, *given)
        game.handled = False
        st.rerun()


def _verdict(game: Game, i: int) -> str:
    """Return the verdict on a settled question, and the answer, as Markdown."""
    asked, verdict, mark = game.scorecard.questions[i].prediction, game.scorecard.verdict(i), game.scorecard.mark(i)
    solution = _sentence(asked.solution)
    if mark in ("first", "second"):
        return f":green[**✓ Right: {solution}**] {asked.why}"
    answer = f"**The answer: {solution}** {asked.why}"
    if verdict is None or i in game.scorecard.shown:
        return answer
    return f":red[**✗ Not quite.**] {verdict.reason}\n\n{answer}"


def _check(game: Game, i: int) -> None:
    typed, game.handled = st.session_state.get(game.key(i)) or "", True
    try:
        game.scorecard, game.problem = game.scorecard.answered(i, typed), ""
    except PackvizError as problem:
        fix = f"{problem.fix[:1].upper()}{problem.fix[1:]}."
        game.problem = problem.sentence if typed.strip() else f"The answer is empty. {fix}"
        if typed.strip():
            game.unread[i] = typed


def _give_up(game: Game, i: int) -> None:
    game.scorecard, game.problem, game.handled = game.scorecard.given_up(i), "", True


def _next(game: Game) -> None:
    """Go to the next open question, wrapping around at the end; to the result when there is none."""
    still = [i for i, mark in enumerate(game.scorecard.marks) if mark == "open"]
    behind = still[0] if still else len(game.scorecard.questions)
    game.at, game.handled = next((i for i in still if i > game.at), behind), True


def _result(game: Game) -> None:
    """Show how a round ended."""
    scorecard, level = game.scorecard, game.level
    first, second, missed = map(scorecard.marks.count, ("first", "second", "missed"))
    with st.container(border=True, key="quiz-result"):
        st.header(f"{scorecard.points} of {scorecard.most} points", anchor=False)
        told = f"{first} right on the first try, {second} on the second, {missed} missed."
        st.markdown(f"Level {level}, round {game.number}: {told}")
        with st.container(horizontal=True):
            st.button("Another round", on_click=begin, args=(level,))
            if level + 1 in LEVELS and 2 * scorecard.points >= scorecard.most:
                st.button(f"Level {level + 1}: {LEVELS[level + 1].about}", on_click=begin, args=(level + 1,), wrap=True)
            st.button("Same round again", on_click=_again, args=(game,))
        for i in range(len(scorecard.questions)):
            _line(game, i)


def _line(game: Game, i: int) -> None:
    asked = game.scorecard.questions[i].prediction
    with st.container(horizontal=True, vertical_alignment="center", key=f"quiz-line-{i}"):
        with st.container(width="stretch", gap=None):
            st.markdown(f"**{i + 1}.** {asked.prompt}")
            with st.container(horizontal=True, gap="small"):
                st.markdown(_MARKS[game.scorecard.mark(i)][2], width="content")
                st.text(f"{_given(game, i)}The answer: {_sentence(asked.solution)}")
        st.button("See why", on_click=setattr, args=(game, "at", i), key=f"see {i}")


def _given(game: Game, i: int) -> str:
    """Return the given answers; those from before a reload were not kept."""
    said = ", then ".join(game.scorecard.tries(i))
    if not said and i not in game.scorecard.shown:
        return ""
    if not said and i in game.unread:
        return f"You typed: {quoted(game.unread[i])}. "
    return f"You said: {_sentence(said)} " if said else "Skipped. "


def _sentence(text: str) -> str:
    return f"{text.replace('`', '').removesuffix('.')}."


def _again(game: Game) -> None:
    """Begin the same round again."""
    visit(Games).rounds[game.level, game.number] = Game(game.level, game.number, Scorecard(game.scorecard.questions))


@st.cache_resource(max_entries=64, show_spinner=False)
def _questions(level: int, number: int) -> tuple[QuizQuestion, ...]:
    return questions(level, number)
