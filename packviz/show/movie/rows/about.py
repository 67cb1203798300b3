"""What a movie says about a run over rows as a whole, and its program."""

from packviz.inputs.row_config import RowConfig
from packviz.show.movie.data import About
from packviz.show.movie.marks import CodeLine
from packviz.show.movie.rows.view import RowsView, heads_of
from packviz.show.movie.rows.words import texts
from packviz.text import counted

STAGES = ("two", "fill", "borders", "attention", "run", "leak")


def about(view: RowsView) -> About:
    """Return what the movie says about its run."""
    run, notes, L = view.trace, list[str](), len(view.trace.layers)
    rows = counted(len(run.rows.rows), "row")
    heads, stack = heads_of(run), {"layers": L, "directions": 1, "layer": view.layer, "direction": 0}
    stack |= {"heads": heads, "head": view.head} if heads > 1 else {}
    largest = max(float(layer.output.detach().nan_to_num(0.0, 0.0, 0.0).abs().max()) for layer in run.layers)
    if len(view.b) < sum(view.lengths):
        notes.append(f"showing {len(view.b)} of {counted(sum(view.lengths), 'token')}")
    return About(
        run=run,
        stages=STAGES,
        title=f"{counted(len(view.lengths), 'document')} in {rows} of {run.rows.max_length}",
        layer=view.layer,
        direction=0,
        sequences=len(view.lengths),
        tokens={
            "b": view.b.tolist(),
            "t": view.t.tolist(),
            "n": view.packed.tolist(),
            "said": texts(view).tolist(),
            "offsets": [],
            "tip": "sequence {seq}, place {t}",
            "typed": "“{said}”, ",
            "address": ", packed row {n}",
        },
        numbers=view.numbers,
        scales={"input": 1.0, "state": largest or 1.0},
        notes=tuple(notes),
        proof="the order of the PackedSequence is torch's own",
        exact=view.exact,
        stack=stack if L > 1 or heads > 1 else {},
    )


def program(view: RowsView) -> dict[str, CodeLine]:
    """Return the statements beside the picture, by name."""
    C, config, N = view.trace.config.max_length, view.trace.config, sum(view.lengths)
    rows = f"rows = fill_rows(\n    lengths, {C},\n    strategy={config.strategy!r})"
    return {
        "two": CodeLine("row = torch.cat(sequences)", f"({N},)"),
        "fill": CodeLine(rows, f"{len(view.trace.rows.rows)} × {view.trace.rows.max_length}"),
        "run": CodeLine(_over_the_row(config), f"({N}, {config.embedding_dim})"),
        "leak": CodeLine("alone = [model(document)\n    for document in documents]", f"{len(view.lengths)} documents"),
    }


def _over_the_row(config: RowConfig) -> str:
    if config.layer == "conv":
        pads = f"F.pad({'document' if config.isolate else 'row'}, ({config.kernel_size - 1}, 0))"
        return f"[conv({pads})\n    for document in documents]" if config.isolate else f"output = conv({pads})"
    if config.isolate:
        return f"packed = pack_sequence(documents)\noutput, h_n = {config.layer}(packed)"
    return f"output, h_n = {config.layer}(row)"
