"""The movie as data keeps to its schema, which says all that the player reads; and the schema allows nothing else."""

import json
from importlib.resources import files
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from movie_screen import records

import packviz as pv
from packviz import Batch, Config, Movie
from packviz.show.movie import beside
from packviz.show.movie.model import Cell, Role, Stage
from packviz.show.movie.reel import FORMAT
from packviz.show.movie.tips import SILENT, lines

SCHEMA = json.loads((files("packviz.show.movie") / "movie.schema.json").read_text("utf-8"))
JUDGE = Draft202012Validator(SCHEMA)

BATCHES = ["1 2 3\n4 5\n6 7 8 9", "she sleeps\nI love cats very much\nhello", "1"]
CONFIGS = {
    "gru": Config(),
    "lstm": Config(cell="lstm", bidirectional=True),
    "time first": Config(batch_first=False),
    "refused": Config(enforce_sorted=True),
}


def as_sent(movie: Movie) -> Any:
    return json.loads(json.dumps(movie.to_dict(), allow_nan=False))


def faults(data: Any) -> list[str]:
    return [f"{fault.json_path}: {fault.message}" for fault in JUDGE.iter_errors(data)][:5]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["format"] == {"const": FORMAT}
    assert tuple(SCHEMA["$defs"]["stage"]["enum"]) == get_args(Stage)
    assert tuple(SCHEMA["$defs"]["cells"]["properties"]["role"]["anyOf"][0]["enum"]) == get_args(Role)


@pytest.mark.parametrize("deep", [False, True], ids=["plain", "deep"])
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("typed", BATCHES)
def test_every_movie_keeps_to_the_schema(typed: str, config: Config, deep: bool) -> None:
    assert faults(as_sent(pv.movie(pv.trace(Batch.parse(typed), config), deep=deep))) == []


def test_padded_beside_packed_keeps_to_it() -> None:
    assert faults(as_sent(beside(pv.trace(Batch.parse(BATCHES[0]))))) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.update(format=2),
        lambda data: data.update(more=1),
        lambda data: data["cells"][0].update(id="token:0:0"),
        lambda data: data["cells"][0].update(role="star"),
        lambda data: data["cells"][0].pop("x"),
        lambda data: data["steps"][0].update(stage="Pad"),
        lambda data: data["steps"][1]["beats"][0][0].pop("c"),
        lambda data: data["families"].append([["{unknown}"]]),
        lambda data: data["tokens"][0].pop(),
        lambda data: next(iter(data["scenes"].values())).pop("tall"),
    ],
)
def test_the_schema_allows_nothing_else(spoil: Any) -> None:
    data = as_sent(pv.movie(pv.trace(Batch.parse("1 2\n3"))))
    assert faults(data) == []
    spoil(data)
    assert faults(data)


def test_a_cell_names_a_family_that_is_there_and_every_family_has_a_cell() -> None:
    movie = pv.movie(pv.trace(Batch.parse(BATCHES[0])))
    data = as_sent(movie)
    cells = list(records(data["cells"]))
    assert {cell["f"] for cell in cells if "f" in cell} == set(range(len(data["families"])))
    for cell, sent in zip(movie.cells, cells, strict=True):
        assert ("f" in sent) is (cell.role not in SILENT), cell.id
        assert data["families"][sent["f"]] == [list(each) for each in lines(cell)] if "f" in sent else not lines(cell)


def test_the_labels_of_an_axis_are_numbered_in_a_family_of_their_own() -> None:
    data = as_sent(pv.movie(pv.trace(Batch.parse("1 2 3\n4 5"))))
    axes = [cell for cell in records(data["cells"]) if cell["role"] == "axis" and cell.get("text", "").startswith("t=")]
    assert len({cell["f"] for cell in axes}) == 2  # before packing, and after unpacking
    assert all(cell["text"] == f"t={cell['k']}" for cell in axes)


def test_a_cell_knows_its_family_and_its_number() -> None:
    cell = next(each for each in pv.movie(pv.trace(Batch.parse("1 2\n3"))).cells if each.id == "hn:1:2")
    assert isinstance(cell, Cell)
    assert (cell.family, cell.number, cell.sequence) == ("hn:1", 2, 1)
