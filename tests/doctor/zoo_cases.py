"""A zoo: models of rows, collate functions and collated batches as repositories have them, right and wrong."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from document_cases import IDS, E, causal, documents, runs_on
from torch import Tensor, nn
from torch.nn.functional import conv1d, pad, softmax
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz.inputs.documents import cu_seqlens_of, document_mask_of, position_ids_of, segment_ids_of, seq_idx_of

Call = Callable[[Any, Any], Any]


class Decoder(nn.Module):
    """One layer of attention from torch's own parts."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.embedding, self.places = nn.Embedding(IDS, E), nn.Embedding(64, E)
        self.attention = nn.MultiheadAttention(E, 2, batch_first=True)
        self.norm, self.head = nn.LayerNorm(E), nn.Linear(E, IDS)

    def forward(self, input_ids: Tensor, position_ids: Tensor, mask: Tensor) -> Tensor:
        x = self.embedding(input_ids) + self.places(position_ids)
        mixed, _ = self.attention(x, x, x, attn_mask=~mask[0, 0], need_weights=False)
        return self.head(self.norm(x + mixed))  # type: ignore[no-any-return]


class Scored(nn.Module):
    """Attention by hand, with a bias of the scores, after what enters it."""

    def __init__(self, bias: Callable[[Any], Tensor], enters: Callable[[Tensor, Any], Tensor] | None = None) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.embedding, self.qkv = nn.Embedding(IDS, E), nn.Linear(E, 3 * E)
        self.bias, self.enters = bias, enters

    def forward(self, row: Any) -> Tensor:
        x = self.embedding(row.input_ids)
        x = x if self.enters is None else self.enters(x, row)
        q, k, v = self.qkv(x).chunk(3, -1)
        return softmax(q @ k.transpose(1, 2) / E**0.5 + self.bias(row), -1) @ v  # type: ignore[no-any-return]


def blocked(row: Any, allowed: Tensor | None = None) -> Tensor:
    """Return a bias: minus infinity where a token may not be read."""
    mask = row.mask[0, 0] if allowed is None else allowed
    return torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))


def distances(row: Any) -> Tensor:
    place = torch.arange(row.input_ids.size(1))
    return place[None, :] - place[:, None]


def token_shift(x: Tensor, row: Any, *, cut: bool) -> Tensor:
    before = pad(x, (0, 0, 1, 0))[:, :-1]
    return 0.5 * x + 0.5 * (before * (row.position_ids != 0)[..., None] if cut else before)


def gated_convolution(x: Tensor, row: Any, *, cut: bool) -> Tensor:
    weight = torch.linspace(-1, 1, 3 * E).reshape(E, 1, 3)

    def over(part: Tensor) -> Tensor:
        return conv1d(pad(part.transpose(1, 2), (2, 0)), weight, groups=E).transpose(1, 2)

    parts = torch.split(x, row.cu_seqlens.diff().tolist(), 1) if cut else [x]
    return torch.cat([part * over(part) for part in parts], 1)


def scan(x: Tensor, row: Any, *, decay: float, reset: bool) -> Tensor:
    """Return a state that decays: what state-space models and linear attention keep."""
    state, outputs = torch.zeros(E), []
    for n in range(x.size(1)):
        state = (0.0 if reset and int(row.position_ids[0, n]) == 0 else decay) * state + x[0, n].tanh()
        outputs.append(state)
    return torch.stack(outputs)[None]


def cells(x: Tensor, row: Any, *, reset: bool) -> Tensor:
    torch.manual_seed(6)
    cell, h, outputs = nn.GRUCell(E, E), torch.zeros(1, E), []
    for n in range(x.size(1)):
        h = cell(x[:, n], torch.zeros(1, E) if reset and n in row.cu_seqlens.tolist() else h)
        outputs.append(h)
    return torch.stack(outputs, 1)


def experts(x: Tensor, _: Any, *, capacity: int | None) -> Tensor:
    """Return tokens scaled by their expert; beyond its capacity an expert drops them."""
    expert = (x.sum(-1) > 0).long()[0]
    rank = torch.stack([(expert[: n + 1] == one).sum() for n, one in enumerate(expert)])
    kept = rank <= (capacity or len(expert))
    return x * ((expert + 1) * kept)[None, :, None]


def over(part: Callable[[Tensor, Any], Tensor]) -> Any:
    """Return a model of an embedding and this part."""
    torch.manual_seed(5)
    embedding = nn.Embedding(IDS, E)
    return lambda row: part(embedding(row.input_ids), row)


def by_row(model: Any, row: Any) -> Any:
    return model(row)


def stretched(row: Any) -> Tensor:
    """Return a bias of distances that are scaled by the length of the row, as dynamic scaling of positions does."""
    return blocked(row) + distances(row) / row.input_ids.size(1)  # type: ignore[no-any-return]


window = 3
DOCUMENTS = documents()

ROWS_RIGHT: dict[str, tuple[Any, Call | None]] = {
    "MultiheadAttention with a mask of what is hidden": (Decoder(), None),
    "MultiheadAttention, read by seq_idx": (
        Decoder(),
        lambda m, r: m(r.input_ids, r.position_ids, (r.seq_idx[0][:, None] == r.seq_idx[0]).tril()[None, None]),
    ),
    "ALiBi": (Scored(lambda r: blocked(r) + 0.3 * distances(r)), by_row),
    "a window inside each document": (Scored(lambda r: blocked(r, r.mask[0, 0] & (distances(r) > -window))), by_row),
    "token shift, zero at the starts": (over(lambda x, r: token_shift(x, r, cut=True)), by_row),
    "short convolution before attention, cut": (
        Scored(blocked, lambda x, r: gated_convolution(x, r, cut=True)),
        by_row,
    ),
    "state-space scan, reset": (over(lambda x, r: scan(x, r, decay=0.8, reset=True)), by_row),
    "linear attention, reset": (over(lambda x, r: scan(x, r, decay=1.0, reset=True)), by_row),
    "cell loop, reset at cu_seqlens": (over(lambda x, r: cells(x, r, reset=True)), by_row),
    "experts without a capacity": (over(lambda x, r: experts(x, r, capacity=None)), by_row),
    "documents scored one by one": (
        Decoder(),
        lambda m, r: torch.cat([m(d[None], torch.arange(len(d))[None], causal_mask(len(d))) for d in r.documents], 1),
    ),
    "documents padded and cut": (Decoder(), lambda m, r: padded_forward(m, r.documents)),
}
ROWS_WRONG: dict[str, tuple[Any, Call | None, set[str]]] = {
    "MultiheadAttention, causal alone": (
        Decoder(),
        lambda m, r: m(r.input_ids, r.position_ids, square(causal(r))),
        {"leak"},
    ),
    "MultiheadAttention, no mask": (
        Decoder(),
        lambda m, r: m(r.input_ids, r.position_ids, square(torch.ones_like(causal(r)))),
        {"leak"},
    ),
    "MultiheadAttention, positions of the row": (
        Decoder(),
        lambda m, r: m(r.input_ids, runs_on(r), r.mask),
        {"positions"},
    ),
    "borders one token late": (
        Decoder(),
        lambda m, r: m(r.input_ids, r.position_ids, late(r)),
        {"leak"},
    ),
    "ALiBi without borders": (Scored(lambda r: blocked(r, causal(r)) + 0.3 * distances(r)), by_row, {"leak"}),
    "a window over the borders": (
        Scored(lambda r: blocked(r, causal(r) & (distances(r) > -window))),
        by_row,
        {"convolution", "leak"},
    ),
    "token shift over the borders": (over(lambda x, r: token_shift(x, r, cut=False)), by_row, {"convolution"}),
    "short convolution before attention, not cut": (
        Scored(blocked, lambda x, r: gated_convolution(x, r, cut=False)),
        by_row,
        {"leak"},
    ),
    "short convolution alone, not cut": (
        over(lambda x, r: gated_convolution(x, r, cut=False)),
        by_row,
        {"convolution"},
    ),
    "state-space scan, state carried": (over(lambda x, r: scan(x, r, decay=0.8, reset=False)), by_row, {"leak"}),
    "linear attention, state carried": (over(lambda x, r: scan(x, r, decay=1.0, reset=False)), by_row, {"leak"}),
    "cell loop, state carried": (over(lambda x, r: cells(x, r, reset=False)), by_row, {"leak"}),
    "experts with a capacity": (over(lambda x, r: experts(x, r, capacity=3)), by_row, {"leak", "positions"}),
    "positions scaled by the width of the row": (Scored(stretched), by_row, {"positions"}),
}


def square(mask: Tensor) -> Tensor:
    return mask[None, None]


def causal_mask(N: int) -> Tensor:
    return square(torch.ones(N, N, dtype=torch.bool).tril())


def late(row: Any) -> Tensor:
    """Return the mask of documents whose first token still belongs to the one before."""
    of = pad(row.seq_idx[0][:-1], (1, 0))
    return square((of[:, None] == of).tril())


def padded_forward(model: Any, given: Sequence[Tensor]) -> Tensor:
    ids = pad_sequence([*given], batch_first=True)
    outputs = model(ids, torch.arange(ids.size(1))[None].expand_as(ids), causal_mask(ids.size(1)))
    return torch.cat([one[: len(d)] for one, d in zip(outputs, given, strict=True)])[None]


# Collate functions, each with a model: run(samples) for check_samples().

torch.manual_seed(7)
EMBEDDING = nn.Embedding(IDS, E)
GRU = nn.GRU(E, E, batch_first=True)
BOTH = nn.GRU(E, E, batch_first=True, bidirectional=True)
DECODER = Decoder()
SAMPLES = documents((6, 3, 5, 2))
NORM = nn.GroupNorm(1, E)
Batch = tuple[Tensor, Tensor]


def collate(samples: Sequence[Tensor], multiple: int = 1, *, left: bool = False) -> Batch:
    lengths = torch.tensor([len(one) for one in samples])
    width = -(-int(lengths.max()) // multiple) * multiple
    rows = [pad(one, (width - len(one), 0) if left else (0, width - len(one))) for one in samples]
    return torch.stack(rows), lengths


def encode(ids: Tensor, lengths: Tensor, rnn: nn.GRU = GRU) -> tuple[Tensor, Tensor]:
    rows = pack_padded_sequence(EMBEDDING(ids), lengths, batch_first=True, enforce_sorted=False)
    output, h_n = rnn(rows)
    return pad_packed_sequence(output, batch_first=True)[0], h_n


def filled(ids: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(ids.size(1)) < lengths[:, None]


def by_length(samples: Sequence[Tensor], *, back: bool) -> Any:
    order = sorted(range(len(samples)), key=lambda b: -len(samples[b]))
    states = encode(*collate([samples[b] for b in order]))[1][-1]
    return states[torch.tensor(order).argsort()] if back else states


def pooled(samples: Sequence[Tensor], *, masked: bool) -> Tensor:
    ids, lengths = collate(samples)
    x = EMBEDDING(ids)
    return (x.masked_fill(~filled(ids, lengths)[..., None], float("-inf")) if masked else x.clamp(min=0.0) - 1).amax(1)  # type: ignore[no-any-return]


def normalized(samples: Sequence[Tensor], *, tokens: bool) -> list[Tensor]:
    ids, lengths = collate(samples)
    if tokens:
        return [NORM(EMBEDDING(one).T[None])[0].T for one in samples]
    whole = NORM(EMBEDDING(ids).transpose(1, 2)).transpose(1, 2)
    return [row[:n] for row, n in zip(whole, lengths.tolist(), strict=True)]


def flattened(samples: Sequence[Tensor], *, reset: bool = True, mask: bool = True) -> list[Tensor]:
    lengths = [len(one) for one in samples]
    positions = position_ids_of(lengths)[None]
    places = positions if reset else torch.arange(sum(lengths))[None]
    hidden = square(document_mask_of(lengths) if mask else torch.ones(sum(lengths), sum(lengths)).tril().bool())
    return list(DECODER(torch.cat([*samples])[None], places, hidden)[0].split(lengths))


def next_losses(samples: Sequence[Tensor], *, mean: str) -> Any:
    lengths = [len(one) for one in samples]
    logits = torch.cat(flattened(samples))
    ids = torch.cat([*samples])
    labels = torch.cat([ids[1:], torch.tensor([-100])])
    if mean != "crossing":
        labels[torch.tensor(lengths).cumsum(0) - 1] = -100
    losses = nn.functional.cross_entropy(logits, labels, ignore_index=-100, reduction="none")
    sums = torch.stack([one.sum() for one in torch.split(losses, lengths)])
    counts = torch.tensor(lengths) - 1
    return sums / (counts.sum() if mean == "batch" else counts.clamp(min=1))


def on_the_left(samples: Sequence[Tensor], *, shifted: bool) -> list[Tensor]:
    ids, lengths = collate(samples, left=True)
    real = filled(ids, lengths).flip(1)
    places = (real.cumsum(1) - 1).clamp(min=0) if shifted else torch.arange(ids.size(1)).expand_as(ids)
    allowed = (causal_mask(ids.size(1))[0] & real[:, None]) | torch.eye(ids.size(1), dtype=torch.bool)
    outputs = [DECODER(ids[b : b + 1], places[b : b + 1], allowed[b][None, None])[0] for b in range(len(ids))]
    return [one[-n:] for one, n in zip(outputs, lengths.tolist(), strict=True)]


def in_pairs(samples: Sequence[Tensor], *, mask: bool) -> list[Tensor]:
    """Fill rows of two samples each."""
    rows = [samples[b : b + 2] for b in range(0, len(samples), 2)]
    return [one for row in rows for one in flattened(row, mask=mask)]


def last(samples: Sequence[Tensor], *, at_its_end: bool) -> Tensor:
    ids, lengths = collate(samples, multiple=8)
    output = GRU(EMBEDDING(ids))[0]
    return output[torch.arange(len(ids)), lengths - 1] if at_its_end else output[:, -1]  # type: ignore[no-any-return]


SAMPLES_RIGHT: dict[str, Callable[[Any], Any]] = {
    "pad, pack, unpack": lambda s: [o[: len(x)] for o, x in zip(encode(*collate(s))[0], s, strict=True)],
    "padded to a multiple of 8": lambda s: encode(*collate(s, 8))[1][-1],
    "both directions": lambda s: encode(*collate(s), BOTH)[1].transpose(0, 1).flatten(1),
    "sorted and put back": lambda s: by_length(s, back=True),
    "the largest of the tokens": lambda s: pooled(s, masked=True),
    "normalized one by one": lambda s: normalized(s, tokens=True),
    "one row, padding-free": flattened,
    "losses by each sample": lambda s: next_losses(s, mean="sample"),
    "left padding, positions by the mask": lambda s: on_the_left(s, shifted=True),
    "rows of two samples": lambda s: in_pairs(s, mask=True),
    "read at lengths - 1": lambda s: last(s, at_its_end=True),
}
SAMPLES_WRONG: dict[str, tuple[Callable[[Any], Any], set[str]]] = {
    "lengths of the widest for all": (
        lambda s: encode(*(ids := collate(s)[0], torch.full((len(ids),), ids.size(1))))[1][-1],
        {"width_matters"},
    ),
    "sorted, not put back": (lambda s: by_length(s, back=False), {"order_differs"}),
    "the largest of tokens and pads": (lambda s: pooled(s, masked=False), {"width_matters"}),
    "normalized over the pads": (lambda s: normalized(s, tokens=False), {"width_matters"}),
    "one row, causal mask alone": (lambda s: flattened(s, mask=False), {"flows_on"}),
    "one row, positions run on": (lambda s: flattened(s, reset=False), {"place_matters"}),
    "losses over the border": (lambda s: next_losses(s, mean="crossing"), {"flows_back"}),
    "losses over all tokens": (lambda s: next_losses(s, mean="batch"), {"count_matters"}),
    "left padding, positions of the width": (lambda s: on_the_left(s, shifted=False), {"width_matters"}),
    "rows of two samples, no mask": (lambda s: in_pairs(s, mask=False), {"flows_on", "samples_mixed"}),
    "read at the end of the width": (lambda s: last(s, at_its_end=False), {"width_matters"}),
    "cut to the shortest": (
        lambda s: [one[: min(map(len, s))] for one in s],
        {"shape_differs", "width_matters", "count_matters"},
    ),
    "scaled by the batch": (
        lambda s: [EMBEDDING(one) / EMBEDDING(torch.cat([*s])).amax() for one in s],
        {"batch_matters"},
    ),
}

# What collators return: examine_rows(**batch).

ROW = torch.tensor([[5, 6, 7, 8, 9, 10, 11, 12, 13]])
IN_PLACE = torch.tensor([[-100, 6, 7, -100, 9, -100, 11, 12, 13]])
AHEAD = torch.tensor([[6, 7, -100, 9, -100, 11, 12, 13, -100]])
L = (3, 2, 4)
OFFSETS, POSITIONS, NUMBERS = cu_seqlens_of(L), position_ids_of(L)[None], seq_idx_of(L)[None]
RIGHT_PADDED = {
    "input_ids": torch.tensor([[5, 6, 7, 0], [8, 9, 0, 0]]),
    "attention_mask": torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]]),
}
STORED = torch.tensor([[1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0]])  # pads behind each document

BATCHES_RIGHT: dict[str, dict[str, Any]] = {
    "flattened, with positions": {"input_ids": ROW, "position_ids": POSITIONS, "labels": IN_PLACE},
    "flattened, with offsets": {"input_ids": ROW, "cu_seqlens": OFFSETS, "max_seqlen": 4, "labels": IN_PLACE},
    "labels shifted inside each document": {"input_ids": ROW, "cu_seqlens": OFFSETS, "labels": AHEAD},
    "prompts masked": {
        "input_ids": ROW,
        "position_ids": POSITIONS,
        "labels": torch.tensor([[-100, -100, 7, -100, 9, -100, -100, 12, 13]]),
    },
    "numbers in the mask": {
        "input_ids": pad(ROW, (0, 3)),
        "attention_mask": segment_ids_of(L, 12)[None],
        "position_ids": position_ids_of(L, 12)[None],
    },
    "padded": {**RIGHT_PADDED, "labels": torch.tensor([[5, 6, 7, -100], [8, 9, -100, -100]])},
    "padded on the left, as generation does": {
        "input_ids": torch.tensor([[0, 0, 5, 6, 7], [5, 6, 7, 8, 9]]),
        "attention_mask": torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]),
        "position_ids": torch.tensor([[1, 1, 0, 1, 2], [0, 1, 2, 3, 4]]),
    },
    "counted from 2": {**RIGHT_PADDED, "position_ids": torch.tensor([[2, 3, 4, 1], [2, 3, 1, 1]])},
    "seq_idx for a state-space model": {"input_ids": ROW, "seq_idx": NUMBERS.int(), "position_ids": POSITIONS},
    "stored offsets": {
        "attention_mask": STORED,
        "cu_seqlens": torch.tensor([0, 4, 8, 13], dtype=torch.int32),
        "max_seqlen": 5,
    },
    "one document": {
        "input_ids": ROW,
        "position_ids": torch.arange(9)[None],
        "attention_mask": torch.ones(1, 9).long(),
    },
    "one-token documents": {"position_ids": [0, 1, 2, 0, 0, 0, 1], "cu_seqlens": [0, 3, 4, 5, 7]},
    "a first document that goes on": {
        "position_ids": [[5, 6, 7, 0, 1]],
        "cu_seqlens": [0, 3, 5],
        "input_ids": [[5, 6, 7, 8, 9]],
    },
    "a block mask": {"input_ids": ROW, "attention_mask": document_mask_of(L)[None, None], "position_ids": POSITIONS},
    "a block mask of what is hidden": {
        "input_ids": ROW,
        "attention_mask": ~document_mask_of(L)[None, None],
        "position_ids": POSITIONS,
    },
    "masked language model": {
        "input_ids": torch.tensor([[5, 4, 7, 8, 4, 10]]),
        "attention_mask": torch.ones(1, 6).long(),
        "labels": torch.tensor([[-100, 7, -100, -100, 10, -100]]),
    },
    "classes of tokens": {
        "input_ids": torch.tensor([[5, 6, 7, 8], [9, 5, 6, 0]]),
        "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]),
        "labels": torch.tensor([[-100, 0, 1, -100], [-100, 2, -100, -100]]),
    },
    "wrapped": {"input_ids": ROW.reshape(3, 3), "labels": ROW.reshape(3, 3), "attention_mask": torch.ones(3, 3).long()},
    "several rows, offsets through all": {
        "input_ids": ROW.repeat(2, 1),
        "cu_seqlens": cu_seqlens_of(L + L),
        "labels": IN_PLACE.repeat(2, 1),
    },
    "every document whole": {
        "input_ids": ROW,
        "cu_seqlens": OFFSETS,
        "documents": [[5, 6, 7], [8, 9], [10, 11, 12, 13]],
    },
}
BATCHES_WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a mask of ones beside positions": (
        {"input_ids": ROW, "position_ids": POSITIONS, "attention_mask": torch.ones(1, 9).long()},
        "mask_of_ones",
    ),
    "a mask of ones beside offsets": (
        {"input_ids": ROW, "cu_seqlens": OFFSETS, "attention_mask": torch.ones(1, 9).long()},
        "mask_of_ones",
    ),
    "offsets without the 0": ({"input_ids": ROW, "cu_seqlens": OFFSETS[1:]}, "offsets_lack_zero"),
    "lengths for offsets": (
        {"input_ids": ROW, "cu_seqlens": torch.tensor(L, dtype=torch.int32)},
        "offsets_are_lengths",
    ),
    "int64 offsets": ({"input_ids": ROW, "cu_seqlens": OFFSETS.long()}, "offsets_dtype"),
    "offsets that end early": ({"input_ids": ROW, "cu_seqlens": OFFSETS[:-1]}, "offsets_end"),
    "an empty document": ({"input_ids": ROW, "cu_seqlens": cu_seqlens_of((3, 0, 2, 4))}, "offsets_repeat"),
    "real offsets of stored rows": (
        {"attention_mask": STORED, "cu_seqlens": torch.tensor([0, 3, 5, 9], dtype=torch.int32)},
        "offsets_without_pads",
    ),
    "the number of documents for max_seqlen": (
        {"input_ids": ROW, "cu_seqlens": OFFSETS, "max_seqlen": 3},
        "max_seqlen_small",
    ),
    "positions overwritten by arange": (
        {"input_ids": ROW, "cu_seqlens": OFFSETS, "position_ids": torch.arange(9)[None]},
        "positions_run_on",
    ),
    "positions that begin again one late": (
        {"input_ids": ROW, "cu_seqlens": OFFSETS, "position_ids": torch.tensor([[0, 1, 2, 3, 0, 1, 0, 1, 2]])},
        "positions_run_on",
    ),
    "positions that begin again at 1": (
        {"input_ids": ROW, "cu_seqlens": OFFSETS, "position_ids": torch.tensor([[0, 1, 2, 1, 2, 1, 2, 3, 4]])},
        "positions_uneven",
    ),
    "pads at 0": (
        {"position_ids": position_ids_of((3, 2), 9)[None], "attention_mask": torch.tensor([[1] * 5 + [0] * 4])},
        "pads_begin_documents",
    ),
    "a 0/1 mask for ids": (
        {"attention_mask": torch.tensor([[1] * 5 + [0] * 4]), "position_ids": position_ids_of((3, 6))[None]},
        "mask_is_no_ids",
    ),
    "labels in place, over the border": ({"input_ids": ROW, "position_ids": POSITIONS, "labels": ROW}, "labels_cross"),
    "labels shifted over the row": (
        {"input_ids": ROW, "seq_idx": NUMBERS, "labels": pad(ROW[:, 1:], (0, 1), value=-100)},
        "labels_cross",
    ),
    "labels shifted twice": (
        {"input_ids": ROW, "cu_seqlens": OFFSETS, "labels": pad(ROW[:, 2:], (0, 2), value=-100)},
        "labels_shifted_twice",
    ),
    "seq_idx and offsets of different rows": (
        {"input_ids": ROW, "cu_seqlens": OFFSETS, "seq_idx": seq_idx_of((3, 6))[None]},
        "borders_differ",
    ),
    "two rows joined, each numbered from 0": (
        {"input_ids": ROW, "seq_idx": torch.tensor([[0, 0, 0, 1, 1, 0, 0, 0, 0]])},
        "number_repeats",
    ),
    "a document cut off": (
        {"input_ids": ROW, "cu_seqlens": OFFSETS, "documents": [[5, 6, 7], [8, 9], [10, 11, 12, 13, 14]]},
        "document_cut",
    ),
    "a document left out": ({"input_ids": ROW, "cu_seqlens": OFFSETS, "documents": [3, 2, 4, 6]}, "document_dropped"),
    "labels of the second row": (
        {"input_ids": ROW.repeat(2, 1), "cu_seqlens": cu_seqlens_of(L + L), "labels": torch.cat([IN_PLACE, ROW])},
        "labels_cross",
    ),
}
