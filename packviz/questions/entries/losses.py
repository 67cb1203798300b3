"""Entries: loss, attention, pooling."""

from __future__ import annotations

from packviz.config import Config
from packviz.questions.entries.packing_lines import PACK_SORTED
from packviz.questions.entries.pooled import attention_to_pads, pooled_filler, short_output
from packviz.questions.entries.weighing import data_of_a_tensor, ignored, only_flattened, three_means
from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Loss, attention, pooling"

_UNPACK = "output, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)\n"
_VALID = "valid = torch.arange(x.size(1)) < lengths[:, None]\n"
_TARGETS = "targets = [sequence.long() % 3 for sequence in sequences]\n"
_LOGITS = "output = gru(x)[0]\nlogits = nn.Linear(output.size(2), 3)(output)\n"
_BOTH = _LOGITS + _TARGETS + "targets = pad_sequence(targets, batch_first=True)\n"
_LOSS = "loss = nn.functional.cross_entropy(logits.transpose(1, 2), targets)\nloss"
_SCORES = PACK_SORTED + _UNPACK + "query = gru(packed)[1][-1]\nscores = (output * query[:, None]).sum(2)\n"
_WIDE = "x = nn.functional.pad(x, (0, 0, 0, 2))  # two columns more\n" + _VALID + PACK_SORTED

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="packing-or-ignore-index",
        group=GROUP,
        question="Packing or ignore_index in cross_entropy: are they the same thing?",
        claim="Packing and `ignore_index` do the same.",
        broken=_BOTH + _LOSS,
        fixed=_LOGITS + _TARGETS + "targets = pad_sequence(targets, batch_first=True, padding_value=-100)\n" + _LOSS,
        experiment=ignored,
        source="bentrevett/pytorch-seq2seq issue 64; Lab4 issue 10; VariationalSeq2Seq issue 5",
        rows=(54,),
        batch="1 2 3 4\n5 7\n8",
    ),
    Entry(
        key="packing-logits-and-targets",
        group=GROUP,
        question="Why pack logits and targets for the loss?",
        claim="Packing the logits and the targets does more than pick the cells that are no pads.",
        broken=_BOTH
        + "logits, targets = (\n"
        + "    pack_padded_sequence(each, lengths, batch_first=True).data\n"
        + "    for each in (logits, targets)\n)\n"
        + "loss = nn.functional.cross_entropy(logits, targets)\nloss",
        fixed=_BOTH + _VALID + "loss = nn.functional.cross_entropy(logits[valid], targets[valid])\nloss",
        experiment=only_flattened,
        source="sgrvinod/a-PyTorch-Tutorial-to-Image-Captioning issue 40",
        rows=(55,),
        batch="1 2 3 4\n5 7\n8",
    ),
    Entry(
        key="data-after-unpacking",
        group=GROUP,
        question="Does .data still leave the pads out after pad_packed_sequence?",
        claim="After `pad_packed_sequence`, `output.data` holds the packed rows.",
        broken=PACK_SORTED + _UNPACK + "rows = output.data\nrows.shape, rows.requires_grad",
        fixed=PACK_SORTED + "output, _ = gru(packed)\nrows = output.data\nrows.shape, rows.requires_grad",
        experiment=data_of_a_tensor,
        source="GRAAL-Research/poutyne pull request 140",
        rows=(56,),
    ),
    Entry(
        key="attention-to-pads",
        group=GROUP,
        question="Does attention need a mask when the encoder's outputs are zero at the pads?",
        claim="Outputs that are zero get no weight in attention.",
        broken=_SCORES + "weights = scores.softmax(1)\nweights",
        fixed=_SCORES + _VALID + "weights = scores.masked_fill(~valid, -torch.inf).softmax(1)\nweights",
        experiment=attention_to_pads,
        source="pytorch/tutorials issue 593; IBM/pytorch-seq2seq issue 141",
        rows=(57,),
        batch="1 2 3 4\n5 6\n7",
    ),
    Entry(
        key="output-shorter-than-mask",
        group=GROUP,
        question="Why is the output of pad_packed_sequence shorter than my mask?",
        claim="The output of `pad_packed_sequence` is as wide as the input was.",
        broken=_WIDE + _UNPACK + "output * valid[:, :, None]",
        fixed=_WIDE
        + "output, _ = pad_packed_sequence(\n"
        + "    gru(packed)[0], batch_first=True, total_length=x.size(1)\n)\n"
        + "(output * valid[:, :, None]).shape",
        experiment=short_output,
        source="pytorch/pytorch issue 1591; speechbrain/speechbrain issue 2344",
        rows=(58,),
        messages=(
            "RuntimeError: The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 1",
        ),
    ),
    Entry(
        key="pooling-over-filler",
        group=GROUP,
        question="May I take mean or max over time of the unpacked output?",
        claim="Mean and max over time are right, since the filler is only zeros.",
        broken=PACK_SORTED + _UNPACK + "pooled = torch.cat([output.mean(1), output.amax(1)], 1)\npooled",
        fixed=PACK_SORTED
        + _UNPACK
        + "mean = output.sum(1) / lengths[:, None]\n"
        + "pads = torch.arange(output.size(1)) >= lengths[:, None]\n"
        + "output = output.masked_fill(pads[:, :, None], -torch.inf)\n"
        + "pooled = torch.cat([mean, output.amax(1)], 1)\npooled",
        experiment=pooled_filler,
        source="packviz, own experiment",
        rows=(59,),
        config=Config(hidden_size=2),
    ),
    Entry(
        key="three-means",
        group=GROUP,
        question="Average the loss over tokens, sequences or all cells: which mean is right?",
        claim="A mean loss is the same over all cells, over tokens and over sequences.",
        broken="losses = x[:, :, 0]  # take each number as the loss of its cell\nlosses.mean()",
        fixed="losses = x[:, :, 0]\n"
        + "tokens = losses.sum() / lengths.sum()\n"
        + "means = (losses.sum(1) / lengths).mean()\ntokens, means",
        experiment=three_means,
        source="packviz, own experiment",
        rows=(60,),
        batch="1 1 1 1\n3",
    ),
)
