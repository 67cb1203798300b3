"""Findings: a report that prints, raises, goes out as JSON, and leaves out what is ignored."""

import ast
import copy
import inspect
import json
import pickle
import tomllib
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest
import torch
from torch import nn

import packviz as pv
from packviz import testing
from packviz.rules.case import Case
from packviz.rules.words import FIELDS

X = torch.randn(3, 5, 2)
X[1, 4] = 0
WRONG = pv.examine(X, [6, 5, 5], batch_first=True)  # too long
NOTED = pv.examine(X, [5, 5, 5], batch_first=True)  # ends with a zero, which may be real


def test_the_fields_of_a_case_are_filled_by_their_names_alone() -> None:
    with pytest.raises(TypeError, match="positional"):
        Case(X)  # type: ignore[call-arg]
    assert Case(x=X).T == 3


def test_findings_are_a_tuple_that_says_in_one_line_what_is_in_it() -> None:
    assert [one.key for one in (*WRONG, *NOTED)] == ["length_over_T", "pads_packed"]
    assert repr(WRONG) == "Findings(silent: length_over_T)"
    assert repr(NOTED[0]) == "Finding(note, pads_packed, sequence B at t = 4)"
    assert str(WRONG) == str(WRONG[0])
    assert (str(pv.Findings()), pv.Findings() == ()) == ("Nothing found.", True)


def test_only_what_is_wrong_raises_and_the_error_is_the_report() -> None:
    NOTED.raise_for_errors()
    with pytest.raises(pv.PackvizError) as raised:
        WRONG.raise_for_errors()
    assert str(raised.value) == str(WRONG)
    for kept in (pickle.loads(pickle.dumps(raised.value)), copy.deepcopy(raised.value)):
        assert str(kept) == str(WRONG)


def test_as_json_a_finding_has_all_its_fields_but_the_error() -> None:
    (row,) = json.loads(NOTED.to_json())
    assert (row["key"], row["severity"], row["sequences"], row["timesteps"]) == ("pads_packed", "note", [1], [4])
    assert set(row) == set(inspect.signature(pv.Finding).parameters) - {"error"}


def test_a_notebook_shows_a_table_with_the_repair() -> None:
    shown = WRONG._repr_html_()
    (one,) = WRONG
    for text in ("Fails later, in pad_packed_sequence", one.found, one.where, one.repair):
        assert escape(text) in shown
    named = pv.Findings([replace(one, layer="<b>")])
    assert "&lt;b&gt;" in named._repr_html_()
    assert "<b>" not in named._repr_html_()
    lstm = nn.LSTM(2, 3, batch_first=True)
    with pv.watch(lstm) as watched:
        lstm(X)
    told = f"<p>1 call of 1 recurrent layer: 1 finding.</p>{watched.findings._repr_html_()}"
    assert watched._repr_html_() == told


def test_ignored_keys_are_left_out_and_misspelt_ones_refused() -> None:
    assert pv.examine(X, [6, 5, 5], batch_first=True, ignore="length_over_T") == ()
    with pytest.raises(pv.PackvizError, match=r"ignore: .*'pad_packed'. Write 'pads_packed'"):
        pv.examine(X, [5, 5, 5], batch_first=True, ignore=["pad_packed"])
    with pytest.raises(TypeError, match="unexpected keyword argument 'batchfirst'"):
        pv.examine(X, [5, 5, 5], batchfirst=True)  # type: ignore[call-arg]


def test_an_assertion_fails_with_the_report_and_takes_what_examine_takes() -> None:
    testing.assert_packed(X, [5, 5, 5], batch_first=True)
    with pytest.raises(AssertionError) as failed:
        testing.assert_packed(X, [6, 5, 5], batch_first=True)
    assert str(failed.value) == str(WRONG)
    assert inspect.signature(testing.assert_packed) == inspect.signature(pv.examine)
    with pytest.raises(AssertionError, match="The model reads pads"):
        testing.assert_invariant(torch.nn.GRU(2, 3, batch_first=True), X, [5, 4, 2], batch_first=True, call=last_state)


def last_state(model: torch.nn.GRU, x: torch.Tensor, _: object) -> object:
    return model(x)[1]


def test_a_failing_assertion_has_the_picture_of_who_changes_whom() -> None:
    gru = nn.GRU(2, 3, batch_first=True)
    samples = [torch.randn(n, 2) for n in (3, 4, 2)]
    with pytest.raises(AssertionError, match="changes the results of those after it") as failed:
        testing.assert_independent(lambda s: list(torch.split(gru(torch.cat(s)[None])[0][0], [*map(len, s)])), samples)
    assert "A: B changes by" in failed.value.svg  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="The state of GRU runs on") as failed:
        testing.assert_isolated(gru, samples, lambda model, row: model(row.input_ids)[0])
    assert "A0: B0 changes by" in failed.value.svg  # type: ignore[attr-defined]
    testing.assert_independent(lambda s: [gru(one)[1] for one in s], samples)


def test_every_text_of_findings_toml_is_named_by_a_rule_or_a_check() -> None:
    library = Path(pv.__file__).parent
    table = tomllib.loads((library / "rules" / "findings.toml").read_text("utf-8"))
    groups = {name: [key for key in entry if key not in FIELDS] for name, entry in table.items()}
    names = [*table.pop("causes"), *(key for name in table for key in groups[name] or [name])]
    assert len(names) == len({*names}) > 100
    entries = [entry for name in table for entry in ([table[name][key] for key in groups[name]] or [table[name]])]
    assert {field for entry in entries for field in entry} <= {*FIELDS}
    sources = [path.read_text("utf-8") for folder in ("rules", "doctor") for path in (library / folder).glob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    named = {node.value for node in nodes if isinstance(node, ast.Constant)}
    assert [name for name in names if name not in named] == []
