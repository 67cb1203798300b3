"""The page of the doctor: what is typed or uploaded is examined, and what cannot be read is said in place."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, expect
from safetensors.torch import save_file
from torch import nn
from visits import PHONE, PROJECTOR, Visit, visit

import packviz as pv
from packviz.doctor import Finding, read_lengths, read_tensor
from ui.patient import PATIENTS


@pytest.fixture
def visited(browser: Browser, address: str) -> Iterator[Visit]:
    with visit(browser, address, path="doctor", size=PROJECTOR) as visited:
        yield visited
        assert visited.errors == []
        assert visited.hosts <= {"localhost", None}
        assert visited.main.get_by_text("encountered an error").count() == 0


def fill(visited: Visit, label: str, text: str) -> None:
    field = visited.page.get_by_label(label, exact=False).first
    field.fill(text)
    field.press("Control+Enter" if label.startswith("x:") else "Enter")
    visited.settle()


def upload(visited: Visit, name: str, data: bytes) -> None:
    if not visited.page.locator("input[type=file]").count():
        visited.main.get_by_text("a file", exact=True).click()
        visited.settle()
    visited.page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )
    visited.page.wait_for_timeout(600)
    visited.settle()


def shown(visited: Visit) -> list[str]:
    """Return the text of each finding on the page."""
    return visited.main.locator('[class*="st-key-finding-"]').all_inner_texts()


def expect_the_same(visited: Visit, findings: tuple[Finding, ...]) -> None:
    texts = shown(visited)
    assert len(texts) == len(findings)
    for text, finding in zip(texts, findings, strict=True):
        assert finding.where in text
        assert " ".join(finding.found.split()) in " ".join(text.split())
        assert " ".join(finding.torch_does.split()) in " ".join(text.split())


@pytest.mark.parametrize("name", [name for name, (text, *_) in PATIENTS.items() if not text.startswith("Packed")])
def test_each_patient_shows_what_the_library_finds(visited: Visit, name: str) -> None:
    text, lengths, batch_first, enforce_sorted = PATIENTS[name]
    visited.main.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()
    visited.settle()
    found = pv.examine(
        read_tensor(text),
        read_lengths(lengths),
        batch_first=batch_first,
        enforce_sorted=enforce_sorted,
        padding_value=0.0,
    )
    assert bool(found) == (name != "healthy")
    expect_the_same(visited, found)


def test_what_was_typed_comes_back_after_a_patient_and_after_files(visited: Visit) -> None:
    fill(visited, "x: a list", "[[9, 8], [7, 0]]")
    fill(visited, "lengths", "2, 1")
    for name in ("healthy", "a real 0", "my own"):
        visited.main.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()
        visited.settle()
    for way in ("a file", "typed or pasted"):
        visited.main.get_by_text(way, exact=True).click()
        visited.settle()
    assert visited.page.get_by_label("x: a list", exact=False).input_value() == "[[9, 8], [7, 0]]"
    assert visited.page.get_by_label("lengths", exact=True).input_value() == "2, 1"


def test_a_printed_packed_sequence_is_examined(visited: Visit) -> None:
    visited.main.get_by_test_id("stButtonGroup").get_by_text("printed", exact=True).click()
    visited.settle()
    (finding,) = shown(visited)
    assert "batch_sizes sum to 6, and data has 5 rows" in finding


@pytest.mark.parametrize(
    "text", ["[[1, 2], [3", "__import__('os').system('true')", "tensor([[1, 2], ..., [3, 4]])", "[[1, 2], [3]]"]
)
def test_what_cannot_be_read_is_said_and_stays_where_it_was_typed(visited: Visit, text: str) -> None:
    fill(visited, "x: a list", text)
    expect(visited.main.get_by_text("⚠").first).to_be_visible()
    expect(visited.main.get_by_text("Nothing is examined until")).to_be_visible()
    assert visited.page.get_by_label("x: a list", exact=False).input_value() == text


@pytest.mark.parametrize("lengths", ["nan, 1", "inf, 1", "99999999999999999999", "-1, 0", "[[1], [2]]", "1e400"])
def test_impossible_lengths_are_answered(visited: Visit, lengths: str) -> None:
    fill(visited, "x: a list", "[[1, 2], [3, 0]]")
    fill(visited, "lengths", lengths)
    assert shown(visited) or visited.main.get_by_text("⚠").count()


FIELDS = [
    "data=tensor([1., 2.]), batch_sizes=tensor([]), sorted_indices=None",
    "data=tensor([1., 2.]), batch_sizes=tensor([[2]]), sorted_indices=None",
    "data=tensor([1., 2.]), batch_sizes=tensor([1.5, 0.5]), sorted_indices=None",
    "data=tensor(1.), batch_sizes=tensor([1]), sorted_indices=None",
    "data=tensor([1., 2.]), batch_sizes=tensor([2]), sorted_indices=tensor([[0, 1]])",
    "data=tensor([1., 2.]), batch_sizes=tensor([2]), sorted_indices=tensor([-5, 7])",
    "data=tensor([1., 2.]), batch_sizes=tensor([900, 7]), sorted_indices=None",
    "data=tensor([True, False]), batch_sizes=tensor([2]), sorted_indices=None",
]


@pytest.mark.parametrize("fields", FIELDS)
def test_any_printed_fields_are_answered(visited: Visit, fields: str) -> None:
    fill(visited, "lengths", "")
    fill(visited, "x: a list", f"PackedSequence({fields}, unsorted_indices=None)")
    assert shown(visited) or visited.main.get_by_text("Nothing was found").count()


def test_a_link_opens_the_same_patient(browser: Browser, address: str) -> None:
    query = {"x": "[[1, 2, 0], [3, 0, 0]]", "lengths": "2, 4", "x_enforce_sorted": "false"}
    with visit(browser, address, query, path="doctor") as visited:
        found = pv.examine(
            torch.tensor([[1, 2, 0], [3, 0, 0]]), [2, 4], batch_first=True, enforce_sorted=False, padding_value=0.0
        )
        expect_the_same(visited, found)
        assert visited.errors == []


def test_weights_of_ones_own_are_run_step_by_step(visited: Visit) -> None:
    torch.manual_seed(3)
    model = nn.Sequential(nn.LSTM(3, 4, num_layers=2, bidirectional=True))
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    upload(visited, "model.pt", buffer.getvalue())
    visited.player.wait_for()
    expect(visited.main.get_by_text("LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)")).to_be_visible()
    expect(visited.main.get_by_text("Largest distance from torch's own run")).to_contain_text("0.0")


def test_a_safetensors_file_is_examined_with_its_lengths(visited: Visit, tmp_path: Path) -> None:
    x = torch.zeros(3, 4, 2)
    x[0], x[1, :3], x[2, :1] = 1.5, 2.5, 3.5
    save_file({"x": x, "lengths": torch.tensor([4, 3, 2])}, tmp_path / "batch.safetensors")
    upload(visited, "batch.safetensors", (tmp_path / "batch.safetensors").read_bytes())
    expect_the_same(
        visited, pv.examine(x, torch.tensor([4, 3, 2]), batch_first=True, enforce_sorted=False, padding_value=0.0)
    )


def test_weights_and_data_come_together(visited: Visit, tmp_path: Path) -> None:
    torch.manual_seed(4)
    x = torch.randn(2, 3, 5)
    x[1, 2:] = 0
    buffer = io.BytesIO()
    torch.save(nn.GRU(5, 3, batch_first=True).state_dict(), buffer)
    save_file({"x": x, "lengths": torch.tensor([3, 2])}, tmp_path / "b.safetensors")
    upload(visited, "weights.pt", buffer.getvalue())
    upload(visited, "b.safetensors", (tmp_path / "b.safetensors").read_bytes())
    visited.player.wait_for()
    expect(visited.main.get_by_text("Nothing was found")).to_be_visible()
    assert visited.main.get_by_text("random numbers stand in").count() == 0


def test_an_array_of_numpy_is_examined(visited: Visit) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([[1.0, 2.0, 0.0], [4.0, 0.0, 0.0]], dtype="float32"))
    upload(visited, "batch.npy", buffer.getvalue())
    assert shown(visited) == []
    expect(visited.main.get_by_text("No lengths are given")).to_be_visible()
    fill(visited, "or typed", "2, 2")
    x = torch.tensor([[1.0, 2.0, 0.0], [4.0, 0.0, 0.0]])
    expect_the_same(visited, pv.examine(x, [2, 2], batch_first=True, enforce_sorted=False, padding_value=0.0))


def test_a_batch_with_another_padding_value_is_no_trouble(visited: Visit) -> None:
    fill(visited, "x: a list", "[[5, 6, -100], [7, -100, -100]]")
    fill(visited, "lengths", "2, 1")
    assert shown(visited) == []
    expect(visited.main.get_by_text("Pads are taken to be -100")).to_be_visible()


def test_a_pickled_model_is_refused_and_said(visited: Visit) -> None:
    buffer = io.BytesIO()
    torch.save(nn.GRU(2, 2), buffer)
    upload(visited, "model.pt", buffer.getvalue())
    expect(visited.main.get_by_text("⚠").first).to_be_visible()


def test_the_page_fits_a_phone(browser: Browser, address: str) -> None:
    with visit(browser, address, path="doctor", size=PHONE) as visited:
        assert not visited.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert shown(visited)
