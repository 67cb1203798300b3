"""The movie as a whole: constant ids, nothing but named changes, every subset of its stages, all whys; its data."""

import json
import pickle
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from itertools import chain, combinations, product
from typing import Any, get_args

import numpy as np
import pytest
import quickjs
import torch
from movie_cases import BESIDE, CASES, FILMS, ORDINARY, Case, CaseMovie, case_of, over
from movie_format import faults
from movie_screen import Show, in_numbers, tokens, visible
from torch import nn

import packviz as pv
from packviz import Batch, Config, PackvizError
from packviz.predictions import asking
from packviz.show.movie import STAGES, back_beside, beside
from packviz.show.movie.about import Asked
from packviz.show.movie.format import Role, SolutionData
from packviz.show.movie.packing import matrices
from packviz.show.movie.packing.about import view_of
from packviz.text import sequence_label

each_case = over(CASES)
SHORT = ["unsorted", "words", "refused", "unsorted-backward"]


@over(FILMS)
def test_no_id_is_given_twice_and_no_change_is_idle(film: CaseMovie) -> None:
    show = film.show
    assert len(set(show.ids)) == len(show.ids)
    assert list(show.idle_changes()) == []
    assert show.twice_changed() == []
    assert json.loads(json.dumps(show.data, allow_nan=False)) == show.data


@pytest.mark.parametrize("make", [pv.movie, beside, back_beside])
def test_integers_of_numpy_make_the_same_movie(make: Callable[..., pv.Movie]) -> None:
    trace = pv.trace(Batch.parse("1 2 3\n4 5"), Config(num_layers=2, bidirectional=True))
    for name, number in (("layer", 0), ("direction", 1)):
        data = make(trace, **{name: np.int64(number)}).to_dict()
        assert json.dumps(data) == json.dumps(make(trace, **{name: number}).to_dict())


@over(ORDINARY)
def test_a_flight_starts_at_a_cell_of_its_sequence(film: CaseMovie) -> int:
    spoke = 0
    if film.case.T > 60:
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


@each_case
def test_a_token_never_becomes_another(case: Case) -> int:
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
    expected = {"pad", "sort"} | (set() if case.refused else {"pack", "run", "unpack"})
    assert set(stages) == expected | ({"embed"} if case.trace.padded.embedding is not None else set())
    assert set(case.movie.scenes) == set(stages) | ({"across"} if case.transposed else set())  # before it is turned


@over([*ORDINARY, *BESIDE])
def test_numbers_never_leave_the_scale(film: CaseMovie) -> int:
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


@pytest.mark.parametrize("stage", ["pack", "run", "unpack"])
def test_one_stage_needs_no_tuple_and_what_torch_refused_has_no_later_ones(stage: Any) -> None:
    trace, refused = (pv.trace(Batch.parse("1\n2 3"), Config(enforce_sorted=each)) for each in (False, True))
    for written in ((stage,), {stage}, {stage: 1}.keys()):
        assert pv.movie(trace, stage).to_dict() == pv.movie(trace, written).to_dict()
    with pytest.raises(PackvizError, match=stage):
        pv.movie(refused, ("pad", stage))


def test_the_top_layer_is_watched_forward_by_default() -> None:
    trace = pv.trace(Batch.parse("1 2\n3"), Config(num_layers=3, bidirectional=True))
    movies = [pv.movie(trace, ("run",), layer=layer, direction=d) for layer in range(3) for d in (0, 1)]
    assert len({json.dumps(movie.to_dict()) for movie in movies}) == 6
    assert pv.movie(trace).to_dict() == pv.movie(trace, layer=2, direction=0).to_dict()


@each_case
def test_the_proof_says_whether_the_numbers_are_torchs(case: Case) -> None:
    if case.refused:
        assert not case.movie.exact
        assert "refused" in case.movie.proof
        return
    pads = int(case.trace.packed_is_pad.sum())
    distance = max(case.trace.proof.values())
    assert distance <= 1e-12  # so that the trace can judge its movie: see movie_cases.py
    assert case.movie.exact == (case.trace.exact and not pads)
    words = f"{pads} pad{'s were' if pads > 1 else ' was'} packed" if pads else "bit for bit"
    assert (words if case.trace.exact else f"{distance:.1e}") in case.movie.proof
    assert type(case.trace.module).__name__ in case.movie.proof


@pytest.mark.parametrize(("stages", "made"), [
    (("pad", "embed"), "made by torch's own pad_sequence and nn.Embedding"),
    (("sort",), "made by torch's own pack_padded_sequence"),
    (("pack",), "made by torch's own pack_padded_sequence"),
    (("run",), "equal to torch.nn.GRU, bit for bit"),
    (("unpack",), "equal to torch.nn.GRU, bit for bit"),
    (("sort", "pack", "run"), "equal to torch.nn.GRU, bit for bit"),
])  # fmt: skip
def test_the_proof_names_only_what_has_run(stages: tuple[str, ...], made: str) -> None:
    movie = pv.movie(pv.trace(Batch.parse("I love cats\nshe sleeps"), Config(cell="gru")), stages)
    assert (movie.proof, movie.exact) == (made, True)


def test_before_the_run_of_your_own_module_nothing_is_proved() -> None:
    movie = pv.movie(pv.trace_module(torch.nn.GRU(1, 2, batch_first=True), torch.zeros(2, 3, 1), [3, 1]), ("pack",))
    assert (movie.proof, movie.exact) == ("the input as it was given: nothing has run yet", False)


def test_what_is_left_out_or_stands_outside_the_window_is_named() -> None:
    notes = " · ".join(case_of("hundred").movie.notes)
    assert "4 of 200 features" in notes
    assert "point at or tap a cell to read it" in notes
    rows = pv.trace(Batch.parse("\n".join(["1 2"] * 130)))
    assert "showing 40 of 130 sequences, the longest and the shortest" in pv.movie(rows).notes
    long = pv.trace(Batch.parse(" ".join(["1"] * 140)), Config(num_layers=2))  # no last step is in the picture
    for layer in (0, 1):
        assert "showing 60 of 140 time steps" in pv.movie(long, layer=layer).to_dict()["notes"]


@pytest.mark.parametrize("film", [pv.movie, beside])
def test_the_window_is_as_large_as_asked_for(film: Callable[..., pv.Movie]) -> None:
    trace = pv.trace(Batch.parse("1 2 3 4\n5 6\n7 8 9\n1 2 3 4 5"))
    movie = film(trace, sequences=3, steps=2)
    assert {"showing 3 of 4 sequences, the longest and the shortest", "showing 2 of 5 time steps"} <= set(movie.notes)
    assert sorted(movie.tokens) == [(b, t) for b in (0, 1, 3) for t in (0, 1)]
    assert not [note for note in film(trace, sequences=4, steps=5).notes if "showing" in note]


def test_the_file_of_a_large_batch_is_small() -> None:
    lengths = torch.randint(1, 161, (1000,), generator=torch.Generator().manual_seed(0)).tolist()
    trace = pv.trace_module(nn.GRU(32, 32, batch_first=True), torch.randn(1000, 160, 32), [160, *lengths[1:]])
    assert len(pv.movie(trace).to_html()) < 1_000_000


def test_a_movie_can_be_pickled_and_copied() -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2\n3")))
    for copied in (pickle.loads(pickle.dumps(movie)), deepcopy(movie)):
        assert copied.to_dict() == movie.to_dict()
        assert repr(copied) == repr(movie)


def test_a_notebook_shows_a_run_as_a_picture() -> None:
    trace, refusal = (pv.trace(Batch.parse("1\n2 3"), Config(enforce_sorted=each)) for each in (False, True))
    for run, last in ((trace, "pack"), (refusal, "sort")):
        assert pv.movie(run, (last,)).steps[-1].stage == last
        assert "data:image/svg+xml" in str(run._repr_html_())


@pytest.mark.parametrize("other", [torch.zeros(2, 3), torch.ones(3, 3), None])
def test_two_matrices_cannot_have_one_name(other: torch.Tensor | None) -> None:
    view = view_of(pv.trace(Batch.parse("1 2 3\n4 5")), Asked())
    begin = matrices.rows(view, "last", torch.ones(2, 3))
    assert begin == matrices.rows(view, "last", torch.ones(2, 3))
    with pytest.raises(AssertionError, match="two matrices are named last"):
        matrices.rows(view, "last", other)


def test_a_step_is_found_only_in_a_stage_that_the_movie_shows() -> None:
    trace = pv.trace(Batch.parse("1 2 3\n4 5\n6"))
    with pytest.raises(PackvizError, match="stage: expected pad or sort, but got 'run'"):
        pv.movie(trace, ["pad", "sort"]).step_at("run")
    with pytest.raises(PackvizError, match="'backward'"):
        pv.movie(trace).step_at("backward")
    movie = pv.movie(trace, ["pad", "sort"])
    assert movie.steps[movie.step_at("pad", time=99) - 1].stage == "pad"


def test_a_frame_is_the_plain_content_of_a_step() -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6")))
    frame = movie.frame(movie.step_at("pack", time=1))
    assert frame["caption"] == movie.steps[movie.step_at("pack", time=1) - 1].caption
    assert frame["code"].text.startswith("packed = pack_padded_sequence(")
    assert ("data[3:5] = x_sorted[:2, 1]", "(2, 1)") in frame["detail"]
    packed = sorted(
        (cell["x"], cell["text"])
        for cell in frame["marks"].values()
        if cell["p"] == "strip" and cell["role"] == "token"
    )
    assert [text for _, text in packed] == ["1", "4", "6", "2", "5"]
    assert frame["marks"]["count:1"]["text"] == "2"


def test_a_movie_is_decoded_once_for_all_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = list[quickjs.Context]()
    context = quickjs.Context

    def counted() -> quickjs.Context:
        engines.append(context())
        return engines[-1]

    monkeypatch.setattr(quickjs, "Context", counted)
    movie = pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6")))
    frames = [movie.frame(step) for step in (1, 2, len(movie.steps))]
    assert len(engines) == 1
    frames[0]["marks"].clear()
    assert movie.frame(1)["marks"]


@pytest.mark.parametrize("step", [0, 99])
def test_only_a_step_that_is_there_has_a_frame(step: int) -> None:
    with pytest.raises(PackvizError, match="step"):
        pv.movie(pv.trace(Batch.parse("1"))).frame(step)


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
    moved = Counter[tuple[str, int]]()
    for _, now, changes in Show(movie).written():
        moved[now.scene, now.step] += len(changes)
    sizes = {name: [count for (scene, _), count in moved.items() if scene == name][3:] for name in ("pack", "run")}
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


@over(FILMS[::6])
def test_every_movie_keeps_to_the_format(film: CaseMovie) -> None:
    data = json.loads(json.dumps(film.show.data))
    assert faults(data) == []
    assert all(data["scenes"].values())
    blanks = {
        blank for tip in data["tips"] for line in tip for said in line for blank in re.findall(r"\{(.*?)\}", said)
    }
    assert blanks <= {"seq", "k", "token", "text", "number", "vec"}


@pytest.mark.parametrize("stage", ["pad", "sort", "pack", "run", "unpack"])
def test_questions_and_their_sealed_solutions_keep_to_the_format(stage: str) -> None:
    data = asking(pv.movie(pv.trace(Batch.parse("1 2\n3"))), stage).to_dict()
    assert faults(data) == []
    for question in data["questions"]:
        assert faults(json.loads(b64decode(question["sealed"])), SolutionData) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.update(format=1),
        lambda data: data.update(more=1),
        lambda data: data["groups"][0].update(id="token:0:0"),
        lambda data: data["groups"][0].update(role="star"),
        lambda data: data["groups"][0].pop("role"),
        lambda data: data["steps"][0].update(stage=1),
        lambda data: data["steps"][1]["frames"][0][0].pop(),
        lambda data: data["steps"][1]["frames"][0][0][-1].update(more=1),
        lambda data: data["steps"][1].pop("frames"),
        lambda data: data["tips"].append(["no wordings"]),
        lambda data: data["numbers"].append([0.5]),
        lambda data: data["views"][0].pop(),
        lambda data: data["tokens"].pop("n"),
        lambda data: data["scales"].update(more=1.0),
    ],
)
def test_the_format_allows_nothing_else(spoil: Any) -> None:
    data = deepcopy(pv.movie(pv.trace(Batch.parse("1 2\n3"))).to_dict())
    assert faults(data) == []
    spoil(data)
    assert faults(data)


@each_case
def test_every_token_has_one_tip_with_the_row_where_torch_holds_it(case: Case) -> int:
    told, packed = tokens(case.movie), 0
    assert [(token["b"], token["t"]) for token in told] == case.movie.tokens
    places = product(case.rows, range(case.steps_filmed))
    assert sorted(case.movie.tokens) == [(b, t) for b, t in places if case.mask[b][t]]
    for token in told:
        b, t = token["b"], token["t"]
        assert f"sequence {sequence_label(b)}, time step {t}" in token["tip"]
        if case.name in ("words", "forum"):  # a tip quotes what was typed
            identity = f" (id {int(case.batch.sequences[b][t])})" if case.name == "words" else ""
            assert token["tip"].startswith(f"“{case.batch.texts[b][t]}{identity}”, ")
        if case.refused or (b, t) not in case.row:  # torch refused, or left padding took its place
            assert token["n"] is None
            assert "packed row" not in token["tip"]
            continue
        packed += 1
        n, offset = case.row[b, t], sum(case.batch_sizes[:t])
        earlier, same = f"{offset} (rows of earlier time steps)", f"{n - offset} (rows before it at t = {t})"
        assert token["n"] == n
        assert token["tip"].endswith(f", packed row {n} = {earlier} + {same}")
        assert torch.equal(case.packed.data[n].nan_to_num(), case.x[b, t].nan_to_num())
    return packed


# What packing has made: its rows and the two margins.
PACKED_BY = ("token:", "stray:", "ghost:", "count:", "length:", "address:", "bracket:", "title:strip", "title:counts")


@each_case
def test_every_step_of_the_ordinary_movie_is_there_and_looks_the_same(case: Case) -> None:
    """But for the sort, where threads and letters stand beside it, and a run whose gates stand there as numbers.

    In a run without the numbers of its gates, what enters the cell is wider there, and the output stands below.
    """
    stages = set(case.movie.scenes) - {"sort"} - ({"run"} if in_numbers(case.deep) else set())
    for stage in case.movie.scenes:
        told = {step["caption"]: (step, cells) for step, cells in case.deep.of(stage)}
        flight = "**pad_packed_sequence** puts"  # which a lesson tells column by column: see test_unpack.py
        ordinary = [each for each in case.show.of(stage) if not each[0]["caption"].startswith(flight)]
        assert [caption for caption in told if caption in {step["caption"] for step, _ in ordinary}] == [
            step["caption"] for step, _ in ordinary
        ]
        for step, cells in ordinary:
            there, others = told[step["caption"]]
            assert all(there.get(key) == value for key, value in step.items() if key not in ("frames", "detail"))
            assert stage == "run" or there.get("detail") == step.get("detail")
            if stage in stages:
                deep, plain = (
                    without_widths(seen) for seen in (case.deep.seen(stage, others), case.show.seen(stage, cells))
                )
                left_out = {key for key, mark in deep.items() if stage == "run" and mark["p"] == "out"}
                assert {key: mark for key, mark in deep.items() if key not in left_out} == plain, step["caption"]
                assert stage != "run" or "out" not in {mark["p"] for mark in plain.values()}


def without_widths(seen: dict[str, Any]) -> dict[str, Any]:
    """Return marks without the places and widths of those in the cell."""
    return {
        key: {name: value for name, value in mark.items() if mark["p"] != "cell" or name not in ("x", "w")}
        for key, mark in seen.items()
    }


@each_case
def test_what_was_packed_stays_and_what_explained_it_goes(case: Case) -> None:
    for stage in ("pad", "sort"):
        deep = {name: mark for name, mark in visible(case.deep.end_of(stage)).items() if mark["p"] != "from"}
        assert deep == visible(case.show.end_of(stage))  # without the threads from the old rows, which stay
    if case.refused:
        return
    (_, plain), (_, deep) = case.show.of("run")[0], case.deep.of("run")[0]
    packed, alike = (
        {name: cell for name, cell in visible(cells).items() if name.startswith(PACKED_BY)} for cells in (deep, plain)
    )
    assert packed == alike != {}
    assert "title:lengths" not in visible(deep)
