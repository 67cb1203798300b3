"""Each kind of run has its own settings in the address, its own controls and its own limits."""

import json
import re
import runpy
from collections.abc import Iterator
from dataclasses import fields, make_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from random_runs import values
from streamlit.testing.v1 import AppTest

import packviz as pv
from classroom.specs import run_of
from packviz.compute.row_limits import check_row_limits
from packviz.errors import PackvizError
from packviz.inputs import limits
from packviz.inputs.examples import EXAMPLES
from packviz.inputs.limits import LIMITS, limited_batch
from packviz.show.movie import kinds
from ui.parts.controls import MORE
from ui.parts.part import TABLES
from ui.parts.plan_file import from_file
from ui.parts.settings import PANELS
from ui.state import names
from ui.state.kinds import APP_KINDS, ROWS
from ui.state.names import NAMES, PANEL, SOURCE, WATCHED
from ui.state.path import FIRST_STAGES
from ui.state.runs import Request, run
from ui.state.text import OWN, Source

PAGES = Path(__file__).parents[2] / "pages"
OTHERS = {
    name: next(value for value in values(hint) if value != ROWS.defaults[name])
    for name, hint in get_type_hints(ROWS.config).items()
}
LIMITED = {
    "max_length": LIMITS.max_length, "num_heads": LIMITS.num_heads, "kernel_size": LIMITS.kernel_size,
    "num_layers": LIMITS.row_num_layers, "embedding_dim": LIMITS.row_embedding_dim,
}  # fmt: skip


def _page() -> None:
    import streamlit as st

    from ui.parts.controls import controls, source, strip
    from ui.state.kinds import ROWS

    chosen = controls(ROWS)
    strip(chosen)
    source(chosen)
    st.json(dict(chosen.asked.settings))


def _asked_before() -> None:
    import json

    import streamlit as st

    from ui.parts.controls import controls
    from ui.parts.new_question import put_batch
    from ui.state.kinds import APP_KINDS

    spec = json.loads(st.query_params["spec"])
    put_batch([spec])
    kind = APP_KINDS[st.session_state["class about"]]
    asked = controls(kind).asked
    st.json({"kind": kind.name, "settings": dict(asked.settings), "layer": asked.layer, "head": asked.head})


@pytest.mark.parametrize(
    ("question", "settings", "layer", "head"),
    [
        ({"kind": "batch_sizes", "settings": {"num_layers": 2, "layer": 0}}, {"num_layers": 2}, 0, 0),
        (
            {"kind": "keys_read", "settings": {"num_layers": 2, "watched_layer": 0, "watched_head": 1}},
            {"num_layers": 2, "layer": "attention"},
            0,
            1,
        ),
        ({"kind": "conv_hit", "settings": {"layer": "conv"}}, {"layer": "conv"}, None, 0),
    ],
)
def test_the_last_question_of_a_class_is_put_into_the_controls_of_its_kind(
    question: dict[str, Any], settings: dict[str, Any], layer: int | None, head: int
) -> None:
    app = AppTest.from_function(_asked_before, default_timeout=30)
    app.query_params["spec"] = json.dumps({"sequences": "1 2\n3", **question})
    app.run()
    assert not app.exception, app.exception
    found = _settings(app)
    assert found["kind"] == run_of(question).name
    assert (found["layer"], found["head"]) == (layer, head)
    assert {name: found["settings"][name] for name in settings} == settings  # type: ignore[index]
    assert app.session_state["sequences"] == "1 2\n3"


def _opened(query: dict[str, object]) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=30)
    app.query_params.update({name: str(value) for name, value in query.items()})
    app.run()
    assert not app.exception, app.exception
    return app


def _settings(app: AppTest) -> dict[str, object]:
    found: dict[str, object] = json.loads(app.json[0].value)
    return found


def test_changed_settings_stand_in_the_line_of_the_answer() -> None:
    app = AppTest.from_file(str(PAGES / "attention.py"), default_timeout=60)
    app.query_params["isolate"] = "False"
    app.run()
    assert not app.exception, app.exception
    line = next(each for each in _blocks(app.main) if each.proto.id.endswith("-answer"))
    assert [each.label for each in line.get("button")] == ["isolate = False ✕"]


def _blocks(block: Any) -> Iterator[Any]:
    for each in block.children.values():
        if hasattr(each, "children"):
            yield each
            yield from _blocks(each)


def test_no_two_kinds_share_a_name_in_the_address() -> None:
    names = [*WATCHED.values(), *(name for kind in APP_KINDS.values() for name in kind.names.values())]
    assert sorted(names) == sorted(name for name, (owner, _) in NAMES.items() if owner == PANEL)
    assert [name for name, (owner, _) in NAMES.items() if owner == SOURCE] == ["example", "sequences", "read_as"]


def test_a_new_setting_of_packing_changes_no_name_and_no_limit_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    more = [
        (field.name, field.type, field.default)
        for field in fields(pv.RowConfig)
        if field.name not in APP_KINDS["packing"].names
    ]
    monkeypatch.setattr("packviz.inputs.config.Config", make_dataclass("Larger", more, bases=(pv.Config,), frozen=True))
    assert runpy.run_path(names.__file__)["ROW_NAMES"] == ROWS.names
    check = runpy.run_path(limits.__file__)["check_row_settings"]
    for name, most in LIMITED.items():
        check({name: most})
        with pytest.raises(PackvizError, match=f"{name}: expected an integer from 0 to {most}"):
            check({name: most + 1})


def test_the_owner_of_a_name_is_a_file_that_has_it() -> None:
    for name, (owner, _) in NAMES.items():
        bare = re.sub("^(row|x|file)_", "", name)
        assert not owner or re.search(f'["_]{bare}"', (PAGES.parent / owner).read_text("utf-8")), name


def test_scripts_find_the_keys_that_the_app_gives() -> None:
    known = {"ui/parts/plan.js": (f"save {names.PLAN_FILE}", names.PLAN_ROW), "player/streamlit.js": (names.ONWARD,)}
    for script, keys in known.items():
        found = re.findall(r"\bst-key-([\w-]+)", (PAGES.parent / script).read_text("utf-8"))
        assert found == [re.sub(r"[^\w-]", "-", key) for key in keys]  # as Streamlit makes a class of a key


@pytest.mark.parametrize("kind", kinds.MOVIE_KINDS)
def test_every_stage_that_a_page_shows_has_a_table(kind: kinds.MovieKind) -> None:
    (made,) = [of for of in APP_KINDS.values() if of.computes.records == kind.records]
    lessons = {stage.name for stage in kind.stages if stage.by_default or stage.name in FIRST_STAGES}
    assert set(TABLES[made]) == lessons


@pytest.mark.parametrize("kind", APP_KINDS.values(), ids=APP_KINDS)
def test_the_defaults_of_the_address_are_those_of_the_config(kind: Any) -> None:
    assert {name: NAMES[kind.names[name]][1] for name in kind.defaults} == dict(kind.defaults)
    assert set(kind.names) == set(kind.defaults)
    assert set(PANELS) == set(APP_KINDS.values())


def test_a_link_with_all_settings_of_rows_is_followed() -> None:
    assert _settings(_opened({ROWS.names[name]: value for name, value in OTHERS.items()})) == OTHERS


def test_without_a_link_the_settings_of_rows_are_the_defaults() -> None:
    app = _opened({})
    assert _settings(app) == dict(ROWS.defaults)
    assert not [each for each in app.button if "undo" in str(each.key)]


def _widgets(app: AppTest) -> set[str]:
    kinds = ("number_input", "toggle", "button_group")
    return {str(each.key) for kind in kinds for each in app.get(kind) if each.key is not None}


def test_more_settings_are_drawn_once_they_are_unfolded_and_keep_their_values_when_folded() -> None:
    more = {ROWS.names[name] for name in PANELS[ROWS].more}
    app = _opened({})
    assert not more & _widgets(app)
    assert _settings(app) == dict(ROWS.defaults)
    app.session_state[MORE] = True
    app.run()
    assert more <= _widgets(app)
    app.number_input(key=ROWS.names["seed"]).set_value(3).run()
    app.session_state[MORE] = False
    app.run()
    assert more <= _widgets(app)
    assert _settings(app) == {**ROWS.defaults, "seed": 3}


@pytest.mark.parametrize("query", [{ROWS.names["seed"]: 3}, {"lock": "cell"}])
def test_more_settings_are_drawn_for_a_link_that_names_one_or_locks_a_setting(query: dict[str, object]) -> None:
    assert {ROWS.names[name] for name in PANELS[ROWS].more} <= _widgets(_opened(query))


def test_a_changed_setting_of_rows_is_taken_back() -> None:
    app = _opened({"row_layer": "gru", "strategy": "ffd"})
    app.button(key="undo row_layer").click().run()
    assert _settings(app) == {**ROWS.defaults, "strategy": "ffd"}
    app.button(key="undo strategy").click().run()
    assert _settings(app) == dict(ROWS.defaults)


@pytest.mark.parametrize("name", LIMITED)
def test_no_setting_of_rows_beyond_its_limit_is_computed(name: str) -> None:
    beyond = {name: LIMITED[name] * 2, **({"embedding_dim": 16} if name == "num_heads" else {})}
    for road in (_by_control, _by_plan, _by_function):
        with pytest.raises(PackvizError) as refusal:
            road("a b c\nd e", beyond)
        assert f"to {LIMITED[name]}" in str(refusal.value)
    assert _settings(_opened({ROWS.names[name]: LIMITED[name] * 2}))[name] == ROWS.defaults[name]


def _by_control(text: str, settings: dict[str, Any]) -> None:
    run(Request(Source(OWN, text), tuple(settings.items()), kind=ROWS))


def _by_plan(text: str, settings: dict[str, Any]) -> None:
    item = {"page": "overview", "example": OWN, "sequences": text, "kind": "rows", "settings": settings}
    from_file(json.dumps({"packviz": "lesson plan", "version": 1, "items": [item]}).encode())


def _by_function(text: str, settings: dict[str, Any]) -> None:
    check_row_limits(limited_batch(text), pv.RowConfig(**settings))


@pytest.mark.parametrize("road", [_by_control, _by_plan, _by_function])
def test_too_many_cells_or_rows_are_refused_with_what_to_change(road: Any) -> None:
    with pytest.raises(PackvizError, match="Set max_length to have several rows"):
        road("1 " * 60 + "\n" + "2 " * 60 + "\n" + "3 " * 60, {})
    with pytest.raises(PackvizError, match="Choose a larger max_length"):
        road("1 " * 60 + "\n" + "2 " * 60, {"max_length": 1, "strategy": "wrapped"})


@pytest.mark.parametrize("road", [_by_control, _by_plan, _by_function])
@pytest.mark.parametrize("layer", ["lstm", "attention"])
def test_the_largest_settings_are_allowed_in_the_longest_row(layer: str, road: Any) -> None:
    text = "1 " * 64 + "\n" + "2 " * (LIMITS.max_length - 64)
    road(text, {"layer": layer, **{name: LIMITED[name] for name in ("max_length", "num_layers", "embedding_dim")}})


@pytest.mark.parametrize("example", [each.key for each in EXAMPLES if each.text])
def test_every_example_with_a_text_fits_into_rows(example: str) -> None:
    batch = pv.Batch.example(example)
    assert ROWS.settled
    config = pv.RowConfig(**{"max_length": None, **ROWS.settled(batch, ("two",))})  # type: ignore[arg-type]
    check_row_limits(batch, config)
    one_row = int(batch.lengths.sum()) <= LIMITS.max_length
    assert one_row == (example != "zen")
    assert (len(pv.trace_rows(batch, config).rows.rows) == 1) == one_row


def test_a_plan_refuses_settings_and_stages_of_another_kind() -> None:
    for wrong in ({"settings": {"strategy": "ffd"}}, {"kind": "rows", "settings": {"cell": "gru"}}, {"kind": "else"}):
        item = {"page": "overview", "example": OWN, "sequences": "1 2", **wrong}
        with pytest.raises(PackvizError):
            from_file(json.dumps({"packviz": "lesson plan", "version": 1, "items": [item]}).encode())
