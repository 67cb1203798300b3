"""The parts of the page on the cost of padding and packing: recorded, counted, measured, and alternatives."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

import streamlit as st

from packviz import charts, text
from packviz.errors import PackvizError
from packviz.facts import DISTRIBUTIONS, indices_outweigh
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.limits import LIMITS
from packviz.lab import cost, recorded
from packviz.lab.cost.charts import Across
from packviz.lab.training.experiment import vowels, vowels_credit
from packviz.text import percent
from ui.jobs.work import Task
from ui.parts.part import NOT_RECORDED, figure, fresh, sheet
from ui.parts.progress import long_work
from ui.state.runs import Shown

CELLS = get_args(Cell)
ROUNDS = 21
SECONDS = 2.0  # for one measurement; one more round when this time is over
ROUNDS_OF_A_SHAPE, SECONDS_OF_A_SHAPE = 7, 0.2  # the same for a point of the map
THIS_BATCH, TYPED, UPLOADED = "this batch", "typed", "uploaded"
RECORDINGS = "recordings: Japanese Vowels"
_TITLES = {each.key: each.title for each in DISTRIBUTIONS}
NOT_TYPED = (UPLOADED, *_TITLES.values())
SOURCES = (THIS_BATCH, TYPED, *NOT_TYPED)
ROW_LENGTHS = (128, 256, 512, 1024, 2048, 4096)


def full_run(shown: Shown) -> None:
    """Show the recorded map of where packing wins with the sidebar's cell, and the other recorded times folded."""
    run, cell = recorded.cost(), shown.request.config.cell
    if not run.of(cell):
        st.markdown(NOT_RECORDED)
        return
    st.header(recorded.cost_headline(run, cell), anchor=False)
    fresh(charts.winning, [recorded.small_run(run, cell), *run.of(cell)], key="recorded map")
    st.markdown(f":small[{recorded.cost_caveat(run, cell)}]")
    small = text.counted(len(run.batch[0].lengths), "sequence")
    label = f"The map with the backward pass, and the times of a batch of {small}"
    with st.expander(label, key="recorded cost", on_change="rerun") as panel:
        if panel.open:
            st.markdown(f":small[{recorded.machine(run)}]")
            _map("batch_size", run.of(cell, backward=True), "recorded")
            _timings([each for each in run.batch if each.setup.cell == cell and each.setup.onednn], "recorded")


def counted(shown: Shown) -> None:
    """Show what can be counted without measuring time."""
    st.markdown("These are the cell updates and sequential steps of this batch.")
    costs = cost.counts_of(shown.trace)
    figure(shown, charts.counts_bars, costs, key="counts")
    st.markdown(
        f"Packing saves {costs.spared:,} cell updates, but no steps: each step waits for the one before it.\n\n"
        f"While `pack_padded_sequence` copies, the padded and the packed input are both in memory: "
        f"{costs.both_inputs:,} bytes."
    )
    padded, packed = (getattr(costs.inputs, side) + getattr(costs.indices, side) for side in ("padded", "packed"))
    if said := indices_outweigh(padded, packed, costs.indices.packed):
        st.markdown(said)


def measured(shown: Shown) -> None:
    """Measure this batch, with all three cells, on this machine, on request."""
    st.markdown(
        "The server runs this batch now, padded and packed in turn, and shows the medians in milliseconds and their "
        "spread."
    )
    setups, module = cost.setups_of(shown.trace), shown.trace.module
    layers = f"{module.num_layers} layers" if module.num_layers > 1 else "one layer"
    ways = "both directions" if module.bidirectional else "one direction"
    told = f"{shown.batch.summary}, hidden size {module.hidden_size}, {layers}, {ways}"
    lengths = tuple(shown.trace.padded.lengths.tolist())
    work = partial(cost.sweep, [(setup, lengths) for setup in setups], repeats=ROUNDS, seconds=SECONDS)
    takes = recorded.batch_takes(recorded.cost(), setups, max(lengths), ROUNDS, SECONDS)
    long_work(Task("measure", told, len(setups), work, _timings, measures=True), "Measure this batch", takes)


def landscape(shown: Shown) -> None:
    """Measure many batches, and map where packing wins."""
    st.markdown(
        "The map shows how long packing takes compared with padding, for several shares of real tokens and several "
        "values of a size that you choose. Below 1, packing is faster."
    )
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    cell = left.selectbox("cell", CELLS, CELLS.index(shown.request.config.cell), key="sweep_cell")
    across: Across = middle.selectbox("across", get_args(Across), key="sweep_across")
    backward = right.toggle("with backward", key="sweep_backward")
    sizes: dict[str, dict[str, Any]] = {
        "batch_size": {},
        "steps": {"batch_sizes": (32,), "steps": (10, 25, 50, 100)},
        "hidden_size": {"batch_sizes": (32,), "hidden_sizes": (16, 64, 128, 256)},
    }
    planned = cost.plan_sweep((cell,), backward=backward, **sizes[across])
    told = f"{cell.upper()}, fill against {across}, {planned[0][0].passes}"
    work = partial(cost.sweep, planned, repeats=ROUNDS_OF_A_SHAPE, seconds=SECONDS_OF_A_SHAPE)
    takes = recorded.sweep_takes(recorded.cost(), planned, ROUNDS_OF_A_SHAPE + 1)
    task = Task("sweep", told, len(planned), work, partial(_map, across), measures=True)
    long_work(task, f"Measure {len(planned)} batches", takes)


def without_packing(shown: Shown) -> None:
    """Show how much padding is left when batches are composed with more care."""
    st.markdown("If the lengths in a batch are similar, fewer of its cells are padding, whatever the model.")
    left, right = st.columns([3, 1])
    source = left.selectbox("Lengths of a data set", SOURCES, SOURCES.index(_TITLES["uniform"]), key="waste_of")
    size = right.number_input("batch size", 1, 1024, 32, 1, key="waste_size")
    try:
        if (lengths := lengths_from(shown, source, "waste")) is None:
            return
        found = {each.name: each.share for each in cost.ways(lengths, size)}
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return
    fresh(charts.waste, found, key="waste")
    best = min(found, key=found.__getitem__)
    least = f"In the best of these ways ({best}), it is {percent(found[best])}"
    told = f"In random batches, {percent(found['random'])} of the cells are padding. {least}"
    st.markdown(f"There are {len(lengths):,} lengths. {told}.")


def attention(shown: Shown) -> None:
    """Show cells and pairs of attention over the lengths of a data set: padded, in rows, and in rows with a mask."""
    st.markdown(
        "In a transformer, the time depends on pairs of tokens, not on steps: each token is compared with the tokens "
        "that it may read. Packing for a transformer puts several sequences into one row, so few cells are padding."
    )
    of, left, middle, right = st.columns([3, 2, 2, 1], vertical_alignment="bottom")
    source = of.selectbox("Lengths", [RECORDINGS, *SOURCES], key="pairs_of")
    size = left.number_input("padded batch size", 1, 1024, 32, 1, key="pairs_batch")
    width = middle.selectbox("cells in a row", ROW_LENGTHS, ROW_LENGTHS.index(1024), key="pairs_row")
    causal = right.toggle("causal", True, key="pairs_causal", help="If this is on, a token reads no later token.")
    try:
        if (lengths := lengths_from(shown, source, "pairs")) is None:
            return
        found = cost.pairs_of(lengths, width, batch_size=size, causal=causal)
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return
    fresh(charts.pairs_bars, found, key="pairs")
    columns = ["way", "cells", "pairs computed", "computed ÷ needed"]
    rows = [(each.name, each.cells, each.computed, each.computed / each.needed) for each in found]
    formats = dict.fromkeys(columns[1:3], "{:,}") | {columns[3]: "{:.1f}"}
    sheet(rows, columns, "Cells and pairs of each way", formats)
    st.markdown(cost.pairs_verdict(found))
    if source == RECORDINGS:
        st.markdown(f":small[{vowels_credit()}]")


def lengths_from(shown: Shown, source: str, part: str) -> Any:
    """Return the lengths from a source; None if there is no file yet. part: of the page, for the keys of widgets."""
    if source == THIS_BATCH:
        return shown.batch.lengths
    if source == RECORDINGS:
        data = vowels()
        return [len(recording) for recording in (*data.train_x, *data.test_x)]
    if source == TYPED:
        return cost.read_lengths(
            st.text_area("Lengths", "3 2 4 7 7 1 12 5", max_chars=LIMITS.characters, key=f"{part}_typed")
        )
    if source == UPLOADED:
        label = "A text or CSV file with one column of lengths"
        file = st.file_uploader(label, ["txt", "csv"], key=f"{part}_file", max_upload_size=1)
        return None if file is None else cost.read_lengths(file.getvalue())
    return next(each for each in DISTRIBUTIONS if each.title == source).lengths()


def _timings(results: Sequence[cost.Measurement], which: str = "now") -> None:
    """Show the times of one batch. which: distinguishes these from others on the page."""
    fresh(charts.timings, results, key=f"timings {which}")
    st.markdown(cost.verdict(max(results, key=lambda each: abs(math.log(each.ratio)) if each.differs else 0.0)))
    if which == "now":
        with st.expander("Every measurement"):
            _times(results)


def _times(results: Sequence[cost.Measurement]) -> None:
    """Show the times of one batch as a table."""
    rows = [
        (
            each.setup.name,
            each.setup.passes,
            "on" if each.setup.onednn else "off",
            each.setup.device,
            each.padded.median,
            each.packed.median,
            f"{each.ratio:.2f}" if each.differs else "no difference",
            "yes" if each.busy else "",
        )
        for each in results
    ]
    columns = ["cell", "pass", "oneDNN", "device", "padded (ms)", "packed (ms)", "packed ÷ padded", "busy"]
    sheet(rows, columns, "Every measurement of this batch", dict.fromkeys(columns[4:6], "{:.3f}"))


def _map(across: Across, done: Sequence[cost.Measurement], which: str = "now") -> None:
    fresh(charts.winning, done, key=f"winning {which}", across=across)
    wins, losses = cost.wins_and_losses(done)
    rest = len(done) - wins - losses
    equal = f" For the other {rest if rest > 1 else 'one'}, the runs show no difference." if rest else ""
    st.markdown(f"Of {len(done)} batches, packing is faster for {wins} and slower for {losses}.{equal}")
    if busy := sum(each.busy for each in done):
        st.markdown(f"{busy} of them {'was' if busy == 1 else 'were'} measured while the machine was busy.")
