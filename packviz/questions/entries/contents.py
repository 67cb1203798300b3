"""Entries: what is in a PackedSequence."""

from __future__ import annotations

from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Film, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP"]

GROUP = "What is in a PackedSequence"


def _time_major(laboratory: Laboratory) -> Outcome:
    rows, joined = laboratory.fixed["packed"].data, laboratory.broken.value
    lengths = laboratory.fixed["lengths"].tolist()
    x = laboratory.fixed["x"][:, :, 0]
    return Outcome(
        {"for the rows of data": bool((rows[:, 0] == joined).all())},
        f"`data` holds time step 0 of every sequence first, {rows[: len(lengths), 0].tolist()}, then time step 1, and "
        f"so on. Joined one sequence after the other they would be {joined.tolist()}.",
        picture(grid("x", x, lengths), strip("packed.data", rows, owners_of(lengths))),
    )


def _no_size(laboratory: Laboratory) -> Outcome:
    rows, batch = laboratory.fixed.value
    asked = {
        name: laboratory.run(f"packed = pack_padded_sequence(x, lengths, batch_first=True)\npacked.{name}")
        for name in ("size()", "shape", "dim()")
    }
    return Outcome(
        {f"with packed.{name}": done.error is None for name, done in asked.items()},
        f"It is a tuple of four fields. `packed.data` has the size {tuple(rows)}, and `packed.batch_sizes[0]` = "
        f"{int(batch)} sequences are in it.",
    )


_PACK = "packed = pack_padded_sequence(x, lengths, batch_first=True)\n"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="time-major",
        group=GROUP,
        question="Why are the samples in packed.data not one after the other?",
        claim="`data` holds the sequences one after the other.",
        broken="torch.cat(sequences)",
        fixed=_PACK + "packed.data.flatten()",
        experiment=_time_major,
        source="pytorch/pytorch issue 1820",
        rows=(1,),
        film=Film("pack"),
    ),
    Entry(
        key="no-size",
        group=GROUP,
        question="'PackedSequence' object has no attribute 'size': what shape does it have?",
        claim="A PackedSequence can be asked for its shape.",
        broken=_PACK + "packed.size()",
        fixed=_PACK + "packed.data.size(), packed.batch_sizes[0]",
        experiment=_no_size,
        source="sgrvinod/a-PyTorch-Tutorial-to-Image-Captioning issue 176; TylerYep/torch-summary and others",
        rows=(5,),
        messages=(
            "AttributeError: 'PackedSequence' object has no attribute 'size'",
            "AttributeError: 'PackedSequence' object has no attribute 'shape'",
            "AttributeError: 'PackedSequence' object has no attribute 'dim'",
        ),
        film=Film("pack"),
    ),
)
