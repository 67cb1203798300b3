"""Entries: the pack and pad technique."""

from __future__ import annotations

from torch import Tensor

from packviz.charts import Panel
from packviz.config import Config
from packviz.questions.entries.marking import same
from packviz.questions.entries.technique_masks import BATCH, GROUP, MASKS, PACK, SOURCE
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Film, Outcome
from packviz.questions.pictures import grid, picture

__all__ = ["ENTRIES", "GROUP"]

_BY_HAND = """longest_first = lengths.argsort(descending=True)
invidx = longest_first.argsort()
packed = pack_padded_sequence(x[longest_first], lengths[longest_first],
    batch_first=True)
output, h_n = gru(packed)
hs, _ = pad_packed_sequence(output, batch_first=True)
hs, h_n = hs[invidx], h_n[:, invidx]
h_n[0].detach()"""
_KEPT = """output, h_n = gru(packed)
hs, _ = pad_packed_sequence(output, batch_first=True)
h_n[0].detach()"""
_ORDER = "order = lengths.argsort(descending=True)\ninvidx = order.argsort()\norder.tolist(), invidx.tolist()"
_COUNTED = "ids = torch.randint({low}, 100, (100, 10))\n(ids == 0).sum().item()"


def _restore(laboratory: Laboratory) -> Outcome:
    by_hand, kept = laboratory.broken.names, laboratory.fixed.names
    agree = {name: same(by_hand[name], kept[name]) for name in ("hs", "h_n")}
    packed = kept["packed"]
    return Outcome(
        {f"for {name}": not agrees for name, agrees in agree.items()},
        f"`enforce_sorted=False` sorts, keeps `sorted_indices` {packed.sorted_indices.tolist()} and `unsorted_indices` "
        f"{packed.unsorted_indices.tolist()}, and restores the order itself. Against sorting by hand with "
        f"`invidx` {by_hand['invidx'].tolist()}, {sum(agree.values())} of {len(agree)} results are the same.",
    )


def _random_ids(laboratory: Laboratory) -> Outcome:
    ids, x, lengths = (laboratory.run("x = x.detach()")[name] for name in ("ids", "x", "lengths"))
    real = laboratory.trace.padded.mask
    blank = real & (x == 0).all(-1)
    counted = laboratory.run("(ids != 0).sum(1)").value
    drawn, safe = laboratory.broken.value, laboratory.fixed.value
    wrong = [(int(b), int(t)) for b, t in blank.nonzero().tolist()]
    return Outcome(
        {
            "for 1,000 random ids": not drawn,
            "for the vectors of this batch": not blank.any(),
            "for lengths counted from the ids": counted.tolist() == lengths.tolist(),
        },
        f"Of 1,000 ids from `randint(0, 100)`, {drawn} are 0, the pad's own id; from `randint(1, 100)` {safe}. In this "
        f"batch {len(wrong)} real tokens get a zero vector, and `(ids != 0).sum(1)` gives {counted.tolist()} instead "
        f"of {lengths.tolist()}. Keep 0 for the pad.",
        picture(grid("ids", ids, lengths.tolist(), wrong=wrong)),
    )


def _sorted_example(laboratory: Laboratory) -> Outcome:
    lengths, better = laboratory.broken["lengths"], laboratory.fixed["lengths"]
    (order, invidx), (moved, back) = laboratory.broken.value, laboratory.fixed.value
    rows = list(range(len(order)))
    return Outcome(
        {
            "when the restoring is forgotten": order != rows,
            "when `order` is taken for `invidx`": [order[n] for n in order] != rows,
        },
        f"The lengths {lengths.tolist()} give the order {order}, and `invidx` {invidx}: whoever forgets to restore, or "
        f"restores with `order`, gets the same and sees no mistake. Take lengths such as {better.tolist()}: there the "
        f"order is {moved} and `invidx` {back}, and each mistake shows.",
        picture(_mistakes(lengths), _mistakes(better)),
    )


def _mistakes(lengths: Tensor) -> Panel:
    """Return the lengths as they came, sorted, restored, and restored with the wrong indices."""
    order = lengths.argsort(descending=True)
    steps = {"as they came": order.sort().values, "sorted": order, "[invidx]": order[order.argsort()]}
    steps["[order]"] = order[order]
    owners = tuple(tuple(rows.tolist()) for rows in steps.values())
    texts = tuple(tuple(str(n) for n in lengths[rows].tolist()) for rows in steps.values())
    wrong = frozenset((i, j) for i in (1, 3) for j, row in enumerate(owners[i]) if row != j)
    return Panel(f"lengths {lengths.tolist()}", texts, owners, wrong=wrong, rows=tuple(steps))


ENTRIES: tuple[Entry, ...] = (
    *MASKS,
    Entry(
        key="technique-restore-by-hand",
        group=GROUP,
        question="Must I sort by hand and restore the order with invidx?",
        claim="The batch must be sorted by hand, and its order restored with `invidx`.",
        broken=_BY_HAND,
        fixed=PACK + _KEPT,
        experiment=_restore,
        source=SOURCE,
        batch=BATCH,
        film=Film("sort"),
    ),
    Entry(
        key="technique-random-ids",
        group=GROUP,
        question="Is randint(low=0) safe for token ids when padding_idx=0?",
        claim="Random ids from 0 on are safe with `padding_idx=0`.",
        broken=_COUNTED.format(low=0),
        fixed=_COUNTED.format(low=1),
        experiment=_random_ids,
        source=SOURCE,
        batch="5 0\n3\n0 2 7 1",
        config=Config(embedding_dim=2, padding_idx=0),
    ),
    Entry(
        key="technique-sorted-example",
        group=GROUP,
        question="What does an example with lengths [3, 1] show about sorting?",
        claim="An example with the lengths [3, 1] shows how the order is restored.",
        broken=_ORDER,
        fixed="lengths = torch.tensor([2, 1, 3])\n" + _ORDER,
        experiment=_sorted_example,
        source=SOURCE,
        batch="1 2 3\n4",
    ),
)
