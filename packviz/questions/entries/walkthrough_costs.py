"""Entries: pads and packs step by step, what the text says packing saves."""

from __future__ import annotations

from packviz import charts
from packviz.config import Cell, Config
from packviz.cost import Measurement, measure
from packviz.questions.entries.marking import letters
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Chart, Entry, Outcome
from packviz.questions.pictures import grid, numbers, owners_of, picture, strip

__all__ = ["BATCH", "COSTS", "GROUP", "PACK", "SOURCE"]

GROUP = "Text: pads and packs, step by step"
SOURCE = "androidkt, Pads and Pack Variable Length sequences"
BATCH = "1 2\n3\n4 5 6"  # 3 × 3 cells, as in the text
PACK = "packed = pack_padded_sequence(x, lengths, batch_first=True,\n    enforce_sorted=False)\n"

_CELLS: tuple[Cell, ...] = ("gru", "lstm")
_COUNTED = """from torch.utils.flop_counter import FlopCounterMode
with FlopCounterMode(display=False) as counter:
    {work}
counter.get_total_flops() // 2"""
_AT_PADS = "pads = torch.arange(x.size(1)) >= lengths[:, None]\n"
_INPUT_PART = _AT_PADS + "bias = gru.bias_ih_l0 if gru.bias else None\nnn.functional.linear(x, gru.weight_ih_l0, bias)"


def _most(laboratory: Laboratory) -> Outcome:
    cells, rows = laboratory.broken.value, laboratory.fixed.value
    x, lengths, data = (laboratory.fixed[name] for name in ("x", "lengths", "packed"))
    pads = [(b, t) for b, length in enumerate(lengths.tolist()) for t in range(length, x.size(1))]
    return Outcome(
        {"for this batch": 2 * (cells - rows) > cells},
        f"Padded, {cells} states are computed; packed, {rows}. So {cells - rows} of {cells} are thrown away, "
        f"{100 * (cells - rows) / cells:.0f} %. Only the lengths decide whether that is most of them.",
        picture(
            grid("x", x[..., 0], lengths.tolist(), wrong=pads),
            strip("packed.data", data.data, owners_of(lengths)),
        ),
    )


def _zeros(laboratory: Laboratory) -> Outcome:
    asked = {
        "for the vector of a pad": _AT_PADS + "x",
        "for W x + b": _INPUT_PART,
        "for the output": _AT_PADS + "gru(x)[0]",
    }
    found = {name: laboratory.run(f"{code}[pads].detach()").value for name, code in asked.items()}
    output, lengths = laboratory.broken.value, laboratory.broken["lengths"].tolist()
    pads = [(b, t) for b, length in enumerate(lengths) for t in range(length, output.size(1)) if output[b, t]]
    far = {name: float(values.abs().max()) for name, values in found.items()}
    idle = laboratory.run("gru(torch.zeros_like(x))[0].detach()").value
    filler = laboratory.fixed.value
    return Outcome(
        {name: not values.any() for name, values in found.items()},
        f"The pad is id 0, and its vector has numbers up to {far['for the vector of a pad']:.2f}: `padding_idx` is "
        f"{laboratory.entry.config.padding_idx}. The GRU goes on at the pads, with outputs up to "
        f"{far['for the output']:.2f}. Even vectors of zeros alone lead to outputs up to {float(idle.abs().max()):.2f}."
        " Packed and unpacked there are zeros, which are filler.",
        picture(
            numbers("unit 0, padded", output, rows=letters(output), wrong=pads),
            numbers("unit 0, packed", filler, rows=letters(filler)),
        ),
    )


def _count(laboratory: Laboratory) -> Outcome:
    multiplied, whole = laboratory.broken.value, laboratory.fixed.value
    rows, columns = laboratory.broken["grid"].shape
    W, weight = laboratory.broken["W"], laboratory.fixed["gru"].weight_ih_l0
    return Outcome(
        {"for a W of one column": multiplied == rows * columns, "for gru(x)": whole == rows * columns},
        f"A {rows} × {columns} batch times a W of one column takes {multiplied} multiplications and "
        f"{multiplied - rows} additions. `gru(x)` takes {whole}: its `weight_ih_l0` is {tuple(weight.shape)}, and "
        "`weight_hh_l0` is multiplied at every time step, too. Counted by torch's `FlopCounterMode`.",
        picture(
            grid("x", laboratory.broken["grid"], laboratory.broken["lengths"].tolist()),
            numbers("W", W),
            numbers("weight_ih_l0, transposed", weight.T),
        ),
    )


def _only_needed(laboratory: Laboratory) -> Outcome:
    packed, x = laboratory.fixed["packed"], laboratory.fixed["x"]
    cells, rows = x.shape[:2].numel(), len(packed.data)
    T, steps = x.size(1), len(packed.batch_sizes)
    return Outcome(
        {"for the rows": rows < cells, "for the time steps": steps < T},
        f"Packing spares {cells - rows} of {cells} rows. It spares {T - steps} of {T} time steps: they come one after "
        f"the other, with {packed.batch_sizes.tolist()} rows each. For fewer steps put short sequences together into "
        "batches of their own.",
        Chart(charts.margins, (laboratory.trace,)),
    )


def _time_saved(laboratory: Laboratory) -> Outcome:
    lengths = [16 * length for length in laboratory.trace.padded.lengths.tolist()] * 5
    measured: dict[str, Measurement] = {}
    for cell in _CELLS:
        *_, measured[cell] = measure(lengths, cell, 32, 32, repeats=9, threads=1, seconds=3.0)
    told = "; ".join(
        f"{name.upper()} {each.padded.median:.2f} ms padded, {each.packed.median:.2f} ms packed"
        for name, each in measured.items()
    )
    return Outcome(
        {f"for nn.{name.upper()} here": each.ratio < 1 and each.differs for name, each in measured.items()},
        f"Measured just now on one thread of the CPU, {len(lengths)} sequences that fill "
        f"{100 * measured['gru'].fill:.0f} % of their grid, medians of {measured['gru'].rounds} rounds in turns: "
        f"{told}. A difference within the spread counts as none. Energy was not measured; measure your own lengths.",
        Chart(charts.timings, (tuple(measured.values()),)),
    )


COSTS: tuple[Entry, ...] = (
    Entry(
        key="walkthrough-most-results",
        group=GROUP,
        question="Are most of the computed results thrown away without packing?",
        claim="Without packing most of the computed results are thrown away.",
        broken="gru(x)[0].shape[:2].numel()",
        fixed=PACK + "len(gru(packed)[0].data)",
        experiment=_most,
        source=SOURCE,
        batch=BATCH,
    ),
    Entry(
        key="walkthrough-zero-results",
        group=GROUP,
        question="Are the results at the pads 0?",
        claim="The results at the pads are 0.",
        broken="gru(x)[0][..., 0].detach()",
        fixed=PACK + "hs, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)\nhs[..., 0].detach()",
        experiment=_zeros,
        source=SOURCE,
        batch=BATCH,
        config=Config(embedding_dim=2),
    ),
    Entry(
        key="walkthrough-multiplications",
        group=GROUP,
        question="Three sequences of three steps: 9 multiplications and 6 additions?",
        claim="A padded batch of 3 × 3 takes 3 × 3 = 9 multiplications.",
        broken="grid, W = x[..., 0], torch.ones(x.size(1), 1)\n" + _COUNTED.format(work="grid @ W"),
        fixed=_COUNTED.format(work="gru(x)"),
        experiment=_count,
        source=SOURCE,
        batch=BATCH,
        slow=True,  # the first time FlopCounterMode is imported
    ),
    Entry(
        key="walkthrough-only-needed",
        group=GROUP,
        question="Does packing compute exactly what is needed, in parallel?",
        claim='Packing spares whatever is not needed: it computes "exactly what you need".',
        broken="output, _ = gru(x)\noutput.shape",
        fixed=PACK + "output, _ = gru(packed)\noutput.data.shape, output.batch_sizes",
        experiment=_only_needed,
        source=SOURCE,
        batch=BATCH,
    ),
    Entry(
        key="walkthrough-time-saved",
        group=GROUP,
        question="Does packing save time?",
        claim="Packing saves time.",
        broken="output, h_n = gru(x)\noutput.shape",
        fixed=PACK + "output, h_n = gru(packed)\npad_packed_sequence(output, batch_first=True)[0].shape",
        experiment=_time_saved,
        source=SOURCE,
        batch="1\n2\n3 4 5",
        slow=True,
    ),
)
