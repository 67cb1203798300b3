"""The table of cell kinds: torch's modules and the recorded run are the judges of what it says."""

import ast
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from packviz import Batch, Config, trace
from packviz.inputs.cell_kinds import CELL_KINDS, Cell, cell_kind_of

ROOT = Path(__file__).parent.parent
each_kind = pytest.mark.parametrize("cell", CELL_KINDS)
BATCH = Batch.parse("1 -2 3\n4 5\n-6")


@each_kind
def test_a_kind_has_torchs_gates_states_and_rows_of_weights(cell: Cell) -> None:
    kind, t = CELL_KINDS[cell], trace(BATCH, Config(cell=cell, hidden_size=3))
    assert cell_kind_of(t.module) is kind
    assert len(t.module.state_dict()["weight_ih_l0"]) == kind.G * 3
    assert list(t.layers[0][0].gates) == list(kind.gates)
    assert ("c" in kind.states) == (t.c_n is not None)


@each_kind
def test_the_formulas_of_a_kind_are_what_torch_computes(cell: Cell) -> None:
    t = trace(BATCH, Config(cell=cell, hidden_size=3, initial_state="random"))
    run = t.layers[0][0]
    h, c = run.before(0)
    known: dict[str, Any] = {**{gate: rows[: len(h)] for gate, rows in run.gates.items()}, "h": h, "c": c}
    for formula in CELL_KINDS[cell].formulas:
        known[formula.left] = run.rows[formula.left.rstrip("'")][: len(h)]
        letters = dict.fromkeys(re.findall(r"\b[a-z]\b'?", formula.right))
        for place in product(range(len(h)), range(3)):
            made = formula.calculate(*(float(known[letter][place]) for letter in letters))
            assert made == pytest.approx(float(known[formula.left][place]), abs=1e-6)


def test_no_other_place_tells_the_kinds_apart_by_name() -> None:
    """What a kind is like stands in its row of the table: a new kind needs no branch anywhere else."""
    found = []
    for path in (ROOT / "packviz").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            branches = [node] if isinstance(node, ast.Compare) else node.keys if isinstance(node, ast.Dict) else ()
            texts = [
                leaf.value for each in branches if each for leaf in ast.walk(each) if isinstance(leaf, ast.Constant)
            ]
            found += [path.name for text in texts if text in CELL_KINDS]
    assert found == ["cell_kinds.py"] * len(CELL_KINDS)
