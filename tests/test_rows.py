"""Rows: PyTorch is the judge of every integer and number of a run over rows."""

import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from row_cases import LAYERS, cross, random_rows
from seeds import many, seeds
from torch import Tensor, nn
from torch.nn.attention import flex_attention
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from packviz import Batch, PackvizError, RowConfig, RowsTrace, trace_module, trace_rows
from packviz.compute.row_layers import AttentionLayer
from packviz.compute.row_model import RowModel
from packviz.inputs.torch_answers import ask

BLOCK = many(12)
each_block = pytest.mark.parametrize("block", range(10))
ROUNDING = {"float32": 2e-6, "float64": 1e-13}
# The batch of the table: documents of 4, 3, 1 and 5 tokens, in the order in which they were typed.
FOUR = Batch.parse("a b c d\ne f g\nh\ni j a c d")


def four(**settings: Any) -> RowsTrace:
    return trace_rows(FOUR, RowConfig(**{"strategy": "first_fit", "dtype": "float64", "num_layers": 2, **settings}))


def largest(parts: tuple[tuple[Tensor, ...], ...]) -> list[float]:
    return [float(part.max()) for row in parts for part in row]


def block_of(block: int, **settings: Any) -> list[RowsTrace]:
    return [random_rows(seed, **settings) for seed in range(block * BLOCK, (block + 1) * BLOCK)]


@each_block
def test_ids_positions_documents_and_labels_follow_the_rows(block: int) -> None:
    for r in block_of(block):
        for row, pieces in enumerate(r.rows.rows):
            tokens = [(b, t) for b, start, stop in pieces for t in range(start, stop)]
            documents = [d for d, (_, start, stop) in enumerate(pieces) for _ in range(start, stop)]
            positions = [t for _, start, stop in pieces for t in range(stop - start)]
            free = [0] * (r.rows.max_length - len(tokens))
            ids = [int(r.batch.sequences[b][t]) if r.values is None else 0 for b, t in tokens]
            assert r.input_ids[row].tolist() == ids + free
            assert r.document_ids[row].tolist() == documents + [-1 for _ in free]
            chosen = positions if r.config.reset_positions else list(range(len(tokens)))
            assert r.position_ids[row].tolist() == chosen + free
            ends = [n + 1 == len(ids) or (documents[n] != documents[n + 1]) for n in range(len(ids))]
            last = ends if r.config.shift_labels == "document" else [n + 1 == len(ids) for n in range(len(ids))]
            labels = [-100 if last[n] or r.values is not None else ids[n + 1] for n in range(len(ids))]
            assert r.labels[row].tolist() == labels + [-100 for _ in free]
            begins = [documents.index(d) for d in range(len(pieces))]
            assert r.cu_seqlens[row].tolist() == [*begins, len(tokens)]
            assert r.cu_seqlens[row].dtype == torch.int32
            assert r.max_seqlen[row] == max(stop - start for _, start, stop in pieces)


@each_block
def test_attention_is_that_of_the_formula_and_of_torch(block: int) -> None:
    for r in block_of(block, layer="attention"):
        document = r.document_ids
        allowed = (document[:, :, None] >= 0) & (document[:, None] >= 0)
        if r.config.isolate:
            allowed &= document[:, :, None] == document[:, None]
        if r.config.causal:
            allowed &= torch.ones_like(allowed).tril()
        assert r.mask is not None
        assert torch.equal(r.mask, allowed)
        for layer in r.layers:
            assert isinstance(layer, AttentionLayer)
            heads = layer.query, layer.key, layer.value
            assert layer.query.shape == (*document.shape[:1], r.config.num_heads, document.shape[1], r.config.head_dim)
            scores = layer.query @ layer.key.mT / math.sqrt(r.config.head_dim)
            weights = torch.where(allowed[:, None], scores, -torch.inf).softmax(-1).nan_to_num(0.0)
            bound = ROUNDING[r.config.dtype]
            torch.testing.assert_close(layer.scores, scores, atol=bound, rtol=0)
            torch.testing.assert_close(layer.weights, weights, atol=bound, rtol=0)
            output = F.scaled_dot_product_attention(*heads, allowed[:, None]).transpose(1, 2).flatten(2)
            torch.testing.assert_close(layer.output, output, atol=bound, rtol=0)
            assert not layer.output[document < 0].any()


@each_block
def test_an_isolated_recurrent_layer_is_traced_to_the_last_bit(block: int) -> None:
    for r in block_of(block, layer=("rnn", "gru", "lstm")[block % 3], isolate=True):
        module = next(part for part in r.model.modules() if isinstance(part, nn.RNNBase))
        for row, lengths in enumerate(r.rows.lengths):
            x = r.model.embed(r.inputs[row : row + 1, : sum(lengths)])[0].detach()
            t = trace_module(module, pack_sequence(list(torch.split(x, list(lengths))), enforce_sorted=False))
            packed = t.packed_sequence._replace(data=t.output)
            assert torch.equal(torch.cat(unpack_sequence(packed)), r.output[row, : sum(lengths)])
            assert len(r.layers) == r.config.num_layers


@each_block
def test_a_layer_over_the_whole_row_is_torchs_own(block: int) -> None:
    for r in block_of(block, layer=("rnn", "conv")[block % 2], isolate=False):
        for row, lengths in enumerate(r.rows.lengths):
            x = r.model.embed(r.inputs[row : row + 1, : sum(lengths)])
            for layer in r.model.layers:
                x = layer(x.mT)[..., : sum(lengths)].mT if isinstance(layer, nn.Conv1d) else layer(x)[0]
            bound = ROUNDING[r.config.dtype]
            torch.testing.assert_close(r.output[row, : sum(lengths)], x[0].detach(), atol=bound, rtol=0)


@each_block
def test_with_the_right_borders_a_row_is_as_each_document_alone(block: int) -> None:
    for r in block_of(block, isolate=True, reset_positions=True):
        assert max(largest(r.difference)) <= ROUNDING[r.config.dtype], r.config
        assert not r.influence[cross(r)].any()


@each_block
def test_alone_is_the_model_run_on_one_document(block: int) -> None:
    for r in block_of(block):
        for row, pieces in enumerate(r.rows.rows):
            for piece, (b, start, stop) in enumerate(pieces):
                tokens = r.batch.sequences[b][start:stop]
                given = tokens.long() if r.values is None else tokens.view(stop - start, -1).to(r.values.dtype)
                positions = torch.arange(stop - start)[None]
                with torch.no_grad():
                    output = r.model(given[None], positions, torch.zeros_like(positions))[0]
                bound = ROUNDING[r.config.dtype]
                torch.testing.assert_close(r.alone[row][piece], output, atol=bound, rtol=0)
                at = r.document_ids[row] == piece
                apart = (r.output[row][at] - r.alone[row][piece]).abs().amax(-1)
                assert torch.equal(r.difference[row][piece], apart)


def test_a_switch_may_be_a_bool_of_numpy() -> None:
    off = RowConfig(isolate=np.bool_(False), causal=np.bool_(True))  # type: ignore[arg-type]
    assert off == RowConfig(isolate=False)
    assert type(off.isolate) is bool


@pytest.mark.parametrize("positions", ["learned", "rope"])
def test_the_table_of_attention(positions: str) -> None:
    assert max(largest(four(positions=positions).difference)) < 1e-14
    unmasked = four(positions=positions, isolate=False)
    first, *later = largest(unmasked.difference)
    assert first < 1e-14
    assert min(later) > 1e-3
    assert unmasked.influence[cross(unmasked)].any()
    shifted = four(positions=positions, reset_positions=False)
    first, *later = largest(shifted.difference)
    assert first < 1e-14
    assert (min(later) > 1e-3) if positions == "learned" else (max(later) < 1e-14)
    assert not shifted.influence[cross(shifted)].any()


@pytest.mark.parametrize("layer", ["rnn", "gru", "lstm"])
def test_the_state_of_a_recurrent_layer_runs_on_over_a_row(layer: str) -> None:
    over = four(layer=layer, isolate=False)
    first, *later = largest(over.difference)
    assert first < 1e-14
    assert min(later) > 1e-3
    assert over.influence[cross(over)].any()
    assert max(largest(four(layer=layer).difference)) < 1e-14


@pytest.mark.parametrize("kernel_size", [1, 2, 4, 7])
def test_a_convolution_reaches_the_first_tokens_of_each_later_document(kernel_size: int) -> None:
    over = four(layer="conv", isolate=False, kernel_size=kernel_size, num_layers=1)
    for piece, apart in enumerate(over.difference[0]):
        assert (apart > 1e-9).tolist() == [piece > 0 and t < kernel_size - 1 for t in range(len(apart))]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("seed", seeds(3))
def test_influence_is_the_gradient_of_the_sum_of_an_output(layer: str, seed: int) -> None:
    r = random_rows(seed, layer=layer, dtype="float64", max_length=8, embedding_dim=4, num_heads=2)
    n = sum(r.rows.lengths[0])
    at = (slice(1), slice(n))
    x = r.model.embed(r.inputs[at]).detach()
    run = lambda x: r.model.run(x, r.position_ids[at], r.document_ids[at])  # noqa: E731
    jacobian: Any = torch.autograd.functional.jacobian(run, x)  # type: ignore[no-untyped-call] # (1, N, E, 1, N, E)
    expected = jacobian[0, :, :, 0].sum(1).abs().amax(2)
    torch.testing.assert_close(r.influence[0, :n, :n], expected, atol=1e-12, rtol=0)
    assert torch.equal(r.influence[0, :n, :n] == 0, (jacobian[0, :, :, 0] == 0).all(3).all(1))
    assert not r.influence[0, n:].any()
    assert not r.influence[0, :, n:].any()
    assert torch.equal(r.influence_in(len(r.rows.rows) - 1), r.influence[-1])


@pytest.mark.parametrize("layer", LAYERS)
def test_a_token_that_is_changed_changes_what_it_influences(layer: str) -> None:
    r = four(layer=layer, isolate=False)
    x = r.model.embed(r.input_ids).detach()
    for k in (0, 3, 7):
        changed = x.clone()
        changed[0, k] += 0.5
        with torch.no_grad():
            apart = (r.model.run(changed, r.position_ids, r.document_ids) - r.output)[0].abs().amax(-1)
        assert ((apart > 0) <= (r.influence[0, :, k] > 0)).all()


@each_block
def test_losses_and_their_three_means_are_those_of_cross_entropy(block: int) -> None:
    for r in block_of(block):
        if r.logits is None:
            assert not r.losses.any()
            assert all(math.isnan(loss) for loss in r.loss.values())
            continue
        assert r.model.head is not None
        torch.testing.assert_close(r.logits, r.model.head(r.output).detach())
        each = [
            [F.cross_entropy(r.logits[row][here], r.labels[row][here]) for here in groups]
            for row in range(len(r.labels))
            for groups in [[r.document_ids[row] == d for d in range(len(r.rows.rows[row]))]]
        ]
        documents = torch.stack([loss for row in each for loss in row])
        rows = torch.stack([F.cross_entropy(*pair) for pair in zip(r.logits, r.labels, strict=True)])
        tokens = F.cross_entropy(r.logits.transpose(1, 2), r.labels)
        expected = {"tokens": tokens, "documents": documents.nanmean(), "rows": rows.nanmean()}
        assert r.loss == pytest.approx({name: float(loss) for name, loss in expected.items()}, nan_ok=True, rel=1e-5)
        assert len(r.unlabelled) == int(documents.isnan().sum())
        assert r.losses.shape == r.labels.shape
        assert not r.losses[r.labels == -100].any()


@pytest.mark.parametrize("seed", seeds(20))
def test_the_proof_compares_with_other_implementations(seed: int) -> None:
    r = random_rows(seed)
    names = {"sdpa", "flex"} if r.config.layer == "attention" else {r.config.layer}
    if r.config.layer == "attention" and r.config.isolate and not r.config.causal:
        names |= {"jagged"}
    assert set(r.proof) == names
    assert max(r.proof.values()) <= ROUNDING[r.config.dtype]
    if r.config.layer in ("rnn", "gru", "lstm"):
        assert r.proof == {r.config.layer: 0.0}


def test_a_proof_beside_a_question_to_torch_leaves_the_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    run, before = four(), [*warnings.filters]
    asking, proving, answered = Event(), Event(), Event()
    mask_of_blocks = flex_attention.create_block_mask

    def slow(*given: Any, **named: Any) -> Any:
        proving.set()
        assert answered.wait(60)
        return mask_of_blocks(*given, **named)

    def question() -> None:
        asking.set()
        proving.wait(1)  # with one lock the proof waits for the end of the question

    monkeypatch.setattr(flex_attention, "create_block_mask", slow)
    with ThreadPoolExecutor(2) as threads:
        asked = threads.submit(ask, question)
        assert asking.wait(60)
        proof = threads.submit(lambda: run.proof)
        asked.result()
        answered.set()
        assert max(proof.result().values()) < 1e-5
    assert [*warnings.filters] == before


def test_a_faulty_record_is_found_by_the_proof() -> None:
    r = four(num_layers=1)
    layer = r.layers[0]
    assert isinstance(layer, AttentionLayer)
    layer.weights[0, 0, 3, 1] += 0.25
    assert r.proof["sdpa"] > 0.01
    assert r.proof["flex"] > 0.01


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("V", [None, 9])
def test_the_weights_are_those_of_a_plain_script(layer: Any, V: int | None) -> None:
    config = RowConfig(layer=layer, seed=11, num_layers=2, dtype="float64")
    torch.manual_seed(11)
    E, C = 8, 6
    kind: dict[str, Any] = {"dtype": torch.float64}
    plain: list[nn.Module] = []
    if layer == "attention":
        plain += [nn.Linear(E, 3 * E, **kind), nn.Linear(E, 3 * E, **kind)]
    elif layer == "conv":
        plain += [nn.Conv1d(E, E, 4, groups=E, **kind) for _ in range(2)]
    else:
        plain += [{"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[layer](E, E, 2, **kind)]
    plain += [nn.Embedding(V, E, **kind), nn.Linear(E, V, **kind)] if V else [nn.Linear(3, E, **kind)]
    plain += [nn.Embedding(16, E, **kind)] if layer == "attention" else []
    before = torch.get_rng_state()
    ours = list(RowModel(config, C, V=V, features=3).parameters())
    assert torch.equal(torch.get_rng_state(), before)
    theirs = [weight for part in plain for weight in part.parameters()]
    assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("layer", LAYERS)
def test_a_new_word_leaves_the_weights_of_the_layers_as_they_are(layer: Any) -> None:
    few, more = (trace_rows(Batch.parse(text), RowConfig(layer=layer)) for text in ("a b\nc d", "a b\nc d e f g"))
    weights, others = few.model.layers.parameters(), more.model.layers.parameters()
    assert all(torch.equal(one, other) for one, other in zip(weights, others, strict=True))


def test_a_document_without_a_label_is_known() -> None:
    r = trace_rows(Batch.parse("a b c d e\nf"), RowConfig(max_length=3))
    assert r.rows.tokens_dropped == 2
    assert r.unlabelled == ((1, 0),)


@pytest.mark.parametrize(("settings", "parameter"), [
    ({"max_length": 0}, "max_length"),
    ({"strategy": "worst"}, "strategy"),
    ({"layer": "mamba"}, "layer"),
    ({"num_layers": 0}, "num_layers"),
    ({"num_heads": 3}, "num_heads"),
    ({"embedding_dim": 6, "num_heads": 2, "positions": "rope"}, "embedding_dim"),
    ({"embedding_dim": 0}, "embedding_dim"),
    ({"kernel_size": 0}, "kernel_size"),
    ({"positions": "absolute"}, "positions"),
    ({"isolate": 1}, "isolate"),
    ({"shift_labels": "none"}, "shift_labels"),
    ({"dtype": "float16"}, "dtype"),
    ({"seed": -1}, "seed"),
    ({"max_length": 10**6}, "max_length"),
    ({"embedding_dim": 10**6}, "embedding_dim"),
])  # fmt: skip
def test_settings_that_cannot_be_run_are_refused(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(PackvizError) as refusal:
        trace_rows(FOUR, RowConfig(**settings))
    assert refusal.value.parameter == parameter


def test_heads_matter_to_attention_alone() -> None:
    assert RowConfig(layer="gru", num_heads=3).num_heads == 3
    assert RowConfig(layer="gru", embedding_dim=3, positions="rope").embedding_dim == 3


def test_ids_too_large_for_an_embedding_are_refused() -> None:
    with pytest.raises(PackvizError, match="embedding_dim: expected embeddings of at most"):
        trace_rows(Batch.parse("1 99999999"))
    with pytest.raises(PackvizError, match="batch: expected a Batch"):
        trace_rows([1, 2])  # type: ignore[arg-type]
