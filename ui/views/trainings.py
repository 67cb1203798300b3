"""The parts of the training page: the results of a recorded run, and the same experiment with other settings."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, get_args

import streamlit as st

from packviz import charts
from packviz.lab import recorded, training
from packviz.text import counted
from ui.jobs.work import Task
from ui.parts.downloads import download
from ui.parts.part import NOT_RECORDED, fresh, sheet
from ui.parts.progress import long_work
from ui.state.runs import Shown

TITLES = {"vowels": "Japanese vowels: who speaks?", "first_token": "the answer is in the first token"}


def full_run(shown: Shown) -> None:
    """Show the results of the recorded training for the sidebar's cell, with the details folded."""
    accuracy(shown)
    run, cell = recorded.training(), shown.request.config.cell
    label = "All four ways to read the result, with every seed and epoch"
    with st.expander(label, key="recorded training", on_change="rerun") as panel:
        if panel.open:
            st.markdown(f":small[{recorded.machine(run)}]")
            _results(run.of(cell), "recorded")


def accuracy(shown: Shown) -> None:
    """Show the accuracy of the recorded models for the sidebar's cell, packed or not, as padding is added."""
    run, cell = recorded.training(), shown.request.config.cell
    if not run.of(cell):
        st.markdown(NOT_RECORDED)
        return
    st.header(recorded.training_headline(run, cell), anchor=False)
    fresh(charts.recorded_accuracy, cell, key="recorded accuracy")
    st.markdown(f":small[{recorded.training_caveat(run, cell)}]")


def trained(shown: Shown) -> None:
    """Let a visitor choose what to compare, train it, and watch the results arrive."""
    st.markdown(
        "This server trains the same small model each time. Only the state that is read and the added padding differ."
    )
    cell = shown.request.config.cell
    tasks = get_args(training.Task)
    names, read = get_args(training.Readout), training.READS.__getitem__
    paddings = training.EXTRA_PADDING
    several: dict[str, Any] = {"selection_mode": "multi", "bind": "query-params"}
    title = "what the linear layer reads"
    with st.container(horizontal=True, gap="medium"):
        task: training.Task = st.selectbox(
            "task", tasks, format_func=TITLES.__getitem__, key="train_task", bind="query-params", width=300
        )
        readouts = st.pills(title, names, default=names, format_func=read, key="train_readouts", **several)
        pads = st.pills("extra pads", paddings, default=paddings, key="train_pads", **several)
        seeds = st.number_input("seeds", 1, 10, 3, 1, key="train_seeds", bind="query-params", width=130)
    both = st.toggle("two directions", key="train_both", bind="query-params")
    first = training.Experiment(cell=cell, task=task, bidirectional=both, seeds=tuple(range(seeds)))
    wanted = product([pad for pad in paddings if pad in pads], [name for name in names if name in readouts])
    chosen = [replace(first, readout=readout, extra_padding=extra) for extra, readout in wanted]
    if not chosen:
        st.text("Choose at least one state to read, and at least one amount of extra padding, which may be 0.")
        return
    st.markdown(
        f"The {cell.upper()} has {first.hidden_size} hidden units. It is trained for {first.epochs} epochs with Adam, "
        f"a learning rate of {first.lr:g} and batches of {first.batch_size}. Of the settings, only `cell` is used here."
    )
    steps = len(chosen) * first.epochs * seeds
    ways = "both directions" if both else "one direction"
    told = f"{cell.upper()}, {TITLES[task]}, {', '.join(map(read, readouts))}, {', '.join(map(str, pads))} extra pads"
    takes = recorded.training_takes(recorded.training(), chosen)
    work = Task("train", f"{told}, {ways}, seeds: {seeds}", steps, partial(training.run_all, chosen), _results)
    long_work(work, f"Train {counted(len(chosen) * seeds, 'model')} ({cell})", takes)
    if task == "vowels":
        st.markdown(f":small[{training.vowels_credit()}]")


def _results(results: Sequence[training.EpochResult], which: str = "now") -> None:
    """Show the results of trainings. which: distinguishes them from others on the page."""
    outcomes = training.summary(results)
    if told := training.conclusion(outcomes):
        with st.expander("What the results support"):
            st.markdown("\n".join(f"- {sentence}" for sentence in told))
    if outcomes:
        fresh(charts.final, outcomes, key=f"final {which}")
        found = training.table(outcomes)
        formats = {name: "{:.1f}" for name, value in found[0].items() if isinstance(value, float)}
        sheet(map(dict.values, found), found[0], "Accuracy of every experiment", formats)
    pads = sorted({each.experiment.extra_padding for each in results})
    for extra, tab in zip(pads, st.tabs([f"{extra} extra pads" for extra in pads]), strict=True):
        with tab:
            of_these = [each for each in results if each.experiment.extra_padding == extra]
            fresh(charts.learning, of_these, key=f"learning {extra} {which}")
    download("All epochs as CSV", f"packviz-training-{which}.csv", lambda: training.to_csv(results))
