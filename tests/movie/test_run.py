"""The run shows torch's own states, step by step, and what is final is torch's h_n."""

from itertools import product

from movie_cases import DEEP, ORDINARY, PACKED, Case, Film, over
from movie_judge import close
from movie_screen import grid_of
from run_cases import last_taken, row_inside, state, state_after, steps, steps_left_out

each_packed, each_run = over(PACKED), over([film for film in (*ORDINARY, *DEEP) if not film.case.trace.error])


def ended(case: Case, t: int) -> set[int]:
    """Return the sequences whose state is final once the run has taken t."""
    return {b for b in case.filmed if (t == 0 if case.direction else t >= case.judge.lengths[b] - 1)}


@each_run
def test_it_starts_with_h_0_and_after_every_step_h_is_torchs_state(film: Film) -> None:
    case, show = film.case, film.show
    layer, direction = case.watched
    hidden, starts = case.judge.hidden[layer][direction], case.judge.h_0
    assert starts is not None
    h_0 = starts[case.row_of_h]
    _, start = show.of("run")[0]
    for b in case.filmed:
        assert close(state(start, "h", b), h_0[b])
        assert state(start, "hn", b) is None
        for t, cells in steps(case, show):
            taken = last_taken(case, b, t)
            truth = h_0[b] if taken is None else hidden[case.judge.row[b, taken]]
            assert close(state(cells, "h", b), truth), (t, b)


@each_run
def test_the_states_that_enter_the_first_step_are_torchs_after_the_time_steps_that_are_left_out(film: Film) -> None:
    case, show = film.case, film.show
    (_, start), (step, _) = show.of("run")[:2]
    cells = show.played(start, step["beats"][:1])
    names = ["h", "c"] if f"gate:c:{case.filmed[0]}" in cells or f"gate:c:{case.filmed[0]}:0" in cells else ["h"]
    for b, name in product(case.filmed, names):
        initial = case.judge.h_0 if name == "h" else case.judge.c_0
        truth = initial[case.row_of_h, b]
        if steps_left_out(case) and (b, 60) in case.judge.row:
            truth = state_after(case, b, 60, name)
        assert close(state(cells, "h" if name == "h" else "gate:c", b), truth), (b, name)


@each_run
def test_what_has_ended_is_ringed_and_torchs_h_n_and_nothing_else_is_there(film: Film) -> None:
    case, show = film.case, film.show
    for t, cells in steps(case, show):
        over = ended(case, t)
        assert {cell["seq"] for name, cell in cells.items() if name.startswith("ring:h:") and cell["shown"]} == over
        for b in case.filmed:
            shown = state(cells, "hn", b)
            assert (shown is not None) == (b in over) == cells[f"ring:hn:{b}"]["shown"]
            if b in over:
                assert close(shown, case.judge.h_n[case.row_of_h, b])


@each_run
def test_h_stands_in_packed_order_and_h_n_in_the_original_one(film: Film) -> None:
    case, show = film.case, film.show
    cells = show.after[-1]
    for name, order in (("h", case.filmed), ("hn", sorted(case.filmed))):
        states = [cell for cell in cells.values() if cell["p"] == name and cell["role"] in ("value", "vector")]
        placed = grid_of(states, transposed=False)
        assert [placed[row, 0]["seq"] for row in range(len(order))] == order
        assert all(cell["seq"] == order[row] for (row, _), cell in placed.items())


@each_run
def test_what_is_fed_are_the_live_rows_that_torch_packed_and_their_tokens(film: Film) -> int:
    case, show = film.case, film.show
    spoke = 0
    layer, _ = case.watched
    entering = case.judge.entering(layer)
    for t, cells in steps(case, show):
        fed = [b for b in case.filmed if cells[f"in:{b}"]["shown"]]
        assert fed == [b for b in case.judge.live(t) if b in case.filmed]
        for b in fed:
            spoke += 1
            cell = cells[f"in:{b}"]
            if cell.get("vec"):
                row = entering[case.judge.row[b, t]]
                halves = row.view(case.judge.D, -1) if layer else row.view(1, -1)
                assert close(cell["vec"], halves[:, : len(cell["vec"]) // len(halves)])
                assert cell["scale"] == ("state" if layer else "input")
            else:
                assert case.small or (layer == 0 and len(entering[0]) == 1)
            if case.judge.mask[b][t]:
                assert case.movie.tokens[cell["token"]] == (b, t)
                assert cell["text"] == show.first[f"token:{b}:{t}"]["text"]
            else:
                assert cell.get("token") is None, "a pad that was packed by mistake is no token"
    return spoke


@each_packed
def test_gates_and_c_are_those_of_the_cell_and_only_of_rows_that_are_fed(case: Case) -> int:
    spoke = 0
    gates = [name for name in case.show.ids if name.startswith("gate:")]
    assert bool(gates) == (not case.small and case.judge.module.mode in ("GRU", "LSTM"))
    for t, cells in steps(case, case.show) if gates else []:
        live = case.judge.live(t)
        for name in gates:
            if not name.startswith("gate:c:"):
                spoke += 1
                assert cells[name]["shown"] == (cells[name]["seq"] in live)
        for b in live:
            inside = row_inside(case, case.judge.row[b, t])
            shown = {name.split(":")[1]: cells[name] for name in gates if name.endswith(f":{b}")}
            assert set(shown) == set(inside)
            for gate, cell in shown.items():
                assert cell["shown"]
                assert close(cell["vec"], inside[gate]), (gate, b, t)
    return spoke


@each_run
def test_the_output_fills_with_the_states_of_the_steps_that_were_taken(film: Film) -> None:
    case, show = film.case, film.show
    layer, direction = case.watched
    hidden, taken = case.judge.hidden[layer][direction], set()
    for t, cells in steps(case, show):
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
def test_a_higher_layer_reads_the_output_of_the_layer_below(film: Film) -> int:
    case, show = film.case, film.show
    spoke = 0
    layer, _ = case.watched
    cells = show.of("run")[0][1]
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
