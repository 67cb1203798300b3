"""The script makes the trace's tensors, bit for bit, when it runs alone."""

import ast
import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from random_runs import random_run
from seeds import seeds
from torch import Tensor
from trace_cases import made

from packviz.compute.record import Refusal
from packviz.compute.trace import Trace, trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.show.snippet import snippet


def expected(seen: Trace) -> dict[str, Tensor | None]:
    tensors = {"lengths": seen.padded.lengths, "x": seen.padded.values, **seen.packed_sequence._asdict()}
    tensors |= {"padded_output": seen.unpacked.output, "output_lengths": seen.unpacked.lengths}
    tensors |= {"output": seen.output, "h_n": seen.h_n} | ({} if seen.c_n is None else {"c_n": seen.c_n})
    return tensors


def run(script: str, **given: Any) -> dict[str, Any]:
    """Return the names that a script leaves, and the fields of its `packed`; its `output` as packed rows."""
    space, enabled = dict(given), torch.backends.mkldnn.enabled
    try:
        with torch.random.fork_rng(devices=[]):
            exec(compile(script.encode("utf-8"), "snippet", "exec"), space)
    finally:
        torch.backends.mkldnn.enabled = enabled
    return {**space, **space["packed"]._asdict(), "output": space["output"].data}


def assert_same(space: dict[str, Any], seen: Trace, run: object = "") -> None:
    """Compare every tensor; zeros have a sign, and it has to be the same."""
    wanted = expected(seen)
    assert ("c_n" in space) == ("c_n" in wanted)
    for name, tensor in wanted.items():
        got = space[name]
        assert (got is None) == (tensor is None), (name, run)
        if tensor is not None:
            assert got.dtype == tensor.dtype, (name, run)
            assert torch.equal(got, tensor), (name, run)
            assert torch.equal(got.signbit(), tensor.signbit()), (name, run)


@pytest.mark.parametrize("seed", seeds(21))
def test_any_script_makes_its_traces_tensors_with_torch_alone(seed: int, capsys: Any) -> None:
    given = random_run(seed)
    seen = trace(given.batch, given.config)
    script = snippet(seen)
    assert max(map(len, script.splitlines())) <= 120
    assert script.endswith("\n")
    nodes = ast.parse(script).body
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert (names, modules) == (["torch"], ["torch", "torch.nn.utils.rnn"])
    assert_same(run(script), seen, seen.config)
    printed = capsys.readouterr().out
    assert "PackedSequence(data=tensor(" in printed
    assert str(seen.h_n).partition("]")[0] in printed  # what follows has the script's own grad_fn, too


LARGE = [
    (Batch.example("hundred"), {"cell": "lstm"}, "(length, F) float32"),
    (Batch.parse("a b c\n" * 700), {"initial_state": "random"}, "(length,) int64"),
    (Batch.parse("1 2 3\n4\n" * 600), {"embedding_dim": 2}, "(length,) int64"),
    (Batch.from_tensors([torch.linspace(0, 1, 2_500, dtype=torch.float64)]), {}, "(length,) float64"),
]


@pytest.mark.parametrize(("batch", "settings", "asked"), LARGE)
def test_filled_in_by_the_reader_it_makes_the_same_tensors(batch: Batch, settings: Any, asked: str) -> None:
    seen = trace(batch, Config(**settings))
    script = snippet(seen)
    assert len(script) < 2_000
    assert f"put your list of {asked} tensors here\nsequences = ...\n" in script
    dtype = getattr(torch, asked.split()[-1])
    given = [sequence.to(dtype) for sequence in batch.sequences]
    assert_same(run(script.replace("sequences = ...", "sequences = given"), given=given), seen)


@pytest.mark.parametrize(("text", "settings"), [
    ("1 2 3\n4 5\n6 7 8 9", {}),
    ("[[[1, 2.5], [3, 4]], [[5, 6], [7, 8], [0.1, -1e-7]]]", {"total_length": 9}),
    ("1 2\n" * 1_000 + "3 4 5", {"embedding_dim": 2}),
])  # fmt: skip
def test_the_script_ends_where_torch_refuses(text: str, settings: dict[str, Any]) -> None:
    seen = made(text, **{**settings, "enforce_sorted": True})
    script = snippet(seen)
    assert isinstance(seen, Refusal)
    last_line_of_code = [line for line in script.splitlines() if not line.startswith("#")][-1]
    assert last_line_of_code.startswith("packed = pack_padded_sequence(")
    assert seen.batch is not None
    given = [sequence.to(seen.padded.tokens.dtype) for sequence in seen.batch.sequences]
    with pytest.raises(RuntimeError) as refusal:
        run(script.replace("sequences = ...", "sequences = given"), given=given)
    assert str(refusal.value) == seen.error


HOSTILE = [
    '"), __import__("os").system("true")',
    "\nimport os\n",
    "a\u2028import os\u2029b",
    "a\x0bimport\x0cos\x1c\x1d\x1e\x85b",
    "\x00\x1a\x7f",
    "\\",
    "'" * 3,
    '"""',
    "# -*- coding: utf-7 -*-",
    "{seed} {0} %s \\N{BULLET} \\x41",
    "\ud800",
    "\u202eos tropmi",
    "x" * 400,
]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_word_cannot_become_code(word: str) -> None:
    read = trace(Batch.parse(json.dumps([["a", word, "b"], [word]]), kind="words"))
    assert_harmless(snippet(read), read)
    assert read.batch is not None
    raw = trace(replace(read.batch, vocabulary=("<pad>", "a", word, "b")))  # nothing made visible beforehand
    if word != "\ud800":  # which no file can hold; parse() replaces it
        assert_harmless(snippet(raw), raw)


def assert_harmless(script: str, seen: Trace) -> None:
    """Prove that a script has the code of the one with harmless words, and only its comments differ."""
    harmless = snippet(made("a w b\nw"))
    assert ast.dump(ast.parse(script.encode("utf-8"))) == ast.dump(ast.parse(harmless))
    assert script.splitlines() == script.split("\n")[:-1]
    changed = [line for line in script.splitlines() if line not in harmless.splitlines()]
    assert all(line.startswith("# ") for line in changed)
    assert_same(run(script), seen)
