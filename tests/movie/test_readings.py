"""Every way to read a state: the places that it reads, what it gives, and whether that is right, held to torch."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch
from movie_cases import PACKED, Case, over
from movie_judge import close
from movie_screen import Look
from torch import Tensor

each = over(PACKED)
POOLS = ("mean over valid steps", "max over valid steps")
Half = tuple[int, int, int]  # sequence, column, direction


def titles(case: Case) -> list[str]:
    both = ["cat(h_n[-2], h_n[-1])"] if case.judge.D == 2 else []
    return ["out[-1]" if case.transposed else "out[:, -1]", "out at lens - 1", "h_n[-1]", *both, *POOLS]


def width(case: Case) -> int:
    return case.judge.unpacked.shape[1]


def read(case: Case, title: str, b: int) -> list[Half]:
    """Return the halves of the grid that a way to read takes of a sequence."""
    D, length = case.judge.D, case.judge.lengths[b]
    final = [(b, length - 1, 0), (b, 0, 1)][:D]
    return {
        titles(case)[0]: [(b, width(case) - 1, d) for d in range(D)],
        "out at lens - 1": [(b, length - 1, d) for d in range(D)],
        "h_n[-1]": final[-1:],
        "cat(h_n[-2], h_n[-1])": final,
    }.get(title, [(b, t, d) for t in range(length) for d in range(D)])


def given(case: Case, title: str, b: int) -> Tensor:
    """Return what torch gives for it, as one row for each direction that it has."""
    out, h_n, length = case.judge.unpacked[b], case.judge.h_n, case.judge.lengths[b]
    row = {
        titles(case)[0]: out[-1],
        "out at lens - 1": out[length - 1],
        "h_n[-1]": h_n[-1, b],
        "cat(h_n[-2], h_n[-1])": torch.cat([*h_n[-2:, b]]),
        POOLS[0]: out[:length].mean(0),
        POOLS[1]: out[:length].amax(0),
    }[title]
    return row.view(-1, h_n.shape[-1])


def complete(case: Case, half: Half) -> bool:
    """Return whether a direction's state after its last step stands there."""
    b, t, d = half
    return t == (0 if d else case.judge.lengths[b] - 1)


def strays(case: Case, b: int) -> int:
    """Return how many pads were packed for a sequence."""
    return sum(not case.judge.mask[c][t] for c, t in case.judge.at if c == b)


def lost(case: Case) -> str:
    """Return what is said of all the pads that were packed; nothing if there are none."""
    pads = sum(strays(case, b) for b in range(case.judge.B))
    plural = "s" * (pads > 1)
    return f"{pads} pad{plural} {'were' if pads > 1 else 'was'} packed, {pads} token{plural} lost" if pads else ""


def right(case: Case, title: str, b: int) -> bool:
    """Return whether a way to read has both directions' states after a sequence's own tokens; where it pools, no pads.

    Nothing brings back a sequence of which pads were packed instead of tokens.
    """
    halves = read(case, title, b)
    return not strays(case, b) and (
        title in POOLS
        or ({d for _, _, d in halves} == set(range(case.judge.D)) and all(complete(case, h) for h in halves))
    )


def readings(case: Case) -> Iterator[tuple[str, dict[str, Any], dict[str, Look]]]:
    steps = case.deep.of("unpack")
    ringed = next(i for i, (step, _) in enumerate(steps) if step["caption"].startswith("The rings mark"))
    for title, (step, cells) in zip(titles(case), steps[ringed + 1 :], strict=True):
        yield title, step, cells


def within(mark: Look, cell: Look, case: Case) -> list[int]:
    """Return the directions of a cell of the grid that an outline is around."""
    D = case.judge.D
    x = cell["x"] + cell["w"] / 2
    ys = [cell["y"] + (d + 0.5) / D for d in range(D)]
    across = mark["x"] < x < mark["x"] + mark["w"]
    return [d for d, y in enumerate(ys) if across and mark["y"] < y < mark["y"] + mark["h"]]


def outlined(case: Case, cells: dict[str, Look], b: int) -> dict[Half, str]:
    """Return the halves of the grid that are outlined for a sequence, and in which tone."""
    marks = [cells[f"mark:u:{b}:{d}"] for d in range(case.judge.D)]
    places = [(name, cell) for name, cell in cells.items() if name.startswith((f"u:{b}:", f"filler:{b}:"))]
    return {
        (b, int(name.split(":")[2]), d): mark["tone"]
        for mark, (name, cell) in product(marks, places)
        if mark["shown"] and cell["shown"]
        for d in within(mark, cell, case)
    }


@each
def test_outlined_is_what_is_read_and_good_where_a_direction_is_complete(case: Case) -> None:
    for title, _, cells in readings(case):
        for b in case.filmed:
            tones = outlined(case, cells, b)
            assert set(tones) == {half for half in read(case, title, b) if half[1] < 60}, title
            for half, tone in tones.items():
                good = not strays(case, b) and (title in POOLS or complete(case, half))
                assert tone == ("good" if good else "wrong"), (title, half)


@each
def test_beside_the_grid_stands_what_torch_gives_and_the_token_that_it_is_read_at(case: Case) -> int:
    spoke = 0
    for title, _, cells in readings(case):
        for b in case.filmed:
            places = read(case, title, b)
            halves = sorted({d for _, _, d in places})
            assert [d for d in range(case.judge.D) if cells[f"last:{b}:{d}"]["shown"]] == halves
            for d, row in zip(halves, given(case, title, b), strict=True):
                spoke += 1
                cell = cells[f"last:{b}:{d}"]
                assert close(cell["vec"], row), title
                assert len(cell["vec"]) == min(len(row), (4 if case.small else 8) // case.judge.D)
                spots = [(b, t) for _, t, half in places if half == d]
                there = spots[0] if len(spots) == 1 and spots[0] in case.movie.tokens else None
                assert (cell.get("token") is not None) == (there is not None)
                assert there is None or case.movie.tokens[cell["token"]] == there
    return spoke


@each
def test_the_row_is_outlined_by_whether_it_is_right(case: Case) -> None:
    for title, _, cells in readings(case):
        for b in case.filmed:
            mark, first = cells[f"mark:last:{b}"], cells[f"last:{b}:0"]
            assert mark["shown"]
            assert not cells[f"ring:last:{b}"]["shown"]
            assert (mark["tone"] == "good") == right(case, title, b), title
            assert (mark["x"], mark["y"]) == (first["x"], first["y"])
            assert abs(mark["w"] - first["w"] * case.judge.D) < 0.01


@each
def test_the_caption_says_whether_it_is_right_for_all_and_never_passes_over_packed_padding(case: Case) -> int:
    spoke, pads = 0, lost(case)
    for title, step, _ in readings(case):
        assert any(text.startswith(f"# {pads}: ") for text, _ in step["detail"]) == bool(pads)
        verdict = all(right(case, title, b) for b in range(case.judge.B))
        if pads:
            spoke += 1
            assert f" is wrong here: **{pads}**. " in step["caption"]
            assert step["tone"] == "wrong"
        elif title not in POOLS:
            spoke += 1
            assert "tone" not in step
            assert (" is right here. " if verdict else " is wrong here. ") in step["caption"]
    [step] = [step for step, _ in case.deep.of("unpack") if step["caption"].startswith("The rings mark")]
    assert (step.get("tone") == "wrong") == bool(pads)
    assert not pads or f": **{pads}**." in step["caption"]
    return spoke


@each
def test_beside_each_row_stands_how_many_steps_were_taken(case: Case) -> None:
    for title, _, cells in readings(case):
        for b in case.filmed if not case.small else []:
            note, length = cells[f"taken:{b}"], case.judge.lengths[b]
            steps = [0 if t >= length else length - t if d else t + 1 for _, t, d in read(case, title, b)]
            words = {
                d: f"{'→←'[d]}{taken}/{length}" for (_, _, d), taken in zip(read(case, title, b), steps, strict=True)
            }
            one = f"{steps[0]} of {length}" if case.judge.D == 1 else " ".join(words.values())
            if pads := strays(case, b):
                one = f"{pads} pad{'s' * (pads > 1)}"
            elif title in POOLS:
                one = f"{title[:4].strip()} of {length}"
            expected = one if any(steps) or title in POOLS else "filler"
            assert note["shown"]
            assert note["text"] == expected
            assert note["tone"] == cells[f"mark:last:{b}"]["tone"]


@each
def test_the_code_of_the_step_gives_what_torch_gives(case: Case) -> None:
    unpacked = case.judge.unpacked.transpose(0, 1) if case.transposed else case.judge.unpacked
    for title, step, _ in readings(case):
        names: dict[str, Any] = {
            "torch": torch,
            "out": unpacked,
            "lens": torch.tensor(case.judge.lengths),
            "h_n": case.judge.h_n,
        }
        text, shape = step["detail"][0]
        exec(text, names)  # the code that is on the screen
        expected = torch.stack([given(case, title, b).flatten() for b in range(case.judge.B)])
        assert torch.allclose(names["state"], expected, atol=1e-5, equal_nan=True)
        assert shape == str(tuple(names["state"].shape))
