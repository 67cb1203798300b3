"""The strip holds torch's packed rows; batch_sizes, both margins and three memory layouts of a batch are torch's."""

import re
from collections import Counter
from itertools import pairwise

import pytest
import torch
from movie_cases import PACKED, Case, over
from movie_screen import Look, Told, close, detail, listed, match, standing
from torch.nn.utils.rnn import pack_padded_sequence

each_packed = over(PACKED)


def rows_in(cells: dict[str, Look], panel: str = "strip") -> list[Look]:
    """Return the tokens and pads on a strip, from its beginning to its end."""
    rows = (c for c in cells.values() if c["shown"] and c["p"] == panel and c["role"] in ("token", "pad", "output"))
    return sorted(rows, key=lambda cell: cell["x"])


def filmed_rows(case: Case) -> list[tuple[int, int]]:
    """Return the (b, t) of the packed rows that are shown, in packed order, as torch packed an index tensor."""
    return [(b, t) for b, t in case.at if t < 60 and b in case.filmed]


def names(rows: list[Look]) -> list[tuple[int, ...]]:
    return [tuple(map(int, cell["id"].split(":")[1:])) for cell in rows]


def groups_of(rows: list[Look]) -> list[int]:
    """Return how many rows stand together, group after group."""
    sizes = [1]
    for cell, following in pairwise(rows):
        gap = following["x"] - cell["x"] - cell["w"]
        assert gap > 0.2 or abs(gap) < 0.01
        sizes = [*sizes, 1] if gap > 0.2 else [*sizes[:-1], sizes[-1] + 1]
    return sizes


@each_packed
def test_the_strip_holds_what_torch_packed(case: Case) -> int:
    """A pad is among them only if it was packed by mistake, and then it glows."""
    strip, at, spoke = rows_in(case.show.end_of("pack")), filmed_rows(case), 0
    assert groups_of(strip) == [*Counter(t for _, t in at).values()]
    for cell, (b, t) in zip(strip, at, strict=True):
        row = case.packed.data[case.row[b, t]]
        assert (cell["seq"], cell["role"]) == (b, "token" if case.mask[b][t] else "pad")
        assert cell["role"] == "token" or cell["tone"] == "wrong"
        if cell.get("vec"):
            spoke += 1
            assert close(cell["vec"], row)
        elif len(row) == 1 and case.trace.padded.embedding is None and cell["role"] == "pad":
            spoke += 1
            assert float(cell["text"]) == pytest.approx(float(row), rel=1e-3)
    return spoke


@each_packed
def test_step_after_step_a_column_flies_into_the_strip_and_is_counted(case: Case) -> None:
    sizes, rows = case.batch_sizes[:60], filmed_rows(case)
    total, width = case.packed.data.shape
    steps = case.show.of("pack")
    assert len(steps) == len(sizes)
    for t, (_, cells) in enumerate(steps):
        assert names(rows_in(cells)) == [position for position in rows if position[1] <= t]
        assert [cell["text"] for cell in standing(cells, "count")] == [str(size) for size in sizes[: t + 1]]
        text = cells["title:strip"]["text"]
        assert f"({total}, {width})" in text
        assert re.search(rf"\b{sum(sizes[: t + 1])} of {total} rows?\b", text)


# Memory is drawn where the cells are not too many, and all of them in the picture.
def drawn(case: Case) -> bool:
    return case.B * case.T <= 400 and case.B <= 40 and case.T <= 60


def after_the_columns(case: Case) -> list[Told]:
    """Return the steps that come after those on time steps: one on the margins, the others on memory."""
    return case.deep.of("pack")[min(len(case.batch_sizes), 60) + 1 :]


@each_packed
def test_both_margins_and_how_each_is_made_from_the_other_are_torchs(case: Case) -> None:
    step = after_the_columns(case)[0][0]
    caption = step["caption"]
    assert int(match(r"Count the (\d+) ", caption)[1]) == len(case.packed.data)
    assert f" in each {'column' if case.transposed else 'row'}, and you get the **lengths**" in caption
    assert ("packed row" in caption) == bool(case.strays)  # a pad is no token
    assert listed(detail(step, "batch_sizes[t] = (lengths > t).sum()")[0], case.batch_sizes)
    assert listed(detail(step, "lengths[b] = (batch_sizes > rank[b]).sum()")[0], case.lengths)
    back = case.packed.unsorted_indices
    rank, _ = detail(step, "# rank: ")
    assert listed(rank.split("\n")[1], list(range(case.B)) if back is None else back.tolist())
    assert rank.startswith("as given" if back is None else "unsorted_indices")


def holds(case: Case, cell: Look, number: int) -> bool:
    """Return whether a cell of a strip is what stands at a cell of the padded grid, by b * T + t."""
    b, t = divmod(number, case.T)
    if cell["role"] == "pad":
        return cell["seq"] == b and not case.mask[b][t] and cell.get("token") is None
    return bool(case.mask[b][t]) and case.movie.tokens[cell["token"]] == (b, t)


@each_packed
def test_each_strip_is_the_memory_of_what_torch_makes(case: Case) -> int:
    """The padded tensor, the packed data with its strays, and torch's jagged nested tensor."""
    if not drawn(case):
        return 0
    _, (_, earlier), (_, cells) = after_the_columns(case)
    strip = cells["title:strip"]["p"]  # the panel in which the packed rows stand
    numbers = torch.arange(case.B * case.T).view(case.B, case.T)  # b * T + t of every cell of the padded grid
    padded = numbers.t() if case.transposed else numbers
    tokens = [row[mask] for row, mask in zip(numbers, case.mask, strict=True)]
    jagged = torch.nested.nested_tensor(tokens, layout=torch.jagged).values()
    time_steps = pack_padded_sequence(numbers, torch.tensor(case.lengths), True, case.enforce_sorted)
    for panel, truth, groups in (
        ("padded", padded.flatten(), [padded.shape[1]] * len(padded)),
        (strip, time_steps.data, time_steps.batch_sizes.tolist()),
        ("jagged", jagged, case.lengths),
    ):
        rows = rows_in(cells, panel)
        assert all(holds(case, cell, n) for cell, n in zip(rows, truth.tolist(), strict=True))
        assert groups_of(rows) == groups
    assert rows_in(earlier, earlier["title:strip"]["p"]) == rows_in(cells, strip)
    assert all(cell["tone"] == "wrong" for cell in rows_in(cells, strip) if cell["role"] == "pad")
    return 1


@each_packed
def test_padding_and_rows_are_counted_in_words(case: Case) -> None:
    text = " ".join(step["caption"] for step, _ in after_the_columns(case)[1:])
    cells, tokens = case.B * case.T, sum(case.lengths)
    pads, strays = cells - tokens, len(case.strays)
    if not drawn(case):
        assert [*map(int, re.findall(r"\d+", text))] == [cells, pads, len(case.at), tokens]
        assert "Too many to draw" in text
        return
    share = re.search(r"(\d+) of (\d+) cells? (?:is|are) padding", text)
    assert (share and (int(share[1]), int(share[2])) == (pads, cells)) if pads else "no cell is padding" in text
    packed = re.search(r"(\d+) of the (\d+) packed rows", text)
    assert (packed and (int(packed[1]), int(packed[2])) == (strays, len(case.at))) if strays else "of the" not in text
