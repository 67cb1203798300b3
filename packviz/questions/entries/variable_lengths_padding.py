"""Entries: variable sequence lengths, what the text says about padding."""

from __future__ import annotations

import torch

from packviz.config import Config
from packviz.questions.entries.marking import letters, same, written
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, picture

__all__ = ["GROUP", "PADDING", "SOURCE"]

GROUP = "Text: variable sequence lengths"
SOURCE = "Variable Sequence Lengths for PyTorch RNNs"

_RESIZE = """import numpy as np
T = int(lengths.max())
def padded(sequence):
    return np.resize(sequence.numpy(), (T, 1))
"""
_ZEROS = """import numpy as np
T = int(lengths.max())
def padded(sequence):
    filled = np.zeros((T, 1), np.float32)
    filled[: len(sequence)] = sequence.numpy()[:, None]
    return filled
"""
_NP_PAD = """import numpy as np
T = int(lengths.max())
def padded(sequence):
    spare = T - len(sequence)
    return np.pad(sequence.numpy()[:, None], ((0, spare), (0, 0)))
"""
_TIMED = """import timeit
from statistics import median
shortest = min(sequences, key=len)
rounds = [[timeit.timeit(lambda: way(shortest), number=50) for way in ways] for _ in range(9)]
[median(each) / 50 * 1e6 for each in zip(*rounds)]"""
_STACKED = "x = torch.stack([torch.from_numpy(padded(each)) for each in sequences])\n"
_PACKED = "packed = pack_padded_sequence(x, lengths, batch_first=True,\n    enforce_sorted=False)\n"
_SHOW = "np.stack([padded(each) for each in sequences])[..., 0].tolist()"


def _resize_faster(laboratory: Laboratory) -> Outcome:
    """Time the three ways in turns, so that whatever else the machine does meets all of them."""
    ways = [laboratory.run(code)["padded"] for code in (_RESIZE, _ZEROS, _NP_PAD)]
    resize, zeros, np_pad = laboratory.run(_TIMED, ways=ways).value
    lengths = laboratory.fixed["lengths"].tolist()
    repeated, filled = (torch.tensor(each.value) for each in (laboratory.broken, laboratory.fixed))
    wrong = (repeated != filled).nonzero().tolist()
    return Outcome(
        {"against np.zeros and a copy": resize < zeros, "against np.pad": resize < np_pad},
        f"Measured just now, medians of 9 rounds in turns: `np.resize` {resize:.2f} µs, `np.zeros` and a copy "
        f"{zeros:.2f} µs, `np.pad` {np_pad:.2f} µs a sequence. It also writes something else: not zeros, the sequence "
        "again from its beginning. Use `pad_sequence`.",
        picture(grid("np.resize", repeated, lengths, wrong=map(tuple, wrong)), grid("zeros", filled, lengths)),
    )


def _resize_pads(laboratory: Laboratory) -> Outcome:
    def both(code: str) -> tuple[torch.Tensor, torch.Tensor]:
        resized, zeros = (laboratory.run(pad + _STACKED + code).value for pad in (_RESIZE, _ZEROS))
        return resized, zeros

    real = "torch.cat([row[:n] for row, n in zip(gru(x)[0].detach(), lengths)])"
    told = {
        "for h_n of the packed batch": both(_PACKED + "gru(packed)[1][0].detach()"),
        "for the output of the real tokens": both(real),
        "for h_n of the padded batch": both("gru(x)[1][0].detach()"),
    }
    x, wanted = laboratory.broken["x"][..., 0], laboratory.fixed.value
    lengths = laboratory.broken["lengths"].tolist()
    far = [float((h_n - wanted).abs().max()) for h_n in told["for h_n of the padded batch"]]
    pads = [(b, t) for b, length in enumerate(lengths) for t in range(length, x.size(1))]
    return Outcome(
        {name: same(*pair) for name, pair in told.items()},
        f"`np.resize` repeats the data, so a pad looks like a token. Packing leaves it out. Unpacked, `h_n` is up to "
        f"{far[0]:.2f} away from the state after the last token; with zeros it is up to {far[1]:.2f} away.",
        picture(grid("x from np.resize", x, lengths, wrong=pads), numbers("h_n, packed", wanted, rows=letters(wanted))),
    )


def _zip_longest(laboratory: Laboratory) -> Outcome:
    columns, wanted = laboratory.fixed.value, laboratory.run(_PAD_SEQUENCE).value
    lengths = laboratory.fixed["lengths"].tolist()
    return Outcome(
        {"for torch.LongTensor": laboratory.broken.error is None},
        f"`zip_longest` gives an iterator, and `torch.LongTensor` wants a list. With `list(...)` it gives the shape "
        f"{tuple(columns.shape)}, time steps first, which is {'' if columns.equal(wanted) else 'not '}what "
        "`pad_sequence(sequences, padding_value=2)` gives in one call.",
        picture(grid("ids, turned to (B, T)", columns.T, lengths)),
    )


def _pad_vector(laboratory: Laboratory) -> Outcome:
    names = laboratory.broken.names
    vector, gradient = laboratory.broken.value
    packed = laboratory.run(_EMBEDDED + _PACKED_LOSS).value
    ids = tuple(str(id_) for id_ in range(len(names["embedding"].weight)))
    places = [(names["PAD"], column) for column in range(len(vector)) if vector[column]]
    learned = [(names["PAD"], column) for column in range(len(gradient)) if gradient[column]]
    return Outcome(
        {"for its vector": not vector.any(), "for its gradient": not gradient.any()},
        f"Without `padding_idx` the pad has the vector {written(vector)} and, after the padded run, the gradient "
        f"{written(gradient)}: it learns. From the packed run its gradient is {written(packed)}. With "
        f"`padding_idx=2` the vector is {written(laboratory.fixed.value[0])}.",
        picture(
            numbers("weight", names["embedding"].weight, rows=ids, wrong=places),
            numbers("gradient, padded", names["embedding"].weight.grad, rows=ids, wrong=learned),
        ),
    )


_COLUMNS = (
    "from itertools import zip_longest\ncolumns = zip_longest(*[each.tolist() for each in sequences], fillvalue=2)\n"
)
_PAD_SEQUENCE = "pad_sequence(sequences, padding_value=2)"
_EMBEDDED = """BOS, EOS, PAD = 0, 1, 2
embedding = nn.Embedding(9, 2)
x = embedding(pad_sequence(sequences, True, PAD))
"""
_LOSS = "gru(x)[0].sum().backward()\ntorch.stack([embedding.weight.detach()[PAD], embedding.weight.grad[PAD]])"
_PACKED_LOSS = _PACKED + "gru(packed)[0].data.sum().backward()\nembedding.weight.grad[PAD]"

PADDING: tuple[Entry, ...] = (
    Entry(
        key="variable-resize-faster",
        group=GROUP,
        question="Is np.resize faster than zero-padding?",
        claim="`np.resize` is faster than zero-padding.",
        broken=_RESIZE + _SHOW,
        fixed=_ZEROS + _SHOW,
        experiment=_resize_faster,
        source=SOURCE,
        batch="1 2\n3\n4 5 6 7",
        slow=True,  # it is measured: nobody can promise the same twice
    ),
    Entry(
        key="variable-resize-pads",
        group=GROUP,
        question="Can np.resize pad the sequences?",
        claim="A batch padded with `np.resize` gives the same as one padded with zeros.",
        broken=_RESIZE + _STACKED + "gru(x)[1][0].detach()",
        fixed=_RESIZE + _STACKED + _PACKED + "gru(packed)[1][0].detach()",
        experiment=_resize_pads,
        source=SOURCE,
        batch="1 2\n3\n4 5 6 7",
    ),
    Entry(
        key="variable-zip-longest",
        group=GROUP,
        question="new(): data must be a sequence (got itertools.zip_longest)",
        claim="`torch.LongTensor` takes what `itertools.zip_longest` returns.",
        broken=_COLUMNS + "torch.LongTensor(columns)",
        fixed=_COLUMNS + "torch.LongTensor(list(columns))",
        experiment=_zip_longest,
        source=SOURCE,
        messages=("TypeError: new(): data must be a sequence (got itertools.zip_longest)",),
        batch="3 4\n5 6 7",
        config=Config(embedding_dim=2),
    ),
    Entry(
        key="variable-pad-vector",
        group=GROUP,
        question="BOS, EOS, PAD = 0, 1, 2: does the embedding know that 2 is the pad?",
        claim="The pad id has a zero vector and learns nothing, also without `padding_idx`.",
        broken=_EMBEDDED + _LOSS,
        fixed=_EMBEDDED.replace("9, 2)", "9, 2, padding_idx=PAD)") + _LOSS,
        experiment=_pad_vector,
        source=SOURCE,
        batch="3 4\n5\n6 7 8",
        config=Config(embedding_dim=2),
    ),
)
