"""Random numbers: weights are those of a plain script with the seed, and nobody else's random numbers change."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from random_runs import random_run, torchs
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils import parametrizations
from torch.nn.utils.rnn import pack_padded_sequence

from packviz import Batch, Config, charts, check_invariance, examine, facts, trace, trace_module
from packviz.compute import determinism
from packviz.compute.weights import drawn, generator_of
from packviz.inputs import torch_answers
from packviz.lab.cost import Setup
from packviz.lab.cost.setup import works
from packviz.lab.training.experiment import Experiment
from packviz.lab.training.run import Model
from packviz.teach.questions import ENTRIES, answer

BATCH = Batch.parse("on your mark\nget set\ngo")
MAKERS: list[tuple[Callable[..., Any], tuple[int, ...], dict[str, Any]]] = [
    (nn.RNN, (3, 5), {"nonlinearity": "relu", "bias": False}),
    (nn.GRU, (3, 5, 3), {"bidirectional": True}),
    (nn.LSTM, (3, 17, 2), {"proj_size": 4, "batch_first": True}),
    (nn.Linear, (7, 30), {}),
    (nn.Linear, (7, 1), {"bias": False}),
    (nn.Conv1d, (6, 6, 4), {"groups": 6}),
    (nn.Conv1d, (6, 4, 1), {"groups": 2, "bias": False}),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker[0].__name__)
def test_a_module_has_the_weights_of_a_plain_script(maker: Any, dtype: torch.dtype) -> None:
    make, sizes, settings = maker
    for seed in (0, 7, 2**63 - 1):
        torch.manual_seed(seed)
        theirs = [nn.Embedding(40, 3, padding_idx=2, dtype=dtype), make(*sizes, **settings, dtype=dtype)]
        after, generator = torch.randn(3), generator_of(seed)
        ours = [
            drawn(nn.Embedding, 40, 3, 2, dtype=dtype, generator=generator),
            drawn(make, *sizes, **settings, dtype=dtype, generator=generator),
        ]
        assert torch.equal(torch.randn(3, generator=generator), after)
        for our, their in zip(ours, theirs, strict=True):
            assert repr(our) == repr(their)
            pairs = list(zip(our.named_parameters(), their.named_parameters(), strict=True))
            assert all(one == other and torch.equal(p, q) and p.requires_grad for (one, p), (other, q) in pairs)


def normed(module: nn.Module) -> Any:
    return parametrizations.spectral_norm(module.eval(), "weight_hh_l0")


NORMED = normed(nn.GRU(2, 3, batch_first=True))
STUDIES: dict[str, Callable[[], object]] = {
    "trace": lambda: trace(BATCH, Config(cell="lstm", initial_state="random", seed=3)),
    "gradients": lambda: facts.gradient_distances(trace(BATCH)),
    "losses": lambda: facts.losses_of(trace(BATCH)),
    "behaviours": lambda: facts.behaviours(trace(BATCH)),
    "units": lambda: charts.units(trace(BATCH), 0),
    "cost": lambda: works(Setup("gru", 3, 4), [3, 1]),
    "parametrized": lambda: trace_module(NORMED, torch.zeros(2, 4, 2), [4, 2]),
    "training": lambda: Model(Experiment(), 2, 3, seed=4),
}


@pytest.mark.parametrize("study", STUDIES)
def test_the_callers_random_numbers_go_on_as_if_nothing_had_happened(study: str) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    STUDIES[study]()
    assert torch.equal(torch.get_rng_state(), before)


def test_beside_threads_that_draw_every_trace_has_the_weights_of_its_seed() -> None:
    runs = [random_run(seed) for seed in seeds(20)]
    wanted = [torchs(run) for run in runs]
    stop, module, x = threading.Event(), NORMED, torch.zeros(2, 4, 2)

    def model(x: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h_n: Tensor = module(packed)[1][0]
        return h_n

    disturbances: list[Callable[[], object]] = [
        lambda: torch.rand(100),
        lambda: torch.manual_seed(random.randrange(9)),
        lambda: check_invariance(model, torch.ones(2, 4, 2), [4, 2], batch_first=True),
        lambda: examine(module, x, [4, 2]),
    ]

    def disturb(call: Callable[[], object]) -> None:
        while not stop.is_set():
            call()

    def differing(number: int) -> list[str]:
        t = trace(runs[number].batch, runs[number].config)
        ours = {"x": t.padded.values, "h_0": t.h_0, "output": t.output, "h_n": t.h_n}
        return [name for name, our in ours.items() if not torch.equal(our, wanted[number][name])]

    with ThreadPoolExecutor(8) as pool:
        busy = [pool.submit(disturb, call) for call in disturbances]
        found = list(pool.map(differing, range(len(runs))))
        stop.set()
        assert [each.result() for each in busy] == [None] * 4
    assert found == [[]] * len(runs)


def test_the_lock_of_the_switches_is_taken_before_that_of_the_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that take them in different orders would wait for each other."""
    held: list[str] = []
    taken: set[tuple[str, ...]] = set()

    class Lock:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            held.append(self.name)
            taken.add(tuple(held))

        def __exit__(self, *_: object) -> None:
            held.pop()

    for module in (determinism, torch_answers):
        monkeypatch.setattr(module, "_LOCK", Lock(module.__name__))
    run = trace(BATCH, Config(cell="lstm"))
    examine(nn.GRU(2, 3), torch.ones(3, 2, 2), [3, 1])
    facts.behaviours(run)
    answer(next(entry for entry in ENTRIES if entry.key == "why-pack"))
    switches, filters = determinism.__name__, torch_answers.__name__
    assert {(switches,), (filters,), (switches, filters)} <= {tuple(dict.fromkeys(each)) for each in taken}
    assert not [each for each in taken if filters in each and switches in each[each.index(filters) :]]
