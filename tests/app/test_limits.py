"""Every way to a run refuses what exceeds the limits, before anything is drawn or computed.

A road is a function from a text and settings to a run. Its test watches the operations of torch: a refused run has
neither drawn weights nor called a cell.
"""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from classroom import questions
from classroom.state import RefusedError
from packviz.compute.runs import PACKING_RUN, ROWS_RUN, RUN_KINDS, RunKind
from packviz.errors import PackvizError
from packviz.inputs.examples import EXAMPLES
from packviz.inputs.limits import LIMITS, limited_batch
from packviz.teach.quiz.rounds import Level, drawn
from pages import movies, opened, texts
from ui.parts.plan_file import from_file
from ui.state.kinds import APP_KINDS
from ui.state.runs import Request, run
from ui.state.text import OWN, Source

Road = Callable[[RunKind, str, Mapping[str, object]], object]
FIRST = {PACKING_RUN: "pad_count", ROWS_RUN: "cu_seqlens"}  # a kind of question about each kind of run


def by_control(kind: RunKind, text: str, settings: Mapping[str, object]) -> object:
    """Run what the controls request."""
    return run(Request(Source(OWN, text), tuple(settings.items()), kind=APP_KINDS[kind.name]))


def by_plan(kind: RunKind, text: str, settings: Mapping[str, object]) -> object:
    """Open a saved lesson plan."""
    item = {"page": "overview", "kind": kind.name, "example": OWN, "sequences": text, "settings": settings}
    return from_file(json.dumps({"packviz": "lesson plan", "version": 1, "items": [item]}).encode())


def by_quiz(kind: RunKind, text: str, settings: Mapping[str, object]) -> object:
    """Draw a question of a round."""
    level = Level("", "", (FIRST[kind],), lambda _draw, _kind: (text, kind.config(**settings)))
    return next(drawn(Random(0), level, FIRST[kind]))


def by_question(kind: RunKind, text: str, settings: Mapping[str, object]) -> object:
    """Ask a class."""
    return questions.question({"kind": FIRST[kind], "sequences": text, "settings": dict(settings)})


def by_answer(kind: RunKind, text: str, settings: Mapping[str, object]) -> object:
    """Show a class the movie of an answer."""
    return questions.film({"kind": FIRST[kind], "sequences": text, "settings": dict(settings)})


def by_step(kind: RunKind, text: str, settings: Mapping[str, object]) -> object:
    """Show a class a step of a plan."""
    return questions.film({"step": {"kind": kind.name, "sequences": text, "settings": dict(settings)}})


def by_function(kind: RunKind, text: str, settings: Mapping[str, object]) -> object:
    """Check a batch and its settings, as every road does."""
    return kind.limited(limited_batch(text), kind.config(**settings))


ROADS: Mapping[str, Road] = {
    "control": by_control,
    "plan": by_plan,
    "quiz": by_quiz,
    "function": by_function,
    "class quiz question": by_question,
    "class movie": by_answer,
    "class step": by_step,
}
SETTINGS = {name: name for name in ("hidden_size", "num_layers", "embedding_dim", "padding_idx", "total_length")}
ROW_SETTINGS = {name: name for name in ("max_length", "num_heads", "kernel_size")}
ROW_SETTINGS |= {"num_layers": "row_num_layers", "embedding_dim": "row_embedding_dim"}
LIMITED = [(PACKING_RUN, *each) for each in SETTINGS.items()] + [(ROWS_RUN, *each) for each in ROW_SETTINGS.items()]
UNLIMITED = {"seed"}  # every seed costs the same
NEEDED: Mapping[str, Mapping[str, object]] = {"padding_idx": {"embedding_dim": 4}, "num_heads": {"layer": "gru"}}
FEW = "a b c\nd e"  # words have an embedding, so that every setting means something
TEXTS = {
    "characters": "1 " * (LIMITS.characters // 2 + 1),
    "sequences": "1\n" * (LIMITS.sequences + 1),
    "steps in each sequence": "1 " * (LIMITS.steps + 1),
    "features in each step": f"[[{[1] * (LIMITS.features + 1)}]]",
}


class Computing(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The operations of torch that draw weights or run a cell."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.__name__.partition(".")[0]
        if name in ("uniform_", "normal_", "gru", "lstm", "rnn_tanh", "mm", "addmm", "linear", "constant_pad_nd"):
            self.seen.add(name)
        return func(*args, **(kwargs or {}))


def refused(road: Road, kind: RunKind, text: str, settings: Mapping[str, object]) -> str:
    """Take a road that must be refused before anything is computed; return the message."""
    with Computing() as computing, pytest.raises((PackvizError, RefusedError)) as refusal:
        road(kind, text, settings)
    assert computing.seen == set()
    return getattr(refusal.value, "sentence", str(refusal.value))


@pytest.mark.parametrize("road", [road for road in ROADS if road != "plan"])  # which runs nothing
@pytest.mark.parametrize("kind", RUN_KINDS.values(), ids=RUN_KINDS)
def test_a_run_within_the_limits_is_seen_to_compute(road: str, kind: RunKind) -> None:
    with Computing() as computing:
        ROADS[road](kind, f"a b c d\n{road}", {"seed": 7})
    assert computing.seen


@pytest.mark.parametrize("kind", RUN_KINDS.values(), ids=RUN_KINDS)
def test_every_integer_among_the_settings_has_a_limit(kind: RunKind) -> None:
    hints = get_type_hints(kind.config)
    integers = {name for name, hint in hints.items() if int in (hint, *get_args(hint))}
    assert integers == {name for of, name, _ in LIMITED if of is kind} | UNLIMITED


@pytest.mark.parametrize("road", ROADS)
@given(limited=st.sampled_from(LIMITED), beyond=st.integers(1, 2**62))
def test_no_road_computes_a_setting_beyond_its_limit(road: str, limited: Any, beyond: int) -> None:
    kind, name, limit = limited
    most = getattr(LIMITS, limit)
    heads = {"num_heads": 1} if kind is ROWS_RUN and name == "embedding_dim" else {}
    assert f"to {most}" in refused(ROADS[road], kind, FEW, {name: most + beyond, **heads, **NEEDED.get(name, {})})


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("what", TEXTS)
@pytest.mark.parametrize("kind", RUN_KINDS.values(), ids=RUN_KINDS)
def test_no_road_computes_a_text_beyond_its_limit(road: str, what: str, kind: RunKind) -> None:
    told = refused(ROADS[road], kind, TEXTS[what], {})
    limit = what.split()[0]
    assert f"at most {getattr(LIMITS, limit):,} {'numbers' if limit == 'steps' else limit}" in told


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("kind", RUN_KINDS.values(), ids=RUN_KINDS)
def test_no_road_computes_an_embedding_beyond_its_limit(road: str, kind: RunKind) -> None:
    largest = LIMITS.table // 4
    assert "at most 2,000,000 numbers" in refused(ROADS[road], kind, f"{largest} 1", {"embedding_dim": 4})


@pytest.mark.parametrize("road", ROADS)
def test_no_road_computes_more_products_than_the_limit(road: str) -> None:
    text, settings = "\n".join(["7 " * 64] * 64), {"hidden_size": 64, "num_layers": 2, "bidirectional": True}
    assert "64 * 64 * 64² * 2 * 2" in refused(ROADS[road], PACKING_RUN, text, settings)


def test_an_example_with_the_largest_settings_is_refused_in_place() -> None:
    app = opened("packing", {"example": "hundred", "hidden_size": 64, "num_layers": 4, "bidirectional": "true"})
    assert "⚠ hidden_size: expected sequences * steps * hidden_size² * num_layers * directions" in texts(app)


@pytest.mark.parametrize("road", ROADS)
def test_no_road_computes_too_many_rows_or_cells(road: str) -> None:
    rows = "\n".join(["1 " * 60] * 3)
    assert "to have several rows" in refused(ROADS[road], ROWS_RUN, rows, {"max_length": None})
    assert "a larger max_length" in refused(ROADS[road], ROWS_RUN, rows, {"max_length": 1, "strategy": "wrapped"})


@pytest.mark.parametrize("road", ROADS)
def test_no_road_computes_too_many_scores_of_ids(road: str) -> None:
    rows = "\n".join(["1 " * 47 + "124999"] * LIMITS.sequences)
    assert "64 * 48 * 125,000" in refused(ROADS[road], ROWS_RUN, rows, {"max_length": 48, "embedding_dim": 16})


def test_the_examples_are_shown_whatever_their_size() -> None:
    assert max(len(run(Request(Source(each.key, None))).batch.sequences) for each in EXAMPLES if not each.text) == 100


@pytest.mark.parametrize("name", SETTINGS)
def test_the_largest_allowed_setting_is_computed(name: str) -> None:
    shown = run(Request(Source(OWN, FEW), tuple({name: getattr(LIMITS, name), **NEEDED.get(name, {})}.items())))
    assert shown.trace.exact


def test_the_largest_allowed_text_is_shown() -> None:
    rows = "\n".join(["7 " * LIMITS.steps] * LIMITS.sequences)
    assert run(Request(Source(OWN, rows))).trace.exact
    assert run(Request(Source(OWN, f"[[{[1] * LIMITS.features}]]"))).trace.exact


@pytest.mark.parametrize("name", SETTINGS)
def test_a_link_beyond_a_limit_is_named_as_ignored(name: str) -> None:
    app = opened("overview", {name: getattr(LIMITS, name) + 1})
    assert f"Ignored from the link: {name} = '{getattr(LIMITS, name) + 1}'" in texts(app)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_value_sent_past_a_widget_is_not_computed(name: str) -> None:
    app = opened("overview", {"seed": 1})
    before = movies(app)
    app.number_input(key=name).set_value(10**7).run()
    assert movies(app) == before


PAGES_WITH_FIELDS = ("overview", "doctor", "questions", "quiz", "cost", "packing", "running", "class")


@pytest.mark.parametrize("page", PAGES_WITH_FIELDS)
def test_every_field_for_text_has_a_limit(page: str) -> None:
    app = opened(page)
    fields = [*app.text_input, *app.text_area]
    assert [each.label for each in fields if not each.proto.max_chars] == []


def test_there_are_fields_for_text() -> None:
    counts = [len([*(app := opened(page)).text_input, *app.text_area]) for page in ("overview", "doctor", "questions")]
    assert min(counts) >= 1


@pytest.mark.parametrize(("page", "name"), [("doctor", "lengths"), ("doctor", "x"), ("questions", "search")])
def test_a_text_in_the_address_is_cut_on_the_server(page: str, name: str) -> None:
    app = opened(page, {name: "9" * 200_000})
    field = next(each for each in (*app.text_input, *app.text_area) if each.key == name)
    assert len(str(field.value)) == field.proto.max_chars < 200_000


@pytest.mark.parametrize(("page", "name"), [("doctor", "lengths"), ("questions", "search")])
def test_a_text_in_the_address_that_was_cut_says_so_until_it_changes(page: str, name: str) -> None:
    app = opened(page, {name: "9 " * 15_000})
    told = "The link has a text of 30,000 characters here. Only the first 20,000 are read."
    assert told in texts(app)
    assert told not in texts(app.text_input(key=name).set_value("9 9").run())
    assert told not in texts(opened(page, {name: "9 " * 10_000}))
