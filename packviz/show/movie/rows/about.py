"""What a movie says about a run over rows as a whole, and its program."""

import textwrap

import torch
from torch import Tensor

from packviz.compute.row_layers import AttentionLayer
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.show.movie.about import About
from packviz.show.movie.marks import CodeLine
from packviz.show.movie.rows.loss_captions import found_losses
from packviz.show.movie.rows.spelled import Spelled, spelled
from packviz.show.movie.rows.through import shown_row, through
from packviz.show.movie.rows.view import RowsView, heads_of
from packviz.show.movie.rows.words import texts
from packviz.text import counted, shape

SDPA = "scaled_dot_product_attention"


def about(view: RowsView) -> About:
    """Return what the movie says about its run."""
    run, notes, L, shown = view.trace, list[str](), len(view.trace.layers), view.stages
    rows = counted(len(run.rows.rows), "row")
    heads, stack = heads_of(run), {"layers": L, "directions": 1, "layer": view.layer, "direction": 0}
    stack |= {"heads": heads, "head": view.head} if heads > 1 else {}
    seen = [layer.output for layer in run.layers]
    if isinstance(layer := run.layers[view.layer], AttentionLayer):
        seen += [layer.query, layer.value, layer.scores, torch.ones(1, device="cpu")]  # weights are at most 1
    largest = max(map(_largest, seen))
    if len(view.b) < sum(view.lengths):
        notes.append(f"showing {len(view.b)} of {counted(sum(view.lengths), 'token')}")
    own = {"weight": found_losses(view).heaviest} if "losses" in shown else {}
    own |= {"influence": _largest(through(view).leak.influence) or 1.0} if "leak" in shown else {}
    proof, is_torchs = _proof(view)
    return About(
        run=run,
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
            "tip": f"{'sequence' if 'two' in shown else 'document'} {{seq}}, token {{t}}",
            "typed": "“{said}”, ",
            "address": ", packed row {n}",
        },
        numbers=view.numbers,
        scales={"input": 1.0, "state": largest or 1.0, **own},
        notes=tuple(notes),
        proof=proof,
        exact=view.exact and is_torchs,
        stack=stack if L > 1 or heads > 1 else {},
    )


def _largest(numbers: Tensor) -> float:
    """Return the largest size of a finite number."""
    return float(numbers.detach().nan_to_num(0.0, 0.0, 0.0).abs().max())


def _proof(view: RowsView) -> tuple[str, bool]:
    """Return what of the stages shown is torch's own, in words, and whether all of it is."""
    shown, kind = view.stages, view.trace.config.layer
    layer = {"attention": SDPA, "conv": "nn.Conv1d"}.get(kind, f"nn.{kind.upper()}")
    torchs, others = list[str](), list[str]()
    if "two" in shown:
        torchs.append("the order of the PackedSequence is torch's own")
    if "fill" in shown:
        others.append("packviz fills the rows itself: torch has no function for it")
    if "borders" in shown:
        others.append("packviz computed these borders, and the lines of code make the same ones in torch")
    if shown & {"attention", "run", "leak"}:
        torchs.append(f"the outputs come from torch's own {layer}")
    if "losses" in shown and view.trace.logits is not None:
        torchs.append("the losses come from torch's own cross_entropy")
    elif "losses" in shown:
        others.append("tokens that are no ids have no loss")
    return "; ".join(torchs + others), not others


def program(view: RowsView) -> dict[str, CodeLine]:
    """Return the statements beside the picture, by name, in order, without those that this movie does not need."""
    run, shown, it = view.trace, view.stages, spelled(view)
    config, (R, C) = run.config, (len(run.rows.rows), run.rows.max_length)
    fill = f"pv.fill_rows(\n    lengths, {config.max_length},\n    strategy={config.strategy!r})"
    row = shown_row(view)
    documents = f"documents = [sequences[b][i:j]\n    for b, i, j in rows.rows[{row}]]"
    alone, through_row = "alone = [model(document)\n    for document in documents]", shown & {"run", "leak"}
    lines = {
        "two": CodeLine("row = torch.cat(sequences)", shape(*torch.cat(list(run.batch.sequences)).shape)),
        "fill": CodeLine(
            f"# torch has no function for this\nimport packviz as pv\nrows = {fill}", f"{counted(R, 'row')} of {C}"
        ),
    }
    if "borders" in shown or (config.layer == "attention" and config.isolate):
        lines["borders"] = CodeLine(_mask(it), f"({C}, {C})")
    if config.layer == "attention":
        sizes = R, config.num_heads, C, config.embedding_dim // config.num_heads
        lines["attention"] = CodeLine(
            f"{_open_mask(it)}out = F.{SDPA}(\n    query, key, value,\n    attn_mask=mask)", shape(*sizes)
        )
        alone = f"{documents}\n{alone}"
    elif through_row:
        made = f"({sum(run.rows.lengths[row])}, {config.embedding_dim})"
        packed = config.isolate and config.layer != "conv"
        lines["run"] = CodeLine(f"{documents}\n{_over_the_row(view)}", f"data {made}" if packed else made)
    if "leak" in shown:
        lines["leak"] = CodeLine(alone, counted(len(run.rows.rows[row]), "document"))
    if "losses" in shown:
        loss = "loss = F.cross_entropy(\n    logits.transpose(1, 2), labels,\n    reduction='none')"
        batches = run.logits is not None  # then some steps show the loss of the padded batch, which has another shape
        lines["losses"] = CodeLine(loss, "" if batches else f"({R}, {C})")
    return lines


def _mask(it: Spelled) -> str:
    """Return the lines that make the mask with which the documents of a row are kept apart."""
    free = f"\nseq_idx = F.pad(seq_idx, (0, {it.pads}), value=-1)" if it.pads else ""
    same = "seq_idx[:, None] == seq_idx"
    mask = f"mask = ({same})" + ("\nmask = mask & (seq_idx >= 0)" if it.pads else "")
    tril = "\nmask = mask.tril()" if it.view.trace.config.causal else ""
    return f"""\
n = torch.tensor(rows.lengths[{it.row}])
seq_idx = torch.arange(len(n))
seq_idx = seq_idx.repeat_interleave(n){free}
{mask}{tril}"""


def _open_mask(it: Spelled) -> str:
    """Return the lines that make the mask of a run that does not keep the documents of a row apart; else ""."""
    C, config = it.view.trace.rows.max_length, it.view.trace.config
    if config.isolate:
        return ""
    free = f"mask[:, {it.tokens}:] = False\nmask[{it.tokens}:] = False\n" if it.pads else ""
    return f"mask = torch.ones({C}, {C}).bool()\n{free}" + ("mask = mask.tril()\n" if config.causal else "")


def joined_code(view: RowsView) -> CodeLine:
    """Return what runs in place of a line of the program in a run that does not keep the documents of a row apart."""
    if view.trace.config.layer == "attention":
        C = view.trace.rows.max_length
        return CodeLine(_open_mask(spelled(view)).rstrip(), f"({C}, {C})")
    return CodeLine(_over_the_row(view), "")


def _over_the_row(view: RowsView) -> str:
    """Return the lines in which the tokens of a row are embedded and the layer runs over them."""
    config, run = view.trace.config, view.trace
    of = "[:, None]" if run.values is not None and run.batch.sequences[0].dim() == 1 else ""
    each, whole = f"xs = [embed(d{of}) for d in documents]", f"x = embed(torch.cat(documents){of})"
    assert config.layer != "attention"  # which has lines of its own
    if config.layer == "conv":
        conv = f"conv(F.pad(x.T, ({config.kernel_size - 1}, 0))).T"
        over = f"xs = [{conv}\n    for x in xs]" if config.isolate else f"x = {conv}"
        if config.num_layers > 1:
            over = "for conv in layers:\n" + textwrap.indent(over, "    ")
        return f"{each}\n{over}\noutput = torch.cat(xs)" if config.isolate else f"{whole}\n{over}\noutput = x"
    made = f"output, {CELL_KINDS[config.layer].in_code('n')}"
    if config.isolate:
        packed = "packed = pack_sequence(\n    xs, enforce_sorted=False)"
        return f"{each}\n{packed}\n{made} = {config.layer}(packed)"
    return f"{whole}\n{made} = {config.layer}(x)"
