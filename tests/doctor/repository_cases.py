"""Pairs, right and wrong: models of rows, collate functions and collated batches as public repositories have them.

Each is one function with a switch, or two batches that differ in one thing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, cross_entropy, glu, log_softmax, one_hot, pad, scaled_dot_product_attention
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

import packviz as pv

IDS, E = 24, 8
torch.manual_seed(11)
EMBEDDING, PLACES, HEAD = nn.Embedding(IDS, E), nn.Embedding(256, E), nn.Linear(E, IDS)
QKV, IN, OUT = nn.Linear(E, 3 * E), nn.Linear(E, E), nn.Linear(E, E)
GRU, BOTH = nn.GRU(E, E, batch_first=True), nn.LSTM(E, E, batch_first=True, bidirectional=True)
CELL, DECODER = nn.GRUCell(E, E), nn.GRU(E, E, batch_first=True)
POINTWISE, DEPTHWISE = nn.Conv1d(E, 2 * E, 1), nn.Conv1d(E, E, 3, padding=1, groups=E)
BATCH_NORM, LAYER_NORM, RELATIVE = nn.BatchNorm1d(E), nn.LayerNorm(E), nn.Embedding(64, 1)


def ids(lengths: Sequence[int], seed: int = 0) -> list[Tensor]:
    drawn = torch.Generator().manual_seed(seed)
    return [torch.randint(3, IDS, (length,), generator=drawn) for length in lengths]


def sounds(lengths: Sequence[int], seed: int = 0) -> list[Tensor]:
    drawn = torch.Generator().manual_seed(seed)
    return [torch.randn(length, E, generator=drawn) for length in lengths]


def real(lengths: Tensor, width: int) -> Tensor:
    return torch.arange(width)[None] < lengths[:, None]


def grid(samples: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    return pad_sequence([*samples], batch_first=True), torch.tensor([len(one) for one in samples])


def attention(x: Tensor, mask: Tensor) -> Tensor:
    q, k, v = QKV(x)[:, None].chunk(3, -1)
    return x + scaled_dot_product_attention(q, k, v, attn_mask=mask)[:, 0]


# Collate functions and models of batches, for check_samples(): run(samples, right)


def flattening_collator(samples: list[Tensor], right: bool) -> Any:
    """Put the samples one after another, with position_ids and labels, as a data collator with flattening does."""
    row, positions, labels = list[int](), list[int](), list[int]()
    for one in samples:
        row += one.tolist()
        positions += range(len(one))
        labels += [-100, *one.tolist()[1:]] if right else one.tolist()
    document = torch.tensor([position == 0 for position in positions]).cumsum(0)
    mask = (document[:, None] == document).tril()
    logits = HEAD(attention(EMBEDDING(torch.tensor([row])) + PLACES(torch.tensor([positions])), mask[None, None]))
    target = pad(torch.tensor(labels)[1:], (0, 1), value=-100)
    losses = cross_entropy(logits[0], target, ignore_index=-100, reduction="none")
    return [part.sum() for part in torch.split(losses, [len(one) for one in samples])]


def packed_by_best_fit(samples: list[Tensor], right: bool) -> Any:
    """Fill rows of 12 tokens, run them one by one, and hand the outputs back to their samples."""
    rows, found = pv.fill_rows([len(one) for one in samples], max_length=12, strategy="bfd").rows, {}
    for pieces in rows:
        lengths = [stop - start for _, start, stop in pieces]
        row = torch.cat([samples[b][start:stop] for b, start, stop in pieces])
        of = torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))
        places = torch.cat([torch.arange(n) for n in lengths]) if right else torch.arange(len(row))
        x = attention((EMBEDDING(row) + PLACES(places))[None], (of[:, None] == of).tril()[None, None])[0]
        for (b, _, _), part in zip(pieces, torch.split(x, lengths), strict=True):
            found[b] = part
    return [found[b] for b in range(len(samples))]


def keyword_spotting(samples: list[Tensor], right: bool) -> Any:
    """Run a strided convolution and a packed GRU; the mean of the outputs is the utterance."""
    x, lengths = grid(samples)
    steps = (lengths - 1) // 2 + 1
    x = IN(x) * real(lengths, x.size(1))[..., None]
    x = conv1d(x.transpose(1, 2), torch.ones(E, E, 3) / E, stride=2, padding=1).transpose(1, 2)
    output, _ = pad_packed_sequence(GRU(pack_padded_sequence(x, steps, True, enforce_sorted=False))[0], True)
    return output.sum(1) / steps[:, None] if right else output.mean(1)


def tagger(samples: list[Tensor], right: bool) -> Any:
    """Tag each token from a packed bidirectional LSTM."""
    x, lengths = grid(samples)
    rows = pack_padded_sequence(EMBEDDING(x), lengths, batch_first=True, enforce_sorted=False)
    output, _ = pad_packed_sequence(BOTH(rows)[0], batch_first=True, total_length=x.size(1))
    output = output if right else BOTH(EMBEDDING(x))[0]
    return [log_softmax(one[:n], -1) for one, n in zip(output, lengths.tolist(), strict=True)]


def pyramid(samples: list[Tensor], right: bool) -> Any:
    """Join each two steps into one between two layers, as a listener of speech does."""
    x, lengths = grid(samples)
    output, _ = pad_packed_sequence(GRU(pack_padded_sequence(x, lengths, True, enforce_sorted=False))[0], True)
    output = output[:, : output.size(1) // 2 * 2]
    pairs = output.reshape(len(x), -1, 2, E).sum(2)
    halves = lengths // 2 if right else torch.full_like(lengths, pairs.size(1))
    return DECODER(pack_padded_sequence(pairs, halves, True, enforce_sorted=False))[1][-1]


def conformer(samples: list[Tensor], right: bool) -> Any:
    """Run the convolution of a conformer: pointwise, gate, depthwise."""
    x, lengths = grid(samples)
    inside = real(lengths, x.size(1))
    x = glu(POINTWISE(x.transpose(1, 2)), 1)
    x = DEPTHWISE(x * inside[:, None] if right else x).transpose(1, 2)
    return [one[:n] for one, n in zip(LAYER_NORM(x), lengths.tolist(), strict=True)]


def relative_bias(samples: list[Tensor], right: bool) -> Any:
    """Attend with a bias by distance and an additive mask, as T5 does."""
    x, lengths = grid(samples)
    place, inside = torch.arange(x.size(1)), real(lengths, x.size(1))
    bias = RELATIVE((place[None] - place[:, None]).clamp(-16, 16) + 16)[..., 0][None]
    bias = bias + (1.0 - inside.float())[:, None] * (-1e9 if right else -1.0)
    x = attention(EMBEDDING(x), bias[:, None])
    return (x * inside[..., None]).sum(1) / lengths[:, None]


def thirty_seconds(samples: list[Tensor], right: bool) -> Any:
    """Pad all to one width, whatever the batch, or to the longest; nothing is masked."""
    width = 16 if right else max(map(len, samples))
    x = torch.stack([pad(one[:width], (0, 0, 0, width - len(one))) for one in samples])
    return attention(x, torch.ones(width, width).bool()[None, None]).mean(1)


def normalized(samples: list[Tensor], right: bool) -> Any:
    """Normalize each token by itself, or all tokens of a batch in training."""
    x = torch.cat(samples)
    return [*torch.split(LAYER_NORM(x) if right else BATCH_NORM(x), [len(one) for one in samples])]


def sentence_embedding(samples: list[Tensor], right: bool) -> Any:
    """Pool a sentence by its attention mask, and normalize the vector."""
    x, lengths = grid(samples)
    mask = real(lengths, x.size(1))[..., None].float()
    x = attention(EMBEDDING(x), mask[:, None, :, 0].bool()[:, None])
    pooled = (x * mask).sum(1) / (mask.sum(1) if right else x.size(1))
    return nn.functional.normalize(pooled + 1.0)


def graph_readout(samples: list[Tensor], right: bool) -> Any:
    """Add the nodes of each graph with an index, and divide by their number."""
    lengths = torch.tensor([len(one) for one in samples])
    of = torch.arange(len(samples)).repeat_interleave(lengths)
    sums = torch.zeros(len(samples), E).index_add(0, of, IN(torch.cat(samples)))
    return sums / (lengths[:, None] if right else len(of) / len(samples))


def vocabulary(samples: list[list[int]], right: bool) -> Any:
    """Number the words in order of first use: of each text, or of the batch."""
    found, known = [], dict[int, int]()
    for one in samples:
        known = {} if right else known
        found.append([known.setdefault(word, len(known)) for word in one])
    return found


def teacher_forcing(samples: list[tuple[Tensor, Tensor]], right: bool) -> Any:
    """Sort the sources for packing; the targets must follow."""
    order = sorted(range(len(samples)), key=lambda b: -len(samples[b][0]))
    x, lengths = grid([samples[b][0] for b in order])
    _, h_n = GRU(pack_padded_sequence(EMBEDDING(x), lengths, batch_first=True))
    y, counts = grid([samples[b][1] for b in order] if right else [target for _, target in samples])
    logits = HEAD(DECODER(EMBEDDING(y), h_n)[0])[:, :-1]
    losses = cross_entropy(logits.transpose(1, 2), y[:, 1:], reduction="none") * real(counts - 1, y.size(1) - 1)
    found = losses.sum(1) / (counts - 1)
    return [found[order.index(b)] for b in range(len(order))]


def rollout_buffer(samples: list[Tensor], right: bool) -> Any:
    """Flatten a buffer (T, environments) to the order of environments, as a recurrent policy needs it."""
    buffer = torch.stack(samples, 1)  # (T, B, E)
    flat = (buffer.transpose(0, 1) if right else buffer).reshape(-1, E)
    return GRU(flat.reshape(len(samples), -1, E))[0]


def greedy(samples: list[Tensor], right: bool) -> Any:
    """Generate until every sample has ended, and return the mean score: up to its own end, or of all steps."""
    _, state = GRU(pack_padded_sequence(EMBEDDING(grid(samples)[0]), grid(samples)[1], True, enforce_sorted=False))
    counts = [2 + int(one.sum()) % 4 for one in samples]
    found: list[list[Tensor]] = [[] for _ in samples]
    h = state[-1]
    for step in range(max(counts)):
        h = CELL(h, h)
        for b, count in enumerate(counts):
            if step < count or not right:
                found[b].append(log_softmax(HEAD(h[b]), -1).amax())
    return [torch.stack(one).mean() for one in found]


# Models of rows, for check_rows(): call(model, row, right)


def by_document(x: Tensor, row: Any, part: Callable[[Tensor], Tensor], whole: bool) -> Tensor:
    """Return the parts (1, n, E) of the documents, or the row (1, N, E), after something."""
    parts = [x] if whole else torch.split(x, row.cu_seqlens.diff().tolist(), 1)
    return torch.cat([part(one) for one in parts], 1)


def retention(x: Tensor, row: Any, right: bool) -> Tensor:
    """Return sums that decay by distance; the mask of decays lacks the borders, or has them."""
    far = torch.arange(x.size(1))[:, None] - torch.arange(x.size(1))
    decay = torch.where(far >= 0, 0.8 ** far.clamp(min=0), 0.0) * (row.mask[0, 0] if right else 1)
    return torch.tanh(x @ x.transpose(1, 2) * decay) @ x


def document_mean(x: Tensor, row: Any, right: bool) -> Tensor:
    of = one_hot(row.seq_idx[0]).float() if right else torch.ones(x.size(1), 1)
    return x + (of @ (of.T @ x[0] / of.sum(0)[:, None]))[None]


def both_ways(x: Tensor, row: Any, right: bool) -> Tensor:
    """Run a scan backward: over each document turned around, or over the whole row."""
    return by_document(x, row, lambda part: GRU(part.flip(1))[0].flip(1), not right)


def rolled(x: Tensor, row: Any, right: bool) -> Tensor:
    """Mix each token with the one before it, by a roll that wraps around."""
    before = x.roll(1, 1)
    return torch.add(x, before * (row.position_ids != 0)[..., None] if right else before)


def segments(x: Tensor, row: Any, right: bool) -> Tensor:
    """Add an embedding of the type of the token: all are of type 0, or the number of the document."""
    return torch.add(x, PLACES(torch.zeros_like(row.seq_idx) if right else row.seq_idx))


def sinks(x: Tensor, row: Any, right: bool) -> Tensor:
    """Attend to a window and to the first token: of the document, or of the row."""
    place = torch.arange(x.size(1))
    near = row.mask[0, 0] & (place[:, None] - place < 2)
    sink = row.mask[0, 0] & (row.position_ids[0] == 0) if right else (place == 0)[None].expand_as(near)
    return attention(x, (near | sink)[None, None])


def policy(x: Tensor, row: Any, right: bool) -> Tensor:
    """Run a cell with resets before the first step of an episode, or after it."""
    h, outputs = torch.zeros(1, E), []
    for n in range(x.size(1)):
        starts = bool(row.position_ids[0, n] == 0)
        h = torch.zeros(1, E) if starts and right else h
        h = CELL(x[:, n], h)
        outputs.append(h)
        h = torch.zeros(1, E) if starts and not right else h
    return torch.stack(outputs, 1)


def strided(x: Tensor, row: Any, right: bool) -> Tensor:
    """Average each two tokens and repeat the average: pairs of a document, or of the row."""

    def part(one: Tensor) -> Tensor:
        pairs = pad(one, (0, 0, 0, one.size(1) % 2)).reshape(1, -1, 2, E).mean(2)
        return pairs.repeat_interleave(2, 1)[:, : one.size(1)]

    return by_document(x, row, part, not right)


@dataclass(frozen=True)
class Pair:
    """What is run with right=True and right=False, on what, and the kinds of finding that fit the wrong one."""

    run: Callable[..., Any]
    given: Any
    kinds: frozenset[str]


def pair(run: Callable[..., Any], given: Any, *kinds: str) -> Pair:
    return Pair(run, given, frozenset(kinds))


TEXTS, SPEECH, EVEN = ids((6, 3, 5, 2)), sounds((7, 4, 9, 6)), sounds((5, 5, 5))
WORDS = [one.tolist() for one in ids((6, 3, 5, 4), 3)]
TRANSLATIONS = list(zip(ids((4, 6, 3)), ids((5, 3, 4), 1), strict=True))

SAMPLES: dict[str, Pair] = {
    "data collator with flattening, labels at the starts": pair(flattening_collator, TEXTS, "flows_back"),
    "rows filled by best fit, positions": pair(packed_by_best_fit, TEXTS, "place_matters", "width_matters"),
    "keyword spotting, mean": pair(keyword_spotting, SPEECH, "width_matters"),
    "tagger, packed": pair(tagger, TEXTS, "width_matters"),
    "pyramidal encoder, halved lengths": pair(pyramid, SPEECH, "width_matters"),
    "conformer convolution, masked": pair(conformer, SPEECH, "width_matters"),
    "relative bias, additive mask": pair(relative_bias, TEXTS, "width_matters"),
    "padded to one width": pair(thirty_seconds, SPEECH, "width_matters"),
    "normalization of tokens": pair(normalized, SPEECH, "batch_matters"),
    "sentence embedding": pair(sentence_embedding, TEXTS, "width_matters"),
    "graph readout": pair(graph_readout, SPEECH, "count_matters"),
    "vocabulary": pair(vocabulary, WORDS, "flows_on", "samples_mixed", "batch_matters"),
    "teacher forcing, sorted": pair(teacher_forcing, TRANSLATIONS, "samples_mixed", "order_differs", "batch_matters"),
    "rollout buffer": pair(rollout_buffer, EVEN, "samples_mixed", "flows_on", "batch_matters"),
    "greedy decoding": pair(greedy, TEXTS, "shape_differs", "batch_matters", "width_matters", "count_matters"),
}
ROWS: dict[str, Pair] = {
    "retention": pair(retention, None, "leak"),
    "mean of the document": pair(document_mean, None, "leak"),
    "scan in the other direction": pair(both_ways, None, "leak"),
    "token shift by a roll": pair(rolled, None, "leak", "convolution"),
    "embedding of the segment": pair(segments, None, "positions"),
    "attention sinks": pair(sinks, None, "leak"),
    "policy, reset before or after": pair(policy, None, "leak", "convolution"),
    "pooling by two": pair(strided, None, "leak", "convolution"),
}

# What collators return, for examine_rows(): the right batch, and what the wrong one has instead

ROW = [[5, 6, 7, 8, 9, 10, 11, 12, 13, 0]]
_FLAT = {"input_ids": [ROW[0][:9]], "position_ids": [[0, 1, 2, 0, 1, 0, 1, 2, 3]]}
_KWARGS = {**_FLAT, "cu_seqlens": torch.tensor([0, 3, 5, 9], dtype=torch.int32), "max_seqlen": torch.tensor(4)}
_NEAT = {
    "input_ids": ROW,
    "attention_mask": [[1, 1, 1, 2, 2, 3, 3, 3, 3, 0]],
    "position_ids": [[0, 1, 2, 0, 1, 0, 1, 2, 3, 0]],
}
_MAMBA = {"input_ids": [ROW[0][:9]], "seq_idx": torch.tensor([[1, 1, 1, 2, 2, 3, 3, 3, 3]], dtype=torch.int32)}
_AHEAD = [[6, 7, -100, 9, -100, 11, 12, 13, -100]]
_ZERO_LOST, _LENGTHS = (torch.tensor(given, dtype=torch.int32) for given in ([3, 5, 9], [3, 2, 4]))
_WHOLE = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
_IN_PLACE = [[-100, 6, 7, -100, 9, -100, 11, 12, 13]]
_COMPLETIONS = [[-100, -100, 7, -100, 9, -100, -100, 12, 13]]
BATCHES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "keywords of flash attention": (_KWARGS, {"cu_seqlens": _ZERO_LOST}, "offsets_lack_zero"),
    "lengths of a packed data set": (_KWARGS, {"cu_seqlens": _LENGTHS}, "offsets_are_lengths"),
    "longest document": (_KWARGS, {"max_seqlen": torch.tensor(3)}, "max_seqlen_small"),
    "neat packing": (_NEAT, {"position_ids": [[0, 1, 2, 3, 4, 5, 6, 7, 8, 0]]}, "positions_run_on"),
    "numbered mask": (_NEAT, {"attention_mask": [[1] * 9 + [0]]}, "mask_is_no_ids"),
    "seq_idx and labels ahead": ({**_MAMBA, "labels": _AHEAD}, {"labels": [[*ROW[0][1:9], 5]]}, "labels_cross"),
    "labels in place": ({**_FLAT, "labels": _IN_PLACE}, {"labels": _FLAT["input_ids"]}, "labels_cross"),
    "chunks of documents": (
        {**_FLAT, "documents": _WHOLE},
        {"documents": [[5, 6, 7, 20], *_WHOLE[1:]]},
        "document_cut",
    ),
    "completion only": (
        {**_FLAT, "labels": _COMPLETIONS},
        {"labels": [[*_COMPLETIONS[0][2:], -100, -100]]},
        "labels_shifted_twice",
    ),
}
