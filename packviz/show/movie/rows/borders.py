"""Borders: position_ids, seq_idx, cu_seqlens and the mask are one information, each turned into the next."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from packviz.inputs.borders import BORDER_RULES, Lengths, Rule, find_documents, starts_by
from packviz.show.movie.layout import Box, Grid, Margins, Place, Scene, above, beside, panel
from packviz.show.movie.marks import CodeLine, Frame, Marks, Step, frame, marks, title
from packviz.show.movie.rows.spelled import LINES, NAME, Spelled, spelled, words_above
from packviz.show.movie.rows.two import token_marks
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import say
from packviz.text import counted

HEAD, DOCUMENT = 1.9, 0.95  # units above a line: its heading, and the letters of documents below that
MEANING, END, FLAG = 3.6, 0.9, 1.5  # units: what a cell of the mask means, the last offset, the widest cell of the mask
BEGINS: dict[Rule, str] = {
    "rises_by_one": "F.pad(\n    position_ids[1:] != position_ids[:-1] + 1,\n    (1, 0), value=True)",
    "falls": "F.pad(\n    position_ids[1:] < position_ids[:-1],\n    (1, 0), value=True)",
    "zero": "position_ids == 0",
}


def borders(view: RowsView) -> Iterator[Step]:
    """Show the row, one step for each spelling, what public rules find, and what all spellings say."""
    it = spelled(view)
    brief = ("lines", Scene([_lines(it, worded) for worded in sorted({0, it.worded})]))  # with larger cells
    yield Step(_row(it), (_frame(it, 1),), scene=brief, name="row")
    captions = {"position_ids": _positions(it), "seq_idx": _numbered(it), "cu_seqlens": _cells_of_borders(it)}
    for many, (name, caption) in enumerate(captions.items(), 2):
        yield Step(caption, (_frame(it, many),), _detail(it, name), scene=brief, name=name)
    mask = _frame(it, 4, mask=True)
    causal = "causal_mask" if view.trace.config.causal else "mask"
    yield Step(say(f"borders.{causal}"), (mask,), _detail(it, "mask"), name="mask")
    yield from _rules(it)
    yield Step(_agreeing(it), (mask,), name="end")


def _row(it: Spelled) -> str:
    """Return the caption of the row: the documents in it, whose borders a layer must know."""
    rows = it.view.trace.rows
    key = "all" if len(rows.rows) == 1 and not rows.dropped else "some"
    if [*it.sequences] != sorted(it.sequences):
        key += "_longest_first"
    elif key == "all" and len(it.sequences) == 1:
        key = "only"
    return say(f"borders.{key}", "borders.needed", row=it.row, C=rows.max_length, sequences=it.sequences)


def _positions(it: Spelled) -> str:
    """Return the caption of position_ids, and what a pad has, or else whose would change if they ran on."""
    if not it.view.trace.config.reset_positions:
        return say("borders.run_on", last=it.tokens - 1)
    more = ["borders.pad_is_0"] if it.pads else ["borders.moved"] if len(it.lengths) > 1 else []
    return say("borders.restart" if len(it.lengths) > 1 else "borders.count", *more, later=it.sequences[1:])


def _numbered(it: Spelled) -> str:
    """Return the caption of seq_idx."""
    D = len(it.lengths)
    numbers = {1: "0", 2: "0 or 1"}.get(D, f"from 0 to {D - 1}")
    rises = ["borders.rises"] if it.view.trace.config.reset_positions and not it.pads and D > 1 else []
    return say("borders.seq_idx_pad" if it.pads else "borders.seq_idx", *rises, numbers=numbers)


def _cells_of_borders(it: Spelled) -> str:
    """Return the caption of cu_seqlens."""
    key = "one_offset" if len(it.lengths) == 1 else "offsets"
    return say(f"borders.{key}", D=len(it.lengths), tokens=it.tokens)


def _agreeing(it: Spelled) -> str:
    """Return the last caption: which spellings say the same, and why position_ids may not."""
    agreeing = [name for name, found in it.found.items() if found == it.lengths]
    if "position_ids" in agreeing:
        keys = ["agree_without_pads" if it.pads else "agree_all"]
    else:
        keys = ["agree_some", "lone_token" if it.view.trace.config.reset_positions else "do_not_agree"]
    known = {"agreeing": agreeing, "D": len(it.lengths), "lengths": it.lengths}
    return say(*(f"borders.{key}" for key in keys), **known)


def _rules(it: Spelled) -> Iterator[Step]:
    """Show what each public rule finds; in one step if all are right."""
    every = [find_documents(position_ids=it.position_ids, rule=rule) for rule in BORDER_RULES]
    if all(found == it.lengths for found in every):
        detail = tuple(_begins(it, rule) for rule in BORDER_RULES)
        picture = _frame(it, 4, mask=True, rule=BORDER_RULES[0])
        yield Step(say("borders.rules"), (picture,), detail, name="rules")
        return
    for rule, found in zip(BORDER_RULES, every, strict=True):
        picture, right = _frame(it, 4, mask=True, rule=rule), found == it.lengths
        yield Step(_found(it, rule, found), (picture,), (_begins(it, rule),), "" if right else "wrong", name=rule)


def _found(it: Spelled, rule: Rule, found: Lengths) -> str:
    """Return the caption of a rule: whether it finds the documents, or else what goes wrong first."""
    starts = set(starts_by(it.position_ids, rule).nonzero().flatten().tolist())
    missed = [b for b, start in zip(it.sequences, it.cu_seqlens, strict=False) if start not in starts]
    taken = sum(start >= it.tokens for start in starts)
    if found == it.lengths:
        key = "right"
    elif taken:
        key = "pads_counted_missed" if missed and len(found) > 1 else "pads_counted"
    elif missed:
        key = "missed" if len(found) > 1 else "one_found"
    else:
        key = "wrong_length" if len(found) == 1 else "wrong_lengths"
    known = {"D": len(it.lengths), "lengths": it.lengths, "found": len(found), "wrong": found}
    return say(f"borders.{rule}", f"borders.{key}", missed=missed, taken=taken, **known)


def _begins(it: Spelled, rule: Rule) -> CodeLine:
    return CodeLine(f"begins = {BEGINS[rule]}", f"({it.view.trace.rows.max_length},)")


def borders_scene(view: RowsView) -> Scene:
    """Return the scene: the lines beside the mask, or above it, and what the cells of the mask mean."""
    it = spelled(view)
    lines, mask = _lines(it), panel("mask", *_mask_grid(it).size, Margins(1.2, HEAD * it.text, 0.2, 0.1))
    meaning = panel("meaning", 2 * (_mask_grid(it).width + MEANING * it.text), 1.0, Margins(1.2, 0.0))
    return Scene([beside(above(lines, meaning, gap=0.6), mask, gap=0.2), above(lines, mask, meaning, gap=0.6)])


def _lines(it: Spelled, worded: int = 0) -> Box:
    """Return the box of the lines, each below its name; with so many lines of words above the cells of the row."""
    height = (len(LINES) - 1) * it.pitch + 1
    lines = panel("lines", it.shown * it.wide, height, Margins(1.2, (HEAD + worded * NAME) * it.text, END))
    x, y = lines.panels["lines"]
    over = (x, y - worded * NAME * it.text)  # the heading, and letters above the first tokens
    return replace(lines, panels={**lines.panels, "documents": over, **({"words": over} if worded else {})})


def borders_end(view: RowsView) -> Frame:
    """Return the tokens of the row: all that the next stage takes over."""
    return {name: group for name, group in _frame(spelled(view), 1).items() if name == "token"}


def _detail(it: Spelled, name: str) -> tuple[CodeLine, ...]:
    """Return the line that makes a spelling from the one before; it makes the pads, too."""
    C, D, config = it.view.trace.rows.max_length, len(it.lengths), it.view.trace.config
    pads = f"(0, {it.pads})"
    positions = (
        "torch.cat([torch.arange(n) for n in lengths])" if config.reset_positions else "torch.arange(sum(lengths))"
    )
    numbers = "torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))"
    if it.pads:
        positions, numbers = f"F.pad({positions}, {pads})", f"F.pad(\n    {numbers},\n    {pads}, value=-1)"
    if config.reset_positions:
        numbers = "(position_ids == 0).cumsum(0) - 1" + (f"\nseq_idx[{it.tokens}:] = -1" if it.pads else "")
    real = "seq_idx[seq_idx >= 0]" if it.pads else "seq_idx"
    same = "(seq_idx[:, None] == seq_idx)"
    lines = {
        "position_ids": positions,
        "seq_idx": numbers,
        "cu_seqlens": f"F.pad({real}.bincount().cumsum(0), (1, 0)).int()",
        "mask": (f"({same} & (seq_idx >= 0))" if it.pads else same) + (".tril()" if config.causal else ""),
    }
    shape = {"cu_seqlens": f"({D + 1},)", "mask": f"({C}, {C})"}.get(name, f"({C},)")
    return (CodeLine(f"{name} = {lines[name]}", shape),)


def _mask_grid(it: Spelled) -> Grid:
    return Grid("mask", it.shown, it.shown, min(it.wide, FLAG))


def _frame(it: Spelled, lines: int, *, mask: bool = False, rule: Rule | None = None) -> Frame:
    """Return the first lines of the picture, with the mask, or with the places where a rule begins a document."""
    view, cells = it.view, np.arange(it.shown)
    here = (view.row == it.row) & (view.column < it.shown)
    first = it.at(np.where(here, view.column, 0), "row")
    place = Place("lines", first.x, np.zeros(len(first.x)))
    named = np.array(LINES[1:], dtype=object)
    at_names = Place("lines", 0.0, np.arange(1, len(LINES)) * it.pitch - NAME * it.text)
    return frame(
        title(Place("documents", 0.0, -HEAD * it.text), _heading(it)),
        marks("spelled name", "note", at_names, np.arange(len(named)), owned=False, text=named, h=NAME * it.text),
        marks(
            "spelled document",
            "label",
            it.at(it.begins, "row")._replace(panel="documents").moved(0.0, -DOCUMENT * it.text),
            it.begins,
            text=it.letters,
            seq=_of(it, it.begins),
            h=it.text,
        ),
        *(words_above(it, here) if it.worded else ()),
        _pads(it, "row", cells, ""),
        token_marks(view, place, here).but(w=it.wide),
        *(group for name in LINES[1 : min(lines, 3)] for group in _numbers(it, name, cells)),
        *(_offsets(it) if lines > 3 else ()),
        *(_mask(it) if mask else ()),
        *([_starts(it, rule)] if rule else ()),
    )


def _heading(it: Spelled) -> str:
    cells = f", the first {it.shown} cells" if it.shown < it.view.trace.rows.max_length else ""
    return f"row {it.row}: {counted(it.tokens, 'token')}{cells}"


def _of(it: Spelled, cells: np.ndarray) -> np.ndarray:
    """Return the sequence of each cell; that of the first document at pads, which are drawn without a hue."""
    found: np.ndarray = np.array(it.sequences)[it.seq_idx.numpy()[cells]]
    return found


def _pads(it: Spelled, line: str, cells: np.ndarray, text: str) -> Marks:
    """Return the pads of a line, if there are any."""
    pads = cells[cells >= it.tokens]
    group = f"spelled pads {line}"
    origin = None if line == "row" else it.at(pads, LINES[LINES.index(line) - 1])
    return marks(
        group, "pad", it.at(pads, line), pads, np.full(len(pads), it.row), owned=False, text=text, w=it.wide,
        says=f"!a pad of row {it.row}", origin=origin,
    )  # fmt: skip


def _numbers(it: Spelled, name: str, cells: np.ndarray) -> tuple[Marks, ...]:
    """Return one line of numbers, a cell for each token, which comes from the line above it."""
    values = it.position_ids if name == "position_ids" else it.seq_idx
    real = cells[cells < it.tokens]
    text = np.array([str(value) for value in values[: len(real)].tolist()], dtype=object)
    number = np.full(it.view.trace.rows.max_length, -1)  # of the token in each cell
    here = it.view.row == it.row
    number[it.view.column[here]] = here.nonzero()[0]
    above_it = LINES[LINES.index(name) - 1]
    group = marks(
        f"spelled {name}", "token", it.at(real, name), real, seq=_of(it, real), token=number[real], text=text,
        w=it.wide, origin=it.at(real, above_it), says=f"!{name}[{{k}}]",
    )  # fmt: skip
    return group, _pads(it, name, cells, "0" if name == "position_ids" else "-1")


def _offsets(it: Spelled) -> tuple[Marks, ...]:
    """Return cu_seqlens: an entry below the first cell of each document, and one after the last cell."""
    begins, ends = it.begins, np.array([it.tokens])
    entry = np.arange(len(begins))
    text = np.array([str(offset) for offset in begins.tolist()], dtype=object)
    group = marks(
        "spelled cu_seqlens", "token", it.at(begins, "cu_seqlens"), entry, seq=_of(it, begins), text=text, w=it.wide,
        origin=it.at(begins, "seq_idx"), says="!cu_seqlens[{k}]",
    )  # fmt: skip
    last = marks(
        "spelled end", "axis", it.at(ends, "cu_seqlens"), np.array([len(it.lengths)]),
        text=str(it.tokens), w=END, says="!cu_seqlens[{k}], the end", tone="now",
        origin=it.at(ends - 1, "seq_idx"),
    )  # fmt: skip
    return (group, last) if it.tokens <= it.shown else (group,)


def _mask(it: Spelled) -> tuple[Marks, ...]:
    """Return the mask: a cell for each query and key, which comes from the key's number of its document."""
    n, grid = it.shown, _mask_grid(it)
    q, k = np.divmod(np.arange(n * n), n)
    set_ = it.mask.numpy()[q, k]
    text = np.where(set_, "True", "False").astype(object)
    cells = marks(
        "spelled mask",
        "flag",
        grid.cell(q, k),
        q,
        k,
        w=grid.width,
        seq=_of(it, q),
        text=text,
        origin=it.at(k, "seq_idx"),
        says="!mask: {text}",
    )
    of: dict[str, Any] = {"text": it.letters, "seq": _of(it, it.begins)}
    return (
        title(Place("mask", 0.0, -HEAD * it.text), "mask: query ↓ reads key →"),
        marks("spelled query", "label", grid.label(it.begins), it.begins, **of),
        marks("spelled key", "label", grid.cell(-DOCUMENT * it.text, it.begins), it.begins, h=it.text, **of),
        cells,
        *_meaning(it),
    )


def _meaning(it: Spelled) -> tuple[Marks, Marks]:
    """Return a cell of each kind of the mask, and what it means."""
    kind, wide, flag = np.arange(2), _mask_grid(it).width, np.array(["True", "False"], dtype=object)
    at = Place("meaning", kind * (wide + MEANING * it.text), 0.0)
    said = np.array(["is read", "is not read"], dtype=object)
    return (
        marks("spelled kind", "flag", at, kind, w=wide, seq=it.sequences[0], text=flag, says="!mask: {text}"),
        marks("spelled meaning", "note", at.moved(wide + 0.25, 0.0), kind, owned=False, text=said),
    )


def _starts(it: Spelled, rule: Rule) -> Marks:
    """Return the outlines of the positions at which a rule begins a document: good at a border, wrong elsewhere."""
    cells = np.arange(it.shown)
    begins = starts_by(it.position_ids, rule).numpy()[: it.shown]
    tone = np.where(np.isin(cells, it.cu_seqlens[:-1]), "good", "wrong").astype(object)
    look: dict[str, Any] = {"shown": begins, "tone": tone, "w": it.wide}
    return marks("spelled start", "mark", it.at(cells, "position_ids"), cells, owned=False, **look)
