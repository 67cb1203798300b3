"""Entries: a forum thread on both functions, on the way through a model and on what to read at its end."""

from __future__ import annotations

from functools import partial

from packviz.batch import sequence_label
from packviz.questions.entries.forum_example import GROUP, SOURCE
from packviz.questions.entries.marking import close
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, owners_of, picture, strip
from packviz.studies import readouts

__all__ = ["ENTRIES"]

_RIGHT_ORDER = """\
ids = pad_sequence(sequences, batch_first=True)
embedded = embedding(ids)
packed = pack_padded_sequence(embedded, lengths, True, enforce_sorted=False)
output, h_n = gru(packed)
padded_output, _ = pad_packed_sequence(output, batch_first=True)
padded_output.shape"""
_WRONG_ORDER = """\
ids = pad_sequence(sequences, batch_first=True)
packed = pack_padded_sequence(ids, lengths, True, enforce_sorted=False)
embedded = embedding(packed)"""
_SCORE = "nn.Linear(4, 2)(h_n[0]).detach()"
_TAGGER = """\
tagger = nn.GRU(1, 4, batch_first=True, bidirectional=True)
alone = torch.cat([tagger(s[None, :, None])[0][0] for s in sequences])
mask = torch.arange(x.size(1)) < lengths[:, None]
padded = tagger(x)[0][mask]
output, _ = tagger(pack_padded_sequence(x, lengths, True, enforce_sorted=False))
packed = pad_packed_sequence(output, batch_first=True)[0][mask]
"""


def _order(laboratory: Laboratory) -> Outcome:
    done, refused = laboratory.fixed, laboratory.broken
    lengths = done["lengths"].tolist()
    alone = laboratory.run("[gru(embedding(s)[None])[0][0] for s in sequences]").value
    right = all(close(done["padded_output"][b, :length], alone[b]) for b, length in enumerate(lengths))
    rows = done["packed"].data[:, :2]
    return Outcome(
        {"for the outputs of every sequence": right, "against packing before the embedding": bool(refused.error)},
        f"Pad the ids, embed them, {tuple(done['embedded'].shape)}; pack, {tuple(done['packed'].data.shape)}; run; "
        f"unpack, {tuple(done.value)}. Every sequence has the outputs that it has alone. An embedding takes no "
        "PackedSequence, so it stands before the packing.",
        picture(
            grid("ids", done["ids"], lengths),
            strip("packed ids", refused["packed"].data, owners_of(lengths)),
            numbers("packed, embedded (2 of 4 features)", rows.t()),
        ),
    )


def _already_padded(laboratory: Laboratory) -> Outcome:
    packed, lengths = laboratory.fixed["packed"], laboratory.fixed["lengths"]
    alone = laboratory.run("pack_padded_sequence(x)")
    rows = packed.data
    return Outcome(
        {
            "for a padded batch with its lengths": len(rows) == int(lengths.sum()),
            "against a list of sequences": laboratory.broken.error is not None,
            "against a padded batch without its lengths": alone.error is not None,
        },
        f"The input is zero padded already, {tuple(laboratory.fixed['x'].shape)}, and that is what the function wants. "
        f"Which zeros are pads it takes from the lengths {lengths.tolist()} alone, and keeps {len(rows)} rows. "
        "`pack_sequence` takes the list and does both.",
        picture(
            grid("x", laboratory.fixed["x"][:, :, 0], lengths.tolist()), strip("packed.data", rows, owners_of(lengths))
        ),
    )


def _only_seq2seq(laboratory: Laboratory) -> Outcome:
    padded, packed = laboratory.broken.value, laboratory.fixed.value
    tagger = laboratory.run(_TAGGER)
    off = [b for b in range(len(packed)) if not close(padded[b], packed[b])]
    rows = [sequence_label(b) for b in range(len(packed))]
    far, near = ((tagger[side] - tagger["alone"]).abs().max().item() for side in ("padded", "packed"))
    return Outcome(
        {
            "for a classifier of whole sequences": close(padded, packed),
            "for a tagger in both directions": close(tagger["padded"], tagger["packed"]),
        },
        f"Packing changes both, and neither is a sequence to sequence model. The classifier's scores of "
        f"{', '.join(rows[b] for b in off) or 'no sequence'} move by up to {float((padded - packed).abs().max()):.2f}; "
        f"the tagger's outputs are up to {far:.2f} from those of each sequence alone, packed {near:.1g}.",
        picture(
            numbers("scores, padded", padded, rows=rows, wrong=[(b, score) for b in off for score in range(2)]),
            numbers("scores, packed", packed, rows=rows),
        ),
    )


def _which_output(laboratory: Laboratory) -> Outcome:
    last = next(read for read in readouts(laboratory.trace) if read.key == "last_column")
    column, wanted = laboratory.broken.value, laboratory.fixed.value
    wrong = [b for b, row in enumerate(last.rows) if not row.right]
    rows = [sequence_label(b) for b in range(len(wanted))]
    return Outcome(
        {f"for {row.sequence}": row.right for row in last.rows},
        f"One vector a sequence: `h_n[-1]`, the state after each one's own last step. `output[:, -1]` has it for "
        f"{', '.join(row.sequence for row in last.rows if row.right) or 'none'}; for "
        f"{', '.join(rows[b] for b in wrong) or 'none'} it is filler. One vector a token, as for "
        "tagging: `output` at the valid steps.",
        picture(
            numbers("output[:, -1]", column, rows=rows, wrong=[(b, i) for b in wrong for i in range(column.size(1))]),
            numbers("h_n[-1]", wanted, rows=rows),
        ),
    )


_Claim = partial(Entry, group=GROUP, source=SOURCE)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="forum-order-of-steps",
        question="In which order do I pad, embed, pack, run and unpack?",
        claim="The order is: pad, embed, pack, run, unpack, and then evaluate.",
        broken=_WRONG_ORDER,
        fixed=_RIGHT_ORDER,
        experiment=_order,
        messages=("TypeError: embedding(): argument 'indices' (position 2) must be Tensor, not PackedSequence",),
        batch="get set\non your mark\ngo",
    ),
    _Claim(
        key="forum-already-padded",
        question="Is the input of pack_padded_sequence not zero padded already?",
        claim="`pack_padded_sequence` wants an input that is padded already, and its lengths.",
        broken="pack_padded_sequence(sequences, lengths, batch_first=True)",
        fixed=PACK + "packed.data.flatten()",
        experiment=_already_padded,
        messages=("TypeError: _pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not list",),
        batch="3 4 5\n1 2\n6",
    ),
    _Claim(
        key="forum-seq2seq",
        question="Is packing for sequence to sequence models?",
        claim="Packing is of use to sequence to sequence models only.",
        broken="_, h_n = gru(x)\n" + _SCORE,
        fixed=PACK + "_, h_n = gru(packed)\n" + _SCORE,
        experiment=_only_seq2seq,
        batch="1 2\n3 -1 2\n-2",
    ),
    _Claim(
        key="forum-which-output",
        question="Which output do I want: output[:, -1] or h_n?",
        claim="The last column of the unpacked output is the result of each sequence.",
        broken=PACK + "output, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)\noutput[:, -1].detach()",
        fixed=PACK + "_, h_n = gru(packed)\nh_n[-1].detach()",
        experiment=_which_output,
        batch="1 2\n3 4 5\n6",
    ),
)
