"""What holds for every entry: it runs, gives the verdict of its file, its picture is drawn, its errors are torch's."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from entry_cases import answered, key_of

from packviz.show.movie import beside, movie
from packviz.show.theme import DARK, LIGHT
from packviz.teach.pages import PAGES
from packviz.teach.questions import ENTRIES, FIRST, GROUPS, Entry, EntryResult, answer, answer_apart, has_message
from packviz.teach.questions.entry import FOLDER, read

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=key_of)
KNOWN = 72  # questions on the list of those that are known


@pytest.fixture
def done(entry: Entry) -> EntryResult:
    return answered(entry)


def test_names_are_unique_and_make_short_links() -> None:
    names = [name for entry in ENTRIES for name in (entry.key, *entry.also)]
    assert sorted(names) == sorted(set(names))
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") and len(name) <= 60 for name in names)


def test_every_known_question_is_answered() -> None:
    assert sorted({row for entry in ENTRIES for row in entry.rows}) == list(range(1, KNOWN + 1))


def test_every_group_has_entries_in_one_piece() -> None:
    order = [entry.group for entry in ENTRIES]
    assert tuple(dict.fromkeys(order)) == GROUPS
    assert order == sorted(order, key=GROUPS.index)


def test_the_questions_listed_first_are_of_many_topics_and_only_one_asks_whether_to_pack() -> None:
    assert [entry.first for entry in FIRST] == list(range(1, len(FIRST) + 1))
    assert len({entry.group for entry in FIRST}) >= 5
    assert {entry.key for entry in FIRST} & {"do-i-need-it", "why-pack", "must-i-pack"} == {"do-i-need-it"}


@each_entry
def test_an_entry_gives_the_verdict_of_its_file(entry: Entry, done: EntryResult) -> None:
    assert entry.verdict in ("varies", done.verdict)
    assert done.is_explained
    assert 60 <= len(done.explanation) <= 700
    assert (done.depends_on != "") == (done.verdict == "depends")
    assert entry.claim.endswith((".", "`"))
    assert entry.answer.endswith((".", "`"))
    assert len(entry.answer) <= 110
    assert len(entry.question) <= 80
    assert entry.wrong.strip() != entry.right.strip()
    assert done.wrong.shown
    assert done.right.shown
    assert done.right.error is None
    for code in (entry.wrong, entry.right):
        assert ast.parse(code).body
        assert max(map(len, code.splitlines())) <= 68
        assert code.count("\n") <= (29 if entry.key == "do-i-need-it" else 19)  # all of it, to be copied
    assert done.wrong.error is None or has_message(entry, done.wrong.error)


def test_do_i_need_it_packs_the_program_that_is_wrong_without_and_links_each_row_to_a_page() -> None:
    entry = next(entry for entry in ENTRIES if entry.key == "do-i-need-it")
    done = answered(entry)
    padded = [line for line in entry.wrong.splitlines() if line not in entry.right.splitlines()]
    assert padded == ["    output, (h_n, c_n) = lstm(embed(x))"]
    assert done.wrong.error is None
    assert done.wrong.value != done.right.value
    rows = [row for row in entry.explanation.splitlines() if "**" in row]
    linked = [re.findall(r"\]\(([a-z_]+)\)", row) for row in rows]
    assert len(rows) == 6
    assert "**Pack**; otherwise [it reads the pads](compare)" in rows[0]
    assert max(map(len, done.preparation.splitlines())) <= 39  # on a phone, nothing scrolls sideways
    assert done.wrong.value < done.right.value  # so it is said that this does not mean better
    assert done.explanation.endswith("Ignore which loss is lower: neither model is trained.")
    assert all(links and {page.address for page in PAGES}.issuperset(links) for links in linked)


@each_entry
def test_a_program_names_batch_first(entry: Entry) -> None:
    for call in (node for code in (entry.wrong, entry.right) for node in ast.walk(ast.parse(code))):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith(("pad_", "pack_")):
            assert "True" not in map(ast.unparse, call.args)


def test_two_programs_of_which_neither_is_wrong_have_titles_of_their_own() -> None:
    titles = {entry.key: entry.titles for entry in ENTRIES}
    assert titles["padding-or-packing"] == ("Padding", "Packing")
    assert titles["lstm-slow-when-packed"] == titles["times-are-worse"] == ("Packed", "Padded")
    assert titles["last-column"] == ("What people write", "What works")
    assert all(first != second for first, second in titles.values())


@pytest.mark.slow
def test_every_message_that_is_raised_here_is_torchs_to_the_letter() -> None:
    raised = {done.wrong.error.splitlines()[0] for done in map(answered, ENTRIES) if done.wrong.error}
    own = {message.splitlines()[0] for entry in ENTRIES for message in entry.messages}
    assert len(raised & own) >= 30, sorted(raised - own)


@each_entry
def test_the_picture_can_be_drawn_on_light_and_dark(entry: Entry, done: EntryResult) -> None:
    chart, film = done.chart, entry.film
    assert chart is not None or film is not None
    for palette in (LIGHT, DARK):
        assert chart is None or chart.draw(*chart.of, palette=palette).layout.meta["alt"]
    if film is not None:
        stage = "run" if film.stage == "beside" else film.stage
        shot = (
            beside(done.trace, direction=film.direction)
            if film.stage == "beside"
            else movie(done.trace, (film.stage,), direction=film.direction, deep=True)
        )
        steps = [played for played in shot.steps if played.stage == stage]
        assert steps
        assert film.timestep is None or film.timestep in {step.time for step in steps}
        assert not film.name or film.name in {step.name for step in steps}


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if not entry.slow][::12], ids=key_of)
def test_an_entry_gives_the_same_verdict_again(entry: Entry) -> None:
    assert answer(entry).cases == answered(entry).cases


@pytest.mark.parametrize(("old", "new", "says"), [
    ("+++\n#", "#", "expected settings"),
    ("```judge", "```", "expected the programs wrong, right and judge"),
])  # fmt: skip
def test_a_file_with_a_part_missing_is_refused_by_its_name(tmp_path: Path, old: str, new: str, says: str) -> None:
    text = (FOLDER / "start" / "why-pack.md").read_text(encoding="utf-8")
    (tmp_path / "start").mkdir()
    path = tmp_path / "start" / "mine.md"
    path.write_text(text, encoding="utf-8")
    assert read(path).key == "mine"
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"mine\.md: {says}"):
        read(path)


def test_a_slow_entry_is_answered_by_a_process_of_its_own() -> None:
    slow = next(entry for entry in ENTRIES if entry.key == "old-code")
    here, apart = answered(slow), answer_apart(slow)
    assert (apart.explanation, apart.verdict, apart.cases) == (here.explanation, here.verdict, here.cases)
    assert (apart.wrong.shown, apart.right.shown) == (here.wrong.shown, here.right.shown)
    assert apart.entry is slow


def test_judging_blocks_are_formatted_in_lines_of_120(tmp_path: Path) -> None:
    for entry in ENTRIES:
        (tmp_path / f"{entry.key}.py").write_text(f"{entry.judge}\n", encoding="utf-8")
    call = [sys.executable, "-m", "ruff", "format", "--check", "--isolated", "--line-length", "120", str(tmp_path)]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
