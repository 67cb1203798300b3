"""Entries: the order of the initial state, which has a row for each sequence."""

from __future__ import annotations

import torch

from packviz.questions.entries.order_restored import ALONE, GROUP, apart, states
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import picture

__all__ = ["ENTRIES"]


def _initial(laboratory: Laboratory) -> Outcome:
    h_0, order = laboratory.fixed["h_0"], laboratory.fixed["packed"].sorted_indices
    alone = laboratory.run(ALONE.format(", h_0[:, b : b + 1]"), h_0=h_0).value
    given, before = laboratory.fixed.value, laboratory.broken.value
    mixed = apart(before, alone)
    return Outcome(
        {"for h_0": not mixed, "for h_n": not apart(given, alone[order])},
        f"Row b of `h_0` belongs to sequence b, as in `x`, and so does row b of `h_n`. If you sort `h_0` by hand, "
        f"{len(mixed)} of {len(alone)} sequences start with the state of another one: give it as it is.",
        picture(
            states("each one alone", alone),
            states("with h_0 as given", given),
            states("with h_0 sorted by hand", before, mixed),
        ),
    )


def _rows_of_h_0(laboratory: Laboratory) -> Outcome:
    B = len(laboratory.fixed["lengths"])
    tried = {
        f"with {rows} row{'s' * (rows > 1)} and enforce_sorted={enforced}": laboratory.run(_given_state(rows, enforced))
        for enforced in (False, True)
        for rows in (B - 1, B + 1)
    }
    right, refused = laboratory.fixed.value, laboratory.broken.error
    sorted_by_you = tried[f"with {B - 1} row{'s' * (B > 2)} and enforce_sorted=True"].error
    silent = {name: run.value for name, run in tried.items() if run.error is None}
    ignored = [name for name, h_n in silent.items() if torch.equal(h_n, right)]
    return Outcome(
        {name: run.error is not None for name, run in tried.items()},
        f"`h_0` has to be (L·D, B, H), here {tuple(laboratory.fixed['h_0'].shape)}. To sort it, torch takes its rows "
        f"{laboratory.fixed['packed'].sorted_indices.tolist()}; with one too few it ends in `{refused}`. "
        f"With `enforce_sorted=True` torch says `{sorted_by_you}`. "
        + (f"Nothing is raised {' and '.join(silent)}" if silent else "")
        + (f": `h_n` is then as from the first {B} rows alone" if ignored else "")
        + (". Check `h_0.size(1)` yourself." if silent else ""),
        picture(
            states(f"h_n with {B} rows", right),
            *(states(f"h_n {name}", h_n, () if name in ignored else range(B)) for name, h_n in silent.items()),
        ),
    )


def _given_state(rows: int, enforce_sorted: bool) -> str:
    """Return the program that gives gru an h_0 of so many rows."""
    order = "order = lengths.argsort(descending=True)\nx, lengths = x[order], lengths[order]\n"
    pack = order + PACK.replace("False", "True") if enforce_sorted else PACK
    return pack + _GIVEN.format(rows)


_GIVEN = "h_0 = torch.arange(4.0 * {0}).view(1, {0}, 4) / 10\ngru(packed, h_0)[1][0].detach()"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="order-of-h-0",
        group=GROUP,
        question="In which order must the initial hidden state h_0 be: must I sort it, too?",
        claim="`h_0` goes in, and `h_n` comes out, with the longest sequence first.",
        broken="h_0 = torch.linspace(-1, 1, 12).view(1, 3, 4)\n"
        + PACK
        + "gru(packed, h_0[:, packed.sorted_indices])[1][0].detach()",
        fixed="h_0 = torch.linspace(-1, 1, 12).view(1, 3, 4)\n" + PACK + "gru(packed, h_0)[1][0].detach()",
        experiment=_initial,
        source="mlverse/torch issue 499; pytorch/pytorch issue 15225",
        rows=(16,),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="rows-of-h-0",
        group=GROUP,
        question="INDICES element is out of DATA bounds: what is wrong with my h_0?",
        claim="An `h_0` for another number of sequences is refused.",
        broken=PACK + _GIVEN.format(2),
        fixed=PACK + _GIVEN.format(3),
        experiment=_rows_of_h_0,
        source="pytorch/pytorch issue 15225",
        rows=(16,),
        messages=(
            "RuntimeError: INDICES element is out of DATA bounds, id=2 axis_dim=2",
            "RuntimeError: Expected hidden size (1, 3, 4), got [1, 2, 4]",
        ),
        batch="1 2\n3\n4 5 6",
    ),
)
