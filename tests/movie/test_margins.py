"""The two margins of one staircase: lengths along the sequences, batch_sizes along the time steps."""

import re

from movie_cases import PACKED, Case, over
from movie_screen import Told, detail

each = over(PACKED)


def margins(case: Case) -> Told:
    """Return the step on the two margins: the last one of those on time steps is the one before."""
    return case.deep.of("pack")[min(len(case.judge.batch_sizes), 60) + 1]


def listed(text: str, truth: list[int]) -> bool:
    """Return whether numbers, perhaps with their middle left out, are the truth."""
    *first, last = map(int, re.findall(r"\d+", text))
    return [*first, last] == truth if "…" not in text else first == truth[: len(first)] and last == truth[-1]


@each
def test_the_caption_reads_both_margins_as_torch_has_them_and_as_they_stand(case: Case) -> None:
    judge, caption = case.judge, margins(case)[0]["caption"]
    found = re.search(r"\*\*lengths\*\* ([\d, …]+)\. .*\*\*batch_sizes\*\* ([\d, …]+)\. .* same (\d+) ", caption)
    assert found
    assert listed(found[1], [judge.lengths[b] for b in judge.order])
    assert listed(found[2], judge.batch_sizes)
    assert int(found[3]) == len(judge.packed.data)
    assert re.search(rf"Read (?:along|down) the {'columns' if case.transposed else 'rows'}: \*\*lengths", caption)
    assert ("packed row" in caption) == any(not judge.mask[b][t] for b, t in judge.at)  # a pad is no token


@each
def test_each_margin_made_from_the_other_is_torchs_own(case: Case) -> None:
    step, judge = margins(case)[0], case.judge
    assert listed(detail(step, "batch_sizes[t] = (lengths > t).sum()")[0], judge.batch_sizes)
    assert listed(detail(step, "lengths[b] = (batch_sizes > rank[b]).sum()")[0], judge.lengths)
    back = judge.packed.unsorted_indices
    rank, _ = detail(step, "# rank: ")
    assert listed(rank.split("\n")[1], list(range(judge.B)) if back is None else back.tolist())
    assert rank.startswith("as given" if back is None else "unsorted_indices")
