"""The script of a run over rows makes its numbers when it runs alone, for every stage of the movie."""

import ast
from typing import Any

import pytest
import torch
from row_cases import LAYERS, random_rows
from seeds import seeds
from torch.nn.utils.rnn import pack_sequence

import packviz as pv
from packviz import RowsTrace
from packviz.show.row_snippet import row_snippet

ROUNDING = {"float32": 2e-5, "float64": 1e-12}  # influence adds up the roundings of several layers
EACH = pytest.mark.parametrize("layer", LAYERS)


def made(run: RowsTrace) -> dict[str, Any]:
    """Return the names that the script of a run leaves; it imports torch alone."""
    script, space = row_snippet(run), dict[str, Any]()
    assert max(map(len, script.splitlines())) <= 120
    imported = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imported]
    assert {name.partition(".")[0] for name in names} == {"torch"}
    with torch.random.fork_rng(devices=[]):
        exec(compile(script, "snippet", "exec"), space)
    return space


@EACH
@pytest.mark.parametrize("seed", seeds(6))
def test_the_script_has_the_integers_of_the_rows(seed: int, layer: str) -> None:
    run = random_rows(seed, layer=layer)
    space = made(run)
    packed = pack_sequence(list(run.batch.sequences), enforce_sorted=False)
    assert torch.equal(space["packed"].batch_sizes, packed.batch_sizes)
    assert space["row"].flatten().tolist() == pytest.approx(torch.cat(run.batch.sequences).flatten().tolist())
    assert [list(row) for row in run.rows.rows] == space["rows"]
    for row, lengths in enumerate(run.rows.lengths):
        n = sum(lengths)
        assert torch.equal(space["position_ids"][row], run.position_ids[row, :n])
        assert torch.equal(space["seq_idx"][row], run.document_ids[row, :n])
        assert torch.equal(space["cu_seqlens"][row], run.cu_seqlens[row])


@EACH
@pytest.mark.parametrize("seed", seeds(6))
def test_the_script_has_the_outputs_differences_and_influences_of_the_rows(seed: int, layer: str) -> None:
    run = random_rows(seed, layer=layer)
    space = made(run)
    near: dict[str, Any] = {"rtol": 1e-4, "atol": ROUNDING[run.config.dtype]}
    for row, lengths in enumerate(run.rows.lengths):
        n = sum(lengths)
        torch.testing.assert_close(space["outputs"][row], run.output[row, :n].detach(), **near)
        torch.testing.assert_close(space["single"][row], torch.cat(run.alone[row]).detach(), **near)
        torch.testing.assert_close(space["difference"][row], torch.cat(run.difference[row]).detach(), **near)
        torch.testing.assert_close(space["influences"][row], run.influence[row, :n, :n], **near)


def test_the_script_prints_borders_and_differences(capsys: Any) -> None:
    run = pv.trace_rows(pv.Batch.parse("1 2 3\n4 5\n6"), pv.RowConfig(isolate=False))
    space = made(run)
    printed = capsys.readouterr().out
    for name in ("position_ids", "seq_idx", "cu_seqlens", "difference", "influences"):
        assert str(space[name]) in printed


def test_a_large_batch_is_left_to_the_reader() -> None:
    run = pv.trace_rows(pv.Batch.parse("1 2 3\n" * 700), pv.RowConfig(max_length=30))
    assert "put your list of (length,) int64 tensors here\nsequences = ..." in row_snippet(run)
