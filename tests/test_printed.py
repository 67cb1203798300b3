import sys
import time

import pytest
import torch

import packviz as pv
from packviz import predictions
from packviz.facts.comparison import compare
from packviz.facts.losses_and_gradients import losses
from packviz.facts.memory_layout import memory
from packviz.facts.pads import drift
from packviz.facts.readout import readouts
from packviz.inputs.examples import EXAMPLES

LARGE = pv.trace(pv.Batch.parse("\n".join("1 " * n for n in range(1, 65))), pv.Config(hidden_size=16, num_layers=2))
REFUSED = pv.trace(pv.Batch.parse("1 2\n3 4 5"), pv.Config(enforce_sorted=True))
ASKED = predictions.ask(LARGE, "pack")
assert ASKED
RECORDS = [
    *(LARGE, LARGE.batch, LARGE.config, LARGE.padded, LARGE.sorted, LARGE.packed, LARGE.unpacked, LARGE.layers[1][0]),
    *(LARGE.layers[0][0].step(3), REFUSED, pv.movie(LARGE), compare(LARGE), memory(LARGE), losses(LARGE), drift(LARGE)),
    *(readouts(LARGE)[0], ASKED, ASKED.check("3"), EXAMPLES[0]),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_prints_on_one_line_that_begins_with_its_name(record: object) -> None:
    began = time.process_time()
    printed = repr(record)
    assert time.process_time() - began < 0.05
    assert printed.startswith(type(record).__name__.replace("Refused", "Trace") + "(")
    assert "\n" not in printed
    assert len(printed) < 700
    assert sys.getsizeof(printed) < 2000


def test_the_line_tells_what_the_record_holds() -> None:
    trace = pv.trace(pv.Batch.parse("1 2 3\n4 5\n6 7 8 9"))
    assert repr(trace.batch) == "Batch(numbers: 3 sequences, 9 tokens, 25 % padding)"
    assert repr(trace) == f"Trace(3 sequences, 9 tokens, {torch.nn.GRU(1, 4, batch_first=True)}: equal to torch's run)"
    sizes, order = trace.packed.batch_sizes.tolist(), trace.sorted.order.tolist()
    assert f"data=(9, 1) float32, batch_sizes={sizes}, sorted_indices={order}," in repr(trace.packed)
    assert repr(pv.movie(trace, ("pad", "pack"))).endswith(" steps of pad and pack)")
    assert repr(REFUSED).endswith(": torch refused to pack)")
