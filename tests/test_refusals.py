"""What makes no sense is refused by the name of its parameter; whatever is given, a result comes or a PackvizError."""

import copy
import pickle
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from functools import partial
from operator import attrgetter
from typing import Any, get_type_hints

import pytest
import torch
from hostile_cases import ANY, FLOATS, OTHER, SMALL, odd_call, odd_tensor
from seeds import raw_errors, seeds
from torch import nn

import packviz as pv
from packviz import Batch, Config, PackvizError, Trace, charts, facts, movie, tables, trace, trace_module, trace_rows
from packviz.compute.record import Refusal
from packviz.facts.torch_says import order_of_equals, ties
from packviz.lab.cost import Setup, measure, plan_sweep, ways
from packviz.lab.training import Experiment
from packviz.predictions import ask
from packviz.show.movie import beside
from packviz.show.snippet import snippet
from packviz.tables import run_table
from packviz.teach.quiz import LAST_ROUND, MAX_QUESTIONS, questions

NAN, INF = float("nan"), float("inf")
T = trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"))
TWO_WAYS = trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"), Config(bidirectional=True))
OWN = trace_module(nn.LSTM(1, 3, proj_size=2, batch_first=True), torch.zeros(1, 2, 1), [2])
UNSORTED = trace(Batch.parse("0\n2 3 0"), Config(enforce_sorted=True))
ROWS = trace_rows(Batch.parse("1 2 3\n4 5\n6 7 8 9"))
Call = Callable[[Any], object]


def given(call: Callable[..., object], name: str) -> Call:
    """Return a call with one setting."""
    return lambda value: call(**{name: value})


def measured(**settings: Any) -> object:
    return measure(Setup(**{"cell": "gru", "features": 2, "hidden_size": 3, **settings}), [3, 1], 1)


def called(texts: Any) -> object:
    """Name the tokens of sequences of lengths 2 and 1."""
    return trace_module(nn.GRU(1, 2, batch_first=True), torch.zeros(2, 2, 1), [2, 1], texts=texts)


FILM = movie(T)
SAVE = partial(FILM.save, "no/such/m.png")
NO_COUNT = (0, -1, 2.0, True, "3")
NO_TEXTS: tuple[Any, ...] = ([], [["a"]], [["a", "b"], "xy"], [["a"], ["b", "c"]], [["a", 1], ["b"]], [1, 2], 5)
NO_SEEDS: tuple[Any, ...] = ((), 3, "123", (0, 1, 0))
NO_SEQUENCE = (-1, 3, 100, True, False, 1.0, "A", None)
NO_UPSTREAM: tuple[Any, ...] = (1.0, [[1.0] * 4] * 3, torch.ones(4, 3), torch.ones(4), torch.ones(3, 4).double())
NO_UPSTREAM += (torch.ones(3, 4).int(), torch.full((3, 4), NAN), torch.full((3, 4), INF), torch.ones(3, 4).to_sparse())
NO_UPSTREAM += (torch.ones(3, 4, device="meta"), torch.ones(3, 4, dtype=torch.complex64))
SIDES = "pad, embed, sort, pack, run, unpack or backward"
LENGTHS: tuple[Any, ...] = ([], [0], [3, -1], [2.5], [True], ["3"], torch.tensor([2.0]), torch.tensor(3))
LENGTHS += ([2**40], [1] * 100_001)
SETTINGS: dict[str, tuple[object, ...]] = {
    "cell": ("elman", "GRU", None, ["gru"]),
    "hidden_size": (0, True, 4.0, "4", None),
    "num_layers": (0, 5),
    "bidirectional": (1,),
    "bias": (None,),
    "batch_first": ("yes",),
    "enforce_sorted": (0,),
    "nonlinearity": ("sigmoid",),
    # 3.4028235e38 rounds to float32's largest number, and torch refuses it
    "padding_value": (NAN, INF, 1e39, 3.4028235e38, 10**400, True, "0"),
    "padding_side": ("both",),
    "total_length": (0, 2.0),
    "initial_state": ("ones",),
    "embedding_dim": (0,),
    "padding_idx": (-1,),
    "seed": (-1, 2**63),
}
REFUSED: list[tuple[str, str, Call, tuple[Any, ...]]] = [  # parameter, what is expected, call, values
    *((name, "", given(Config, name), values) for name, values in SETTINGS.items()),
    ("on", "last_valid or output", given(T.backward, "on"), ("h_n", None, 0, ["output"])),
    ("upstream", "float32 tensor of shape (3, 4)", given(T.backward, "upstream"), NO_UPSTREAM),
    ("upstream", "(9, 4)", lambda upstream: T.backward("output", upstream), (torch.ones(3, 4),)),
    ("shares", "", lambda share: charts.padding_shares({"odd": share}), (-0.1, 1.5, NAN, INF)),
    ("shares", "", lambda share: charts.waste({"odd": share}), (2.0,)),
    ("layer", "", lambda layer: charts.states(T, layer=layer), (1, -1, "top", False)),
    ("direction", "", lambda d: charts.states(T, direction=d), (1, False)),
    ("layer", "from 0 to 0", lambda layer: run_table(T, layer), (1, 3, -1, "top", False)),
    ("direction", "from 0 to 0", lambda d: run_table(T, direction=d), (1, -1, False)),
    ("b", "from 0 to 2", lambda b: charts.units(T, b), NO_SEQUENCE),
    ("b", "from 0 to 2", lambda b: facts.after_zero_vector(T, b), NO_SEQUENCE),
    ("b", "from 0 to 2", lambda b: facts.batch_dependence(T, b), NO_SEQUENCE),
    ("b", "a sequence from 0 to 2", lambda b: facts.row_of(T, b, 0), NO_SEQUENCE),
    ("t", "a time step of B (length 2) from 0 to 1", lambda t: facts.row_of(T, 1, t), (-1, 2, 100, False, 0.5, None)),
    ("n", "a packed row from 0 to 8", lambda n: facts.token_of(T, n), (-1, 9, 1000, True, 2.0, None)),
    ("n", "", lambda n: facts.unit_sum(T, n, 0), (9, -1, True, 0.0)),
    ("unit", "", lambda unit: facts.unit_sum(T, 0, unit), (4, -1)),
    ("layer", "", lambda layer: facts.unit_sum(T, 0, 0, layer=layer), (1,)),
    ("direction", "", lambda d: facts.unit_sum(T, 0, 0, direction=d), (1,)),
    ("trace", "", lambda t: facts.unit_sum(t, 0, 0), (OWN,)),
    ("trace", "", snippet, (OWN, None)),
    ("pads", "", lambda pads: facts.drift(T, pads), (0, 1001, 2.5, True)),
    ("seed", "", lambda seed: facts.gradient_distances(T, seed), (-1, 2**63, 0.5, True)),
    ("seed", "", lambda seed: facts.losses_of(T, seed), (-1, 2**63, 0.5, True)),
    ("n", "at least 1", order_of_equals, (0, -1, "x", None)),
    ("lengths", "", ways, (*LENGTHS, 5, None)),
    ("batch_size", "", lambda size: ways([3], size), (0,)),
    ("batch_size", "", lambda size: facts.padding_share(torch.tensor([3]), size), (0, -1, 2.5)),
    ("lengths", "", facts.padding_share, (torch.tensor([], dtype=torch.int64), [], 3, [0, 0], [2, 0], [2.5], ["a"])),
    ("cell", "", given(measured, "cell"), ("cnn",)),
    ("features", "", given(measured, "features"), (0,)),
    ("hidden_size", "", given(measured, "hidden_size"), (2.5, 100_000)),
    ("threads", "", given(measured, "threads"), (0,)),
    ("seed", "", given(measured, "seed"), ("x", -1, 2**63, None)),
    ("device", "", given(measured, "device"), ("abacus",)),
    ("repeats", "", lambda repeats: measure(Setup("gru", 2, 3), [3, 1], repeats), (0,)),
    ("lengths", "", lambda lengths: measure(Setup("gru", 2, 3), lengths, 1), ([3, 0],)),
    ("hidden_size", "", lambda lengths: measure(Setup("gru", 1, 1), lengths, 1), ([1_000_000] * 1000,)),
    ("fill", "", given(plan_sweep, "fills"), ((0.0,), (1.2,), (NAN,))),
    ("batch_size", "", given(plan_sweep, "batch_sizes"), ((0,),)),
    ("sweep", "", given(plan_sweep, "batch_sizes"), (tuple(range(1, 300)),)),
    ("steps", "", given(plan_sweep, "steps"), ((2.5,),)),
    ("cell", "", given(plan_sweep, "cells"), (("cnn",),)),
    ("sweep", "", given(plan_sweep, "hidden_sizes"), ((5000,),)),
    ("trace", "", lambda t: ask(t, "pack"), (None,)),
    ("stage", SIDES, lambda stage: ask(T, stage), ("nope", "", None, 3, ["pad"], "Pad")),
    ("number", "an integer of at least 0", lambda number: ask(T, "pad", number), ("x", None, 1.5, True, -1)),
    ("direction", "0 or 1", lambda d: ask(TWO_WAYS, "run", direction=d), (2, -1, True, None, "1", 0.0)),
    ("direction", "0, forward, the only direction", lambda d: ask(T, "run", direction=d), (1,)),
    ("level", "", lambda level: questions(level, 1), (0, 6, "1", None, True, 1.0)),
    ("seed", "", lambda seed: questions(1, seed), (0, -1, LAST_ROUND + 1, "7", 1.5, False)),
    ("count", "", lambda count: questions(1, 1, count), (0, MAX_QUESTIONS + 1, None)),
    ("text", "", Batch.parse, (None, b"1 2", ["1"])),
    ("kind", "", lambda kind: Batch.parse("1 2", kind=kind), ("vectors", None)),
    ("example", "sentences, unsorted, forum, words, episodes, zen, vowels or hundred", Batch.example, ("none", None)),
    ("max_steps", "", lambda limit: Batch.parse("1 2", max_steps=limit), (0, -1, 2.5)),
    ("trace", "a Trace or a RowsTrace", movie, (3, None)),
    ("stages", "", lambda stages: movie(T, stages), (("pack", "fly"), (), "fly", 5, ("embed",), {"fly"}, [["pack"]])),
    ("layer", "", lambda layer: movie(T, layer=layer), (1, -1)),
    ("direction", "", lambda d: movie(T, direction=d), (1, -1)),
    ("layer", "", lambda layer: movie(UNSORTED, layer=layer), (-1, "x")),
    ("direction", "", lambda d: movie(UNSORTED, direction=d), (2, "x")),
    ("head", "no value for a recurrent module", lambda head: movie(T, head=head), (1, None)),
    ("micro_batch", "no value for a recurrent module", lambda size: movie(T, micro_batch=size), (0, 2)),
    ("on", "last_valid or output", lambda on: movie(T, on=on), ("nonsense", None)),
    ("upstream", "without the stage backward", lambda upstream: movie(T, upstream=upstream), (torch.ones(2, 3), "x")),
    ("direction", "no value for rows", lambda d: movie(ROWS, direction=d), (1, None)),
    ("on", "no value for rows", lambda on: movie(ROWS, on=on), ("nonsense", "output", None)),
    ("upstream", "no value for rows", lambda upstream: movie(ROWS, upstream=upstream), (torch.ones(2), "x")),
    ("micro_batch", "an integer of at least 1", lambda size: movie(ROWS, micro_batch=size), (0, "x")),
    *(("sequences", "", lambda n, film=film: film(T, sequences=n), NO_COUNT) for film in (movie, beside)),
    *(("steps", "", lambda n, film=film: film(T, steps=n), NO_COUNT) for film in (movie, beside)),
    ("path", "", FILM.save, ("no/such/m.mp4", "no/such/m")),  # where writing would be another error
    ("stage", "pad, sort, pack, run or unpack", FILM.step_at, ("fly", "embed", "backward")),
    ("step", "", given(SAVE, "step"), (0, 999)),
    ("width", "", given(SAVE, "width"), (10,)),
    ("theme", "", given(SAVE, "theme"), ("blue",)),
    ("scale", "", given(SAVE, "scale"), (0, NAN, 99)),
    ("texts", "as many strings as its length: 2, 1", called, NO_TEXTS),
    ("cell", "rnn, gru or lstm", given(Experiment, "cell"), ("transformer",)),
    ("readout", "naive, last_valid, packed or mean", given(Experiment, "readout"), ("max",)),
    ("task", "vowels or first_token", given(Experiment, "task"), ("speech",)),
    ("extra_padding", "0, 20 or 100", given(Experiment, "extra_padding"), (10, False)),
    ("bidirectional", "False or True", given(Experiment, "bidirectional"), (1,)),
    ("hidden_size", "", given(Experiment, "hidden_size"), (0, 10**9, True)),
    ("epochs", "", given(Experiment, "epochs"), (0, 2.0)),
    ("batch_size", "", given(Experiment, "batch_size"), (-1,)),
    ("lr", "a number above 0, at most 1", given(Experiment, "lr"), (0, NAN, INF, "fast")),
    ("seeds", "a few integers without duplicates", given(Experiment, "seeds"), NO_SEEDS),
    ("seeds", "an integer from 0", given(Experiment, "seeds"), ((-1,), (2**63,))),
]


@pytest.mark.parametrize(
    ("parameter", "expected", "call", "value"),
    [(parameter, expected, call, value) for parameter, expected, call, values in REFUSED for value in values],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_parameter(
    parameter: str, expected: str, call: Call, value: Any
) -> None:
    with pytest.raises(PackvizError) as refusal:
        call(value)
    assert refusal.value.parameter == parameter
    assert expected in refusal.value.expected
    assert refusal.value.got
    assert refusal.value.fix
    assert len(str(refusal.value)) < 400


def test_the_message_offers_the_choices_and_says_what_came() -> None:
    with pytest.raises(PackvizError, match=r"cell: expected rnn, gru.+, but got 'elman'"):
        Config(cell="elman")  # type: ignore[arg-type]
    with pytest.raises(PackvizError, match="a number of 5001 digits"):
        Config(seed=10**5000)


def test_the_ends_of_each_range_belong_to_it() -> None:
    Config(num_layers=4, seed=2**63 - 1, total_length=1, embedding_dim=1, padding_idx=0)
    assert len({Config(), Config(seed=0), Config(padding_value=0), Config(seed=1)}) == 2
    assert isinstance(Config(padding_value=-100).padding_value, float)
    assert str(Config(padding_value=-0.0).padding_value) == "0.0"
    with pytest.raises(FrozenInstanceError):
        Config().seed = 1  # type: ignore[misc]


PARTS: tuple[str, ...] = ("sorted", "packed", "packed_sequence", "packed_is_pad", "layers", "output")
PARTS += ("h_0", "c_0", "h_n", "c_n", "unpacked", "distances", "proof", "exact", "backward")
OF_A_PACKED_BATCH: list[Callable[[Trace], object]] = [
    *map(attrgetter, PARTS),
    *(charts.states, charts.margins, lambda t: charts.units(t, 0)),
    *(facts.compare, facts.drift, facts.switches, facts.batch_dependence),
    *(facts.gradient_distances, facts.losses_of, facts.readouts, facts.memory, facts.fields, facts.behaviours, ties),
    *(lambda t: facts.unit_sum(t, 0, 0), lambda t: facts.row_of(t, 0, 0), lambda t: facts.token_of(t, 0)),
    *(tables.sorted_table, tables.packed_table, tables.run_table, tables.unpacked_table),
]


def test_a_refusal_has_none_of_the_results_of_a_trace() -> None:
    given = {"batch", "config", "module", "padded", "padding_value", "total_length", "notes", "texts"}
    assert {name for name in dir(T) if not name.startswith("_")} - given == {*PARTS}
    refusal = trace(Batch.parse("1 2\n3 4 5"), Config(enforce_sorted=True))
    assert [name for name in PARTS if hasattr(refusal, name)] == []


@pytest.mark.parametrize("study", OF_A_PACKED_BATCH)
def test_refused_lengths_give_torchs_message_and_the_way_out(study: Call) -> None:
    with pytest.raises(PackvizError, match="enforce_sorted=False") as refusal:
        study(UNSORTED)
    assert isinstance(UNSORTED, Refusal)
    assert refusal.value.torch_says == UNSORTED.error


def test_python_treats_a_refusal_as_a_plain_record() -> None:
    assert isinstance(UNSORTED, Refusal)
    assert not hasattr(UNSORTED, "packed")
    assert getattr(UNSORTED, "packed", None) is None
    assert not hasattr(UNSORTED, "no_such_thing")
    assert replace(UNSORTED, notes=("one",)).notes == ("one",)
    for again in (copy.copy(UNSORTED), copy.deepcopy(UNSORTED), pickle.loads(pickle.dumps(UNSORTED))):
        assert again.error == UNSORTED.error
        assert again.padded.lengths.tolist() == [1, 3]
    with pytest.raises(AttributeError, match="no_such_thing"):
        getattr(UNSORTED, "no_such_thing")  # noqa: B009


def test_a_refusal_answers_for_every_field_and_property_of_a_trace() -> None:
    assert {*PARTS} == {name for name in dir(trace(Batch.parse("1"))) if name[0] != "_"} - set(vars(UNSORTED))


def test_the_padded_table_is_there_even_where_torch_refuses_the_lengths() -> None:
    assert tables.padded_table(UNSORTED)["token"].tolist() == ["0", "", "", "2", "3", "0"]


def configured(draw: random.Random) -> object:
    words = {"cell": ("rnn", "gru", "lstm"), "nonlinearity": ("tanh", "relu"), "padding_side": ("right", "left")}
    words["initial_state"] = ("zeros", "random", "learned", "carried")
    values: dict[str, Any] = {}
    for name in get_type_hints(pv.Config):
        if draw.random() < 0.3:
            values[name] = draw.choice(words.get(name, SMALL if draw.random() < 0.5 else FLOATS))
        elif draw.random() < 0.05:
            values[name] = draw.choice(ANY)
    config = pv.Config(**values)
    batch = pv.Batch.parse(
        draw.choice(("1 2 3\n4 5\n6", "a b\nc", "1", "[[[1, 2], [3, 4]], [[5, 6]]]", "0 -1 1e38\n7"))
    )
    return pv.trace(batch, config), hash(config)


def traced(draw: random.Random) -> object:
    made, options = odd_call(draw), dict[str, Any]()
    odd = {"padding_value": ANY, "total_length": (*ANY, made.T), "enforce_sorted": (True, False, None, "x")}
    for name, values in odd.items():
        if draw.random() < 0.3:
            options[name] = draw.choice(values)
    module = draw.choice(OTHER) if draw.random() < 0.05 else made.module
    done = pv.trace_module(module, made.x, made.lengths, hx=made.hx, **options)
    upstream = odd_tensor(draw, made.B, made.T, made.F) if draw.random() < 0.5 else None
    return done.backward(draw.choice(("output", "last_valid")), upstream)


@pytest.mark.parametrize(("attempt", "tries"), [(configured, 150), (traced, 200)])
def test_whatever_is_given_there_is_a_result_or_a_refusal(attempt: Any, tries: int) -> None:
    assert raw_errors(seeds(tries), attempt) == []


@pytest.mark.parametrize(("name", "value"), [("num_layers", 1), ("num_layers", 10**12), ("bidirectional", False)])
def test_a_module_whose_settings_were_changed_later_is_refused_at_once(name: str, value: int) -> None:
    module = nn.LSTM(2, 3, num_layers=2, bidirectional=True)
    setattr(module, name, value)
    for run in (pv.trace_module, pv.examine):
        with pytest.raises(PackvizError, match="do not fit its num_layers and bidirectional"):
            run(module, torch.zeros(3, 2, 2), [3, 1])
