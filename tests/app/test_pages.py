"""Every page runs with everything below its movie: no exceptions, and its controls and results are there."""

import json
import re
from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

import packviz
from packviz.compute.record import Refusal
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.lab import recorded
from packviz.lab.cost import pairs_of, pairs_verdict
from packviz.lab.recorded import CostRecording, TrainingRecording
from packviz.show.movie.packing.words import TERMS
from packviz.show.row_snippet import row_snippet
from packviz.teach.pages import PAGES
from packviz.teach.questions import ENTRIES, FIRST, GROUPS, answer
from pages import LESSONS, ROW_STAGES, STAGES, movies, opened, press, texts

KEYS = {
    "start": {"sequences", "example", "cell", "hidden_size", "bidirectional", "enforce_sorted", "padding_value"},
    "overview": {"sequences", "example", "cell"},
    "do_i_need_it": set(),
    "compare": {"sequences", "example", "cell"},
    "cost": {"sequences", "start measure", "start sweep"},
    "training": {"cell", "start train"},
    "questions": {"search", "group"},
    "doctor": {"given", "x", "lengths"},
    "quiz": {"quiz level", "quiz number"},
    **{page: {"sequences", "example", "cell"} for page in STAGES},
    **{page: {"sequences", "example", "strategy", "row_layer"} for page in ROW_STAGES},
}
PLAYERS = ("start", "overview", "compare", *LESSONS)
QUERIES: dict[str, dict[str, object]] = {
    "words": {"example": "words", "cell": "lstm", "bidirectional": "true", "num_layers": 2},
    "refused": {"cell": "rnn", "enforce_sorted": "true"},  # by torch
}


def test_every_page_is_opened_here_or_by_the_tests_of_the_class() -> None:
    assert {page.address for page in PAGES} == {*KEYS, "class"} - {"start"}


@pytest.mark.check
@pytest.mark.parametrize("page", KEYS)
def test_a_page_opens_with_its_controls_and_its_movie(page: str) -> None:
    app = opened(page)
    assert len(app.title) == 1
    assert texts(app)
    assert len(app.dataframe) >= (page in ("start", "overview", *ROW_STAGES))  # the records
    shown = {getattr(each, "key", None) for each in [*app.main, *app.sidebar]}
    assert shown >= KEYS[page], sorted(map(str, shown))
    assert [each.proto.popover.label for each in app.get("popover")] == ["Share"]
    assert "share hide" not in shown  # nothing of the panel before it is opened
    assert len(movies(app)) == (page in PLAYERS) + (page in ("running", "losses"))  # the way back; micro-batches
    assert "⚠" not in texts(app)


@pytest.mark.parametrize("page", ["start", "overview", "compare", *STAGES, "cost", "training"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_other_settings_raise_no_exception_anywhere(page: str, query: dict[str, object]) -> None:
    app = opened(page, query)
    assert texts(app).count("\n") > 2
    assert "Ignored from the link" not in texts(app)
    assert "You still see your last batch" not in texts(app)
    if "enforce_sorted" in query and page in ("start", "packing"):
        assert "must be sorted in decreasing order" in movies(app)[0]
    if "enforce_sorted" in query and page in ("packing", "running", "unpacking"):
        refusal = packviz.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"), Config(enforce_sorted=True))
        assert isinstance(refusal, Refusal)
        assert [each.value for each in app.code] == [f"RuntimeError: {refusal.error}"]
    if "enforce_sorted" in query and page in ("start", "sorting", "packing", "running", "unpacking"):
        assert "Turn `enforce_sorted` off, or sort the sequences." in texts(app)
        app.button(key="try let torch sort (enforce_sorted off)").click().run()
        assert "torch refuses these lengths" not in texts(app)


@pytest.mark.parametrize("page", ROW_STAGES)
@pytest.mark.parametrize(
    "query",
    [{"example": "zen", "row_layer": "lstm"}, {"example": "hundred"}, {"strategy": "wrapped", "max_length": 2}],
    ids=["many words", "too many tokens for one row", "short rows"],
)
def test_other_settings_of_rows_raise_no_exception(page: str, query: dict[str, object]) -> None:
    shown = texts(opened(page, query))
    assert "Ignored from the link" not in shown
    assert "You still see your last batch" not in shown


@pytest.mark.parametrize("page", ROW_STAGES)
def test_the_program_of_the_rows_on_the_screen_is_on_each_page(page: str) -> None:
    app, batch = opened(page, {"max_length": 5, "row_seed": 3}), Batch.parse("1 2 3\n4 5\n6 7 8 9")
    program = row_snippet(packviz.trace_rows(batch, packviz.RowConfig(max_length=5, seed=3)))
    assert program in [each.value for each in app.code]


def test_each_rule_finds_documents_in_this_batch_and_in_five_others() -> None:
    table = next(each.value for each in opened("borders").table if "`find_documents`" in each.value)
    rules = {"does not rise by 1": [3, 3, 4, 5, 3, 2], "falls": [3, 3, 2, 3, 2, 2], "is 0": [3, 3, 4, 5, 1, 0]}
    for column, documents in rules.items():
        assert [0 if found == "none" else len(found.split(",")) for found in table[column]] == documents
    assert [len(found.split(",")) for found in table["`find_documents`"]] == [3, 3, 4, 2, 1, 2]


def test_rows_left_open_hold_the_longest_and_the_shortest_sequence() -> None:
    assert "rows of 6, bfd" in movies(opened("filling_rows"))[0]  # of lengths 3, 2 and 4
    assert "rows of 5, bfd" in movies(opened("filling_rows", {"max_length": 5}))[0]


def test_the_chosen_strategy_is_described_below_its_control() -> None:
    (told,) = (each.value for each in opened("attention", {"strategy": "ffd"}).sidebar.caption if "ffd" in each.value)
    assert "takes the documents from longest to shortest, and puts each into the first row that has room" in told


@pytest.mark.parametrize("page", ["start", "compare", "running"])
def test_settings_and_parts_come_after_the_first_picture(page: str) -> None:
    early, late = opened(page, painted=False), opened(page)
    assert not early.exception
    assert len(early.toggle) == len(early.subheader) == 0
    assert len(early.number_input) == len(early.text_input) == 0
    assert [each.label for each in early.text_area] == [each.label for each in late.text_area]
    assert {each.key for each in late.toggle} >= {"bidirectional", "enforce_sorted", "batch_first"}
    assert movies(early) == movies(late)[:1]


@pytest.mark.parametrize("asked", [{"seed": 3}, {"bidirectional": True}, {"layer": 0, "num_layers": 2}])
def test_the_first_picture_follows_a_link_that_names_a_setting(asked: dict[str, object]) -> None:
    first = opened("start", asked, painted=False)
    assert len(first.toggle) > 0
    assert movies(first) == movies(opened("start", asked)) != movies(opened("start"))


def test_settings_that_a_link_locks_are_there_at_once() -> None:
    first = opened("start", {"lock": "cell"}, painted=False)
    assert "The link fixes cell." in texts(first)
    assert len(first.toggle) > 0


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_training_opens_with_the_recorded_headline_chart_and_caveat(cell: str) -> None:
    app, run = opened("training", {"cell": cell}), recorded.training()
    assert plain(app.header[0].value) == recorded.training_headline(run, cell)
    assert recorded.training_caveat(run, cell) in texts(app)
    assert len(app.get("plotly_chart")) == 1  # the details come when they are opened
    assert "on a busy one it takes longer. The time limit" in texts(app)
    app.session_state["recorded training"] = True
    app.run()
    assert len(app.get("plotly_chart")) == 1 + 1 + 3
    assert app.table[0].value["extra pads"].tolist() == [0] * 4 + [20] * 4 + [100] * 4
    assert len(app.download_button) == 1
    app.toggle(key="train_both").set_value(True).run()
    assert "recorded run. The time limit" not in texts(app)  # these settings were not recorded


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_cost_opens_with_the_recorded_headline_map_and_caveat(cell: str) -> None:
    app, run = opened("cost", {"cell": cell}), recorded.cost()
    assert plain(app.header[0].value) == recorded.cost_headline(run, cell)
    assert recorded.cost_caveat(run, cell) in texts(app)
    before = len(app.get("plotly_chart"))
    app.session_state["recorded cost"] = True
    app.run()
    assert len(app.get("plotly_chart")) == before + 2


def test_cost_counts_the_pairs_of_attention_for_other_lengths() -> None:
    app = opened("cost")
    assert "A dense mask saves nothing" in texts(app)
    app.selectbox(key="pairs_of").set_value("typed").run()
    app.text_area(key="pairs_typed").set_value("200 " * 20).run()
    assert pairs_verdict(pairs_of([200] * 20, 1024)) in texts(app)
    app.text_area(key="pairs_typed").set_value("5, 0").run()
    assert "⚠" in texts(app)


@pytest.mark.parametrize("page", ["cost", "training"])
def test_a_cell_of_which_nothing_is_recorded_has_its_page_all_the_same(page: str) -> None:
    empty = CostRecording(recorded.cost().made, (), ()), TrainingRecording(recorded.training().made, ())
    with patch.object(recorded, "cost", lambda: empty[0]), patch.object(recorded, "training", lambda: empty[1]):
        shown = texts(opened(page))
    assert "There is no recorded run of this cell yet" in shown


@pytest.mark.slow
def test_the_cost_page_says_why_packed_is_larger() -> None:
    assert "the packed batch is larger (116 bytes; the padded one has 72), because of its 80 bytes" in texts(
        opened("cost")
    )
    assert "the packed batch is larger" not in texts(opened("cost", {"example": "vowels"}))


BY_KEY = {entry.key: entry for entry in ENTRIES}


def listed(page: AppTest) -> list[str]:
    return [button.label for button in page.button if str(button.key).startswith("open ")]


def test_the_questions_listed_first_have_their_answers() -> None:
    page = opened("questions")
    assert page.selectbox(key="group").placeholder == "Choose a topic"
    assert listed(page) == [entry.question for entry in FIRST]
    for entry in FIRST:
        assert entry.answer in texts(page)


def test_which_of_several_layers_is_shown_is_not_called_like_how_many_there_are() -> None:
    running = opened("running", {"num_layers": 2, "bidirectional": "true"})
    rows = opened("attention", {"row_num_layers": 2, "num_heads": 2})
    for app, shown in ((running, {"layer", "direction"}), (rows, {"layer", "watched_head"})):
        labels = {str(each.key): each.label for each in app.button_group if each.key in shown}
        assert labels == {key: f"Show {key.removeprefix('watched_')}" for key in shown}


def test_a_search_names_no_topic_and_a_topic_that_is_picked_leaves_it() -> None:
    page = opened("questions", {"group": GROUPS[1]})
    page.text_input(key="search").set_value("mask").run()
    box = page.selectbox(key="group")
    assert (box.value, box.placeholder) == (None, "All topics")
    box.set_value(GROUPS[0]).run()
    assert page.text_input(key="search").value == ""
    assert listed(page) == [entry.question for entry in ENTRIES if entry.group == GROUPS[0]]
    page.text_input(key="search").set_value("numpy").run()
    assert page.selectbox(key="group").value is None
    page.text_input(key="search").set_value("").run()
    assert listed(page) == [entry.question for entry in FIRST]


def test_a_question_names_where_people_ask_it_but_not_our_own_experiment() -> None:
    own = opened("do_i_need_it")
    claim = BY_KEY["do-i-need-it"].claim
    assert "Both programs ran just now. They show that this claim is :orange-badge" in texts(own)
    assert f" true only in some cases]: **“{claim}”**" in texts(own)
    assert "Asked or claimed in" not in texts(own)
    assert "Asked or claimed in: practical-torchtext issue 5;" in texts(opened("questions", {"entry": "last-column"}))


def test_two_programs_of_which_neither_is_wrong_are_not_shown_as_wrong_and_right() -> None:
    shown = texts(opened("questions", {"entry": "padding-or-packing"})).splitlines()
    assert {"**Padding**", "**Packing**"} <= set(shown)
    assert not {"**What people write**", "**What works**"} & set(shown)


def test_a_pasted_traceback_leads_to_its_answer() -> None:
    entry = BY_KEY["no-size"]
    page = opened(
        "questions", {"search": f'Traceback (most recent call last): File "m.py", line 3 {entry.messages[0]}'}
    )
    assert listed(page)[0] == entry.question
    page.button(key=f"open {entry.key}").click().run()
    assert page.query_params["entry"] == entry.key
    assert page.title[0].value == entry.question
    done, codes = answer(entry), [code.value for code in page.code]
    assert [code in codes for code in (entry.wrong, done.wrong.shown, entry.right, done.right.shown)] == [True] * 4
    assert done.explanation in texts(page)
    assert f" is :red-badge[:material/close: {done.verdict}]: **“{entry.claim}”**" in texts(page)
    press(page, "Back to the results")
    assert listed(page)[0] == entry.question
    assert entry.messages[0] in (page.text_input(key="search").value or "")


@pytest.mark.parametrize(("query", "says", "found"), [
    ({"search": "qwzx vbnq"}, "Nothing was found for these words.", False),
    ({"search": "pizza recipe"}, "Nothing was found for these words.", False),
    ({"search": "quantized lstm"}, "No answer fits these words well. The closest are below.", True),
    ({"search": "RuntimeError: no kernel for a packed sequence"}, "No answer here has exactly this message.", True),
    ({"entry": "<b>nothing</b>"}, "There is no question named '<b>nothing</b>'", True),
])  # fmt: skip
def test_a_search_without_a_match_lists_the_closest_answers(query: dict[str, str], says: str, found: bool) -> None:
    page = opened("questions", query)
    assert says in texts(page)
    assert bool(listed(page)) == found
    protos = [each.proto for each in page.get("page_link")]
    links = [each.page for each in protos if each.label == "Check my batch"]
    assert links == (["doctor"] if "these words" in says else [])


@pytest.mark.parametrize("page", PLAYERS[2:])
def test_the_way_on_says_the_name_of_the_menu(page: str) -> None:
    menu = {each.address: each.menu.lower() for each in PAGES}
    links = [each.proto for each in opened(page).get("page_link")]
    onward = [(each.page, each.label.lower()) for each in links if each.label.startswith("Next")]
    assert len(onward) == 1
    assert all(menu[address] in label for address, label in onward)


@pytest.mark.parametrize(
    ("side", "proof", "right", "wrong"),
    [
        ("right", "equal to torch.nn.GRU, bit for bit", 4, 1),
        ("left", "what torch.nn.GRU makes of this packed input: 3 pads were", 0, 5),
    ],
)
def test_padding_on_the_left_makes_every_readout_wrong(side: str, proof: str, right: int, wrong: int) -> None:
    app = opened("unpacking", {"padding_side": side})
    assert proof in movies(app)[0]
    assert (":red[**✗ 3 of the " in texts(app)) == (side == "left")
    verdicts = [each.label for each in app.expander if str(each.key).startswith("readout of")]
    assert sum(each.endswith(":green[**✓ right here**]") for each in verdicts) == right
    assert sum(each.endswith(":red[**✗ wrong here**]") for each in verdicts) == wrong
    assert side == "right" or not any("green" in each for each in verdicts)


def spoken(app: AppTest) -> str:
    """Return the page's announcement for screen readers."""
    assert not app.exception
    all_data = [json.loads(each.proto.json) for each in app.get("bidi_component") if each.proto.json]
    (text,) = [str(data["text"]) for data in all_data if set(data) == {"text", "number"}]
    return text


def test_a_search_for_a_term_begins_with_its_meaning() -> None:
    app = opened("questions", {"search": "what is a mask"})
    shown, answers = [each.value for each in app.markdown], {entry.answer for entry in ENTRIES}
    assert shown.index(f"**mask: {TERMS['mask']}**") < min(shown.index(each) for each in answers & set(shown))


def test_what_changes_on_a_page_is_announced_to_screen_readers() -> None:
    text = spoken(opened("doctor"))
    assert "finding" in text
    assert not set("*`") & set(text)
    assert not re.search(r":\w+\[", text)
    assert "Counting gives [4, 2, 1], " in spoken(opened("questions", {"entry": "lengths-of-a-padded-tensor"}))
    assert "mask the loss (ignore_index)" in spoken(opened("do_i_need_it"))  # without the address of its link
    assert spoken(opened("questions")) == ""
    assert spoken(opened("questions", {"search": "difference between padding and packing"})) == "4 answers and 1 page"
    text = spoken(opened("questions", {"entry": "is-padding-bad"}))
    assert text.startswith("Padding is harmless if you never use")
    app = opened("quiz", {"round": 3})
    assert spoken(app) == ""
    press(app, "Show me")
    assert spoken(app).startswith("The answer: ")


def test_an_edit_says_why_words_have_another_id() -> None:
    app = opened("overview", {"example": "sentences"})

    def after(text: str) -> str:
        app.text_area(key="sequences").set_value(text).run()
        app.run()  # as the browser does once the movie is on the screen
        return " ".join(line for line in texts(app).splitlines() if line.endswith(" id."))

    assert after("I love dogs\nshe sleeps\nwe sing old songs") == ""
    why = "Each new word gets the next id."
    assert after("I love cats\nshe sleeps\nwe songs old sing") == why
    assert after("I do love cats\nshe sleeps\nwe sing old songs") == why
    assert after("I do love cats\nshe sleeps\nwe sing songs old") == why
    assert after("I do love cats\nshe sleeps\nwe sing songs so old") == why
    assert after("I do love cats\nshe sleeps\nwe sing songs soo old") == why  # the word goes on
    assert after("I do love dogs\nshe sleeps\nwe sing songs soo old") == ""
    assert after("1 2 3\n4") == ""
