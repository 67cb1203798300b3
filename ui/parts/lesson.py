"""The structure of a page, in the order in which a visitor sees it: text, movie, everything else."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from packviz.compute.record import Refusal
from packviz.show.movie import STAGES
from packviz.teach.pages import LESSONS, place_of_lesson
from ui.parts.controls import BATCH, Controls, Opened, controls, source, strip, way_back
from ui.parts.notices import about_the_link, about_the_problem, about_the_sequences
from ui.parts.part import TABLES, records, refused, repair
from ui.parts.player import AFTER, WHY, Screen, on_a_phone, play, stage_on_screen
from ui.parts.progress import leave_others
from ui.parts.share import share
from ui.parts.trying import try_this
from ui.parts.why import why
from ui.state import address, text, widgets
from ui.state.kinds import APP_KINDS, PACKING, AppKind, MovieStage
from ui.state.names import ONWARD
from ui.state.path import script
from ui.state.runs import Request, Shown, last_good, latest, run
from ui.state.turns import in_turn
from ui.state.visit import visit

__all__ = ["apart", "compared", "lesson", "measured", "overview"]

Parts = Mapping[str, Callable[[Shown], None]]  # by its heading, what draws a part
Way = tuple[str, str]  # to a page: its name in the address, and the label of the link
Try = Mapping[str, Mapping[str, object]] | Callable[[Shown], Mapping[str, Mapping[str, object]]]
Stages = tuple[MovieStage, ...] | None  # of the movie on a page; None for all stages
_APART = Path(__file__).with_name("apart.css")


def overview(title: str, end: Callable[[Shown], None], *onward: Way) -> None:
    """Show what packing is for, and every stage from the text to the unpacked output.

    end: draws what is shown at the end of the movie. onward: the next pages, in the player's last step and below.
    """

    def below(shown: Shown) -> None:
        if isinstance(shown.record, Refusal):
            repair()
        stage = stage_on_screen()
        if (
            stage is None or stage not in TABLES[PACKING]
        ):  # nothing is painted yet, or it is still the movie of another page
            stage = STAGES[0]
        if stage == "unpack":  # the last one of the movie
            _parts({"What added padding does to accuracy": end}, shown)
        title = "All numbers of this stage, and the same run in plain PyTorch"
        _folded({title: lambda shown: records(shown, stage)}, shown)

    _with_movie(title, "", None, onward, below)


def lesson(
    page: str,
    question: str,
    answer: str,
    parts: Parts,
    *,
    to_try: tuple[str, Try],
    onward: Way,
    seen: Mapping[str, int] = {},
    ended: Callable[[], None] | None = None,
) -> None:
    """Show the stages of a lesson in full depth.

    page: its name in pages.toml, which has its stages and its kind of run. question: the title. answer: at most three
    short sentences, Markdown. parts: what is shown below the painted movie; all but the first are folded, on a phone
    all. to_try: a sentence, and buttons with the settings that they apply. seen: as in `try_this`. onward: the next
    page, in the player's last step and below. ended: draws what comes last.
    """

    def below(shown: Shown) -> None:
        sentence, settings = to_try
        if isinstance(shown.record, Refusal) and "sort" in (of.stages or ()):
            repair()
        else:
            try_this(sentence, settings(shown) if callable(settings) else settings, seen)
        rest = dict(parts)
        if not visit(Screen).narrow:
            first = next(iter(parts))
            _parts({first: rest.pop(first)}, shown)
        _folded(rest, shown)
        if ended is not None:
            ended()

    of = LESSONS[page]
    number, count = place_of_lesson(page)
    place = f":gray[Lesson {number} of {count}.] "
    _with_movie(question, place + answer, cast(Stages, of.stages), (onward,), below, APP_KINDS[of.kind], hint=True)


def compared(
    question: str,
    answer: str,
    stages: tuple[MovieStage, ...],
    at_a_glance: Callable[[Shown], None],
    parts: Parts,
    *onward: Way,
) -> None:
    """Show a movie and its results on one screen, and everything else in tabs.

    at_a_glance: draws the results, in a few lines. parts: one for each tab, computed when its tab is opened.
    onward: as in `overview`.
    """

    def below(shown: Shown) -> None:
        at_a_glance(shown)
        tabs = st.tabs(list(parts), key="parts", on_change="rerun")
        for tab, show in zip(tabs, parts.values(), strict=True):
            if tab.open:
                with tab:
                    show(shown)

    _with_movie(question, answer, stages, onward, below)


def measured(question: str, answer: str, works: Sequence[str], parts: Parts) -> None:
    """Show a page without a movie, whose numbers are measured when a visitor asks for them.

    works: the names of the long work on this page; long work of other pages is ended.
    """
    leave_others(*works)
    head = _head(question, answer)
    chosen = controls()
    with head:
        strip(chosen)
    _measured(chosen, parts)


def apart(question: str, answer: str) -> None:
    """Show the heading of a page that does not use the visitor's batch."""
    leave_others()
    address.remember()
    widgets.keep()
    visit(Opened).way_back = None
    st.html(_APART)
    _head(question, answer)
    shown = address.view()
    if line := address.unmet({name: raw for name, raw in address.asked().items() if name in shown}, shown):
        st.text(line)


def _with_movie(
    question: str,
    answer: str,
    stages: Stages,
    onward: Sequence[Way],
    below: Callable[[Shown], None],
    kind: AppKind = PACKING,
    *,
    hint: bool = False,
) -> None:
    """Show a page with a movie: its heading, the controls, the movie, and what is drawn below.

    hint: as in `_head`.
    """
    leave_others()
    head = _head(question, answer, lambda: last_good(kind, stages), hint=hint)
    if stages is None:
        with widgets.of_every_page():  # as the field in it, whose text stays in the address on the way to other pages
            row = st.container(key="first")
            above = row.container()
        with row:
            why()
        chosen = controls(kind, wait=stage_on_screen() is None, above=above)
    else:
        chosen = controls(kind, wait=stage_on_screen() is None)
    with head:
        strip(chosen)
    if stages is None:
        way_back(chosen)
    _picture(chosen, stages, [label for _, label in onward])
    _after(chosen, stages, below, onward)


def _head(
    question: str, answer: str, film: Callable[[], Request] | None = None, *, hint: bool = False
) -> DeltaGenerator:
    """Show the heading of the page, and the panel to share it; return the line of its answer.

    film: as in `share`. hint: whether to say that something is below the movie, where it may be out of sight.
    """
    # "alone": a title without an answer below it, beside which the changed settings stand
    with nullcontext() if answer or film is None else st.container(key="alone"), st.container(key="heading"):
        st.title(question, anchor=False)
        with st.container(key="corner", horizontal=True, vertical_alignment="center"):
            if hint and not st.context.is_embedded:
                with st.container(key="hint", width="content"):
                    st.markdown("[**↓ Below: things to try**](#try)")
            share(film)
        line = st.container(horizontal=True, vertical_alignment="center", key="answer", gap="small")
        if answer:
            line.markdown(answer)
    return line


@st.fragment(key=BATCH)
def _measured(chosen: Controls, parts: Parts) -> None:
    """Show the batch's controls, and what is measured for it; on a phone all but the first part is folded."""
    shown = _shown(chosen, None)
    _counted(chosen, None)
    with st.container(key="measured"):
        whole = 1 if on_a_phone() else len(parts)
        _parts(dict([*parts.items()][:whole]), shown)
        _folded(dict([*parts.items()][whole:]), shown)


def _folded(parts: Parts, shown: Shown) -> None:
    """Show parts as folded headings; each is computed when it is opened."""
    with st.container(gap="xsmall"):
        for title, show in parts.items():
            with st.expander(title, key=f"fold {title}", on_change="rerun") as panel:
                if panel.open:
                    show(shown)


def _parts(parts: Parts, shown: Shown) -> None:
    """Show parts under their headings; "" if a part draws its own."""
    for title, show in parts.items():
        with st.container(border=True):
            if title:
                st.subheader(title, anchor=False)
            show(shown)


@st.fragment(key=BATCH)
def _picture(chosen: Controls, stages: Stages, onward: Sequence[str]) -> None:
    """Show the text of the batch and the player; an edit reruns only these."""
    with in_turn():
        # always there, even without a notice: the player keeps its place and its state
        above = st.container(key="above")
        with above:
            shown = _shown(chosen, stages)
        after = (WHY, AFTER) if stages is None else (AFTER,)
        # once painted, the player requests `after`, which may end this run here
        picks, times = stages == ("run",), text.picks()
        play(shown.movie.data, stages, chosen=times, picks=picks, onward=onward, after=after)


@st.fragment(key=AFTER)
def _after(chosen: Controls, stages: Stages, below: Callable[[Shown], None], onward: Sequence[Way]) -> None:
    """Show what belongs below the picture, which does not wait for it; in another page's frame only the next link."""
    if stage_on_screen() is None:
        return
    shown = _counted(chosen, stages)
    if not st.context.is_embedded:
        if isinstance(shown.record, Refusal) and stages is not None and stages[0] not in ("pad", "sort"):
            refused(shown)
        else:
            below(shown)
    with st.container(key=ONWARD):  # the last step of the player follows these links, too
        for name, label in onward:
            st.page_link(script(name), label=label)


def _shown(chosen: Controls, stages: Stages) -> Shown:
    """Draw the batch's controls; return what can be shown, and say why if it is not what was requested."""
    asked = replace(chosen.asked, source=source(chosen), stages=stages)
    shown = latest(asked)
    about_the_link(asked, shown)
    if shown.problem is not None:
        about_the_problem(chosen, shown.problem, shown.batch)
    return shown


def _counted(chosen: Controls, stages: Stages) -> Shown:
    """Say under the controls of the batch what is shown of it; return that. No picture waits for it (`make bench`)."""
    request = last_good(chosen.asked.kind, stages)
    shown = run(request)
    with chosen.for_counts:
        about_the_sequences(request, shown.batch)
    return shown
