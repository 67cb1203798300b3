"""The run shows torch's own states, step by step, and what is final is torch's h_n."""

from movie_cases import PACKED, Case, over
from movie_judge import close
from movie_screen import grid_of
from run_cases import RUNS, last_taken, row_of_h, state, steps

each_packed, each_run = over(PACKED), over(RUNS)


@each_run
def test_it_starts_with_h_0(case: Case) -> None:
    _, cells = case.show.of("run")[0]
    for b in case.filmed:
        assert close(state(cells, "h", b), case.judge.h_0[row_of_h(case), b])
        assert state(cells, "hn", b) is None


@each_run
def test_after_every_step_h_is_torchs_state(case: Case) -> None:
    layer, direction = case.watched
    hidden = case.judge.hidden[layer][direction]
    for t, cells in steps(case):
        for b in case.filmed:
            taken = last_taken(case, b, t)
            truth = case.judge.h_0[row_of_h(case), b] if taken is None else hidden[case.judge.row[b, taken]]
            assert close(state(cells, "h", b), truth), (t, b)


@each_run
def test_what_has_ended_is_torchs_h_n_and_nothing_else_is_there(case: Case) -> None:
    for t, cells in steps(case):
        for b in case.filmed:
            over = t == 0 if case.direction else t >= case.judge.lengths[b] - 1
            shown = state(cells, "hn", b)
            assert (shown is not None) == over == cells[f"ring:hn:{b}"]["shown"]
            if over:
                assert close(shown, case.judge.h_n[row_of_h(case), b])


@each_run
def test_a_state_that_is_final_has_its_ring(case: Case) -> None:
    for t, cells in steps(case):
        over = {b for b in case.filmed if (t == 0 if case.direction else t >= case.judge.lengths[b] - 1)}
        rings = {cell["seq"] for name, cell in cells.items() if name.startswith("ring:h:") and cell["shown"]}
        assert rings == over


@each_run
def test_h_stands_in_packed_order_and_h_n_in_the_original_one(case: Case) -> None:
    cells = case.show.after[-1]
    rows = {
        name: [cell for cell in cells.values() if cell["p"] == name and cell["role"] in ("value", "vector")]
        for name in ("h", "hn")
    }
    for name, order in (("h", case.filmed), ("hn", sorted(case.filmed))):
        placed = grid_of(rows[name], transposed=False)
        assert [placed[row, 0]["seq"] for row in range(len(order))] == order
        assert all(cell["seq"] == order[row] for (row, _), cell in placed.items())


@each_run
def test_the_rows_that_are_fed_are_the_live_ones(case: Case) -> None:
    for t, cells in steps(case):
        fed = [b for b in case.filmed if cells[f"in:{b}"]["shown"]]
        assert fed == [b for b in case.judge.live(t) if b in case.filmed]


@each_run
def test_what_is_fed_is_the_row_that_torch_packed(case: Case) -> int:
    spoke = 0
    layer, _ = case.watched
    entering = case.judge.entering(layer)
    for t, cells in steps(case):
        for b in case.judge.live(t):
            cell = cells.get(f"in:{b}")
            if cell is None:
                spoke += 1
                assert b not in case.filmed
                continue
            if cell.get("vec"):
                row = entering[case.judge.row[b, t]]
                halves = row.view(case.judge.D, -1) if layer else row.view(1, -1)
                per_half = len(cell["vec"]) // len(halves)
                assert close(cell["vec"], halves[:, :per_half])
                assert cell["scale"] == ("state" if layer else "input")
            else:
                assert case.small or (layer == 0 and len(entering[0]) == 1)
    return spoke


@each_run
def test_what_is_fed_shows_the_token_of_this_time_step_or_none(case: Case) -> None:
    for t, cells in steps(case):
        for b in case.filmed:
            cell = cells[f"in:{b}"]
            if not cell["shown"]:
                continue
            if case.judge.mask[b][t]:
                token = case.movie.tokens[cell["token"]]
                assert (token.b, token.t) == (b, t)
                assert cell["text"] == case.show.first[f"token:{b}:{t}"]["text"]
            else:
                assert cell.get("token") is None, "a pad that was packed by mistake is no token"


@each_packed
def test_gates_and_c_are_those_of_torchs_formula(case: Case) -> None:
    if case.trace.module.proj_size:
        return  # torch's formula for h has one more factor there
    layer, direction = case.watched
    gates = [name for name in case.show.ids if name.startswith("gate:")]
    assert bool(gates) == (not case.small and case.judge.module.mode in ("GRU", "LSTM"))
    for t, cells in steps(case) if gates else []:
        for b in case.judge.live(t):
            inside = case.judge.inside(layer, direction, case.judge.row[b, t])
            shown = {name.split(":")[1]: cells[name] for name in gates if name.endswith(f":{b}")}
            assert set(shown) == set(inside)
            for gate, cell in shown.items():
                assert cell["shown"]
                assert close(cell["vec"], inside[gate]), (gate, b, t)


@each_packed
def test_only_rows_that_are_fed_show_their_gates(case: Case) -> int:
    spoke = 0
    for t, cells in steps(case):
        for name, cell in cells.items():
            if name.startswith("gate:") and not name.startswith("gate:c:"):
                spoke += 1
                assert cell["shown"] == (cell["seq"] in case.judge.live(t))
    return spoke


@each_run
def test_the_output_fills_with_the_states_of_the_steps_that_were_taken(case: Case) -> None:
    layer, direction = case.watched
    hidden, taken = case.judge.hidden[layer][direction], set()
    for t, cells in steps(case):
        taken.add(t)
        shown = sorted(
            (cell for cell in cells.values() if cell["p"] == "out" and cell["role"] == "output" and cell["shown"]),
            key=lambda cell: cell["x"],
        )
        expected = [(b, step) for b, step in case.judge.at if step in taken and b in case.filmed]
        assert [tuple(map(int, cell["id"].split(":")[1:])) for cell in shown] == expected
        if t in (0, len(case.judge.batch_sizes) - 1):
            for cell, position in zip(shown, expected, strict=True):
                assert close(cell["vec"], hidden[case.judge.row[position]])


@each_run
def test_the_packed_output_stands_in_line_with_the_packed_rows(case: Case) -> int:
    spoke = 0
    cells = case.show.end_of("run")
    for name, cell in cells.items():
        if name.startswith("out:"):
            spoke += 1
            _, b, t = name.split(":")
            row = cells.get(f"token:{b}:{t}") if case.judge.mask[int(b)][int(t)] else cells[f"stray:{b}:{t}"]
            assert (cell["x"], cell["w"]) == (row["x"], row["w"])
    return spoke


@each_run
def test_the_ring_in_the_output_is_around_the_last_step_that_was_taken(case: Case) -> None:
    cells = case.show.end_of("run")
    for b in case.filmed:
        last = 0 if case.direction else case.judge.lengths[b] - 1
        ring = cells.get(f"ring:out:{b}:{case.direction}")
        if last < 128:
            assert ring["shown"]
            assert [ring[key] for key in "pxywh"] == [cells[f"out:{b}:{last}"][key] for key in "pxywh"]
        else:
            assert ring is None


@each_run
def test_a_higher_layer_reads_the_output_of_the_layer_below(case: Case) -> int:
    spoke = 0
    layer, _ = case.watched
    cells = case.show.of("run")[0][1]
    if layer == 0:
        return spoke
    rows = case.judge.entering(layer)
    for b, t in case.judge.at:
        cell = cells.get(f"{'token' if case.judge.mask[b][t] else 'stray'}:{b}:{t}")
        if cell:
            spoke += 1
            halves = rows[case.judge.row[b, t]].view(case.judge.D, -1)
            assert close(cell["vec"], halves[:, : len(cell["vec"]) // case.judge.D])
            assert cell["scale"] == "state"
    assert f"({len(rows)}, {rows.shape[1]})" in cells["title:strip"]["text"]
    return spoke


@each_run
def test_only_the_current_time_step_is_now(case: Case) -> None:
    for t, cells in steps(case):
        now = {name for name, cell in cells.items() if cell["tone"] == "now"}
        assert {f"axis:{t}", f"count:{t}"} <= now <= {f"axis:{t}", f"count:{t}", f"bracket:{t}"}


@each_run
def test_headings_carry_the_shapes_of_torchs_tensors(case: Case) -> None:
    cells = case.show.of("run")[0][1]
    layer, direction = case.watched
    hidden, h_n = case.judge.hidden[layer][direction], case.judge.h_n[row_of_h(case)]
    assert str(tuple(h_n.shape)) in cells["title:h"]["text"]
    row = row_of_h(case)
    name = -1 if row == len(case.judge.h_n) - 1 else row
    assert f"h_n[{name}] {tuple(h_n.shape)}" == cells["title:hn"]["text"]
    assert cells["title:out"]["text"].endswith(str(tuple(hidden.shape)))
