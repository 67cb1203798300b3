"""The parts of the lesson on losses, below its movie."""

import streamlit as st
import torch
import torch.nn.functional as F

from packviz import facts, movie
from packviz.inputs.limits import LIMITS
from ui.parts.part import sheet, verdicts
from ui.parts.player import clip
from ui.state.runs import Shown, as_json

_NOTHING = {"logits": torch.zeros(2, 5), "labels": torch.full((2,), -100), "F": F, "loss": torch.zeros(2)}
_LINES = (  # each is run as it is shown
    "F.cross_entropy(logits, labels)",
    "loss[labels != -100].mean()",
    "loss.sum() / (labels != -100).sum()",
    "loss.sum() / (labels != -100).sum().clamp(min=1)",
)


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings that change labels, losses or weights."""
    longest, total = int(shown.batch.lengths.max()), int(shown.batch.lengths.sum())
    found: dict[str, dict[str, object]] = {
        "labels across borders (shift_labels)": {"shift_labels": "row"},
        "let documents mix (isolate off)": {"isolate": False},
        f"rows of {longest} cells (max_length)": {"max_length": longest},
    }
    return found | ({"all in one row (max_length)": {"max_length": total}} if total <= LIMITS.max_length else {})


def three_numbers(shown: Shown) -> None:
    """Show the three means with each document alone, and in the rows of this run."""
    st.markdown(
        "A framework prints one of these three means. Alone, each document has a row of its own, as in a padded batch. "
        "If a document was cut, each piece counts as a document."
    )
    found, changed = shown.fact(facts.means), shown.fact(facts.changed_means)
    rows = [
        (f"mean over {name}", f"{alone:.6f}", f"{packed:.6f}", "yes" if name in changed else "no")
        for name, (alone, packed) in found.items()
    ]
    columns = ["the loss", "each document alone", "in these rows", "changed in rows"]
    sheet(rows, columns, "Three means of the losses")


@st.fragment
def micro_batches(shown: Shown) -> None:
    """Show what gradient accumulation makes of the loss, with the wrong and with the right normalization."""
    st.markdown("The gradients of several micro-batches are added up. What is each of their losses divided by?")
    documents = sum(map(len, shown.rows.rows.rows))
    if shown.rows.logits is None or documents == 1:
        st.markdown("This needs at least two documents of ids.")
        return
    usual = min(shown.fact(facts.losses_in_rows).telling_size, documents)
    size = st.slider("documents in a micro-batch", 1, documents, usual, key="micro_batch")

    def film() -> tuple[bytes, int]:
        shot = movie(shown.rows, ("losses",), micro_batch=size)
        return as_json(shot), shot.step_at("losses", None, "accumulated")

    clip(*shown.cached(film, movie, size), f"micro-batches of {size}")


def without_target(_shown: Shown) -> None:
    """Show what torch makes of the loss if every label is -100."""
    st.markdown(
        "A document of one token has no next token, so its own mean loss is 0 / 0. With a clamp it is reported as 0.0."
    )
    verdicts((line, str(eval(line, dict(_NOTHING)))) for line in _LINES)  # our own lines
