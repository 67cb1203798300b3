"""The two margins of one staircase: lengths along the sequences, batch_sizes along the time steps."""

import re

import torch
from movie_cases import over
from way_cases import DEEP, Deep, alike, detail

each = over(DEEP)


def listed(text: str, truth: list[int]) -> bool:
    """Return whether numbers, perhaps with their middle left out, are the truth."""
    *first, last = map(int, re.findall(r"\d+", text))
    return [*first, last] == truth if "…" not in text else first == truth[: len(first)] and last == truth[-1]


@each
def test_the_caption_reads_both_margins_as_torch_has_them_and_as_they_stand(case: Deep) -> None:
    judge, caption = case.judge, case.margins[0]["caption"]
    found = re.search(r"\*\*lengths\*\* ([\d, …]+)\. .*\*\*batch_sizes\*\* ([\d, …]+)\. .* same (\d+) ", caption)
    assert found
    assert listed(found[1], [judge.lengths[b] for b in judge.order])
    assert listed(found[2], judge.batch_sizes)
    assert int(found[3]) == len(judge.packed.data)
    assert re.search(rf"Read (?:along|down) the {'columns' if case.transposed else 'rows'}: \*\*lengths", caption)
    assert ("packed row" in caption) == any(not judge.mask[b][t] for b, t in judge.at)  # a pad is no token


@each
def test_each_margin_made_from_the_other_is_torchs_own(case: Deep) -> None:
    step, judge = case.margins[0], case.judge
    assert listed(detail(step, "batch_sizes[t] = (lengths > t).sum()")[0], judge.batch_sizes)
    assert listed(detail(step, "lengths[b] = (batch_sizes > rank[b]).sum()")[0], judge.lengths)
    back = judge.packed.unsorted_indices
    rank, _ = detail(step, "# rank: ")
    assert listed(rank.split("\n")[1], list(range(judge.B)) if back is None else back.tolist())
    assert rank.startswith("as given" if back is None else "unsorted_indices")


@each
def test_both_margins_are_now_and_nothing_else_is_and_nothing_moves(case: Deep) -> None:
    counts = {f"count:{t}" for t in range(min(len(case.judge.batch_sizes), 128))}
    *_, (_, before) = case.show.of("pack")[: len(counts) + 1]
    step, cells = case.margins
    now = {name for name, cell in cells.items() if cell["tone"] == "now" and cell["shown"]}
    lengths, crowded = {f"length:{b}" for b in case.filmed}, case.small or len(counts) > 24
    assert now == lengths | {"title:lengths", "title:counts"} | (set() if crowded else counts)
    assert not any(cell["shown"] for cell in cells.values() if cell["role"] == "focus")
    assert step["stage"] == "pack"
    assert all(cell[key] == before[name][key] for name, cell in cells.items() for key in ("p", "x", "y"))


@each
def test_the_other_steps_of_packing_and_all_after_it_are_as_without_the_whys(case: Deep) -> None:
    ordinary, deep = case.plain.of("pack"), case.show.of("pack")
    assert "takes the grid column after column" in deep[0][0]["caption"]
    for (step, cells), (deep_step, deep_cells) in zip(ordinary, deep[1:], strict=False):
        assert step == {**deep_step, "beats": step["beats"]}
        assert alike(case, cells, deep_cells)
    (_, plain), (_, after) = case.plain.of("unpack")[0], case.show.of("unpack")[1]
    assert alike(case, plain, after)
    assert not [name for name, cell in after.items() if cell["shown"] and name not in plain]


def test_the_margins_of_the_famous_batch() -> None:
    case = next(case for case in DEEP if case.name == "unsorted-deep")
    assert torch.equal(case.judge.packed.batch_sizes, torch.tensor([3, 3, 2, 1]))
    assert case.margins[0]["caption"].startswith(
        "Read along the rows: **lengths** 4, 3, 2. Read down the columns: **batch_sizes** 3, 3, 2, 1. Both"
    )
