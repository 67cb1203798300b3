"""The movie as a whole, by value: constant ids, nothing but named changes, and every subset of its stages."""

import json
import time
from collections.abc import Callable
from itertools import chain, combinations
from typing import Any, get_args

import pytest
import torch
from movie_cases import BESIDE, CASES, FILMS, ORDINARY, PACKED, Case, Film, over
from movie_screen import Show, tokens, visible
from torch import nn

import packviz as pv
from packviz import Batch, Config, PackvizError
from packviz.show.movie import STAGES, beside
from packviz.show.movie.marks import Role

each_case = over(CASES)
each_packed = over(PACKED)
SHORT = [case for case in CASES if case.name in {"unsorted", "words", "refused", "unsorted-backward"}]


@over(FILMS)
def test_every_id_is_given_once_and_every_change_really_changes_something_and_once(film: Film) -> None:
    show = film.show
    assert len(set(show.ids)) == len(show.ids)
    assert list(show.idle_changes()) == []
    assert show.twice_changed() == []


@over(ORDINARY)
def test_what_flies_from_another_panel_starts_where_a_cell_of_its_sequence_stands(film: Film) -> int:
    spoke = 0
    if film.case.judge.T > 60:
        return spoke  # what flies may come from outside the window
    for step, before, after in zip(film.show.steps, film.show.before, film.show.after, strict=True):
        flights = film.show.flights(step)
        there = [cell for cell in (*before.values(), *after.values()) if cell["shown"]] if flights else []
        stand = {(cell["p"], cell.get("seq"), cell["x"], int(cell["y"] + 0.01)) for cell in there}
        for name, (panel, x, y) in flights.items():
            if panel != after[name]["p"]:
                spoke += 1
                assert (panel, after[name].get("seq"), x, int(y + 0.01)) in stand, (step["caption"], name)
    return spoke


@over(FILMS)
def test_the_data_is_json_and_comes_back_as_it_was(film: Film) -> None:
    assert json.loads(json.dumps(film.show.data, allow_nan=False)) == film.show.data
    assert set(_types(film.show.data)) <= {dict, list, str, int, float, bool, type(None)}


def _types(value: Any) -> set[type]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return {type(value)}.union(*map(_types, inner))


@each_case
def test_cells_name_roles_sequences_and_tokens_that_are_there_and_a_token_never_becomes_another(case: Case) -> int:
    data, tokens, spoke = case.movie.to_dict(), case.movie.tokens, 0
    for frame in (case.show.first, *case.show.after):
        for name, cell in frame.items():
            assert cell["role"] in get_args(Role)
            assert cell["scale"] in data["scales"]
            assert cell.get("seq") is None or 0 <= cell["seq"] < len(data["sequences"])
            if cell.get("token") is not None:
                spoke += 1
                assert tokens[cell["token"]][0] == cell["seq"], name
            if name.startswith("token:"):
                assert cell["shown"]
                assert name == "token:{}:{}".format(*tokens[cell["token"]])
    return spoke


@each_case
def test_stages_follow_one_another_in_order(case: Case) -> None:
    stages = [step["stage"] for step in case.show.steps]
    assert stages == sorted(stages, key=STAGES.index)
    expected = {"pad", "sort"} | (set() if case.trace.error else {"pack", "run", "unpack"})
    assert set(stages) == expected | ({"embed"} if case.trace.padded.embedding is not None else set())
    assert set(case.movie.scenes) == set(stages)


@over([*ORDINARY, *BESIDE])
def test_numbers_never_leave_the_scale(film: Film) -> int:
    spoke, scales = 0, film.show.movie.scales
    assert all(end > 0 for end in scales.values())
    for cell in film.show.after[-1].values():
        numbers = [number for number in (cell.get("v"), *(cell.get("vec") or ())) if number is not None]
        if cell["role"] != "count" and numbers:
            spoke += 1
            assert max(map(abs, numbers)) <= scales[cell["scale"]] * (1 + 1e-6) + 1e-4, cell["id"]
    return spoke


@pytest.mark.slow
@over(SHORT)
def test_every_subset_of_the_stages_shows_what_the_whole_movie_shows_there(case: Case) -> None:
    there = list(dict.fromkeys(step["stage"] for step in case.show.steps))
    for stages in chain.from_iterable(combinations(there, size) for size in range(1, len(there) + 1)):
        some = Show(case.film(stages))
        whole = [i for i, step in enumerate(case.show.steps) if step["stage"] in stages]
        assert visible(some.first) == visible(case.show.before[whole[0]])
        assert list(map(visible, some.after)) == [visible(case.show.after[i]) for i in whole]
        assert [step["caption"] for step in some.steps] == [case.show.steps[i]["caption"] for i in whole]
        assert list(some.idle_changes()) == []
        assert some.twice_changed() == []
        assert set(some.movie.scenes) == set(stages)


@pytest.mark.parametrize(
    "wrong",
    [
        {"stages": ("pack", "fly")},
        {"stages": ()},
        {"stages": "fly"},
        {"stages": 5},
        {"stages": ("embed",)},
        {"layer": 2},
        {"layer": -1},
        {"direction": 1},
        {"direction": -1},
    ],
    ids=str,
)
def test_what_a_trace_does_not_have_cannot_be_watched(wrong: dict[str, Any]) -> None:
    trace = pv.trace(Batch.parse("1 2\n3"), Config(num_layers=2))
    with pytest.raises(PackvizError) as caught:
        pv.movie(trace, **wrong)
    assert next(iter(wrong)) in str(caught.value)


def test_one_stage_needs_no_tuple_and_a_step_is_sought_in_a_stage_that_is_there() -> None:
    trace = pv.trace(Batch.parse("1 2\n3"))
    only: Any = pv.movie(trace, "pack")
    assert only.to_dict() == pv.movie(trace, ("pack",)).to_dict()
    with pytest.raises(PackvizError, match="stage"):
        only.step_at("fly")
    with pytest.raises(PackvizError, match="trace"):
        pv.snippet(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("stage", ["pack", "run", "unpack"])
def test_what_torch_refused_has_no_later_stages(stage: Any) -> None:
    trace = pv.trace(Batch.parse("1\n2 3"), Config(enforce_sorted=True))
    with pytest.raises(PackvizError, match=stage):
        pv.movie(trace, ("pad", stage))


def test_all_that_can_be_watched_is_watched() -> None:
    trace = pv.trace(Batch.parse("1 2\n3"), Config(num_layers=3, bidirectional=True))
    movies = [pv.movie(trace, ("run",), layer=layer, direction=d) for layer in range(3) for d in (0, 1)]
    assert len({json.dumps(movie.to_dict()) for movie in movies}) == 6


def test_the_top_layer_and_forward_are_watched_unless_something_else_is_said() -> None:
    trace = pv.trace(Batch.parse("1 2\n3"), Config(num_layers=3, bidirectional=True))
    assert pv.movie(trace).to_dict() == pv.movie(trace, layer=2, direction=0).to_dict()


@each_packed
def test_the_proof_says_whether_the_numbers_are_those_of_torch(case: Case) -> None:
    pads = int(case.trace.packed_is_pad.sum())
    distance = max(case.trace.proof.values())
    assert distance <= 1e-12  # so that the trace can judge its movie: see movie_judge.py
    assert case.movie.exact == (case.trace.exact and not pads)
    words = f"{pads} pad{'s were' if pads > 1 else ' was'} packed, " if pads else "bit for bit"
    assert (words if case.trace.exact else f"{distance:.1e}") in case.movie.proof
    assert type(case.trace.module).__name__ in case.movie.proof


def test_the_proof_of_what_torch_refused_claims_nothing() -> None:
    movie = pv.movie(pv.trace(Batch.parse("1\n2 3"), Config(enforce_sorted=True)))
    assert not movie.exact
    assert "refused" in movie.proof


@over([case for case in CASES if case.name == "hundred"])
def test_what_is_left_out_is_named(case: Case) -> None:
    notes = " · ".join(case.movie.notes)
    assert "4 of 200 features" in notes
    assert "too small for text" in notes


def test_what_stands_outside_the_window_is_named() -> None:
    rows = pv.trace(Batch.parse("\n".join(["1 2"] * 130)))
    assert "showing 40 of 130 sequences, the longest" in pv.movie(rows).notes
    long = pv.trace(Batch.parse(" ".join(["1"] * 140)), Config(num_layers=2))  # no last step is in the picture
    for layer in (0, 1):
        assert "showing 60 of 140 time steps" in pv.movie(long, layer=layer).to_dict()["notes"]


@pytest.mark.parametrize("film", [pv.movie, beside])
def test_the_window_is_as_large_as_asked_for(film: Callable[..., pv.Movie]) -> None:
    trace = pv.trace(Batch.parse("1 2 3 4\n5 6\n7 8 9\n1 2 3 4 5"))
    movie = film(trace, sequences=3, steps=2)
    assert {"showing 3 of 4 sequences, the longest", "showing 2 of 5 time steps"} <= set(movie.notes)
    assert sorted(movie.tokens) == [(b, t) for b in (0, 2, 3) for t in (0, 1)]
    assert not [note for note in film(trace, sequences=4, steps=5).notes if "showing" in note]
    for wrong in (0, -1, 2.0, True, "3"):
        for name in ("sequences", "steps"):
            with pytest.raises(PackvizError) as caught:
                film(trace, **{name: wrong})
            assert caught.value.parameter == name


def test_a_movie_of_a_large_batch_and_its_file_take_a_second_and_a_megabyte() -> None:
    lengths = torch.randint(1, 161, (1000,), generator=torch.Generator().manual_seed(0)).tolist()
    trace = pv.trace_module(nn.GRU(32, 32, batch_first=True), torch.randn(1000, 160, 32), [160, *lengths[1:]])
    took = []
    for _ in range(2):
        began = time.process_time()
        page = pv.movie(trace).to_html()
        took.append(time.process_time() - began)
    assert len(page) < 1_000_000
    assert min(took) < 1.0


def test_what_the_trace_notes_stands_in_the_movie() -> None:
    module = nn.GRU(2, 3, num_layers=2, dropout=0.5)
    trace = pv.trace_module(module, torch.randn(4, 2, 2), [4, 2])
    assert trace.notes
    assert set(trace.notes) <= set(pv.movie(trace).notes)


@pytest.mark.parametrize("rows", [10, 120])
def test_a_step_grows_with_what_moves_and_not_with_the_batch(rows: int) -> None:
    """From t = 2 on one sequence alone is left, whoever stood beside it."""
    lengths = [12] + [1] * rows
    movie = pv.movie(pv.trace(Batch.parse("\n".join(" ".join(["1"] * n) for n in lengths)), Config(hidden_size=16)))
    sizes = {
        stage: [sum(map(len, step["beats"])) for step, _ in Show(movie).of(stage)][3:] for stage in ("pack", "run")
    }
    assert max(sizes["pack"]) <= 20
    assert max(sizes["run"]) <= 40


def test_ones_own_tokens_are_called_what_one_says() -> None:
    words = [["the", "cat", "sat"], ["go"], ["ice\u200bcream", "x" * 60]]
    lengths = [len(row) for row in words]
    shown = [["the", "cat", "sat"], ["go"], ["ice\ufffdcream", "x" * 39 + "…"]]
    for width in (1, 5):  # numbers, and vectors
        module, x = nn.GRU(width, 2, batch_first=True), torch.randint(1, 9, (3, 3, width)).float()
        show = Show(pv.movie(pv.trace_module(module, x, lengths, texts=words)))
        for (b, t), token in zip(show.movie.tokens, tokens(show.movie), strict=True):
            cell = show.after[-1][f"token:{b}:{t}"]
            assert cell["text"] == shown[b][t]
            assert cell["sub"] == ("" if width > 1 else str(int(x[b, t, 0])))
            assert f"“{shown[b][t]}" in token["tip"]


@pytest.mark.parametrize("texts", [[], [["a"]], [["a", "b"], "xy"], [["a"], ["b", "c"]], [["a", 1], ["b"]], [1, 2], 5])
def test_texts_that_do_not_fit_the_lengths_are_refused(texts: Any) -> None:
    with pytest.raises(PackvizError, match="as many strings as its length: 2, 1") as caught:
        pv.trace_module(nn.GRU(1, 2, batch_first=True), torch.zeros(2, 2, 1), [2, 1], texts=texts)
    assert caught.value.parameter == "texts"
