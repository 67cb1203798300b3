"""What a movie says about a run over rows as a whole, and its program."""

import torch

from packviz.compute.row_layers import AttentionLayer
from packviz.facts.row_losses import heaviest
from packviz.inputs.row_config import RowConfig
from packviz.show.movie.data import About
from packviz.show.movie.marks import CodeLine
from packviz.show.movie.packing.view import shape
from packviz.show.movie.rows.borders import spelled
from packviz.show.movie.rows.view import RowsView, heads_of
from packviz.show.movie.rows.words import texts
from packviz.text import counted

SDPA = "scaled_dot_product_attention"
STAGES = ("two", "fill", "borders", "attention", "run", "leak", "losses")


def about(view: RowsView) -> About:
    """Return what the movie says about its run."""
    run, notes, L = view.trace, list[str](), len(view.trace.layers)
    rows = counted(len(run.rows.rows), "row")
    heads, stack = heads_of(run), {"layers": L, "directions": 1, "layer": view.layer, "direction": 0}
    stack |= {"heads": heads, "head": view.head} if heads > 1 else {}
    seen = [layer.output for layer in run.layers]
    if isinstance(layer := run.layers[view.layer], AttentionLayer):
        seen += [layer.query, layer.value, layer.scores, torch.ones(1)]  # weights are at most 1
    largest = max(float(each.detach().nan_to_num(0.0, 0.0, 0.0).abs().max()) for each in seen)
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
        scales={"input": heaviest(run), "state": largest or 1.0},
        notes=tuple(notes),
        proof="the order of the PackedSequence and the outputs of the layers are torch's own",
        exact=view.exact,
        stack=stack if L > 1 or heads > 1 else {},
    )


def program(view: RowsView) -> dict[str, CodeLine]:
    """Return the statements beside the picture, by name."""
    heads, C_rows = view.trace.config.num_heads, view.trace.rows.max_length
    sizes = len(view.trace.rows.rows), heads, C_rows, view.trace.config.embedding_dim // heads
    C, config, N = view.trace.config.max_length, view.trace.config, sum(view.lengths)
    rows, it = f"rows = fill_rows(\n    lengths, {C},\n    strategy={config.strategy!r})", spelled(view)
    mask = f"""\
n = torch.tensor(rows.lengths[{it.row}])
seq_idx = torch.arange(len(n))
seq_idx = seq_idx.repeat_interleave(n)
mask = (seq_idx[:, None] == seq_idx){".tril()" if config.causal else ""}"""
    if config.layer == "attention":
        layer = {"attention": CodeLine(f"out = F.{SDPA}(\n    query, key, value,\n    attn_mask=mask)", shape(*sizes))}
    else:
        layer = {"run": CodeLine(_over_the_row(config), f"({N}, {config.embedding_dim})")}
    return {
        "two": CodeLine("row = torch.cat(sequences)", f"({N},)"),
        "fill": CodeLine(rows, f"{len(view.trace.rows.rows)} × {view.trace.rows.max_length}"),
        "borders": CodeLine(mask, f"({it.tokens}, {it.tokens})"),
        **layer,
        "leak": CodeLine("alone = [model(document)\n    for document in documents]", f"{len(view.lengths)} documents"),
        "losses": CodeLine(
            "loss = F.cross_entropy(\n    logits.transpose(1, 2), labels,\n    reduction='none')",
            f"({len(view.trace.rows.rows)}, {view.trace.rows.max_length})",
        ),
    }


def _over_the_row(config: RowConfig) -> str:
    if config.layer == "conv":
        pads = f"F.pad({'document' if config.isolate else 'row'}, ({config.kernel_size - 1}, 0))"
        return f"[conv({pads})\n    for document in documents]" if config.isolate else f"output = conv({pads})"
    if config.isolate:
        return f"packed = pack_sequence(documents)\noutput, h_n = {config.layer}(packed)"
    return f"output, h_n = {config.layer}(row)"
