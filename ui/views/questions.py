"""The page of questions: a search, the entries of a group with their answers, and single entries in full."""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from packviz.charts import Panel, panels
from packviz.show.movie import Movie, beside, movie
from packviz.teach.pages import Page
from packviz.teach.questions import (
    ENTRIES,
    FIRST,
    GROUPS,
    MAX_CHARACTERS,
    Entry,
    EntryResult,
    answer,
    answer_apart,
    has_message,
    is_error,
    meaning,
    search,
)
from packviz.text import counted, joined, quoted
from ui.parts.lesson import apart
from ui.parts.part import explore, fresh
from ui.parts.player import clip, on_a_phone
from ui.parts.status import announce
from ui.state import address
from ui.state.path import script
from ui.state.runs import as_json
from ui.state.widgets import of_every_page

_NEAREST = 3  # entries shown for an error that none of them mentions
STACKED = 8  # cells across that a phone has room for: its panels stand below one another

_SHORT = 160  # characters of the cases that a verdict depends on; longer texts are shown case by case

_RUN = "Both programs ran just now. They show that this claim"
_VERDICTS = {
    "true": f"{_RUN} is :green-badge[:material/check: true]: **“{{claim}}”**",
    "false": f"{_RUN} is :red-badge[:material/close: false]: **“{{claim}}”**",
    "depends": f"{_RUN} is :orange-badge[:material/call_split: true only in some cases]: **“{{claim}}”**",
    "cited": "The programs cannot test this claim here, so the answer is "
    ":gray-badge[:material/format_quote: cited, not run]: **“{claim}”**",
}
_OWN = "packviz, own experiment"  # a source that is no place where people ask
_BY_KEY = {key: entry for entry in ENTRIES for key in (entry.key, *entry.also)}


def questions(question: str, answer: str) -> None:
    """Show search results, a group of entries, or the one entry that was opened or linked.

    question, answer: the heading of the list; an entry has its own.
    """
    asked = st.query_params.get("entry", "")
    entry = _BY_KEY.get(asked)
    apart(entry.question if entry else question, "" if entry else answer)
    spoken = st.container(key="spoken", gap=None)
    with nullcontext() if entry else of_every_page(), st.container(key="measured"):
        if entry:
            _way(entry)
        told = _one(entry) if entry else _choose(asked)
    with spoken:
        announce(told, "questions")


def one(key: str) -> None:
    """Show an entry as a page of its own."""
    apart(_BY_KEY[key].question, "")
    spoken = st.container(key="spoken", gap=None)
    with st.container(key="measured"):
        told = _one(_BY_KEY[key], code_first=True)
    with spoken:
        announce(told, "questions")


def _choose(asked: str) -> str:
    """Let a visitor search or choose a group, and list the entries; return the result of the search, to be announced.

    asked: a name that no entry has.
    """
    if asked:
        st.text(f"There is no question named {quoted(asked)}. Choose one of these.")
    left, right = st.columns([3, 2])
    title, example = "An error message, or a question in words", "'PackedSequence' object has no attribute 'size'"
    typed = left.text_input(title, max_chars=MAX_CHARACTERS, key="search", bind="query-params", placeholder=example)
    if told := address.cut("search", typed, MAX_CHARACTERS):
        left.text(told)
    leave_the_search = partial(st.session_state.update, search="")
    searches = bool(typed.strip())
    if searches:  # it goes through all topics; one that is picked leaves it
        st.session_state.update(group=None)
    group = right.selectbox(
        "or browse by topic",
        GROUPS,
        index=None,
        key="group",
        bind="query-params",
        on_change=leave_the_search,
        placeholder="All topics" if searches else "Choose a topic",
    )
    results = search(typed)
    found, means = results.found, meaning(typed)
    if means:
        st.markdown(f"**{means}**")
    if not searches:
        found = tuple(entry for entry in ENTRIES if entry.group == group) if group else FIRST
    elif not found:
        _instead("Nothing was found for these words.")
    elif is_error(typed) and not any(has_message(entry, typed) for entry in found if isinstance(entry, Entry)):
        st.text("No answer here has exactly this message. These are the closest:")
        found = found[:_NEAREST]
    elif not results.fits:
        _instead("No answer fits these words well. The closest are below.")
    count = _counted(found) if searches else ""
    if results.fits and count:
        st.text(f"{count}, the best first" if len(found) > 1 else count)
    _list(found)
    return f"{means.removesuffix('.')}. {count}" if means else count


def _instead(told: str) -> None:
    """Say that nothing fits, and what one can do instead."""
    others = "Type a word of torch, such as `h_n` or `batch_sizes`, or the last line of an error, or browse by topic."
    st.markdown(f"{told} {others}")
    st.page_link(script("doctor"), label="Check my batch", icon=":material/arrow_forward:")


def _counted(found: Sequence[Entry | Page]) -> str:
    """Return how many answers and pages were found: "3 answers and 2 pages"."""
    pages = sum(isinstance(each, Page) for each in found)
    parts = {"answer": len(found) - pages, "page": pages}
    return joined([counted(many, what) for what, many in parts.items() if many])


def _list(found: Sequence[Entry | Page]) -> None:
    """List entries, each with its answer in one sentence, and links to pages."""
    with st.container(key="entries"):
        for each in found:
            if isinstance(each, Page):
                with st.container(key=f"page {each.address}"):
                    st.page_link(script(each.address), label=each.title, icon=":material/arrow_forward:")
                    st.markdown(each.about)
            else:
                told = _short(each)  # before its title is drawn: an earlier answer would stand below it meanwhile
                with st.container(key=f"row {each.key}"):
                    st.button(each.question, key=f"open {each.key}", type="tertiary", on_click=_open, args=(each.key,))
                    st.markdown(told)


def _short(entry: Entry) -> str:
    """Return the answer in one sentence; if torch no longer does what it is written for, what the programs tested."""
    if entry.slow or _answer(entry.key).is_explained:
        return entry.answer
    return _tested(_answer(entry.key))


def _tested(done: EntryResult) -> str:
    """Return the claim that the programs of an entry test, and what they find."""
    return _VERDICTS[done.verdict].format(claim=done.entry.claim)


def _one(entry: Entry, *, code_first: bool = False) -> str:
    """Show one entry: the answer, the picture, both programs, the verdict. Return the answer for screen readers.

    The answer and the programs are there at once; what the programs show follows when they have run. code_first:
    whether the picture stands below the programs in any case.
    """
    with st.container(border=True, key="verdict"):
        short, explained = st.empty(), st.empty()
    short.markdown(f"**{entry.answer}**")
    above = st.container()
    shown = _programs(entry)
    with explained, st.spinner("Running both programs ..."):
        done = _answer(entry.key)
    if not done.is_explained:
        short.empty()
    explained.markdown(done.explanation)
    for place, program in zip(shown, (done.wrong, done.right), strict=True):
        if program.error:  # on a phone it goes on in the next line: it is a sentence, not code
            place = place.container(key=f"error_{program is done.right}")
        place.code(program.shown or "(no output)", language=None, wrap_lines=True)
    with st.container() if done.wrong.error or code_first else above:  # a visitor with an error wants the code first
        _picture(done)
    st.markdown(_tested(done))
    if 0 < len(done.depends_on) <= _SHORT:
        st.markdown(done.depends_on)
    elif len(done.cases) > 1:
        lines = [f"- {'holds' if held else 'fails'} {name}" for name, held in done.cases.items()]
        st.expander("Where the claim holds").markdown("\n".join(lines))
    st.expander("Setup for both programs").code(done.preparation, language="python", wrap_lines=True)
    if asked := [source for source in entry.sources if source != _OWN]:
        st.text(f"Asked or claimed in: {'; '.join(asked)}")
    _explorer(done)
    return f"{_short(entry)} {done.explanation}"


def _way(entry: Entry) -> None:
    """Show links back to the list, and to the neighboring entries in the results or in the group."""
    found = [each for each in search(st.session_state.get("search") or "").found if isinstance(each, Entry)]
    listed = found if entry in found else [each for each in ENTRIES if each.group == entry.group]
    place, of = listed.index(entry), "Answer" if entry in found else f"{entry.group}: question"
    with st.container(horizontal=True, vertical_alignment="center", key="way"):
        back = "Back to the results" if entry in found else "All questions"
        st.button(back, icon=":material/arrow_back:", on_click=_open, args=("",))
        for label, other in (("Previous", place - 1), ("Next", place + 1)):
            there = 0 <= other < len(listed)
            st.button(label, disabled=not there, on_click=_open, args=(listed[other].key if there else "",))
        st.text(f"{of} {place + 1} of {len(listed)}")


def _open(key: str) -> None:
    address.write("entry", key)


def _programs(entry: Entry) -> list[DeltaGenerator]:
    """Show both programs beside one another; return the places of their output."""
    places = list[DeltaGenerator]()
    for column, title, code in zip(st.columns(2), entry.titles, (entry.wrong, entry.right), strict=True):
        with column, st.container(gap="small"):
            st.markdown(f"**{title}**")
            st.code(code, language="python", wrap_lines=True)
            places.append(st.empty())
    return places


def _picture(done: EntryResult) -> None:
    chart, film = done.chart, done.entry.film
    if chart is not None:
        drawn: Sequence[Panel] = chart.of[0] if chart.draw is panels else ()
        small = bool(drawn) and max(len(row) for panel in drawn for row in panel.texts) <= STACKED
        stacked = small and on_a_phone()
        if line := _about(drawn, sideways=on_a_phone() and not stacked):
            st.markdown(line)
        with st.container(key="stacked" if stacked else "picture"):
            told = fresh(chart.draw, *chart.of, key=f"chart {done.entry.key}", **({"wide": STACKED} if stacked else {}))
            with st.expander("The picture in words"):  # so that keyboard users can reach what scrolls sideways
                st.text(told)
    elif film is not None:
        shot = _movie(done.entry.key)
        stage = "run" if film.stage == "beside" else film.stage
        clip(as_json(shot), shot.step_at(stage, film.timestep, film.name), done.entry.key)


def _about(drawn: Sequence[Panel], *, sideways: bool) -> str:
    """Return what the colors and frames of panels mean, and that some are out of sight."""
    gray = any(None in row for panel in drawn for row in panel.owners)
    colored = "Gray cells are padding or filler." if gray else ""
    wrong = [f'"{panel.title}"' for panel in drawn if panel.wrong]
    framed = f"A red frame marks a wrong result, here in {joined(wrong)}." if wrong else ""
    swipe = f"Swipe sideways to see all {len(drawn)} pictures." if sideways and len(drawn) > 1 else ""
    return " ".join(filter(None, (colored, framed, swipe)))


def _explorer(done: EntryResult) -> None:
    """Offer to open the entry's batch and configuration in the overview, at the step of its movie."""
    film, step = done.entry.film, 1
    if film is not None and film.stage != "beside":
        step = movie(done.trace, direction=film.direction).step_at(film.stage, film.timestep, film.name)
    way = film.direction if film is not None else 0
    back = (script("questions"), "Back to the question", {"entry": done.entry.key})
    batch, config = done.entry.batch, done.entry.config
    explore("Watch this batch in the overview", batch, config, back, direction=way, step=step)


@st.cache_resource(ttl="10m", show_spinner=False)  # a time that was measured on a busy machine is soon measured anew
def _answer(key: str) -> EntryResult:
    entry = _BY_KEY[key]
    return answer_apart(entry) if entry.slow else answer(entry)


@st.cache_resource(max_entries=40, show_spinner=False)
def _movie(key: str) -> Movie:
    done = _answer(key)
    film = done.entry.film
    assert film is not None
    if film.stage == "beside":
        return beside(done.trace, direction=film.direction)
    return movie(done.trace, (film.stage,), direction=film.direction, deep=True)
