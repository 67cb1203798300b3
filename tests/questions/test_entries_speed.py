"""Speed and memory: the verdict follows from what was measured, whatever that was, and from what is counted."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.config import Config
from packviz.cost import Measurement, Point, Timing
from packviz.questions.answer import Answer, answer
from packviz.questions.entries import speed
from packviz.questions.entries.speed import ENTRIES
from packviz.questions.model import Entry

BY_KEY = {entry.key: entry for entry in ENTRIES}
MEASURED = ("lstm-slow-when-packed", "times-are-worse")  # rows 64, 65: what this machine shows now
COUNTED = "saves-memory-and-computation"  # row 66: cells, but no steps; packing copies


@pytest.fixture(scope="module")
def answers() -> Iterator[dict[str, Answer]]:
    """Measure each once, with few rounds; torch's switches must be as they were."""
    before = torch.get_num_threads(), torch.backends.mkldnn.enabled
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(speed, "ROUNDS", 6)
        patched.setattr(speed, "SECONDS", 0.1)
        yield {key: answer(BY_KEY[key]) for key in MEASURED}
    assert (torch.get_num_threads(), torch.backends.mkldnn.enabled) == before


def measured_in(done: Answer) -> list[Measurement]:
    assert done.outcome.chart is not None
    (given,) = done.outcome.chart.of
    return [each.measurement if isinstance(each, Point) else each for each in given]


def with_batch(batch: str, config: Config | None = None) -> Answer:
    return answer(replace(BY_KEY[COUNTED], batch=batch, config=config or Config()))


def test_rows_64_to_66_have_one_entry_each() -> None:
    assert [entry.rows for entry in ENTRIES] == [(64,), (65,), (66,)]
    assert {entry.key for entry in ENTRIES if entry.slow} == set(MEASURED)


@pytest.mark.parametrize("key", MEASURED)
def test_the_verdict_follows_from_the_times(key: str, answers: dict[str, Answer]) -> None:
    done = answers[key]
    measured = measured_in(done)
    won = [m.differs and m.packed.median < m.padded.median for m in measured]
    assert list(done.outcome.cases.values()) == won
    assert done.outcome.verdict == ("true" if all(won) else "depends" if any(won) else "false")
    for m in measured:
        assert (f"{m.ratio:.2f}" if m.differs else "no difference that can be shown") in done.outcome.told
    assert ("machine was busy" in done.outcome.told) == any(m.busy for m in measured)


@pytest.mark.parametrize(("packed", "won"), [(1.0, True), (4.0, False), (2.0, False)])
def test_faster_counts_slower_does_not_and_no_difference_is_no_win(
    packed: float, won: bool, answers: dict[str, Answer]
) -> None:
    first, _ = measured_in(answers["lstm-slow-when-packed"])
    known = replace(first, padded=Timing((2.0,) * 9), packed=Timing((packed,) * 9))
    assert speed._faster(known) == won


def test_the_lstm_is_measured_with_and_without_onednn_on_a_half_full_grid(answers: dict[str, Answer]) -> None:
    measured = measured_in(answers["lstm-slow-when-packed"])
    assert [m.setup.onednn for m in measured] == [True, False]
    assert all(m.fill == 0.5 and m.setup.cell == "lstm" for m in measured)


@pytest.mark.parametrize(("cell", "key"), [("lstm", "lstm-slow-when-packed"), ("gru", "times-are-worse")])
def test_the_two_programs_time_the_same_module_packed_and_padded(
    cell: str, key: str, answers: dict[str, Answer]
) -> None:
    entry: Entry = BY_KEY[key]
    assert entry.broken.replace("pack_padded_sequence(x, lengths, batch_first=True)", "x") == entry.fixed
    assert f"return {cell}(x)" in entry.fixed
    assert answers[key].fixed.value.endswith(" ms")


def test_packing_spares_cells_but_no_steps_and_copies_the_input() -> None:
    done = answer(BY_KEY[COUNTED])
    assert done.outcome.cases == {
        "for the cell updates": True,
        "for the steps that wait for one another": False,
        "for the memory while packing": False,
    }
    x, lengths = done.fixed["x"], done.fixed["lengths"]
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    assert packed.data.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    fields = (x, packed.data, packed.batch_sizes, lengths, lengths)  # both index tensors are as long as lengths
    needed = sum(field.nbytes for field in fields)
    assert f"{needed} bytes, `batch_sizes` and the indices among them, in place of {x.nbytes}" in done.outcome.told
    assert done.fixed.value == (True, needed)
    assert f"{len(packed.data)} cell updates in place of {x[:, :, 0].numel()}" in done.outcome.told
    assert f"{len(packed.batch_sizes)} steps in place of {x.size(1)}" in done.outcome.told


@pytest.mark.parametrize("batch", ["1 2\n3 4", "1", "1\n2"])
def test_without_pads_packing_saves_nothing(batch: str) -> None:
    assert with_batch(batch).outcome.verdict == "false"
