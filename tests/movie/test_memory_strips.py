"""Three memory layouts of one batch: every row stands where torch keeps it."""

import re
import subprocess
import sys

import pytest
import torch
from conftest import Open
from movie_cases import over
from movie_judge import close
from movie_screen import Look
from test_layout import overlapping, shown
from way_cases import DEEP, Deep, at_the_strip, detail, rows_of

import packviz as pv
from packviz import Batch, Config
from packviz.show.movie import Movie

DRAWN = [case for case in DEEP if case.drawn]
each_drawn = over(DRAWN)
SOLID = {"token", "ghost", "pad", "count", "label"}


def numbers(case: Deep) -> torch.Tensor:
    """Return b * T + t of every cell of the padded grid, (B,T)."""
    return torch.arange(case.judge.B * case.judge.T).view(case.judge.B, case.judge.T)


def holds(case: Deep, cell: Look, number: int) -> bool:
    """Return whether a cell of a strip is what stands at a cell of the padded grid."""
    b, t = divmod(number, case.judge.T)
    if cell["role"] == "pad":
        return cell["seq"] == b and not case.judge.mask[b][t] and cell.get("token") is None
    token = case.movie.tokens[cell["token"]]
    return bool(case.judge.mask[b][t]) and (token.b, token.t) == (b, t)


def ends(case: Deep) -> dict[str, Look]:
    return case.memory[-1][1]


@each_drawn
def test_the_padded_strip_is_the_memory_of_the_padded_tensor(case: Deep) -> None:
    order = numbers(case).t() if case.transposed else numbers(case)
    rows = rows_of(ends(case), "padded")
    assert all(holds(case, cell, n) for cell, n in zip(rows, order.flatten().tolist(), strict=True))


@each_drawn
def test_the_packed_strip_is_the_memory_of_packed_data_strays_and_all(case: Deep) -> None:
    for _, cells in case.memory:
        rows = rows_of(cells, at_the_strip(cells))
        order = case.judge.pack(numbers(case)).data.tolist()
        assert all(holds(case, cell, n) for cell, n in zip(rows, order, strict=True))
        assert all(cell["tone"] == "wrong" for cell in rows if cell["role"] == "pad")


@each_drawn
def test_the_jagged_strip_is_the_memory_of_torchs_nested_tensor(case: Deep) -> None:
    tokens = [row[mask] for row, mask in zip(numbers(case), case.judge.mask, strict=True)]
    order = torch.nested.nested_tensor(tokens, layout=torch.jagged).values().tolist()
    rows = rows_of(ends(case), "jagged")
    assert all(holds(case, cell, n) for cell, n in zip(rows, order, strict=True))


@each_drawn
def test_a_token_stands_once_in_each_strip_so_that_pointing_at_it_lights_up_all(case: Deep) -> None:
    cells = ends(case)
    for k, token in enumerate(case.movie.tokens):
        panels = [c["p"] for c in cells.values() if c["shown"] and c.get("token") == k and c["p"] != "x"]
        packed = [at_the_strip(cells)] if (token.b, token.t) in case.judge.row else []
        assert sorted(panels) == sorted(["padded", "jagged", *packed])


@each_drawn
def test_a_row_looks_as_the_token_that_was_packed(case: Deep) -> int:
    spoke = 0
    cells = ends(case)
    for name, cell in cells.items():
        if name.startswith(("padded:", "jagged:")) and cell["role"] == "token":
            spoke += 1
            token = case.movie.tokens[cell["token"]]
            original = cells[f"token:{token.b}:{token.t}"]
            assert [cell.get(key) for key in ("text", "sub", "vec", "scale", "seq")] == [
                original.get(key) for key in ("text", "sub", "vec", "scale", "seq")
            ]
            if cell.get("vec"):
                spoke += 1
                assert close(cell["vec"], case.judge.x[token.b, token.t])
    return spoke


@each_drawn
def test_copies_fly_from_the_grid_and_then_from_the_packed_rows(case: Deep) -> None:
    (first, cells), (second, later) = case.memory
    for step, panel, now in ((first, "padded", cells), (second, "jagged", later)):
        flights = {case.show.ids[c["c"]]: c["from"] for beat in step["beats"] for c in beat if "from" in c}
        assert set(flights) == {cell["id"] for cell in rows_of(now, panel)}
        for name, start in flights.items():
            assert start in [[c["p"], c["x"], c["y"]] for c in source(case, now, now[name], panel)], name


def source(case: Deep, cells: dict[str, Look], cell: Look, panel: str) -> list[Look]:
    """Return the cells from which a copy may come: those of its token, or pads of its sequence."""
    same = [c for c in cells.values() if c["shown"] and c["p"] != panel and c.get("token") == cell.get("token")]
    if cell["role"] == "pad":
        return [c for c in same if c["p"] == "x" and c["role"] == "pad" and c["seq"] == cell["seq"]]
    token = case.movie.tokens[cell["token"]]
    packed = panel == "jagged" and (token.b, token.t) in case.judge.row
    return [c for c in same if c["p"] == (at_the_strip(cells) if packed else "x")]


@each_drawn
def test_rows_that_belong_together_stand_together_and_apart_from_others(case: Deep) -> None:
    cells, judge = ends(case), case.judge
    sizes = [judge.B] * judge.T if case.transposed else [judge.T] * judge.B
    for panel, groups in (("padded", sizes), ("jagged", judge.lengths)):
        rows = rows_of(cells, panel)
        starts = {sum(groups[:i]) for i in range(len(groups))}
        for i in range(1, len(rows)):
            gap = rows[i]["x"] - rows[i - 1]["x"] - rows[i - 1]["w"]
            assert gap > 0.2 if i in starts else abs(gap) < 0.01


@each_drawn
def test_headings_count_the_rows_and_name_their_order(case: Deep) -> None:
    cells, judge = ends(case), case.judge
    tokens, order = sum(judge.lengths), "time step after time step" if case.transposed else "row after row"
    for name, count, words in (
        ("padded", judge.B * judge.T, order),
        ("strip", len(judge.at), "time step after time step"),
        ("jagged", tokens, "sequence after sequence"),
    ):
        assert cells[f"title:{name}"]["shown"]
        assert re.search(rf": {count} (?:row|cell)s?, {words}$", cells[f"title:{name}"]["text"])


@each_drawn
def test_addresses_count_the_rows_from_0(case: Deep) -> int:
    spoke = 0
    cells = ends(case)
    for panel in ("padded", "jagged"):
        addresses = [c for name, c in cells.items() if name.startswith(f"address:{panel}") and c["shown"]]
        if addresses:
            spoke += 1
            found = [(c["x"], c["text"]) for c in sorted(addresses, key=lambda c: c["x"])]
            assert found == [(c["x"], str(i)) for i, c in enumerate(rows_of(cells, panel))]
    return spoke


@over(DEEP)
def test_padding_and_rows_are_counted_in_words(case: Deep) -> None:
    text, judge = " ".join(step["caption"] for step, _ in case.memory), case.judge
    cells, tokens = judge.B * judge.T, sum(judge.lengths)
    pads, strays = cells - tokens, sum(not judge.mask[b][t] for b, t in judge.at)
    if not case.drawn:
        assert [*map(int, re.findall(r"\d+", text))] == [cells, pads, len(judge.at), tokens]
        assert "Too many to draw" in text
        return
    share = re.search(r"(\d+) of (\d+) cells? (?:is|are) padding", text)
    assert (share and (int(share[1]), int(share[2])) == (pads, cells)) if pads else "no cell is padding" in text
    packed = re.search(r"(\d+) of the (\d+) packed rows", text)
    assert (packed and (int(packed[1]), int(packed[2])) == (strays, len(judge.at))) if strays else "no padding" in text


@over(DEEP)
def test_the_bytes_are_those_that_torch_counts(case: Deep) -> None:
    step, judge = case.memory[-1][0], case.judge
    rows = [row[mask] for row, mask in zip(judge.x, judge.mask, strict=True)]
    jagged = torch.nested.nested_tensor(rows, layout=torch.jagged)
    beside = [part.nbytes for part in judge.packed[1:] if part is not None]
    for name, values, kept in (
        ("x + lengths", judge.x, [torch.tensor(judge.lengths).nbytes]),
        ("packed data + indices", judge.packed.data, beside),
        ("jagged values + offsets", jagged.values(), [jagged.offsets().nbytes]),
    ):
        assert detail(step, name)[1] == f"{values.nbytes} + {sum(kept)}"


@over(DEEP)
def test_many_cells_are_counted_and_not_drawn(case: Deep) -> None:
    assert len(case.memory) == (2 if case.drawn else 1)
    assert any(name.startswith("padded:") for name in case.show.ids) == case.drawn
    assert ("pack:memory" in case.movie.scenes) == case.drawn
    assert all(step.get("scene") == ("pack:memory" if case.drawn else None) for step, _ in case.memory)


@each_drawn
def test_nothing_lies_on_something_else_and_all_lies_inside_the_picture(case: Deep) -> None:
    for views in case.movie.to_dict()["scenes"]["pack:memory"].values():
        for view in views:
            for _, cells in case.memory:
                assert list(overlapping(shown(view, cells, SOLID))) == []
                for (left, top, right, bottom), name in shown(view, cells, SOLID | {"axis", "bracket"}):
                    inside = left >= -0.01 and top >= -0.01 and right <= view["w"] + 0.01 and bottom <= view["h"] + 0.01
                    assert inside, name


def deep(text: str, **settings: object) -> Movie:
    return pv.movie(pv.trace(Batch.parse(text), Config(**settings)), ("pack",), deep=True)


@pytest.mark.parametrize("text", ["1 2 3\n4 5\n6 7 8 9", "on your mark\nget set\ngo"])
def test_the_cells_of_a_small_batch_stay_large_enough_to_read(text: str) -> None:
    views = deep(text).scenes["pack:memory"].wide
    assert max(min((690 - 20) / view.width, (336 - 14) / view.height) for view in views) >= 30


def test_on_the_screen_the_step_stands_in_its_own_scene(open_page: Open) -> None:
    movie = deep("1 2 3\n4 5\n6 7 8 9")
    screen = open_page(movie, f"#step={len(movie.steps)}")
    box = screen.root.locator("canvas").bounding_box()
    wide = movie.scenes["pack:memory"].wide
    unit, view = max(
        ((min((box["width"] - 20) / v.width, (box["height"] - 14) / v.height, 58), v) for v in wide),
        key=lambda each: each[0],
    )
    x, y = view.panels["jagged"]
    left, top = (box["width"] - view.width * unit) / 2, max(4, (box["height"] - view.height * unit) / 2)
    screen.page.mouse.move(box["x"] + left + (x + 0.5) * unit, box["y"] + top + (y + 0.5) * unit)
    assert screen.tip[0] == movie.tokens[0].tip


def test_a_lessons_movie_does_not_import_torchs_compiler() -> None:
    code = """if True:
        import sys
        import packviz as pv
        movie = pv.movie(pv.trace(pv.Batch.parse("1 2 3\\n4")), deep=True)
        assert any("jagged" in cell.id for cell in movie.cells)
        print("torch._dynamo" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
