"""The parts of the page that compares padded and packed, below its movie."""

import re

import pandas as pd
import streamlit as st
import torch

from packviz import charts, facts
from packviz.show.movie import back_beside, losses_beside
from ui.parts.part import figure, grid, sheet
from ui.parts.player import clip
from ui.parts.trying import try_this
from ui.state.runs import Shown, as_json

VERDICT = 30  # characters of a verdict on three sequences


def at_a_glance(shown: Shown) -> None:
    """Show for each readout whether it is right, padded and packed."""
    found = shown.fact(facts.compare).readings
    with st.container(border=True, key="glance"):
        columns = st.columns([max(len(each.code), VERDICT) for each in found])  # the longest code keeps to one line
        for column, each in zip(columns, found, strict=True):
            lines = [f"{_mark(side.right)} {name}: {side.verdict}" for name, side in each.sides.items()]
            column.markdown("  \n".join([f"`{each.code}`", *lines]))


def _mark(right: bool) -> str:
    return ":green[**✓**]" if right else ":red[**✗**]"


def equal(shown: Shown) -> None:
    """Show what is equal, and which ways to read the result are right."""
    _verdicts(shown)
    _readings(shown)


def changes(shown: Shown) -> None:
    """Show how the difference grows with the padding, and with which settings it is another one."""
    _drift(shown)
    _other_settings(shown)


def training(shown: Shown) -> None:
    """Show what the loss of each token weighs, and the gradient on its way back."""
    _losses(shown)
    _going_back(shown)


def _verdicts(shown: Shown) -> None:
    """Show what is equal and what is not, each line computed from the two runs; show the outputs cell by cell."""
    st.markdown("Each line compares the two runs.")
    done = shown.fact(facts.compare)
    for each in done.findings:
        st.markdown(f"{':green[**=**]' if each.severity == 'note' else ':red[**≠**]'} {each.found}")
    most = f"{done.tolerance:g}".replace("-", "−")  # a line could end after a hyphen
    st.markdown(f"Equal means that no difference exceeds {most}.")
    figure(shown, charts.difference, done, key="difference")


def _readings(shown: Shown) -> None:
    """Show the ways to read the result, on both sides."""
    st.markdown("Each way to read the result, padded and packed, is compared with the state after the whole sequence.")
    for each in shown.fact(facts.compare).readings:
        lines = [f"{_mark(side.right)} {name}: {side.sentence}." for name, side in each.sides.items()]
        st.markdown("\n\n".join([f"`{each.code}`", *lines]))
        width = min(each.padded.values.shape[1], 6)
        columns = [f"{name} [{i}]" for name in each.sides for i in range(width)]
        rows = torch.cat([side.values[:, :width] for side in each.sides.values()], 1).tolist()
        grid(pd.DataFrame(rows, shown.letters, columns), f"{each.code}, padded and packed")


def _drift(shown: Shown) -> None:
    """Show how far every state moves while the cell keeps reading padding."""
    st.markdown("After a sequence's last valid step, the padded run keeps reading padding.")
    moved = shown.fact(facts.drift)
    figure(shown, charts.drifts, moved, key="drifts")
    st.markdown(moved.sentence)


def _other_settings(shown: Shown) -> None:
    """Offer settings that change the verdicts, and list the verdicts that each setting changes."""
    st.markdown("Here the comparison runs again, each time with one setting changed.")
    found = shown.fact(facts.switches)
    telling: dict[str, dict[str, object]] = {
        f"{each.setting} = {each.after}": {each.setting: each.after} for each in found if each.changed
    }
    if "bidirectional = True" in telling:
        telling["bidirectional = True"]["direction"] = "backward"  # so that the movie shows what is new
    try_this("Choose a setting that changes a verdict." if telling else "None of these changes a verdict.", telling)
    rows = [
        (each.setting, str(each.before), str(each.after), re.sub("_(?!n_)", " ", ", ".join(each.changed)) or "none")
        for each in found
    ]
    columns = ["setting", "now", "instead", "verdicts that change"]
    sheet(rows, columns, "What changes when one setting does")
    for each in found:
        if each.changed:
            with st.expander(f"{each.setting}: {each.after} instead of {each.before}"):
                st.markdown("\n".join(f"- {verdict}" for verdict in each.changed.values()))


def _losses(shown: Shown) -> None:
    """Show what the loss of each token weighs, padded and packed."""
    st.markdown(
        "In both runs, the same linear layer predicts a class for each token. The right classes were drawn at random."
    )
    clip(shown.cached(lambda: as_json(losses_beside(shown.trace)), losses_beside), 1, "losses")


def _going_back(shown: Shown) -> None:
    """Show the gradient on its way back through the time steps, padded beside packed."""
    st.markdown(
        "The gradient goes back in time. In the padded run, it passes through every pad before it reaches a token. "
        "Each pad can shrink it."
    )
    request = shown.request

    def film() -> bytes:
        return as_json(back_beside(shown.trace, layer=request.layer, direction=request.direction))

    clip(shown.cached(film, back_beside), 1, "going back")
