"""A movie as data: it keeps to its schema, which allows nothing else, and what it says is true of torch's numbers."""

import json
import re
from importlib.resources import files
from itertools import product
from typing import Any, get_args

import pytest
import torch
from jsonschema import Draft202012Validator
from movie_cases import CASES, FILMS, Case, Film, over
from movie_screen import tokens

import packviz as pv
from packviz import Batch, Movie
from packviz.show.movie.data import FORMAT
from packviz.show.movie.marks import Role

SCHEMA = json.loads((files("packviz.show.movie") / "movie.schema.json").read_text("utf-8"))
JUDGE = Draft202012Validator(SCHEMA)


def as_sent(movie: Movie) -> Any:
    return json.loads(json.dumps(movie.to_dict(), allow_nan=False))


def faults(data: Any) -> list[str]:
    return [f"{fault.json_path}: {fault.message}" for fault in JUDGE.iter_errors(data)][:5]


def test_the_schema_names_what_python_names() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["format"] == {"const": FORMAT}
    assert tuple(SCHEMA["$defs"]["group"]["prefixItems"][0]["enum"]) == get_args(Role)


@over([film for film in FILMS if len(film.case.trace.padded.mask.flatten()) < 60][::6])
def test_every_movie_keeps_to_the_schema(film: Film) -> None:
    assert faults(as_sent(film.show.movie)) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.update(format=1),
        lambda data: data.update(more=1),
        lambda data: data["groups"][0][-1].update(id="token:0:0"),
        lambda data: data["groups"][0].__setitem__(0, "star"),
        lambda data: data["groups"][0].pop(2),
        lambda data: data["steps"][0].update(stage="Pad"),
        lambda data: data["changes"][0].pop(),
        lambda data: data["changes"][0][-1].update(more=1),
        lambda data: data["tips"].append([["{unknown}"]]),
        lambda data: data["tokens"].pop("n"),
        lambda data: next(iter(data["scenes"].values())).clear(),
    ],
)
def test_the_schema_allows_nothing_else(spoil: Any) -> None:
    data = as_sent(pv.movie(pv.trace(Batch.parse("1 2\n3"))))
    assert faults(data) == []
    spoil(data)
    assert faults(data)


@over(CASES)
def test_every_token_that_is_shown_has_its_tip_once_with_sequence_and_time_step(case: Case) -> None:
    told = tokens(case.movie)
    assert [(token["b"], token["t"]) for token in told] == case.movie.tokens
    steps = range(min(60, case.judge.T))
    assert sorted(case.movie.tokens) == [
        (b, t) for b, t in product(sorted(case.filmed), steps) if case.judge.mask[b][t]
    ]
    for token in told:
        assert f"sequence {case.letter(token['b'])}, time step {token['t']}" in token["tip"]


@over(CASES)
def test_the_address_is_the_row_at_which_torch_holds_the_token(case: Case) -> int:
    packed = 0
    for token in tokens(case.movie):
        b, t = token["b"], token["t"]
        if case.trace.error or (b, t) not in case.judge.row:  # torch refused, or left padding took its place
            assert token["n"] is None
            assert "data[" not in token["tip"]
            continue
        packed += 1
        n = case.judge.row[b, t]
        address = r"packed row (\d+): data\[offset\[(\d+)\] \+ position\] = data\[(\d+) \+ (\d+)\] = data\[(\d+)\]$"
        found = re.search(address, token["tip"])
        assert found, token["tip"]
        row, step, offset, position, there = map(int, found.groups())
        assert row == token["n"] == n == offset + position == there
        assert step == t
        assert offset == sum(case.judge.batch_sizes[:t])
        assert torch.equal(case.judge.packed.data[n].nan_to_num(), case.judge.x[b, t].nan_to_num())
    return packed


@over([case for case in CASES if case.name in ("words", "forum")])
def test_a_tip_quotes_what_was_typed(case: Case) -> None:
    batch = case.trace.batch
    assert batch
    for token in tokens(case.movie):
        b, t = token["b"], token["t"]
        identity = f" (id {int(batch.sequences[b][t])})" if case.name == "words" else ""
        assert token["tip"].startswith(f"“{batch.texts[b][t]}{identity}”, sequence {case.letter(b)}")


@over(CASES)
def test_a_sequence_has_a_letter_and_a_hue_of_its_own(case: Case) -> None:
    labels, hues, laps = zip(*case.movie.to_dict()["sequences"], strict=True)
    assert len(set(labels)) == len(set(zip(hues, laps, strict=True))) == len(labels) == case.judge.B
    assert set(hues) == set(range(min(10, len(labels))))
