"""check_samples(): runs in which a sample depends on its batch are found with their cause, and right ones are clean."""

import pickle
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import product
from threading import Event
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from sample_cases import GRU, RIGHT, WRONG, F, floats, padded, row
from torch import Tensor, nn

import packviz as pv
from packviz.compute.determinism import seeded
from packviz.doctor.influence_picture import Influence
from packviz.doctor.leaves import AS_TEXT, leaves_of
from packviz.doctor.variations import Variations, other_order


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_run_is_clean(name: str) -> None:
    run, samples = RIGHT[name]
    found = pv.check_samples(run, samples)
    assert found == (), str(found)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_run_is_found_with_its_cause(name: str) -> None:
    run, samples, kind = WRONG[name]
    found = pv.check_samples(run, samples)
    assert [one.key for one in found.wrong] == [kind], str(found)


def test_it_says_who_changes_whom_where_and_by_how_much() -> None:
    def spoilt(samples: list[Tensor]) -> list[Tensor]:
        results = [one.clone() for one in samples]
        if len(samples) > 2:
            results[2][1] += samples[0].sum()
        return results

    (found,) = pv.check_samples(spoilt, floats((4, 4, 4)))
    assert (found.key, found.severity) == ("samples_mixed", "silent")
    assert (found.sequences, found.timesteps, found.where) == ((2,), (1,), "sample C at t = 1")
    assert "A changes C" in found.found
    assert "up to 0.00012 times the largest number" in found.found
    compile(found.repair, "repair", "exec")


def test_two_samples_are_swapped_and_no_order_is_the_same_or_sorted() -> None:
    assert other_order([5, 4], 0) == [1, 0]
    for lengths in product(range(1, 4), repeat=4):
        order = other_order(lengths, 0)
        assert all(b != at for at, b in enumerate(order))
        moved = [lengths[b] for b in order]
        if len({*lengths}) > 2:
            assert moved not in (sorted(lengths), sorted(lengths, reverse=True)), lengths


@pytest.mark.parametrize("B", [2, 8, 30, 200])
def test_no_batch_needs_more_runs_than_it_may_have(B: int) -> None:
    calls = []

    def run(samples: list[Tensor]) -> Tensor:
        calls.append(len(samples))
        return GRU(padded(samples)[0])[1][-1]  # type: ignore[no-any-return]

    samples = floats([1 + b % 9 for b in range(B)])
    found = pv.check_samples(run, samples)
    assert found.wrong
    assert found.influence.forwards == len(calls) <= 80
    calls.clear()
    assert pv.check_samples(run, samples, forwards=12).wrong
    assert len(calls) <= 12


def test_of_a_large_batch_some_rows_are_taken_and_named() -> None:
    samples, sizes = floats([3] * 50), []

    def run(batch: list[Tensor]) -> Tensor:
        sizes.append(len(batch))
        return torch.stack(batch) / torch.stack(batch).abs().max()

    (found,) = pv.check_samples(run, samples, rows=6)
    assert max(sizes) == 7
    assert "A is row" in found.found
    (again,) = pv.check_samples(run, samples, rows=[10, 20, 30])
    assert set(again.sequences) <= {10, 20, 30}


def test_a_run_that_refuses_other_batches_is_compared_as_far_as_it_goes() -> None:
    def three(samples: list[Tensor]) -> Tensor:
        if len(samples) != 3:
            raise RuntimeError("three rows.")
        return padded(samples)[0].mean(1)

    found = pv.check_samples(three, floats((4, 4, 4)))
    assert [(one.key, one.severity) for one in found] == [("alone_fails", "note")]
    assert "RuntimeError: three rows. Copies of it were run instead." in found[0].found
    assert pv.check_samples(lambda s: three(s) + three(s).amax(0), floats((4, 4, 4))).wrong


def test_where_nothing_could_be_compared_the_check_fails() -> None:
    calls = iter((True, True))

    def twice(samples: list[Tensor]) -> Tensor:
        next(calls)
        return torch.zeros(len(samples))

    (found,) = pv.check_samples(twice, floats())
    assert (found.key, found.severity) == ("nothing_compared", "error")
    assert pv.check_samples(lambda s: [0] * len(s), floats()) == ()


class Drawing(nn.GRU):
    """A GRU that draws from every generator, in its later calls alone; the result is not drawn."""

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls > 1:
            random.random(), np.random.rand(), torch.rand(1)
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return super().forward(packed)[1][-1]


DRAWING = Drawing(F, 2)


def drawing(samples: list[Tensor]) -> list[Tensor]:
    random.random(), np.random.rand(), torch.rand(1)
    return samples


CHECKS: dict[str, Callable[[], object]] = {
    "dropout": lambda: pv.check_samples(lambda s: nn.functional.dropout(padded(s)[0]), floats()),
    "random": lambda: pv.check_samples(lambda s: [one + random.random() for one in s], floats()),
    "NumPy": lambda: pv.check_samples(lambda s: [one + np.random.rand() for one in s], floats()),
    "drawn for nothing": lambda: pv.check_samples(drawing, floats()),
    "drawn for nothing, then an error": lambda: pv.check_samples(lambda s: drawing(s)[5], floats()),
    "drawn later": lambda: pv.check_invariance(DRAWING, *padded(floats()), batch_first=True),
    "over a row": lambda: pv.check_rows(lambda input_ids: drawing([input_ids * 1.0])[0], [[1, 2], [3, 4, 5]]),
}


@pytest.mark.parametrize("name", CHECKS)
def test_random_states_are_as_before(name: str) -> None:
    before = torch.get_rng_state(), random.getstate(), str(np.random.get_state())
    with suppress(IndexError):
        CHECKS[name]()
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (random.getstate(), str(np.random.get_state())) == before[1:]


def test_states_are_not_put_back_inside_a_seeded_run() -> None:
    begun, inside, checked = Event(), Event(), Event()

    def run(samples: list[Tensor]) -> list[Tensor]:
        begun.set()
        assert inside.wait(60)
        return samples

    def seeded_run() -> Tensor:
        assert begun.wait(60)
        with seeded(3):
            first = torch.rand(1)
            inside.set()
            checked.wait(0.5)  # the check waits for the end of this block
            return torch.cat([first, torch.rand(1)])

    with ThreadPoolExecutor(1) as other:
        drawn = other.submit(seeded_run)
        pv.check_samples(run, floats())
        checked.set()
    assert torch.equal(drawn.result(), torch.rand(2, generator=torch.Generator().manual_seed(3)))


def test_samples_and_gradients_are_as_before() -> None:
    samples, module = floats(), nn.Linear(F, 2)
    kept = [one.clone() for one in samples]
    assert pv.check_samples(lambda s: [module(one.add_(1)) for one in s], samples) == ()
    assert all(map(torch.equal, samples, kept))
    assert module.weight.grad is None


def test_ids_that_end_or_pad_a_sample_stay_where_they_are() -> None:
    samples = [torch.tensor([1, 5, 7, 0, 2]), torch.tensor([1, 6, 2]), torch.tensor([1, 8, 9, 4, 2])]
    vary = Variations(samples, 0)
    for b, sample in enumerate(samples):
        other = vary.with_other_values(b)
        assert other is not None
        assert not torch.equal(other, sample)
        assert torch.equal(other[sample < 3], sample[sample < 3])
        assert set(other.tolist()) <= {0, 1, 2, 4, 5, 6, 7, 8, 9}
    longer = vary.longer()
    assert longer is not None
    assert (len(longer), int(longer[0]), int(longer[-1])) == (8, 1, 2)


def test_a_small_fill_value_beside_large_ones_does_not_hide_a_leak() -> None:
    def run(samples: list[Tensor]) -> Tensor:
        x, _ = padded(samples)
        means = x.mean((1, 2))
        return torch.stack([means, torch.full_like(means, -1e9)], 1)

    assert [one.key for one in pv.check_samples(run, floats())] == ["width_matters"]


def test_the_picture_has_a_cell_for_each_pair_and_stands_in_a_notebook() -> None:
    found = pv.check_samples(lambda s: row(s), floats())
    drawn = ElementTree.fromstring(found.svg())
    titles = [one.text or "" for one in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert sum("changed: A" in title for title in titles) == 4
    assert any(title.startswith("changed: A: B changes by") for title in titles)
    assert any(title == "changed: B: A does not change" for title in titles)
    assert found.svg() in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).svg() == found.svg()
    assert pv.check_samples(lambda s: row(s), floats(), ignore="flows_on") == ()


def test_the_longest_number_fits_into_its_cell() -> None:
    drawn = ElementTree.fromstring(Influence(["A", "B"], {(0, 1): 0.00012, (1, 0): 0.3}, 2, "Which").svg())
    ns = "{http://www.w3.org/2000/svg}"
    side = min(float(one.attrib["width"]) for one in drawn.iter(f"{ns}rect"))
    (number,) = [one for one in drawn.iter(f"{ns}text") if one.text == "0.00012"]
    assert len("0.00012") * 0.65 * float(number.attrib["font-size"]) < side  # a digit is 0.64 em wide in DejaVu Sans


@pytest.mark.parametrize(
    ("given", "told", "parameter"),
    [
        ((None, [1, 2]), {}, "run"),
        ((len, 5), {}, "samples"),
        ((len, "ab"), {}, "samples"),
        ((len, [1]), {}, "samples"),
        ((len, [1, 2]), {}, "run"),
        ((lambda s: s[:1], [1, 2]), {}, "run"),
        ((lambda s: {"output": s}, [1, 2]), {}, "run"),
        ((lambda s: [None] * len(s), [1, 2]), {}, "run"),
        ((lambda s: torch.zeros(len(s), device="meta"), [1, 2]), {}, "run"),
        ((lambda s: s, [1, 2]), {"rows": 1}, "rows"),
        ((lambda s: s, [1, 2]), {"rows": [0, 5]}, "rows"),
        ((lambda s: s, [1, 2]), {"rows": [0, 0]}, "rows"),
        ((lambda s: s, [1, 2]), {"rows": 2.5}, "rows"),
        ((lambda s: s, [1, 2]), {"rows": torch.tensor([0.5, 1])}, "rows"),
        ((lambda s: s, [1, 2]), {"forwards": 3}, "forwards"),
        ((lambda s: s, [1, 2]), {"tolerance": -1}, "tolerance"),
    ],
)
def test_what_cannot_be_checked_is_refused(given: Any, told: Any, parameter: str) -> None:
    with pytest.raises(pv.PackvizError) as refused:
        pv.check_samples(*given, **told)
    assert refused.value.parameter == parameter


@pytest.mark.parametrize("rows", [np.int64(2), torch.tensor(2), np.array([0, 2]), torch.tensor([0, 2])])
def test_rows_may_come_from_numpy_and_torch(rows: Any) -> None:
    same = rows.tolist()
    names = [pv.check_samples(list, floats((1, 2, 3)), rows=given).influence.names for given in (rows, same)]
    assert names[0] == names[1]


# What torch has no dtype for, and what it cannot take as it is.
VALUES: dict[str, Any] = {
    "a text": "a",
    "an array of texts": np.array(["a", "b"]),
    "a decimal": Decimal("1.5"),
    "a fraction": Fraction(1, 3),
    "a date": np.datetime64("2020-01-01"),
    "an array of dates": np.array(["2020-01-01"], "datetime64[D]"),
    "beyond 64 bits": 2**70,
    "a list beyond 64 bits": [2**70, 1],
    "a text of numpy": np.str_("a"),
    "uint16": np.uint16(3),
    "booleans": [True, False],
    "other byte order": np.array([1.0], ">f4"),
    "a reversed array": np.arange(3.0)[::-1],
    "many texts": np.array(["a"] * 2000),
}


@pytest.mark.parametrize("name", VALUES)
def test_any_value_beside_the_numbers_is_compared(name: str) -> None:
    def with_value(samples: list[Tensor]) -> list[Any]:
        return [{"a": one, "b": VALUES[name]} for one in samples]

    def only_together(samples: list[Tensor]) -> list[Any]:
        return [{"a": one, "b": VALUES[name] if len(samples) > 1 else "other"} for one in samples]

    assert pv.check_samples(with_value, floats((2, 3))) == ()
    assert pv.check_samples(only_together, floats((2, 3))) != ()


def test_what_is_no_number_is_compared_in_full() -> None:
    first, second = np.array(["a"] * 2000), np.array(["a"] * 2000)
    second[1000] = "b"
    assert repr(first) == repr(second)
    assert not torch.equal(*(leaves_of(each)[f"output{AS_TEXT}"] for each in (first, second)))


def test_a_text_that_differs_has_no_size() -> None:
    def counted(samples: list[str]) -> list[str]:
        return [f"{one} of {len(samples)}" if one == "c d" else one for one in samples]

    texts = ["a b", "c d", "e"]
    found = pv.check_samples(counted, texts)
    (one,) = found
    assert (one.key, one.where) == ("count_matters", "sample B")
    assert "the result of B changes: output in its text" in one.found
    assert "The outputs are texts: each difference counts." in one.found
    assert ("integer" in one.found, "by up to" in one.found) == (False, False)
    assert "B changes its text" in found.svg()
    assert [each.key for each in pv.check_samples(counted, texts, tolerance=1e12)] == ["count_matters"]


def test_a_text_beside_numbers_is_named_beside_them() -> None:
    def both(samples: list[Tensor]) -> list[Any]:
        B = len(samples)
        return [{"mean": one.sum() / B, "words": ["a", str(B)], "id": 3} for one in samples]

    (one,) = pv.check_samples(both, floats((4, 4, 4)))
    assert "output['mean'] by up to" in one.found
    assert "output['words'] in its text" in one.found
    assert "output['id']" not in one.found


def test_ids_that_happen_to_count_up_are_varied_and_positions_are_not() -> None:
    ids = [torch.arange(5, 9), torch.arange(9, 12), torch.arange(13, 18)]

    def next_first(samples: list[Tensor]) -> list[Tensor]:
        return [after[0] for after in [*samples[1:], torch.zeros(1)]]

    assert [one.key for one in pv.check_samples(next_first, ids)] == ["flows_back"]
    assert Variations([torch.arange(4), torch.arange(3)], 0).with_other_values(0) is None
