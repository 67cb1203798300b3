"""Every way to read a state: the places that it reads, what it gives, and whether that is right, as the readouts say.

That these are torch's is held by test_readouts.py.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from movie_cases import PACKED, Case, over
from movie_screen import Look, close, standing, within

from packviz.facts import Readout, readouts
from packviz.facts.readout import Spot
from packviz.inputs.config import DIRECTIONS

each = over(PACKED)
POOLS = ("mean", "max")
RINGED = re.compile(r"\bframes mark\b")  # the caption of the step before the readings


def readings(case: Case) -> Iterator[tuple[Readout, dict[str, Any], dict[str, Look]]]:
    steps = case.deep.of("unpack")
    ringed = next(i for i, (step, _) in enumerate(steps) if RINGED.search(step["caption"]))
    found = [readout for readout in readouts(case.trace) if readout.available]
    for readout, (step, cells) in zip(found, steps[ringed + 1 :], strict=True):
        yield readout, step, cells


def outlined(case: Case, cells: dict[str, Look], b: int) -> dict[tuple[int, int], str]:
    """Return column and direction of the halves that are outlined for a sequence, and in which tone."""
    row = [cell for cell in standing(cells, "u", "filler") if cell["seq"] == b]
    halves = {
        (int(cell["id"].split(":")[2]), d): {**cell, "x": cell["x"] + cell["w"] * d / case.D, "w": cell["w"] / case.D}
        for cell, d in product(row, range(case.D))
    }
    marks = [cells[f"mark:u:{b}:{d}"] for d in range(case.D)]
    return {spot: mark["tone"] for mark in marks if mark["shown"] for spot in within(mark, halves)}


@each
def test_outlined_is_what_is_read_and_good_where_a_direction_is_complete(case: Case) -> None:
    for readout, _, cells in readings(case):
        for b in case.filmed:
            tones = outlined(case, cells, b)
            assert set(tones) == {(t, d) for t, d in readout.cells[b] if t < 60}, readout.key
            taken = dict(zip(readout.cells[b], readout.steps[b], strict=False))
            for spot, tone in tones.items():
                complete = readout.key in POOLS or taken[Spot(*spot)] == case.lengths[b]
                assert tone == ("good" if complete and b not in case.strays else "wrong"), (readout.key, b, spot)


@each
def test_beside_the_grid_stands_what_the_readout_gives(case: Case) -> int:
    spoke = 0
    for readout, _, cells in readings(case):
        assert readout.values is not None
        halves = [DIRECTIONS.index(way) for way in readout.halves]
        for b in case.filmed:
            assert [d for d in range(case.D) if cells[f"last:{b}:{d}"]["shown"]] == halves
            for d, row in zip(halves, readout.values[b].view(len(halves), -1), strict=True):
                spoke += 1
                cell = cells[f"last:{b}:{d}"]
                assert close(cell["vec"], row), readout.key
                assert len(cell["vec"]) == min(len(row), (4 if case.small else 8) // case.D)
                spots = [(b, spot.t) for spot in readout.cells[b] if spot.half == d]
                there = spots[0] if len(spots) == 1 and spots[0] in case.movie.tokens else None
                assert (cell.get("token") is not None) == (there is not None)
                assert there is None or case.movie.tokens[cell["token"]] == there
    return spoke


@each
def test_a_heading_changes_only_with_its_numbers(case: Case) -> None:
    for _, step, cells in readings(case):
        i = case.deep.steps.index(step)
        outlined, arriving, *_ = (case.deep.at(i, frame) for frame in range(len(case.deep.frames[i])))
        before = case.deep.before[i]
        assert outlined["title:last"]["text"] == before["title:last"]["text"]
        assert arriving["title:last"]["text"] == cells["title:last"]["text"] != before["title:last"]["text"]


@each
def test_a_readings_row_is_outlined_by_whether_it_is_right(case: Case) -> None:
    for readout, _, cells in readings(case):
        for b in case.filmed:
            mark, first = cells[f"mark:last:{b}"], cells[f"last:{b}:0"]
            assert (mark["shown"], cells[f"ring:last:{b}"]["shown"]) == (True, False)
            assert (mark["tone"] == "good") == (b not in readout.wrong), readout.key
            assert (mark["x"], mark["y"]) == (first["x"], first["y"])
            assert abs(mark["w"] - first["w"] * case.D) < 0.01
            if case.small:
                continue
            note, length, steps = cells[f"taken:{b}"], case.lengths[b], readout.steps[b]
            arrows = zip(("→←"[DIRECTIONS.index(way)] for way in readout.halves), steps, strict=True)
            one = f"{steps[0]} of {length}" if case.D == 1 else " ".join(f"{a}{n}/{length}" for a, n in arrows)
            if pads := case.strays.count(b):
                one = f"{pads} pad{'s' * (pads > 1)}"
            elif readout.key in POOLS:
                one = f"{readout.key} of {length}"
            said = one if any(steps) else "padding"
            assert (note["shown"], note["text"], note["tone"]) == (True, said, mark["tone"])


@each
def test_the_caption_of_a_reading_never_passes_over_packed_padding(case: Case) -> int:
    spoke, pads = 0, len(case.strays)
    many = f"{pads} pads were packed and {pads} tokens were lost"
    lost = f"**{many if pads > 1 else '1 pad was packed and 1 token was lost'}**"
    for readout, step, _ in readings(case):
        assert readout.values is not None
        assert step["detail"][0] == [readout.code, str(tuple(readout.values.shape))]
        assert bool(readout.caution) == bool(pads)
        assert not pads or f"# {readout.caution}" in [text for text, _ in step["detail"]]
        if pads:
            spoke += 1
            assert step["caption"].endswith(f" is wrong here, because {lost}.")
            assert step["tone"] == "wrong"
        elif readout.key not in POOLS:
            spoke += 1
            assert "tone" not in step
            said = " holds the final states. " if readout.right else " does not hold all final states. "
            assert said in step["caption"]
    [step] = [step for step, _ in case.deep.of("unpack") if RINGED.search(step["caption"])]
    assert (step.get("tone") == "wrong") == bool(pads)
    assert not pads or f": {lost}." in step["caption"]
    return spoke


@each
def test_the_code_of_a_reading_counts_the_steps_that_caption_and_picture_count(case: Case) -> int:
    spoke = 0
    for readout, step, cells in readings(case):
        said = step["detail"][1:2] if case.D == 2 and readout.key not in POOLS and case.B < 13 else []
        for text, _ in said:
            first, *lines = text.split("\n")
            assert first == f"# steps taken, of {case.lengths}"
            counts = [[int(number) for number in re.findall(r"\d+", line)] for line in lines]
            assert [line.split(":")[0] for line in lines] == [f"# {way}" for way in readout.halves]
            for b in set(case.filmed) - set(case.strays):
                note = cells[f"taken:{b}"]["text"]
                noted = [int(taken) for taken in re.findall(r"(\d+)/", note)]
                assert [line[b] for line in counts] == (noted or [0] * len(lines)), (readout.key, b)
            if "the backward half has taken only one step" in step["caption"]:
                spoke += 1
                longest = "For the longest" in step["caption"]
                assert {count for count in counts[-1] if count or not longest} == {1}
    return spoke
