"""The stage `backward` shows autograd's own numbers, step by step from the last time step; its sentences are true."""

import re
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from movie_cases import PACKED, Case, over
from movie_screen import NUMBER, Show, Told, close, detail, number, state, units_of
from torch import Tensor

import packviz as pv
from packviz import Batch, Config
from packviz.compute.backward import Gradients
from packviz.text import counted

each_packed = over(PACKED)


@cache
def gone_back(case: Case, on: Any) -> tuple[Show, Gradients]:
    film = pv.movie(case.trace, ("backward",), layer=case.layer, direction=case.direction, on=on)
    return Show(film), case.trace.backward(on)


def both(case: Case) -> list[tuple[Show, Gradients]]:
    return [gone_back(case, on) for on in ("last_valid", "output")]


def steps(case: Case, show: Show) -> list[tuple[int, Told]]:
    """Return each time step with its step and the cells after it, in the order in which the gradient passes."""
    filmed = range(min(len(case.batch_sizes), 60))
    order = list(filmed if case.direction else reversed(filmed))
    told = [*zip(show.steps, show.after, strict=True)]
    assert len(told) == len(order) + 2
    return list(zip(order, told[1:-1], strict=True))


def rows_of(case: Case, g: Gradients) -> dict[str, Tensor]:
    layer, direction = case.watched
    return {**g.layers[layer][direction].rows}


@each_packed
def test_live_rows_show_the_gradients_of_h_gates_and_input(case: Case) -> None:
    for show, g in both(case):
        rows, inputs = rows_of(case, g), g.inputs[case.watched[0]]
        for t, (_, cells) in steps(case, show):
            live = case.live(t)
            for b in case.filmed:
                shown = state(cells, "dh", b)
                assert (shown is not None) == (b in live), (t, b)
                if b not in live:
                    continue
                n = case.row[b, t]
                assert close(shown, rows["h"][n]), (t, b)
                gates = {name: cells[f"dgate:{name}:{b}"] for name in rows if f"dgate:{name}:{b}" in cells}
                assert set(gates) == (set() if case.small else set(rows) - {"h"})
                assert all(cell["shown"] and close(cell["vec"], rows[name][n]) for name, cell in gates.items())
                if case.watched[0] == 0:
                    assert close(cells[f"dx:{b}"]["vec"], inputs[n])
                    assert close(cells[f"drow:{b}:{t}"]["vec"], inputs[n])


@each_packed
def test_the_grid_fills_with_the_largest_entries_of_what_has_passed(case: Case) -> None:
    for show, g in both(case):
        passed = set[int]()
        for t, (_, cells) in steps(case, show):
            passed.add(t)
            heat = {name: cell for name, cell in cells.items() if name.startswith("heat:") and cell["shown"]}
            expected = {f"heat:{b}:{at}" for b, at in case.at if at in passed and b in case.filmed}
            assert set(heat) == expected
        for name, cell in heat.items():
            b, at = map(int, name.split(":")[1:])
            most = float(rows_of(case, g)["h"][case.row[b, at]].abs().max())
            assert close([None if cell["text"] == "nan" else cell["v"]], torch.tensor([most]))


@each_packed
def test_the_loss_begins_at_the_final_states_or_at_every_output(case: Case) -> int:
    spoke = 0
    top, width = case.watched[0] == case.module.num_layers - 1, case.hidden.shape[1]
    half = slice(case.direction * width, (case.direction + 1) * width)
    for (show, g), family in zip(both(case), ("dhn", "dout"), strict=True):
        cells = show.after[0]
        assert any(name.startswith(f"{family}:") for name in cells) == top
        if not top:
            continue
        spoke += 1
        for b in case.filmed if family == "dhn" else ():
            assert close(state(cells, "dhn", b), g.upstream[b, half])
        for b, t in case.at if family == "dout" else ():
            if f"dout:{b}:{t}" in cells:
                assert close(cells[f"dout:{b}:{t}"]["vec"], g.upstream[case.row[b, t], half])
    return spoke


@each_packed
def test_what_is_left_at_the_end_is_the_gradient_of_h_0(case: Case) -> None:
    for show, g in both(case):
        for b in case.filmed:
            assert close(state(show.after[-1], "dh", b), g.h_0[case.row_of_h, b])


@each_packed
def test_every_sentence_is_true(case: Case) -> int:
    spoke, top = 0, case.watched[0] == case.module.num_layers - 1
    for (show, g), on in zip(both(case), ("last_valid", "output"), strict=True):
        assert ("goes down to layer" in show.steps[0]["caption"]) == (not top)
        assert ("all final states" in show.steps[0]["caption"]) == (on == "last_valid")
        h, added = rows_of(case, g)["h"], 0
        for t, (step, _) in steps(case, show):
            caption, live = step["caption"], case.live(t)
            added += len([b for b in live if b in case.filmed])
            assert f"**t = {t}.**" in caption
            assert "enters at" in caption or f"batch_sizes[{t}] = {len(live)}**" in caption
            begin = [b for b in live if t == (0 if case.direction else case.lengths[b] - 1)]
            if top and on == "last_valid":
                assert ("The gradient enters" in caption) == bool(begin)
                assert (f"of {case.said(begin)}." if begin else "No new gradient enters") in caption
            else:
                assert ("The loss adds" in caption) == top
                assert ("to each of the **" if len(live) > 1 else f" row, that of {case.said(live)}.") in caption
            if found := re.search(rf"(\{{\w+\}})'s largest gradient goes from {NUMBER} to {NUMBER}\.$", caption):
                spoke += 1
                earlier = t - 1 if case.direction else t + 1
                assert found[1] == case.said(live[:1])
                assert number(found[2], h[case.row[live[0], earlier]])
                assert number(found[3], h[case.row[live[0], t]])
            total = sum(case.batch_sizes)
            assert detail(step, "# weights: ")[0].endswith(f" of {total} rows added")
        end = show.steps[-1]["caption"]
        (most, name), pads = re.findall(rf"The largest is {NUMBER}, in (\w+)\.", end)[0], len(case.strays)
        assert number(most, g.weights[name])
        assert (
            float(most) >= max(float(f"{float(each.abs().max()):.3g}") for each in g.weights.values()) or most == "nan"
        )
        assert f" {'over all' if total > 1 else 'from'} {counted(total, 'packed row')}. " in end
        assert ("The packed pads count like tokens." in end) == bool(pads)
        assert ("have no gradient" in end) == (not pads and case.table is None)
    return spoke


@each_packed
def test_the_end_says_what_the_row_of_the_pad_in_the_embedding_gets(case: Case) -> int:
    spoke, config, tokens = 0, case.trace.config, case.trace.padded.tokens
    for show, g in both(case):
        end = show.steps[-1]["caption"]
        assert ("embedding" in end) == (case.table is not None and not case.strays)
        if case.table is None or config is None or case.strays:
            continue
        spoke += 1
        ids, table = torch.stack([tokens[b, t] for b, t in case.at]), case.table.clone().requires_grad_()
        torch.autograd.backward(F.embedding(ids, table, config.padding_idx), g.data)
        assert table.grad is not None
        row, own = table.grad[config.pad_id], int((ids == config.pad_id).sum())
        assert (f"With padding_idx, row {config.padding_idx} of" in end) == (config.padding_idx is not None)
        if "gradient 0." in end:
            assert not row.any()
            assert config.padding_idx is not None or not own
        else:
            assert own > 0
            assert number(re.findall(rf"has a gradient of up to {NUMBER}\.$", end)[0], row)
    return spoke


@pytest.mark.parametrize(("settings", "says"), [
    ({}, "The pad's embedding has gradient 0."),
    ({"padding_idx": 0}, "With padding_idx, row 0 of the embedding has gradient 0."),
    ({"padding_idx": 2}, "With padding_idx, row 2 of the embedding has gradient 0."),
    ({"padding_side": "left"}, "The packed pads count like tokens."),
])  # fmt: skip
def test_the_end_names_padding_idx(settings: dict[str, Any], says: str) -> None:
    film = pv.movie(pv.trace(Batch.parse("a b c\nd"), Config(**settings)), ("backward",))
    assert says in film.steps[-1].caption


def test_a_step_says_how_many_rows_the_sum_of_the_weights_has() -> None:
    film = pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"), Config()), ("backward",))
    said = [detail(step, "# weights: ")[0] for step in Show(film).steps[1:-1]]
    assert said == [f"{rows} of 9 rows added" for rows in (1, 3, 6, 9)]


def test_a_movie_has_the_way_back_only_if_it_is_asked_for() -> None:
    trace = pv.trace(Batch.parse("1 2 3\n4 5"), Config())
    assert "backward" not in {step.stage for step in pv.movie(trace).steps}
    film = pv.movie(trace, ("run", "backward"))
    assert [*dict.fromkeys(step.stage for step in film.steps)] == ["run", "backward"]
    assert [line.text for line in film.code][-1] == "h_n[-1].sum().backward()"


def test_a_loss_of_ones_own_is_shown_where_it_begins() -> None:
    trace = pv.trace(Batch.parse("1 2 3\n4 5"), Config(hidden_size=2))
    show = Show(pv.movie(trace, ("backward",), upstream=torch.tensor([[0.0, 0.0], [0.5, -2.0]])))
    assert "has a gradient of up to 2 at the final states." in show.steps[0]["caption"]
    assert [units_of(show.after[0], f"dhn:{b}") for b in (0, 1)] == [[0.0, 0.0], [0.5, -2.0]]
    for b, unit in product((0,), (0, 1)):
        assert show.after[-1][f"dh:{b}:{unit}"]["v"] == 0
