import time

import torch

import packviz as pv
from packviz import predictions
from packviz.facts.comparison import compare
from packviz.facts.memory_layout import memory
from packviz.facts.pads import drift
from packviz.facts.readout import readouts
from packviz.inputs.examples import EXAMPLES

REFUSED = pv.trace(pv.Batch.parse("1 2\n3 4 5"), pv.Config(enforce_sorted=True))


def records() -> list[object]:
    large = pv.trace(pv.Batch.parse("\n".join("1 " * n for n in range(1, 65))), pv.Config(hidden_size=16, num_layers=2))
    asked = predictions.ask(large, "pack")
    assert asked
    return [
        *(large, large.batch, large.config, large.padded, large.sorted, large.packed, large.unpacked),
        *(large.layers[1][0], large.layers[0][0].step(3), REFUSED, pv.movie(large), compare(large), memory(large)),
        *(drift(large), readouts(large)[0], asked, asked.check("3"), EXAMPLES[0]),
    ]


def test_a_record_prints_on_one_line_that_begins_with_its_name() -> None:
    for record in records():
        began = time.process_time()
        printed = repr(record)
        assert time.process_time() - began < 0.05, type(record)
        assert printed.startswith(type(record).__name__ + "(")
        assert "\n" not in printed
        assert len(printed) < 700


def test_the_line_tells_what_the_record_holds() -> None:
    trace = pv.trace(pv.Batch.parse("1 2 3\n4 5\n6 7 8 9"))
    assert repr(trace.batch) == "Batch(numbers: 3 sequences, 9 tokens, 25% padding)"
    assert repr(trace) == f"Trace(3 sequences, 9 tokens, {torch.nn.GRU(1, 4, batch_first=True)}: equal to torch's run)"
    sizes, order = trace.packed.batch_sizes.tolist(), trace.sorted.order.tolist()
    assert f"data=(9, 1) float32, batch_sizes={sizes}, sorted_indices={order}," in repr(trace.packed)
    assert repr(pv.movie(trace, ("pad", "pack"))).endswith(" steps of pad and pack)")
    assert repr(REFUSED).endswith(": torch refused to pack)")
