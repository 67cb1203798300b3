"""The doctor's page: typed and uploaded input is examined, and unreadable input is reported in place."""

import json
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch
from doctor_cases import npy, saved
from playwright.sync_api import expect
from safetensors.torch import save_file
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from visits import PROJECTOR, Open, Visit

import packviz as pv
from packviz.doctor import Finding, read_isolated, read_lengths, read_tensor
from packviz.errors import PackvizError
from pages import movies, opened, texts
from ui.views import given
from ui.views.doctor_picture import as_text
from ui.views.given import EXAMPLES


@pytest.fixture
def app() -> AppTest:
    return opened("doctor")


def fill(app: AppTest, key: str, text: str) -> None:
    (field,) = [each for each in (*app.text_area, *app.text_input) if key in (each.key, each.label)]
    field.set_value(text).run()


def choose(app: AppTest, key: str, option: str) -> None:
    (choice,) = [each for each in app.button_group if key in (each.key, each.label)]
    choice.set_value(option).run()


def give(app: AppTest, files: dict[str, bytes]) -> None:
    """Upload files by their names."""
    choose(app, "given", "a file")
    app.file_uploader(key="files").set_value([(name, data, "") for name, data in files.items()]).run()


def shown(app: AppTest) -> list[str]:
    """Return the text of each finding on the page."""
    assert not app.exception
    found = [each for each in app.main if isinstance(each, Block) and str(each.key or "").startswith("finding")]
    return ["\n".join(str(part.value) for part in each if hasattr(part, "value")) for each in found]


def expect_the_same(app: AppTest, findings: tuple[Finding, ...]) -> None:
    told = shown(app)
    assert len(told) == len(findings)
    for text, finding in zip(told, findings, strict=True):
        assert finding.where in text
        assert " ".join(finding.found.split()) in " ".join(text.split())
        assert " ".join(finding.torch_sentence.split()) in " ".join(text.split())


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_link_opens_its_batch_and_marks_the_example_that_it_is(name: str) -> None:
    text, lengths, batch_first, enforce_sorted = EXAMPLES[name]
    asked = {"x": text, "lengths": lengths, "x_batch_first": batch_first, "x_enforce_sorted": enforce_sorted}
    app = opened("doctor", asked)
    (example,) = [each for each in app.button_group if each.key == "doctor example"]
    assert example.value == name
    if "PackedSequence" in name:
        (finding,) = shown(app)
        assert "The batch_sizes sum to 6, but data has 5 rows." in finding
    else:
        x, ends = read_tensor(text), read_lengths(lengths)
        found = pv.examine(x, ends, batch_first=batch_first, enforce_sorted=enforce_sorted)
        assert bool(found) == (name != "no mistake")
        expect_the_same(app, found)


def test_a_finding_says_what_is_wrong_and_on_the_next_line_what_torch_does(app: AppTest) -> None:
    (first,) = shown(app)
    wrong, done = "Sequence A has length 5, but x has only 4 time steps.\n", "torch packs 9 rows without an error, but "
    assert f"{wrong}{done}" in first
    assert "batch_sizes sum to 10. Later, pad_packed_sequence raises RuntimeError: " in first


def test_without_lengths_a_sound_x_is_said_to_be_checked_alone() -> None:
    app = opened("doctor", {"x": "[[1, 2], [3, 4]]", "lengths": ""})
    assert "No mistake was found in x. If you give the lengths, they are checked, too." in texts(app)


def test_typed_input_comes_back_after_an_example_and_after_files(app: AppTest) -> None:
    fill(app, "x", "[[9, 8], [7, 0]]")
    fill(app, "lengths", "2, 1")
    for name in ("no mistake", "0 is a token", "my own"):
        choose(app, "doctor example", name)
    for way in ("a file", "rows", "a batch"):
        choose(app, "given", way)
    assert app.text_area(key="x").value == "[[9, 8], [7, 0]]"
    assert app.text_input(key="lengths").value == "2, 1"


def test_the_lengths_of_an_example_leave_with_its_x(app: AppTest) -> None:
    assert app.text_input(key="lengths").value == EXAMPLES["lengths too long"][1]
    fill(app, "x", "[[9, 8], [7, 0]]")
    assert app.text_input(key="lengths").value == ""
    assert "If you give the lengths, they are checked, too." in texts(app)
    choose(app, "doctor example", "0 is a token")
    fill(app, "lengths", "4, 3, 2")
    fill(app, "x", "[[9, 8], [7, 0]]")
    assert app.text_input(key="lengths").value == "4, 3, 2"  # typed by the visitor


@pytest.mark.parametrize("key", ["x", "lengths", "rows"])
def test_an_error_message_is_looked_up_in_the_questions(app: AppTest, key: str) -> None:
    if key == "rows":
        choose(app, "given", "rows")
    error = "RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"
    fill(app, key, f"Traceback (most recent call last):\n  pack(x, lengths)\n{error}")
    (link,) = [each.proto for each in app.get("page_link")]
    assert link.page == "questions"
    assert dict(parse_qsl(link.query_string)) == {"search": error}
    assert "⚠" in texts(app)
    fill(app, key, "[[1, 2")
    assert app.get("page_link") == []


def test_code_gets_a_way_on_and_what_is_printed_does_not(app: AppTest) -> None:
    said = "This looks like code, but this page checks values: print the tensors and paste what is printed."
    code = "packed = pack_padded_sequence(x, lengths)\noutput, h_n = gru(packed)\nlast = output[:, -1]"
    module = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.rnn = nn.GRU(4, 8)"
    padded = "lengths = [3, 2]\nx = pad_sequence(seqs)"
    loop = "for x, lengths in loader:\n    print(x)"
    given = [("x", code), ("lengths", "lengths.cpu()"), ("x", module), ("x", padded), ("x", loop)]
    for key, text in given:
        fill(app, key, text)
        assert "␊" not in texts(app)
        assert texts(app).count(said) == 1
        (link,) = [each.proto for each in app.get("page_link")]
        assert (link.page, link.label) == ("questions", "Look up this code in Questions")
        assert dict(parse_qsl(link.query_string)) == {"search": " ".join(text.split())}
        fill(app, key, "[[1, 2], [3, 4]]" if key == "x" else "2, 2")
    for text in (
        repr(torch.arange(2000)),
        repr(pack_padded_sequence(torch.ones(2, 3), [3, 2], True))[:-9],
        "x = [[1, 2",
    ):
        fill(app, "x", text)
        assert "⚠" in texts(app)
        assert app.get("page_link") == []


def test_sentences_lead_to_the_overview_and_an_error_message_does_not(app: AppTest) -> None:
    fill(app, "x", "I love cats\nshe sleeps")
    assert [each.label for each in app.button] == ["Watch these sentences in the overview"]
    fill(app, "x", "Traceback (most recent call last):\nRuntimeError: `lengths` array must be sorted")
    assert not app.button
    fill(app, "x", "[[1, 2], [3, 0]]")
    assert "Watch these sentences in the overview" not in [each.label for each in app.button]


@pytest.mark.parametrize("text", ["__import__('os').system('true')", "[[1, 2], [3]]"])
def test_unreadable_input_is_reported_and_stays_where_it_was_typed(app: AppTest, text: str) -> None:
    fill(app, "x", text)
    assert texts(app).count("⚠") == 1
    assert "nothing to examine" not in texts(app)
    fill(app, "lengths", "many")
    assert texts(app).count("⚠") == 2
    assert app.text_area(key="x").value == text


def test_without_an_x_that_can_be_read_the_page_says_how_to_write_one(app: AppTest) -> None:
    for text in ("x = [[1, 2", ""):
        fill(app, "x", text)
        assert "x can be written like this" in texts(app)
        written = [each.value for each in app.code]
    assert len(written) == 3
    for text in written:
        fill(app, "x", text)
        fill(app, "lengths", "3 2")
        assert "x can be written like this" not in texts(app)
        assert [each.value for each in app.success] == [
            "No mistake was found: the lengths fit x. If you give padding_value, it is certain which steps are pads."
        ]


def test_x_is_shown_although_its_lengths_cannot_be_read(app: AppTest) -> None:
    fill(app, "x", "[[1, 2, 3], [4, 5, 0]]")
    fill(app, "lengths", "4 2 a")
    assert [each.value for each in app.info] == ["x can be read. Correct or delete the lengths to check the batch."]
    assert len(app.get("plotly_chart")) == 1


def test_lengths_that_were_printed_on_a_gpu_are_refused_first(app: AppTest) -> None:
    x, lengths = torch.tensor([[1, 2, 0], [3, 4, 5]]), torch.tensor([2, 3])
    fill(app, "x", repr(x))
    fill(app, "lengths", "tensor([2, 3], device='cuda:0')")
    with pytest.raises(RuntimeError, match="CPU int64") as torchs:
        pack_padded_sequence(x, lengths.to("meta"), batch_first=True)
    first, second = shown(app)
    assert str(torchs.value) in first
    assert "on cuda:0" in first
    assert first.endswith("lengths = lengths.cpu()")
    assert "not in decreasing order" in second


def test_ragged_rows_get_code_that_pads_them(app: AppTest) -> None:
    fill(app, "x", "[[1, 2, 3], [4, 5]]")
    (code,) = app.code
    names: dict[str, object] = {}
    exec(code.value, names)
    assert repr(names["x"]) == repr(torch.tensor([[1, 2, 3], [4, 5, 0]]))
    assert names["lengths"] == [3, 2]


@pytest.mark.slow
def test_uploaded_weights_are_run_step_by_step(app: AppTest) -> None:
    torch.manual_seed(3)
    model = nn.Sequential(nn.LSTM(3, 4, num_layers=2, bidirectional=True))
    give(app, {"model.pt": saved(model.state_dict())})
    assert movies(app)
    assert "LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)" in texts(app)
    (line,) = [line for line in texts(app).splitlines() if "Largest distance from torch's own run" in line]
    assert line.endswith(" 0.0")


@pytest.mark.slow
def test_weights_and_data_can_be_uploaded_together(app: AppTest, tmp_path: Path) -> None:
    torch.manual_seed(4)
    x = torch.randn(2, 3, 5)
    x[1, 2:] = 0
    weights, model = saved(nn.GRU(5, 3, batch_first=True).state_dict()), saved(nn.GRU(2, 2))
    save_file({"x": x, "lengths": torch.tensor([3, 2])}, tmp_path / "b.safetensors")
    give(app, {"weights.pt": weights, "b.safetensors": (tmp_path / "b.safetensors").read_bytes()})
    assert movies(app)
    assert "No mistake was found" in texts(app)
    assert "random numbers" not in texts(app)
    give(app, {"model.pt": model})
    assert "⚠" in texts(app)


def test_a_run_on_random_numbers_says_what_is_missing(app: AppTest) -> None:
    weights, x = saved(nn.GRU(4, 3).state_dict()), npy(np.ones((2, 3, 4), "float32"))
    give(app, {"gru.pt": weights})
    assert "The weights take 4 features, but no x was given. This is a run on random numbers." in texts(app)
    give(app, {"gru.pt": weights, "x.npy": npy(np.ones((2, 3, 5), "float32"))})
    assert "but x is a float32 tensor of shape (2, 3, 5). This is a run on random numbers." in texts(app)
    give(app, {"gru.pt": weights, "x.npy": x})
    assert "x fits the weights, but its lengths are missing. Give them above to run x." in texts(app)
    give(app, {"gru.pt": weights, "x.npy": x, "lengths.npy": npy(np.array([3, 2]))})
    assert movies(app)
    assert "random numbers" not in texts(app)


def test_files_that_are_not_examined_are_named(app: AppTest) -> None:
    rows = {"input_ids": [[5, 6, 7, 8]], "position_ids": [[0, 1, 0, 1]], "labels": [[-100, 6, -100, 8]]}
    crossing = json.dumps(rows | {"labels": [[5, 6, 7, 8]]}).encode()
    x = np.ones((2, 3, 4), "float32")
    left_out = "Give each alone to examine it."
    give(app, {"good.json": json.dumps(rows).encode(), "bad.json": crossing, "x.npy": npy(x)})
    assert f"Not examined: bad.json and x.npy. {left_out}" in texts(app)
    give(app, {"bad.json": crossing})
    assert "Not examined" not in texts(app)
    assert "Labels cross the border" in texts(app)
    weights = saved(nn.GRU(4, 3).state_dict())
    lengths = npy(np.array([3, 2]))
    give(app, {"gru.pt": weights, "x.npy": npy(x), "y.npy": npy(x), "lengths.npy": lengths})
    assert f"Not examined: y.npy. {left_out}" in texts(app)
    give(app, {"gru.pt": weights, "other.pt": weights})
    assert f"Not examined: other.pt. {left_out}" in texts(app)


def test_a_name_in_two_files_is_refused_before_it_is_examined(app: AppTest) -> None:
    x = torch.ones(2, 3, 4)
    give(app, {"q.pt": saved({"x": x, "lengths": torch.tensor([6, 3])}), "p.pt": saved({"x": x})})
    assert "⚠ Expected x in one file, but got it in q.pt and p.pt. Remove one of these files." in texts(app)
    assert shown(app) == []
    other = {"lengths": torch.tensor([6, 3]), "meta": x}
    give(app, {"q.pt": saved({"x": x, "meta": x}), "p.pt": saved(other)})  # nobody asks for meta
    assert "Sequence A has length 6" in shown(app)[0]
    give(app, {"q.pt": saved({"x": x, "lengths": torch.tensor([6, 3])})})
    assert "Sequence A has length 6" in shown(app)[0]


def upload(visited: Visit, path: Path) -> None:
    visited.page.locator("input[type=file]").set_input_files(path)
    visited.settle()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are read, in order, as they are read."""
    names: list[str] = []

    def counted(name: str, data: bytes) -> object:
        names.append(name)
        return read_isolated(name, data)

    monkeypatch.setattr("packviz.doctor.read_isolated", counted)
    return names


def test_a_file_is_read_once_and_not_again_with_each_rerun(app: AppTest, read: list[str]) -> None:
    batch = npy(np.array([[1.0, 2.0, 0.0], [4.0, 0.0, 0.0]], dtype="float32"))
    give(app, {"batch.npy": batch, "bad.npy": b"no"})
    assert read == ["batch.npy", "bad.npy"]
    assert "⚠" in texts(app)
    app.toggle(key="file_batch_first").set_value(False).run()
    app.run()
    assert read == ["batch.npy", "bad.npy"]  # what cannot be read is not tried again either
    give(app, {"batch.npy": batch})
    assert read == ["batch.npy", "bad.npy", "batch.npy"]  # another file of the same name


def test_more_than_four_files_are_refused_and_four_are_read(app: AppTest, read: list[str]) -> None:
    some = {f"{i}.npy": npy(np.ones((2, 3), "float32")) for i in range(given.MAX_FILES + 1)}
    give(app, some)
    assert "You can give at most 4 files of 32 MB each. A larger file turns red and is not read." in texts(app)
    assert "⚠ Expected at most 4 files, but got 5. Remove 1 of them." in texts(app)
    assert read == []
    del some["0.npy"]
    give(app, some)
    assert "⚠" not in texts(app)
    assert read == ["1.npy", "2.npy", "3.npy", "4.npy"]


def test_a_file_that_crashes_its_reader_is_reported_in_place(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[str] = []

    def too_little(name: str, data: bytes) -> object:
        with pytest.raises(PackvizError) as refusal:
            read_isolated(name, data, memory=150 * 2**20)  # torch alone exceeds it: the step at which it fails differs
        refused.append(refusal.value.sentence)
        raise refusal.value

    monkeypatch.setattr("packviz.doctor.read_isolated", too_little)
    give(app, {"x.pt": saved(torch.zeros(3))})
    (sentence,) = refused
    assert f"⚠ {sentence}" in texts(app)
    assert sentence.startswith("Expected ")
    assert "nothing to examine" not in texts(app)


def test_a_file_over_the_limit_is_refused_and_one_of_two_megabytes_is_read(visit: Open, tmp_path: Path) -> None:
    (tmp_path / "large.npy").write_bytes(npy(np.zeros(33 * 2**18, "float32")))
    torch.save(nn.LSTM(300, 256).state_dict(), tmp_path / "lstm.pt")
    assert (tmp_path / "lstm.pt").stat().st_size > 2 * 2**20
    visited = visit(path="doctor", size=PROJECTOR)
    visited.main.get_by_text("a file", exact=True).click()
    upload(visited, tmp_path / "large.npy")
    expect(visited.main.get_by_text("32.0MB or smaller")).to_be_visible()
    upload(visited, tmp_path / "lstm.pt")
    expect(visited.main.get_by_text("LSTM(300, 256, batch_first=True)")).to_be_visible(timeout=60_000)
    expect(visited.main.get_by_text("⚠")).to_have_count(0)


def test_a_batch_is_typed_for_the_overview_without_being_rounded() -> None:
    x = torch.tensor([[1234567.0, 0.1, 1e-10], [1234568.0, 0.123456789, 0.0]])
    text = as_text(given.Given(x, [3, 2]))
    assert text == "1234567 0.1 1e-10\n1234568 0.12345679"
    assert all(
        torch.equal(row, x[b, :n])
        for b, (row, n) in enumerate(zip(pv.Batch.parse(text).sequences, (3, 2), strict=True))
    )
