"""What holds for every entry: it runs now, its programs differ, its picture is drawn, its errors are torch's."""

import ast

import pytest

from packviz.movie import beside, movie
from packviz.questions import ENTRIES, GROUPS, Answer, Entry, answer
from packviz.theme import DARK, LIGHT

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
KNOWN = 72  # questions on the list of those that are known


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    return {}


@pytest.fixture
def done(entry: Entry, answers: dict[str, Answer]) -> Answer:
    if entry.key not in answers:
        answers[entry.key] = answer(entry)
    return answers[entry.key]


def test_keys_are_unique_and_make_short_links() -> None:
    keys = [entry.key for entry in ENTRIES]
    assert len(set(keys)) == len(keys)
    assert all(key == key.lower() and set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for key in keys)
    assert max(map(len, keys)) <= 60


def test_questions_are_not_asked_twice() -> None:
    asked = [entry.question for entry in ENTRIES]
    assert sorted(asked) == sorted(set(asked))


def test_at_least_sixty_five_of_the_known_questions_are_answered_by_running() -> None:
    rows = {row for entry in ENTRIES for row in entry.rows}
    assert rows <= set(range(1, KNOWN + 1))
    run = {row for entry in ENTRIES if answer_runs(entry) for row in entry.rows}
    assert len(run) >= 65, sorted(set(range(1, KNOWN + 1)) - run)


def answer_runs(entry: Entry) -> bool:
    return entry.slow or answer(entry).outcome.verdict != "cited"


def test_every_group_has_entries_in_one_piece() -> None:
    order = [entry.group for entry in ENTRIES]
    assert tuple(dict.fromkeys(order)) == GROUPS
    assert order == sorted(order, key=GROUPS.index)


@each_entry
def test_the_outcome_is_told(entry: Entry, done: Answer) -> None:
    assert done.outcome.told.strip().endswith((".", "`", ")", "?"))
    assert len(done.outcome.told) <= 700
    assert done.outcome.verdict in ("true", "false", "depends", "cited")
    assert (done.outcome.depends_on != "") == (done.outcome.verdict == "depends")
    assert entry.claim.strip().endswith((".", "`", "?", ")"))


@each_entry
def test_the_programs_differ_and_say_something(entry: Entry, done: Answer) -> None:
    assert entry.broken.strip() != entry.fixed.strip()
    assert ast.parse(entry.broken).body
    assert ast.parse(entry.fixed).body
    assert done.broken.shown
    assert done.fixed.shown
    assert max(len(line) for code in (entry.broken, entry.fixed) for line in code.splitlines()) <= 100
    assert max(code.count("\n") for code in (entry.broken, entry.fixed)) <= 16


@each_entry
def test_what_the_fixed_program_does_is_no_error(done: Answer) -> None:
    assert done.fixed.error is None or done.outcome.verdict == "cited", done.fixed.error


@each_entry
def test_an_error_that_is_shown_can_be_searched_for(entry: Entry, done: Answer) -> None:
    if done.broken.error:
        first = done.broken.error.splitlines()[0][:60]
        assert any(first in message or message[:60] in done.broken.error for message in entry.messages), first


@each_entry
def test_the_picture_can_be_drawn_on_light_and_dark(entry: Entry, done: Answer) -> None:
    chart, film = done.outcome.chart, entry.film
    assert chart is not None or film is not None
    for palette in (LIGHT, DARK) if chart is not None else ():
        drawn = chart.draw(*chart.of, palette=palette)
        assert drawn.layout.meta["alt"]
    if film is not None:
        stage = "run" if film.stage == "beside" else film.stage
        shot = (
            beside(done.trace, direction=film.direction)
            if film.stage == "beside"
            else movie(done.trace, (film.stage,), direction=film.direction, deep=True)
        )
        steps = [step for step in shot.steps if step.stage == stage]
        assert steps
        assert film.timestep is None or film.timestep in {step.time for step in steps}
        assert not film.name or film.name in {step.name for step in steps}


@each_entry
def test_an_entry_gives_the_same_verdict_again(entry: Entry, done: Answer) -> None:
    if not entry.slow:
        assert answer(entry).outcome.cases == done.outcome.cases
