"""Runs of samples, right and wrong: collate functions and models in the style of public reports."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence

F, H, IDS = 3, 4, 12
Run = Callable[[list[Any]], Any]

torch.manual_seed(7)
RNN, GRU, LSTM = (cell(F, H, batch_first=True).eval() for cell in (nn.RNN, nn.GRU, nn.LSTM))
BOTH, SECOND = nn.GRU(F, H, batch_first=True, bidirectional=True), nn.GRU(H, H, batch_first=True)
TIME_FIRST, EMBEDDING = nn.GRU(F, H), nn.Embedding(IDS, F)
NORM, NORM_IN_TRAINING = nn.BatchNorm1d(F).eval(), nn.BatchNorm1d(F)
SCORE, CONV = nn.Linear(H, 1), nn.Conv1d(F, H, 4, groups=1)
ATTENTION = nn.MultiheadAttention(F, 1, batch_first=True).eval()
POSITIONS = nn.Embedding(64, F)


def floats(lengths: Sequence[int] = (5, 3, 7, 4), seed: int = 0, features: int = F) -> list[Tensor]:
    drawn = torch.Generator().manual_seed(seed)
    return [torch.randn(length, features, generator=drawn) for length in lengths]


def ids(lengths: Sequence[int] = (5, 3, 7, 4), seed: int = 0) -> list[Tensor]:
    drawn = torch.Generator().manual_seed(seed)
    return [torch.randint(1, IDS, (length,), generator=drawn) for length in lengths]


def padded(samples: list[Tensor]) -> tuple[Tensor, Tensor]:
    return pad_sequence(samples, batch_first=True), torch.tensor([len(one) for one in samples])


def mask_of(lengths: Tensor, width: int) -> Tensor:
    return torch.arange(width) < lengths[:, None]


def packed(samples: list[Tensor], cell: Any = GRU) -> Any:
    return cell(pack_sequence(samples, enforce_sorted=False))


def unpacked(samples: list[Tensor], cell: Any = GRU) -> Tensor:
    return pad_packed_sequence(packed(samples, cell)[0], batch_first=True)[0]


def last_states(samples: list[Tensor]) -> Tensor:
    return packed(samples)[1][-1]  # type: ignore[no-any-return]


def row(samples: list[Tensor], cell: Any = GRU) -> list[Tensor]:
    """Run a cell over all samples as one sequence: the state runs on."""
    return list(torch.split(cell(torch.cat(samples)[None])[0][0], [len(one) for one in samples]))


def attended(samples: list[Tensor], *, masked: bool) -> Tensor:
    output = unpacked(samples)
    scores = SCORE(output).squeeze(2)
    if masked:
        scores = scores.masked_fill(~mask_of(torch.tensor([len(one) for one in samples]), output.size(1)), -1e9)
    pooled: Tensor = (scores.softmax(1)[..., None] * output).sum(1)
    return pooled


def encoded(samples: list[Tensor], *, masked: bool) -> Tensor:
    x, lengths = padded(samples)
    hidden = ~mask_of(lengths, x.size(1)) if masked else None
    return ATTENTION(x, x, x, key_padding_mask=hidden, need_weights=False)[0]  # type: ignore[no-any-return]


def sorted_first(samples: list[Tensor], back: Callable[[Tensor], Any]) -> Tensor:
    order = torch.tensor([len(one) for one in samples]).argsort(descending=True, stable=True)
    return last_states([samples[int(b)] for b in order])[back(order)]


def losses(samples: list[tuple[Tensor, Tensor]], reduce: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    x, lengths = padded([one for one, _ in samples])
    y, _ = padded([one for _, one in samples])
    each = (SCORE(GRU(x)[0])[..., 0] - y).pow(2) * mask_of(lengths, x.size(1))
    return reduce(each, lengths)


def with_targets(lengths: Sequence[int] = (5, 3, 7, 4)) -> list[tuple[Tensor, Tensor]]:
    return list(zip(floats(lengths), [one[:, 0] for one in floats(lengths, 1)], strict=True))


def ctc(samples: list[tuple[Tensor, Tensor]], *, whole: bool) -> Tensor:
    x, lengths = padded([one for one, _ in samples])
    y, targets = padded([one for _, one in samples])
    inputs = torch.full_like(lengths, x.size(1)) if whole else lengths
    scores = LOGITS(x).log_softmax(2).transpose(0, 1)
    loss: Tensor = nn.functional.ctc_loss(scores, y, inputs, targets, reduction="none")
    return loss


LOGITS = nn.Linear(F, IDS)


def multimodal(samples: list[tuple[Tensor, Tensor]], *, restored: bool) -> Tensor:
    texts, sounds = [one for one, _ in samples], [one for _, one in samples]
    order = sorted(range(len(sounds)), key=lambda b: -len(sounds[b]))
    second = last_states([sounds[b] for b in order])
    if restored:
        second = second[torch.tensor(order).argsort()]
    return torch.cat([last_states(texts), second], 1)


def hierarchical(samples: list[list[Tensor]], *, masked: bool) -> list[Tensor]:
    """Sentences in documents, padded twice."""
    flat = [sentence for document in samples for sentence in document]
    x, _ = padded(flat)
    states = last_states(flat) if masked else GRU(x)[1][-1]
    return [document.mean(0) for document in torch.split(states, [len(document) for document in samples])]


def normalized(samples: list[Tensor], norm: nn.BatchNorm1d) -> Tensor:
    x, _ = padded(samples)
    return norm(x.transpose(1, 2)).transpose(1, 2)  # type: ignore[no-any-return]


def scaled(samples: list[Tensor], *, each: bool) -> Tensor:
    x, lengths = padded(samples)
    keep = mask_of(lengths, x.size(1))[..., None]
    largest = (x.abs() * keep).amax((1, 2), keepdim=True) if each else x.abs().max()
    return torch.div(x, largest)


def left_padded(samples: list[Tensor], *, positions_from_left: bool) -> Tensor:
    width = max(map(len, samples))
    x = torch.stack([torch.cat([torch.zeros(width - len(one), F), one]) for one in samples])
    counted = torch.arange(width)
    starts = torch.tensor([width - len(one) for one in samples])
    places = counted.expand(len(samples), -1) if positions_from_left else (counted - starts[:, None]).clamp(min=0)
    return torch.add(x, POSITIONS(places))


def generated(samples: list[Tensor], *, shared: bool) -> list[dict[str, object]]:
    """Generate ids, as many as the sum of the sample's own, or the largest sum."""
    steps = [int(one.sum()) for one in samples]
    most = [max(steps)] * len(steps) if shared else steps
    return [{"ids": [int(one.sum()) % 7] * n, "steps": n} for one, n in zip(samples, most, strict=True)]


def kept_state() -> Run:
    kept: list[Tensor] = [torch.zeros(1)]

    def run(samples: list[Tensor]) -> Tensor:
        kept[0] = kept[0] + 1
        return last_states(samples) + kept[0]

    return run


SPEECH = list(zip(floats((6, 5, 8)), ids((2, 1, 3)), strict=True))
TWO = list(zip(floats((5, 2, 4)), floats((3, 6, 4)), strict=True))
DOCUMENTS = [floats((3, 2)), floats((5,), 1), floats((2, 4, 3), 2)]

RIGHT: dict[str, tuple[Run, list[Any]]] = {
    "packed": (last_states, floats()),
    "packed, every output": (unpacked, floats()),
    "packed, outputs cut": (lambda s: [o[: len(x)] for o, x in zip(unpacked(s), s, strict=True)], floats()),
    "both ways": (lambda s: packed(s, BOTH)[1].transpose(0, 1).flatten(1), floats()),
    "ids": (lambda s: last_states([EMBEDDING(one) for one in s]), ids()),
    "lists of ids": (
        lambda s: last_states([EMBEDDING(torch.tensor(one)) for one in s]),
        [one.tolist() for one in ids()],
    ),
    "two samples": (last_states, floats((2, 5))),
    "equal lengths": (last_states, floats((4, 4, 4))),
    "attention with a mask": (lambda s: attended(s, masked=True), floats()),
    "transformer with a padding mask": (lambda s: encoded(s, masked=True), floats()),
    "sorted and put back": (lambda s: sorted_first(s, torch.argsort), floats()),
    "loss of each, by its own length": (lambda s: losses(s, lambda e, n: e.sum(1) / n), with_targets()),
    "ctc": (lambda s: ctc(s, whole=False), SPEECH),
    "two inputs": (
        lambda s: multimodal(s, restored=True),
        TWO,
    ),
    "sentences in documents": (
        lambda s: hierarchical(s, masked=True),
        DOCUMENTS,
    ),
    "normalized in evaluation": (lambda s: normalized(s, NORM), floats()),
    "scaled, each by its own": (lambda s: scaled(s, each=True), floats()),
    "left padding": (lambda s: left_padded(s, positions_from_left=False), floats()),
    "rows, cut at the borders": (lambda s: [GRU(one[None])[0][0] for one in s], floats()),
    "dicts": (
        lambda s: [
            {"state": h, "n": len(one["x"])} for h, one in zip(last_states([o["x"] for o in s]), s, strict=True)
        ],
        [{"x": one, "mask": torch.ones(len(one), dtype=torch.int64)} for one in floats()],
    ),
    "texts": (lambda s: [{"words": one.upper(), "n": len(one.split())} for one in s], ["a b c", "d e", "f"]),
    "generated": (lambda s: generated(s, shared=False), ids()),
    "changes its samples": (lambda s: [one.mul_(2).sum() for one in s], floats()),
    "nan in both": (lambda s: [one.sum() * float("nan") for one in s], floats()),
}

WRONG: dict[str, tuple[Run, list[Any], str]] = {
    "not packed": (lambda s: GRU(padded(s)[0])[1][-1], floats(), "width_matters"),
    "not packed, two": (lambda s: GRU(padded(s)[0])[1][-1], floats((2, 5)), "width_matters"),
    "output[:, -1]": (lambda s: unpacked(s)[:, -1], floats(), "width_matters"),
    "mean over the width": (lambda s: unpacked(s).mean(1), floats(), "width_matters"),
    "attention without a mask": (lambda s: attended(s, masked=False), floats(), "width_matters"),
    "transformer without a padding mask": (lambda s: encoded(s, masked=False), floats(), "width_matters"),
    "never put back": (lambda s: sorted_first(s, lambda _: slice(None)), floats(), "order_differs"),
    "never put back, two": (
        lambda s: sorted_first(s, lambda _: slice(None)),
        floats((2, 5)),
        "order_differs",
    ),
    "put back by its order": (
        lambda s: sorted_first(s, lambda order: order),
        floats((3, 5, 4, 7)),
        "order_differs",
    ),
    "row, the state runs on": (row, floats(), "flows_on"),
    "row of an LSTM": (lambda s: row(s, LSTM), floats(), "flows_on"),
    "batch_first left out": (lambda s: TIME_FIRST(padded(s)[0])[0], floats((4, 4, 4)), "flows_on"),
    "view for transpose": (lambda s: packed(s, BOTH)[1].reshape(len(s), -1), floats(), "samples_mixed"),
    "batch statistics": (lambda s: normalized(s, NORM_IN_TRAINING), floats(), "batch_matters"),
    "scaled by the largest of all": (lambda s: scaled(s, each=False), floats(), "batch_matters"),
    "softmax over the samples": (lambda s: last_states(s).softmax(0), floats(), "batch_matters"),
    "loss over the longest": (lambda s: losses(s, lambda e, _: e.sum(1) / e.size(1)), with_targets(), "width_matters"),
    "loss over all tokens": (lambda s: losses(s, lambda e, n: e.sum(1) / n.sum()), with_targets(), "count_matters"),
    "loss over samples": (
        lambda s: losses(s, lambda e, n: e.sum(1) / len(n)),
        with_targets((4, 4, 4)),
        "count_matters",
    ),
    "ctc with the padded width": (
        lambda s: ctc(s, whole=True),
        SPEECH,
        "width_matters",
    ),
    "second input never put back": (
        lambda s: multimodal(s, restored=False),
        TWO,
        "samples_mixed",
    ),
    "sentences padded in documents": (
        lambda s: hierarchical(s, masked=False),
        DOCUMENTS,
        "width_matters",
    ),
    "positions from the left": (lambda s: left_padded(s, positions_from_left=True), floats(), "width_matters"),
    "positions run on": (
        lambda s: list(torch.split(POSITIONS(torch.arange(sum(map(len, s)))), [len(one) for one in s])),
        ids(),
        "place_matters",
    ),
    "generated as long as the longest": (lambda s: generated(s, shared=True), ids(), "batch_matters"),
    "keeps a state": (kept_state(), floats(), "run_differs"),
    "draws": (lambda s: nn.functional.dropout(last_states(s)), floats(), "run_differs"),
    "lengths from zeros": (
        lambda s: [o[: len(x)] for o, x in zip(unpacked([x[: int((x != 0).any(1).sum())] for x in s]), s, strict=True)],
        [torch.cat([one, torch.zeros(one.size(0) % 2, F)]) for one in floats()],
        "shape_differs",
    ),
}
