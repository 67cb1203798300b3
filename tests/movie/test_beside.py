"""Padded beside packed: every number on either side is torch's, and what is said of them follows from them."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from math import isnan
from typing import Any

import pytest
import torch
from movie_cases import PACKED, Case, over
from movie_screen import Look, close, match, standing, state
from torch import Tensor

from packviz.compute.determinism import exact_arithmetic
from packviz.facts.padded_run import layer_states

each = over(PACKED)
LETTERS = r"((?:\{\w+\}(?:, | and )?)+)"


@cache
def padded(case: Case) -> Tensor:
    """(B,T,H) the watched states where the padded grid is run instead: see test_comparison.py."""
    layer, direction = case.watched
    with exact_arithmetic():
        return layer_states(case.trace)[layer][direction]


@cache
def packed(case: Case) -> Tensor:
    """(B,T,H) what the packed side holds at each time step: the row of then, or that on which it waits or rests."""
    return torch.stack([torch.stack([case.held(b, t) for t in range(case.T)]) for b in range(case.B)])


def timed(case: Case) -> Iterator[tuple[int, dict[str, Any], dict[str, Look]]]:
    """Yield (t, step, cells after it) for every time step that is filmed, in order."""
    times = range(case.steps_filmed)
    for t, told in zip(reversed(times) if case.direction else times, case.beside.of("run")[2:-2], strict=True):
        yield t, *told


def apart(a: Tensor, b: Tensor) -> tuple[float, bool | None]:
    """Return the largest distance of two states, and whether it is more than rounding; None if it is close to it."""
    same = (a == b) | (a.isnan() & b.isnan())
    distance = float((a.double() - b.double()).abs().masked_fill(same, 0).max())
    size = max(1.0, float(torch.maximum(a.abs(), b.abs()).nan_to_num(0, 0, 0).max()))
    if distance <= 2e-6 * size:
        return distance, False
    return distance, None if distance < 5e-5 * size else True


def near(told: str, true: float) -> bool:
    """Whether a number of two digits that count stands for this one."""
    number = float(told.replace("Δ", "").strip())
    return isnan(true) if isnan(number) else number == pytest.approx(true, rel=0.06, abs=2e-6)


def verdict(case: Case, b: int, t: int) -> tuple[float, bool | None]:
    return apart(padded(case)[b, t], packed(case)[b, t])


def as_colour(cell: Look, distance: float) -> bool:
    """Whether a cell shows a distance on the diverging scale; one that is not finite has no number there."""
    return close(list(cell["vec"]), torch.tensor(distance))


@each
def test_both_sides_start_alike_and_hold_torchs_states(case: Case) -> None:
    left_out = case.direction and case.T > 60
    for side, states in (("padded", padded(case)), ("packed", packed(case))):
        for b in case.filmed:
            assert close(state(case.beside.first, f"h:{side}", b), states[b, 60] if left_out else case.h_0[b])
            for t, _, cells in timed(case):
                assert close(state(cells, f"h:{side}", b), states[b, t]), (side, b, t)
    for t, _, cells in timed(case):
        for b in case.filmed:
            ended = t == 0 if case.direction else t >= case.lengths[b] - 1
            assert cells.get(f"ring:packed:{b}", {"shown": False})["shown"] == (ended and not case.small)


def read(cells: dict[str, Look], side: str, b: int, t: int) -> Any:
    """Return what a side has at a place of x: a token, a pad or nothing."""
    there = [cells[name] for kind in ("x", "pad") if (name := f"{kind}:{side}:{b}:{t}") in cells]
    assert len(there) <= 1
    return there[0] if there and there[0]["shown"] else None


@each
def test_a_pad_enters_on_the_padded_side_alone(case: Case) -> None:
    for t, _, cells in timed(case):
        for side in ("padded", "packed"):
            fed = [b for b in case.filmed if side == "padded" or t < case.lengths[b]]
            for b in case.filmed:
                kinds = [f"{kind}:{side}:{b}" for kind in ("in", "inpad")]
                entered = [cells[name] for name in kinds if name in cells and cells[name]["shown"]]
                assert len(entered) == (b in fed), (side, b, t)
                for cell in entered:
                    source = read(cells, side, b, t)
                    assert cell["role"] == source["role"] == ("token" if case.mask[b, t] else "pad")
                    assert cell["text"] == source["text"]
                    assert cell.get("vec") == (None if case.small else source.get("vec"))
            focus = cells.get(f"focus:{side}", {"shown": False})
            assert focus["shown"] == bool(fed)
            if fed:
                corner = read(cells, side, case.filmed[0], t)
                assert (focus["x"], focus["y"], focus["h"]) == (corner["x"], corner["y"], len(fed))


@each
def test_both_sides_have_their_rows_in_the_same_order(case: Case) -> None:
    for cells in (case.beside.first, *(cells for _, _, cells in timed(case))):
        for b in case.filmed:
            assert cells[f"label:paddedx:{b}"]["y"] == cells[f"label:packedx:{b}"]["y"]


@each
def test_the_padded_x_has_every_cell_and_the_packed_one_its_rows_alone(case: Case) -> None:
    places, cells = [*product(case.filmed, range(case.steps_filmed))], case.beside.first
    for side, (b, t) in product(("padded", "packed"), places):
        cell, real = read(cells, side, b, t), bool(case.mask[b, t])
        assert bool(cell) == (side == "padded" or t < case.lengths[b])
        assert cell is None or cell["role"] == ("token" if real else "pad")
        assert cell is None or (cell["tone"] == "wrong") == (side == "packed" and not real)
    assert {tuple(map(int, cell["id"].split(":")[2:])) for cell in standing(cells, "x", "pad")} <= {*places}


@each
def test_beside_a_row_stands_how_far_it_is_from_packing(case: Case) -> int:
    spoke = 0
    for t, _, cells in timed(case):
        for b in case.filmed:
            alone = t >= case.lengths[b] and not case.mask[b, t]
            mark = cells.get(f"mark:h:{b}", {"shown": False})
            assert mark["shown"] == (alone and not case.small)
            assert not mark["shown"] or mark["tone"] == "wrong"
            note, (distance, differs) = cells[f"apart:{b}"], verdict(case, b, t)
            spoke += differs is not None
            if case.small:
                assert differs is None or as_colour(note, distance if differs else 0.0)
                continue
            assert differs is None or note["shown"] == differs, (b, t, distance)
            if note["shown"]:
                assert note["tone"] == "wrong"
                assert near(note["text"], distance), (note["text"], distance)
    return spoke


@each
def test_the_outputs_fill_with_torchs_states_a_column_at_a_time(case: Case) -> int:
    spoke, done = 0, set[int]()
    for t, _, cells in timed(case):
        done.add(t)
        outs = {name: cell for name, cell in cells.items() if name.startswith("out:") and cell["shown"]}
        if case.small:
            assert not outs
            continue
        expected = {f"out:padded:{b}:{k}" for b in case.filmed for k in done}
        expected |= {f"out:packed:{b}:{k}" for b in case.filmed for k in done if k < case.lengths[b]}
        assert set(outs) == expected
    for name, cell in case.beside.after[-3].items():
        if name.startswith("out:"):
            spoke += 1
            _, side, b, k = name.split(":")
            assert close(cell["vec"], (padded(case) if side == "padded" else packed(case))[int(b), int(k)])
    return spoke


@each
def test_the_outline_of_a_row_of_h_is_around_its_numbers(case: Case) -> int:
    spoke = 0
    for _, _, cells in () if case.small else timed(case):
        for mark in (cells[f"mark:h:{b}"] | {"b": b} for b in case.filmed if cells[f"mark:h:{b}"]["shown"]):
            row = [cell for name, cell in cells.items() if name.split(":")[:3] == ["h", "padded", str(mark["b"])]]
            spoke += 1
            assert mark["x"] < min(cell["x"] for cell in row)
            assert mark["x"] + mark["w"] > max(cell["x"] + cell["w"] for cell in row)
            assert {(cell["y"], cell["h"]) for cell in row} == {(mark["y"], mark["h"])}
    return spoke


@each
def test_what_packing_has_not_is_outlined_in_the_padded_output(case: Case) -> int:
    spoke = 0
    if case.small:
        return spoke
    cells, covered = case.beside.after[-2], set()
    inset = 0.07 if len(case.filmed) <= 5 else 0.18
    width = cells[f"out:padded:{case.filmed[0]}:0"]["w"]
    for name, mark in cells.items():
        if name.startswith("mark:out:"):
            spoke += 1
            b, first = map(int, name.split(":")[2:])
            assert (mark["shown"], mark["tone"]) == (True, "wrong")
            assert mark["x"] == pytest.approx(first * width + inset, abs=2e-3)
            steps = (mark["w"] + 2 * inset) / width
            assert steps == pytest.approx(round(steps), abs=0.01)
            covered |= {(b, first + k) for k in range(round(steps))}
    for b, t in product(case.filmed, range(case.steps_filmed)):
        differs = True if t >= case.lengths[b] else verdict(case, b, t)[1]
        assert differs is None or ((b, t) in covered) == differs
    assert not [n for n, cell in case.beside.after[-1].items() if n.startswith("mark:out:") and cell["shown"]]
    return spoke


@each
def test_the_last_step_compares_the_two_h_n(case: Case) -> None:
    cells, differ, farthest, unsure = case.beside.after[-1], list[int](), 0.0, False
    for b in case.filmed:
        there, here = padded(case)[b, 0 if case.direction else -1], case.trace.h_n[case.row_of_h, b]
        assert close(state(cells, "h:padded", b), there)
        assert close(state(cells, "h:packed", b), here)
        distance, differs = apart(there, here)
        unsure |= differs is None
        mark, note = cells[f"mark:h:{b}"], cells[f"apart:{b}"]
        assert differs is None or mark["shown"] == (not case.small or not differs)
        assert differs is None or mark["tone"] == ("wrong" if differs else "good")
        assert case.small or (mark["shown"], note["tone"]) == (True, mark["tone"])
        if differs:
            differ.append(b)
            farthest = max(farthest, distance) if not isnan(distance) else distance
            assert as_colour(note, distance) if case.small else near(note["text"], distance)
    caption = case.beside.movie.steps[-1].caption
    if len(case.filmed) == case.B and not unsure:
        assert ("changed no final state" in caption) == (not differ)
        if differ and not isnan(farthest):
            assert near(match(r"(?:difference is|by) (?:up to )?\*\*(.+?)\*\*", caption)[1], farthest)


@each
def test_a_caption_tells_what_each_side_reads_and_how_far_a_pad_leads(case: Case) -> None:
    if case.B > 6:
        return
    for t, step, _ in timed(case):
        fed = [b for b in case.order if t < case.lengths[b]]
        idle = [b for b in range(case.B) if b not in fed]
        strays = [b for b in fed if not case.mask[b, t]]
        pads, dropped = ([b for b in idle if case.mask[b, t] == real] for real in (False, True))
        caption = step["caption"].removeprefix(f"**t = {t}.** ")
        assert caption != step["caption"]
        assert (f"Both runs read {of(case, 'pad', strays)}." in caption) == bool(strays)
        assert (of(case, "token", dropped) in caption) == bool(dropped)
        if not strays and not idle:
            assert caption.startswith(f"Both runs read {of(case, 'token', fed)}. ")
        if strays or dropped or not idle:
            assert not (strays and dropped)
            assert (f"Only the padded run reads {of(case, 'pad', pads)}" in caption) == bool(pads)
            continue
        over = "no token yet" if case.direction else "ended"
        ended = rf"{LETTERS} ha(?:s|ve) {over}, but the padded run reads (?:its pad|their pads)\. "
        told = match(rf"{ended}{LETTERS}'s two states now differ by up to (.+)\.$", caption)
        assert told[1] == case.said(pads)
        far = [verdict(case, b, t)[0] for b in pads]
        assert near(told[3], float("nan") if any(map(isnan, far)) else max(far)), (t, told[3], far)
        assert any(told[2] == case.said([b]) and near(told[3], by) for by, b in zip(far, pads, strict=True))


def of(case: Case, noun: str, sequences: list[int]) -> str:
    return f"{f'a {noun}' if len(sequences) == 1 else f'{noun}s'} of {case.said(sequences) if sequences else 'none'}"


@each
def test_the_caption_of_the_outputs_counts_what_differs(case: Case) -> None:
    caption = case.beside.movie.steps[-2].caption
    cells = [verdict(case, b, t)[1] for b in range(case.B) for t in range(case.lengths[b])]
    if None in cells:
        return
    off = sum(map(bool, cells))
    told = re.search(r"The outputs differ at (\d+) of (\d+) (?:packed row|token)s?, by up to", caption)
    assert (told and (int(told[1]), int(told[2])) == (off, len(cells))) if off else not told
    empty = case.B * case.unpacked.shape[1] - len(cells)
    written = re.search(r"fills (\d+) (?:empty )?cells?", caption)
    assert (int(written[1]) if written else 0) == empty


@each
def test_the_result_comes_first_and_alone(case: Case) -> None:
    (step, cells), *_, (_, last) = case.beside.of("run")
    movie = case.beside.movie
    panels = {name for box in movie.scenes[movie.frame(1)["scene"]].wide for name in box.panels}
    assert {name[-1] for name in panels} <= {"h", "o"}
    for side in ("padded", "packed"):
        assert cells[f"title:{side}h"]["text"] == f"{side.capitalize()}: {last[f'title:{side}h']['text']}"
    headings = {cells[f"title:{side}o"]["text"] for side in ("padded", "packed") if f"title:{side}o" in cells}
    assert len(headings) <= 1  # both are padded grids, which the code calls out
    ends = {b: (padded(case)[b, 0 if case.direction else -1], case.trace.h_n[case.row_of_h, b]) for b in case.filmed}
    for b, (there, here) in ends.items():
        assert close(state(cells, "h:padded", b), there)
        assert close(state(cells, "h:packed", b), here)
    verdicts = {b: apart(*both)[1] for b, both in ends.items()}
    if len(ends) == case.B and None not in verdicts.values():
        differ = [b for b in range(case.B) if verdicts[b]]
        said = f"changes the final state of {case.said(differ)} by" if differ else "changes no final state here."
        assert said in step["caption"]
