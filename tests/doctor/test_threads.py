"""Public threads on rows: the function that finds what each of them is about, and the kind of its finding.

Two have no entry. 44 (multipack#3, trl#4564: which documents share a row in each epoch) is about a whole training, not
about a batch: fill_rows() shows the partners. 46 (flash-attention#1537, #1311, #545) is about kernels on a GPU.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from document_cases import Convolution, Delta, Hybrid, Model, Recurrent, causal, documents, runs_on
from torch import nn
from torch.nn.functional import pad
from zoo_cases import (
    AHEAD,
    DOCUMENTS,
    EMBEDDING,
    OFFSETS,
    POSITIONS,
    ROW,
    ROWS_WRONG,
    SAMPLES,
    STORED,
    L,
    collate,
    next_losses,
    scan,
)

import packviz as pv
from packviz.inputs.documents import position_ids_of

Check = Callable[[], pv.Findings]
ONES = torch.ones(1, 9, dtype=torch.int64)
END = 2
CHATS = [[5, 6, END, 7, END], [8, 9, END]]  # a template ends each turn of a chat like a document


def rows(model: Any, call: Any = None, given: Any = DOCUMENTS) -> Check:
    return lambda: pv.check_rows(model, given, call)


def animal(name: str) -> Check:
    model, call, _ = ROWS_WRONG[name]
    return rows(model, call)


def samples(run: Any, given: Any = SAMPLES) -> Check:
    return lambda: pv.check_samples(run, given)


def batch(**given: Any) -> Check:
    return lambda: pv.examine_rows(**given)


def without_mask(model: Model, row: Any) -> Any:
    return model(row.input_ids, row.position_ids, causal(row))


def isolated_for_three_positions(model: Model, row: Any) -> Any:
    """Read the borders from position_ids with three numbers for each token only, as a model for pictures does."""
    return model(row.input_ids, row.position_ids, row.mask if row.position_ids.dim() == 3 else causal(row))


def without_total_tokens(model: Delta, row: Any, total_tokens: int | None = None) -> Any:
    """Hand over the borders only if the number of tokens is known."""
    whole = torch.tensor([0, row.input_ids.size(1)])
    return model(row.input_ids, whole if total_tokens is None else row.cu_seqlens)


def chats() -> pv.Findings:
    row = [token for chat in CHATS for token in chat]
    lengths = pv.find_documents(input_ids=row, eos=END)
    return pv.examine_rows(row, position_ids=position_ids_of(lengths), documents=CHATS)


def left_padded(given: Any) -> Any:
    ids, _ = collate(given, left=True)
    states = []
    for row in ids:
        outputs = scan(EMBEDDING(row[None]) + 1, None, decay=0.9, reset=False)  # pads enter the state
        states.append(outputs[0, -1])
    return torch.stack(states)


def loss_over_pads(given: Any) -> Any:
    ids, _ = collate(given)
    return EMBEDDING(ids).pow(2).sum(2).mean(1)


THREADS: dict[str, tuple[Check, str]] = {
    "1 trl#805, #1230, #3067": (rows(Model(), without_mask, [torch.tensor(one) for one in CHATS]), "leak"),
    "2 unsloth#1207": (animal("MultiheadAttention, causal alone"), "leak"),
    "3 transformers#46634": (batch(input_ids=ROW, position_ids=POSITIONS, attention_mask=ONES), "mask_of_ones"),
    "4 fastrl#14": (batch(position_ids=POSITIONS, attention_mask=ONES), "mask_of_ones"),
    "5 WrinkleFree#53": (rows(Model("rope"), without_mask), "leak"),
    "6 nanoVLM#204": (rows(Model(), without_mask), "leak"),
    "7 axolotl#1375": (batch(position_ids=POSITIONS.repeat(2, 1)), "borders_in_one_row"),
    "8 axolotl#3796": (animal("ALiBi without borders"), "leak"),
    "9 axolotl#2844": (batch(position_ids=[0, 1, 2, 0, 1, 0], attention_mask=[1, 1, 1, 1, 1, 0]), "mask_is_no_ids"),
    "10 llm-foundry#1464, Megatron-LM#771": (samples(lambda s: packed(s)), "flows_on"),
    "11 torchtitan#3130": (chats, "document_split"),
    "12 trl#2834": (rows(Model(), lambda m, r: m(r.input_ids, r.position_ids, torch.ones_like(causal(r)))), "leak"),
    "13 FramePack#277": (animal("MultiheadAttention, no mask"), "leak"),
    "14 marin#7087, ids beside positions": (
        batch(seq_idx=[0, 0, 0, 0, 1, 2, 2, 2, 2], position_ids=POSITIONS),
        "positions_run_on",
    ),
    "14 marin#7087, ids in a model": (animal("borders one token late"), "leak"),
    "15 LlamaFactory#7318": (rows(Model(), lambda m, r: m(r.input_ids, runs_on(r), r.mask)), "positions"),
    "16 OpenRLHF#377": (rows(Model("rope"), lambda m, r: m(r.input_ids, runs_on(r), r.mask)), ""),
    "17 sentence-transformers#3879": (batch(position_ids=position_ids_of(L, start=2)), "positions_start_elsewhere"),
    "18 ms-swift#9904": (batch(position_ids=[0, 1, 2, 0, 0, 1]), "rules_disagree"),
    "19 axolotl#2739, VeOmni#746": (batch(position_ids=[0, 1, 2, 0, 1, 0, 0, 0]), "pads_begin_documents"),
    "21 axolotl#3817": (rows(Model(), isolated_for_three_positions), "leak"),
    "22 LlamaFactory#7754, AReaL#217, ROLL#452": (
        rows(Model(), lambda m, r: m(r.input_ids, position_ids_of([len(r.input_ids[0])])[None], r.mask)),
        "positions",
    ),
    "23 NeMo Speech#12551": (batch(position_ids=torch.arange(9)[None], cu_seqlens=OFFSETS), "positions_run_on"),
    "24 OLMo-core#503": (animal("positions scaled by the width of the row"), "positions"),
    "25 Megatron-LM#5298": (batch(cu_seqlens=[0, 3, 3, 5]), "offsets_repeat"),
    "26 swiss-ai/Megatron-LM#40": (
        batch(position_ids=[0, 1, 2, 1, 2, 1, 2, 3, 4], cu_seqlens=OFFSETS),
        "positions_uneven",
    ),
    "27 slime#1686": (rows(Delta(conv_cut=True, reset=False)), "leak"),
    "28 lmms-engine#167": (rows(Delta(conv_cut=False, reset=False)), "leak"),
    "29 transformers#46588": (animal("short convolution alone, not cut"), "convolution"),
    "30 prime-rl#3000": (animal("token shift over the borders"), "convolution"),
    "31 SkyRL#2056": (rows(Delta(conv_cut=True, reset=True), without_total_tokens), "leak"),
    "32 fla#838": (batch(input_ids=ROW, cu_seqlens=OFFSETS, attention_mask=ONES), "mask_of_ones"),
    "33 axolotl#3572": (animal("state-space scan, state carried"), "leak"),
    "34 ms-swift#7981, packed and reset": (rows(Delta(conv_cut=True, reset=True)), ""),
    "34 ms-swift#7981, not reset": (rows(Hybrid(reset=False)), "leak"),
    "35 mamba#49, transformers#31540": (samples(left_padded), "width_matters"),
    "36 torchtune#2613, torchtitan#4075": (
        batch(input_ids=ROW, cu_seqlens=OFFSETS, labels=pad(ROW[:, 1:], (0, 1), value=-100)),
        "labels_cross",
    ),
    "37 functionary#265": (samples(lambda s: next_losses(s, mean="crossing")), "flows_back"),
    "38 LongAlign#3, tunix#1662": (samples(lambda s: next_losses(s, mean="batch")), "count_matters"),
    "39 transformers#24725, mlx-lm#1413": (
        samples(lambda s: [EMBEDDING(one).sum() / sum(map(len, s)) for one in s]),
        "count_matters",
    ),
    "40 trl#6668, LlamaFactory#10719": (
        batch(input_ids=ROW, cu_seqlens=OFFSETS, labels=AHEAD.index_fill(1, torch.tensor([3, 4]), -100)),
        "no_target",
    ),
    "41 axolotl#2227": (samples(loss_over_pads), "width_matters"),
    "42 trl#4554, bfd": (
        batch(cu_seqlens=[0, 4], documents=[5], input_ids=[1, 2, 3, 4]),
        "document_cut",
    ),
    "42 trl#5076, left out": (batch(cu_seqlens=[0, 3, 5], documents=[3, 2, 9]), "document_dropped"),
    "43 nanochat#544": (
        batch(input_ids=ROW, cu_seqlens=OFFSETS, documents=[[5, 6, 7], [8, 9, 1, 1], [10, 11, 12, 13]]),
        "document_cut",
    ),
    "45 ms-swift#7221": (
        batch(input_ids=ROW, cu_seqlens=[0, 5, 9], documents=[[5, 6, 7, 8, 9, 10, 11, 12, 13]]),
        "document_split",
    ),
    "47 TransformerEngine#3331, cudnn-frontend#737": (
        batch(attention_mask=STORED, cu_seqlens=torch.tensor([0, 3, 5, 9], dtype=torch.int32)),
        "offsets_without_pads",
    ),
    "verl#1381, unsloth-zoo#840, float noise": (rows(Model(), None, documents((9, 4, 7))), ""),
    "verl#1381, unsloth-zoo#840, a bug": (rows(Recurrent(nn.GRU)), "leak"),
    "recurrent layers over a row": (rows(Convolution(4)), "convolution"),
}


def packed(given: Any) -> Any:
    lengths = [len(one) for one in given]
    ids, N = torch.cat([*given])[None], sum(lengths)
    mask = torch.ones(N, N, dtype=torch.bool).tril()
    return list(Model()(ids, position_ids_of(lengths)[None], mask)[0].split(lengths))


@pytest.mark.parametrize("thread", THREADS)
def test_the_mistake_of_a_thread_is_found_with_its_kind(thread: str) -> None:
    check, kind = THREADS[thread]
    found = check()
    if kind:
        assert kind in [one.key for one in found], str(found)
    else:
        assert found == (), str(found)


@pytest.mark.parametrize("shape", [(3, 1, 6), (3, 2, 6)])
def test_positions_with_three_numbers_are_not_taken_for_rows(shape: tuple[int, ...]) -> None:
    with pytest.raises(pv.PackvizError, match="mRoPE"):
        pv.examine_rows(position_ids=torch.zeros(shape, dtype=torch.int64))  # transformers#44911, Qwen3.8#104
