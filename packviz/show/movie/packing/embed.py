"""The embedding, if there is one: every id becomes its row of a table."""

from collections.abc import Iterator

import numpy as np

from packviz.show.movie.layout import Scene
from packviz.show.movie.marks import CodeLine, Frame, Step, frame
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, places, recurrent, token_table
from packviz.show.movie.packing.code_lines import axes
from packviz.show.movie.packing.pad import pad_end
from packviz.show.movie.packing.sheet import heading, outline, sheet
from packviz.show.movie.packing.view import View
from packviz.show.movie.packing.words import say
from packviz.show.movie.written import number, rounded
from packviz.text import shape

LISTED = 4  # numbers of the pad's row that are listed


def embed(view: View) -> Iterator[Step]:
    """Show how every id, including the pad's, becomes its row of the embedding table."""
    table, end = view.trace.padded.embedding, embed_end(view)
    assert table is not None
    row = table[int(inputs.pad_id(view))]  # the pad's
    own, pads = bool(row.any()), len(token_table.pads(view)[0])
    caption = say("embed.vectors", F=table.shape[1])
    if pads:
        caption = f"{caption} {say('embed.pads_vectors' if own else 'embed.pads_zeros')}"
    yield Step(caption, (end,), detail=(axes(view, ids=False),), name="embedded")
    if "embed" in view.deep and pads:
        values = ", ".join(f"{value:.4g}" for value in rounded(row[:LISTED]).tolist())
        dots = ", …" if len(row) > LISTED else ""
        detail = (
            CodeLine(_made(view)),
            CodeLine(f"embedding.weight[{number(inputs.pad_id(view))}]", shape(len(row))),
            CodeLine(f"= [{values}{dots}]"),
        )
        if not own and (alike := _like_pads(view)):
            caption = say("embed.pad_row_shared", alike=alike)
        else:
            caption = say("embed.pad_row_random" if own else "embed.pad_row_zero", cell=recurrent.cell(view).upper())
        yield Step(caption, (end | _around_pads(view),), detail=detail)


def _made(view: View) -> str:
    """Return how the embedding is made."""
    table, config = view.trace.padded.embedding, view.trace.config
    assert table is not None
    idx = None if config is None else config.padding_idx
    sizes = ", ".join(map(str, table.shape))
    return f"embedding = nn.Embedding(\n    {sizes}{'' if idx is None else f', padding_idx={idx}'})"


def _like_pads(view: View) -> list[int]:
    """Return the sequences shown that have a token with the id of the pads."""
    b, t = token_table.sequence(view), token_table.time_step(view)
    same = view.trace.padded.tokens.numpy()[b, t] == inputs.pad_id(view)
    return sorted({*b[same].tolist()})


def _around_pads(view: View) -> Frame:
    """Return an outline around the pads of each sequence."""
    b, first, count = np.unique(token_table.pads(view)[0], return_index=True, return_counts=True)
    start = token_table.pads(view)[1][first]  # the first is the earliest: pads are ordered by time step
    return frame(outline("mark:pads", places.grid(view), (view.place[b], start), 1, count, b, tone="now"))


@once
def embed_end(view: View) -> Frame:
    """Return the embedded grid, or the padded one without an embedding."""
    return (
        sheet(view, places.grid(view), view.place, heading(view, "embedded"))
        if inputs.embedded(view)
        else pad_end(view)
    )


def embed_scene(view: View) -> Scene:
    """Return the scene with only the grid."""
    return Scene([places.grid(view).box(counts=False)])
