"""What leaks: each document alone against the row, the influence of tokens on outputs, and the verdict of both."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.compute.rows import trace_rows
from packviz.inputs.documents import position_ids_of
from packviz.show.movie.layout import Grid, Margins, Place, Scene, above, beside, panel
from packviz.show.movie.marks import CodeLine, Frame, Marks, Step, frame, marks, title
from packviz.show.movie.once import once
from packviz.show.movie.rows.about import joined_code
from packviz.show.movie.rows.through import Through, at_row, row_box, row_tokens, shown_part, through
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import chip, say, texts, width
from packviz.show.movie.written import scaled
from packviz.text import joined, sequence_label, two_decimals

NUMBERED = 16  # up to this many tokens, the influence is written as numbers
BESIDE, ABOVE = 2.2, 1.1  # units: words of at most this width are beside the rows of numbers, and above the columns


def leak(view: RowsView) -> Iterator[Step]:
    """Show the outputs of each layer beside each document alone, the influence by documents, and the verdict.

    In full depth, what keeps the documents apart is first taken away.
    """
    row, layers = through(view), range(len(view.trace.layers))
    found, n = row.leak, len(row.leak.owner)
    alone = ("alone", Scene([row_box(view, states=False)]))  # without the influence, cells are larger
    which = "before_row" if len(view.trace.rows.rows) > 1 else "before"
    before = f"{say(f'leak.{which}', 'leak.expected', row=row.row)}{shown_part(view)}"
    yield Step(before, (_at(view, 0, compared=False),), scene=alone, time=0, name="before")
    apart = (CodeLine("difference = (output - alone).abs().amax(-1)", f"({n},)"),)
    gradient = (CodeLine("(gradient,) = torch.autograd.grad(output[q].sum(), x)", f"({n}, {found.alone.size(-1)})"),)
    without = _without_borders(view) if "leak" in view.deep else None
    if without is not None:
        differ, reached = _leaking(without)
        code = joined_code(without)
        yield Step(differ, (_at(without, layers[-1]),), (code, *apart), "wrong", scene=alone, name="without")
        yield Step(reached, (_whole(without),), (code, *gradient), "wrong", name="reached")
    for layer in layers:
        caption, picture = _alone(view, layer, again=without is not None), _at(view, layer)
        wrong = bool(found.differs[layer].any())
        yield Step(caption, (picture,), apart, "wrong" if wrong else "", scene=alone, name=f"layer {layer}")
    for d in np.unique(row.owner).tolist() if without is None else ():
        by = (found.influence[found.owner[: found.probed] == d] != 0).any(0)
        others = [row.pieces[other][0] for other in sorted({*found.owner[by].tolist()} - {d})]
        keys = ["leak.influence"] if others else ["leak.no_influence", *["leak.no_other"] * (len(row.pieces) > 1)]
        caption = say(*keys, d=row.pieces[d][0], others=others)
        yield Step(caption, (_at(view, layers[-1], upto=d),), gradient, "wrong" if others else "", name=f"document {d}")
    yield Step(
        verdict(view, leaked=without is not None),
        (_whole(view),),
        tone="" if found.verdict == "none" else "wrong",
        name="verdict",
    )
    came = {"none": [], "positions": ["leak.ran_on"]}.get(found.verdict, ["leak.has_leaked"])
    came = came if len(row.pieces) > 1 else ["leak.held_one"]
    yield Step(say(*came, "leak.prevention"), (_whole(view),), name="end")


def _without_borders(view: RowsView) -> RowsView | None:
    """Return the same run without what keeps its documents apart; None if it has nothing, or if nothing leaks then."""
    if not view.trace.config.isolate:
        return None
    together = replace(view.trace.config, isolate=False)
    other = replace(view, trace=trace_rows(view.trace.batch, together), made={})
    return other if through(other).leak.crossing.any() else None


def _leaking(view: RowsView) -> tuple[str, str]:
    """Return how far outputs are from those of each document alone, and whose tokens change them, in words."""
    row = through(view)
    apart = two_decimals(float(row.leak.difference[-1].max()))
    q, k = row.leak.crossing.nonzero().T
    first = int(row.leak.owner[k].min())
    readers = [row.pieces[d][0] for d in sorted({*row.leak.owner[q[row.leak.owner[k] == first]].tolist()})]
    reached = "reached_first" if len({*row.leak.owner[k].tolist()}) > 1 else "reached"
    caption = say(f"leak.{reached}", by=row.pieces[first][0], of=readers)
    return say("leak.without", cure=_cure(view), apart=apart), caption


def _cure(view: RowsView) -> str:
    """Return what can keep the documents of a row apart in a layer of this kind, in words."""
    return {"attention": "a mask that hides other documents", "conv": "cuts at the borders"}.get(
        view.trace.config.layer, "a PackedSequence"
    )


def _alone(view: RowsView, layer: int, *, again: bool) -> str:
    """Return how the outputs of a layer compare with those of each document alone, in words.

    again: whether they were shown before without what keeps the documents apart.
    """
    found = through(view).leak
    differs, most = found.differs[layer], float(found.difference[layer].max())
    places = _places(view, differs)
    key = "differs_in" if len(places) > 1 else "differs" if places else "rounding" if most else "equal"
    where = [f"**With {_cure(view)}**"] if again else []
    where += [f"after layer {layer}"] if len(view.trace.layers) > 1 else []
    place = ", ".join(where) or "here"
    known = {"where": place[0].upper() + place[1:], "apart": two_decimals(most)}
    documents = [*dict.fromkeys(b for b, _ in places)]  # two pieces may be of one
    return say(f"leak.{key}", place="".join(told for _, told in places), documents=documents, **known)


def verdict(view: RowsView, *, leaked: bool = False) -> str:
    """Return what both probes say together, and why, in words.

    leaked: whether the row was shown before without what keeps its documents apart, and then leaked.
    """
    row, config = through(view), view.trace.config
    if len(row.pieces) == 1 and row.leak.verdict == "none":
        return say("leak.single")
    if len(row.pieces) == 1 or row.leak.verdict == "positions":
        return _moved(view)
    if row.leak.verdict == "none":
        return _sound(view, leaked=leaked)
    if config.layer == "conv":
        return _reaching(view)
    if config.layer != "attention":
        return say("leak.recurrent", name=config.layer.upper())
    too = config.positions == "learned" and not config.reset_positions
    key = "earlier key" if config.causal else "key"
    return say("leak.attention_positions" if too else "leak.attention", "leak.block_mask", key=key)


def _sound(view: RowsView, *, leaked: bool) -> str:
    """Return the verdict on a row of several documents in which nothing leaks."""
    config = view.trace.config
    if not config.isolate:
        one_cell = config.layer == "conv" and config.kernel_size == 1
        return say("leak.kernel_1" if one_cell else "leak.unseen", dtype=config.dtype)
    rotary = config.layer == "attention" and config.positions == "rope" and not config.reset_positions
    key = {"attention": "mask", "conv": "cut"}.get(config.layer, "packed")
    rounded = key == "mask" and not rotary and bool((through(view).leak.difference[-1] != 0).any())
    now = "_now" * leaked
    return say(f"leak.{key}{now}", *["leak.rotary"] * rotary, *["leak.rounded"] * rounded)


def _moved(view: RowsView) -> str:
    """Return the verdict on a row whose outputs depend on positions that run on."""
    row, hit = through(view), through(view).leak.hit
    first = int(hit.nonzero()[0])
    position = int(view.trace.position_ids[row.row, first])
    return say("leak.positions", later=row.sequence(first), position=position)


def _reaching(view: RowsView) -> str:
    """Return the verdict on a convolution, with how far it reaches into each document if that is what the run shows."""
    row, reach = through(view), (view.trace.config.kernel_size - 1) * len(view.trace.layers)
    within = position_ids_of(view.trace.rows.lengths[row.row])
    exact = torch.equal(row.leak.hit, (row.leak.owner > 0) & (within < reach))
    return say("leak.convolution_reach" if exact else "leak.convolution", reach=reach)


def _places(view: RowsView, tokens: Tensor) -> list[tuple[int, str]]:
    """Return the documents that have some of these tokens of the row, and which ones: "tokens 0 to 2 of {B}"."""
    row, told = through(view), list[tuple[int, str]]()
    for d, (b, start, stop) in enumerate(row.pieces):
        own = [start + i for i in tokens[row.leak.owner == d].nonzero()[:, 0].tolist()]
        runs = [*own[:1], *own[-1:]] if own == [*range(own[0] if own else 0, stop)][: len(own)] else own
        which = (
            f"s {runs[0]} to {runs[-1]}"
            if len(own) > 2 and len(runs) == 2
            else f"{'s' * (len(own) > 1)} {joined([*map(str, own)], 4)}"
        )
        if own:
            told.append((b, f"token{which} of {chip(b)}"))
    return told


def leak_scene(view: RowsView) -> Scene:
    """Return the scene: the row beside or above the picture of its influence."""
    x, n, (wide, high) = _grid(view).text, float(_grid(view).rows), _words(view)
    matrix = panel("influence", n, n, Margins(wide + 1.3 * x, high + 3.0 * x, 0.2, 0.1))
    boxes = row_box(view, states=False), matrix
    return Scene([beside(*boxes), above(*boxes)])


def leak_end(view: RowsView) -> Frame:
    """Return the tokens of the row: all that the next stage takes over."""
    return frame(row_tokens(view))


def _whole(view: RowsView) -> Frame:
    """Return the last layer with the whole picture of the influence."""
    return _at(view, len(view.trace.layers) - 1, upto=len(through(view).leak.owner))


def _grid(view: RowsView) -> Grid:
    n = len(through(view).cells)
    return Grid("influence", n, n, text=max(1.0, n / 15))


def _words(view: RowsView) -> tuple[float, float]:
    """Return the width of the words beside the influence, and the height of those above it, in units; 0.0 for none."""
    if len(through(view).cells) > NUMBERED or through(view).strip.width > BESIDE:
        return 0.0, 0.0
    return through(view).strip.width + 0.1, 1.1 if width(view, 1.0) <= ABOVE else 0.0


@once
def _at(view: RowsView, layer: int, *, compared: bool = True, upto: int = -1) -> Frame:
    """Return the frame that shows a layer, and the influence on the documents up to one."""
    return at_row(view, layer, compared=compared) | _influence(view, upto)


def _influence(view: RowsView, upto: int) -> Frame:
    """Return the influence on the outputs of the documents up to one; blocks of two documents are outlined."""
    row, grid = through(view), _grid(view)
    names = np.array([sequence_label(b) for b in view.b[row.tokens].tolist()], dtype=object)
    first = np.flatnonzero(np.diff(row.owner, prepend=-1))
    b, x, sizes = view.b[row.tokens][first], grid.text, np.diff([*first, len(row.cells)])
    wide, high = _words(view)
    left, top = Place("influence", -1.1 * x - wide, first), Place("influence", first, -1.6 * x - high)
    shown = upto >= 0
    return frame(
        title(
            Place("influence", -1.1 * x - wide, -3.0 * x - high),
            "influence of a token (column) on an output (row)",
            shown=shown,
        ),
        marks("reader", "label", left, b, shown=shown, text=names[first], w=x, h=sizes),
        marks("read", "label", top, b, shown=shown, text=names[first], w=sizes, h=1.6 * x),
        *_tokens(view, shown),
        _cells(view, row.owner <= upto),
        *_blocks(view, first, upto),
    )


def _tokens(view: RowsView, shown: bool) -> Iterator[Marks]:
    """Yield the tokens of the outputs, and of the columns if their words are as narrow as those."""
    row, n, (wide, high) = through(view), np.arange(len(through(view).cells)), _words(view)
    b, t = view.b[row.tokens], view.t[row.tokens]
    look: dict[str, Any] = {"text": texts(view)[row.tokens], "token": row.tokens, "shown": shown}
    if wide:
        yield marks("reader:token", "token", Place("influence", -wide, n), b, t, w=wide - 0.1, **look)
    if high:
        yield marks("read:token", "token", Place("influence", n, -high), b, t, **look)


def _cells(view: RowsView, shown: np.ndarray) -> Marks:
    row, grid = through(view), _grid(view)
    b, t, n = view.b[row.tokens], view.t[row.tokens], len(row.cells)
    if n > NUMBERED:
        q = np.arange(n)
        return marks(
            "influence", "vector", grid.cell(q, 0), b, t, w=n, shown=shown, vec=_stripes(view) + q, scale="influence"
        )
    q, k = np.divmod(np.arange(n * n), n)
    values = row.leak.influence[row.cells][:, row.cells].double().numpy()[q, k]
    look: dict[str, Any] = {"v": scaled(values), "text": np.where(values == 0, "0", "").astype(object)}
    look |= {"scale": "influence", "says": "influence on the output of this token"}
    return marks("influence", "value", grid.cell(q, k), b[q], t[q], k, shown=shown[q], **look)


def _crossing(row: Through) -> np.ndarray:
    """Return (N, N): which outputs of the row a token of another document changes."""
    found: np.ndarray = row.leak.crossing.numpy()[row.cells][:, row.cells]
    return found


@once
def _stripes(view: RowsView) -> int:
    row = through(view)
    return view.stripes(row.leak.influence[row.cells][:, row.cells])


def _blocks(view: RowsView, first: np.ndarray, upto: int) -> Iterator[Marks]:
    """Yield a ring around what a document does to itself, and an outline around what another one does to it."""
    row, grid = through(view), _grid(view)
    sizes, owner, b = np.diff([*first, len(row.cells)]), row.owner[first], view.b[row.tokens][first]
    inside = grid.cell(first, first)
    yield marks("ring:block", "ring", inside, b, w=sizes, h=sizes, shown=owner <= upto)
    q, k = (each.ravel() for each in np.indices((len(first), len(first))))
    hit = np.logical_or.reduceat(np.logical_or.reduceat(_crossing(row), first, 0), first, 1)[q, k]
    look: dict[str, Any] = {"w": sizes[k], "h": sizes[q], "tone": "wrong"}
    yield marks("mark:block", "mark", grid.cell(first[q], first[k]), b[q], b[k], shown=hit & (owner[q] <= upto), **look)
