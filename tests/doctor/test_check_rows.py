"""check_rows(): rows in which documents leak are found with their kind, and right ones have no finding."""

import threading
from typing import Any

import pytest
import torch
from document_cases import IDS, RIGHT, WRONG, Convolution, E, Model, Recurrent, causal, documents, values
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

import packviz as pv


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_model_has_no_finding(name: str) -> None:
    model, call, given = RIGHT[name]
    found = pv.check_rows(model, given, call)
    assert found.influence.forwards <= 80
    assert found == (), str(found)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_model_is_found_with_its_kind(name: str) -> None:
    model, call, given, kind, word = WRONG[name]
    found = pv.check_rows(model, given, call)
    assert [one.key for one in found.wrong] == [kind], str(found)
    assert word in found[0].found
    assert found.influence.forwards <= 80
    compile(found[0].repair, "repair", "exec")


def test_two_runs_that_differ_are_not_told_as_the_failure_of_a_document_alone() -> None:
    def call(_: Model, row: Any) -> Tensor:
        if len(row.documents) < 2:
            raise ValueError("two documents at least")
        return row.input_ids * torch.rand(1)  # type: ignore[no-any-return]

    (found,) = pv.check_rows(Convolution(3), documents(), call)
    assert found.key == "run_differs"
    assert "the second run raises" not in found.found


def test_it_says_which_documents_and_tokens_are_hit_and_by_how_much() -> None:
    (found,) = pv.check_rows(Convolution(3), documents((4, 1, 3)))
    assert (found.key, found.severity) == ("convolution", "silent")
    assert list(zip(found.sequences, found.timesteps, strict=True)) == [(1, 0), (2, 0), (2, 1)]
    assert found.where == "token 0 of document B and tokens 0 to 1 of document C"
    assert "0.00012 times the largest number" in found.found
    assert str(found).count(found.where) == 1


def test_the_first_token_of_a_document_that_is_changed_alone_is_seen() -> None:
    def call(model: Model, row: Any) -> Tensor:
        mask = row.mask.clone()
        if len(row.documents) > 1:
            mask[..., 4, 3] = True  # the first token of B reads the last of A
        return model(row.input_ids, row.position_ids, mask)  # type: ignore[no-any-return]

    (found,) = pv.check_rows(Model(), documents(), call)
    assert found.key == "leak"
    assert "A changes B, by" in found.found


def test_a_row_with_too_many_tokens_is_checked_at_its_borders_first() -> None:
    right = pv.check_rows(Model(), documents((30, 30, 30)))
    wrong = pv.check_rows(Recurrent(nn.GRU), documents((30, 30, 30)))
    assert [right.influence.forwards, wrong.influence.forwards] == [76, 80]  # four show which layer carries a leak
    assert [one.key for one in (*right, *wrong)] == ["leak"]
    assert pv.check_rows(Recurrent(nn.GRU), documents((30, 30, 30)), forwards=12).wrong


def test_lists_of_ids_are_taken_and_a_common_end_token_stays() -> None:
    def by_end(model: Model, row: Any) -> Tensor:
        owner = (row.input_ids[0] == 2).cumsum(0) - (row.input_ids[0] == 2).long()
        mask = (owner[:, None] == owner).tril()
        return model(row.input_ids, row.position_ids, mask)  # type: ignore[no-any-return]

    assert pv.check_rows(Model(), [[5, 6, 2], [7, 8, 9, 2], [4, 2]], by_end) == ()


def test_the_model_is_as_before_also_for_a_thread_that_looks_meanwhile() -> None:
    model = nn.Sequential(nn.Embedding(20, 4), nn.Dropout(), nn.LayerNorm(4), nn.BatchNorm1d(4, affine=False))
    before, state = {name: value.clone() for name, value in model.state_dict().items()}, torch.get_rng_state()
    seen: set[bool] = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.update(one.training for one in model.modules())

    other = threading.Thread(target=look)
    other.start()
    found = pv.check_rows(model, documents(), lambda m, row: m(row.input_ids[0]))
    done.set()
    other.join()
    assert found == ()
    assert seen == {True}
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)
    assert all(one.grad is None for one in model.parameters())


def test_what_a_model_cannot_be_run_on_is_a_note_or_a_failure() -> None:
    def whole_rows(model: Model, row: Any) -> Tensor:
        if len(row.documents) < 2:
            raise RuntimeError("a row has two documents")
        return model(row.input_ids, row.position_ids, row.mask)  # type: ignore[no-any-return]

    (note,) = pv.check_rows(Model(), documents(), whole_rows)
    assert (note.key, note.severity) == ("alone_fails", "note")
    (wrong, _) = pv.check_rows(Model(), documents(), lambda m, r: whole_rows(m, r) + m.embedding(r.input_ids).sum())
    assert wrong.key == "leak"
    same = [torch.ones(3, dtype=torch.int64), torch.ones(2, dtype=torch.int64)]
    (failed,) = pv.check_rows(Model(), same, whole_rows)
    assert (failed.key, failed.severity) == ("nothing_compared", "error")


def test_the_picture_marks_the_tokens_of_other_documents() -> None:
    found = pv.check_rows(Recurrent(nn.GRU), documents((2, 2)))
    assert "changed: A0: B0 changes by" in found.svg()
    assert "changed: B0: A0 does not change" in found.svg()
    assert found.svg() in found._repr_html_()


@pytest.mark.parametrize(
    ("model", "given", "told", "parameter"),
    [
        (None, documents(), {}, "model"),
        (Model(), [[1, 2]], {}, "documents"),
        (Model(), torch.zeros(3), {}, "documents"),
        (Model(), [[1, 2], []], {}, "documents"),
        (Model(), [["a"], ["b"]], {}, "documents"),
        (Model(), [torch.zeros(2), torch.zeros(2, dtype=torch.int64)], {}, "documents"),
        (Model(), documents(), {"call": 3}, "call"),
        (Model(), documents(), {"forwards": 5}, "forwards"),
        (Model(), documents(), {"tolerance": float("nan")}, "tolerance"),
        (lambda x, other: x + other, documents(), {}, "model"),
        (lambda x: x.sum(), documents(), {}, "model"),
    ],
)
def test_what_cannot_be_checked_is_refused(model: Any, given: Any, told: Any, parameter: str) -> None:
    with pytest.raises(pv.PackvizError) as refused:
        pv.check_rows(model, given, **told)
    assert refused.value.parameter == parameter


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_leak_below_the_rounding_of_a_dtype_is_no_matter_of_positions(dtype: torch.dtype) -> None:
    unit = 1024 * torch.finfo(dtype).eps if dtype == torch.float32 else 16 * torch.finfo(dtype).eps

    def summed(row: Any) -> Tensor:  # each token adds less than the rounding, all of them more
        x = row.input_ids.to(dtype)
        return x / 20 + (x * unit / 30).cumsum(1)  # type: ignore[no-any-return]

    given = documents((6, 6, 6))
    (found,) = pv.check_rows(summed, given, lambda model, row: model(row))
    assert found.key == "leak"
    (found,) = pv.check_rows(
        lambda row: row.input_ids.to(dtype) + torch.arange(row.input_ids.size(1)), given, lambda m, r: m(r)
    )
    assert found.key == "positions"


class Attended(nn.Module):
    """Attention written by hand, before a GRU that runs each document by itself."""

    def __init__(self, norm: nn.Module | None = None) -> None:
        super().__init__()
        torch.manual_seed(6)
        self.attention, self.g, self.norm = Model("none"), nn.GRU(20, 4, batch_first=True), norm

    def forward(self, ids: Tensor, positions: Tensor, mask: Tensor, parts: list[int]) -> Tensor:
        x = self.attention(ids, positions, mask)
        x = x if self.norm is None else self.norm(x.transpose(1, 2)).transpose(1, 2)
        packed = pack_sequence([one[0] for one in x.split(parts, 1)], enforce_sorted=False)
        return torch.cat(unpack_sequence(self.g(packed)[0]))[None]


def attended(m: Attended, row: Any, mask: Tensor) -> Tensor:
    return m(row.input_ids, row.position_ids, mask, row.cu_seqlens.diff().tolist())  # type: ignore[no-any-return]


def first_of_the_next(row: Any) -> Tensor:
    mask = row.mask[0, 0].clone()
    mask[range(1, len(mask)), range(len(mask) - 1)] = True  # each token reads the one before it, over borders, too
    return mask  # type: ignore[no-any-return]


@pytest.mark.parametrize("mask", [causal, first_of_the_next, lambda row: torch.ones_like(causal(row))])
def test_a_layer_that_only_passes_on_a_leak_is_not_blamed(mask: Any) -> None:
    norm = nn.BatchNorm1d(20)  # with running statistics
    (found,) = pv.check_rows(Attended(norm), documents(), lambda m, row: attended(m, row, mask(row)))
    assert found.key == "leak"
    assert all(name not in found.found for name in ("GRU", "BatchNorm"))


def test_the_layer_that_carries_a_leak_is_named_among_others() -> None:
    own = nn.BatchNorm1d(20, track_running_stats=False)
    (found,) = pv.check_rows(Attended(own), documents((4, 3, 2)), lambda m, row: attended(m, row, row.mask))
    assert "BatchNorm1d norm takes its statistics over the whole row" in found.found
    (found,) = pv.check_rows(
        nn.ModuleDict({"a": nn.MultiheadAttention(8, 1, batch_first=True), "n": nn.BatchNorm1d(8)}),
        values(),
        lambda m, row: m["n"](m["a"](*[row.input_ids] * 3)[0].transpose(1, 2)),
    )
    assert "MultiheadAttention a reads over the borders" in found.found
    assert "BatchNorm" not in found.found
    assert "GRU rnn runs on" in pv.check_rows(Recurrent(nn.GRU, bidirectional=True), documents())[0].found


def test_no_hook_stays_on_a_model_that_cannot_be_copied() -> None:
    model = Recurrent(nn.GRU)
    model.lock, hooked = threading.Lock(), list[int]()  # type: ignore[assignment]

    def call(m: Recurrent, row: Any) -> Tensor:
        hooked.append(len(model.rnn._forward_hooks))
        return m(row.input_ids)  # type: ignore[no-any-return]

    (found,) = pv.check_rows(model, documents(), call)
    assert "GRU rnn runs on" in found.found
    assert {*hooked} == {0}


@pytest.mark.parametrize("share", [0.1, 0.01, 0.001])
def test_a_state_that_fades_is_not_taken_for_a_convolution(share: float) -> None:
    model = Recurrent(nn.RNN)
    with torch.no_grad():
        model.get_parameter("rnn.weight_hh_l0").mul_(share)
    (found,) = pv.check_rows(model, documents((6, 7, 6)))
    assert found.key == "leak"
    assert "The state of RNN rnn runs on over the borders." in found.found


def test_a_window_of_attention_without_borders_is_attention() -> None:
    class Windowed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(1)
            self.embedding, self.read = nn.Embedding(IDS, E), nn.MultiheadAttention(E, 1, batch_first=True)

        def forward(self, input_ids: Tensor) -> Tensor:
            x, n = self.embedding(input_ids), torch.arange(input_ids.shape[-1])
            far = ~((n[:, None] >= n) & (n[:, None] - n < 3))
            return self.read(x, x, x, attn_mask=far, need_weights=False)[0]  # type: ignore[no-any-return]

    (found,) = pv.check_rows(Windowed(), documents((6, 7, 6)))
    assert found.key == "leak"
    assert "MultiheadAttention read reads over the borders" in found.found


def test_a_leak_over_all_borders_is_not_one_over_some_of_them() -> None:
    def next_door(model: Model, row: Any) -> Tensor:
        owner = row.seq_idx[0].long()
        mask = causal(row) & (owner[:, None] - owner <= 1)
        return model(row.input_ids, row.position_ids, mask)  # type: ignore[no-any-return]

    (found,) = pv.check_rows(Model(), documents((3, 3, 3, 3)), next_door)
    assert "A mask lacks the borders" in found.found
