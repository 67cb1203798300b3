"""Files given to the doctor: how large, how many, read once, and never in the server's own process."""

import io
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, expect
from streamlit.testing.v1 import AppTest
from torch import nn
from visits import PROJECTOR, Visit, visit

from packviz import doctor
from packviz.doctor import read_isolated
from packviz.errors import PackvizError
from ui import given

ROOT = Path(__file__).parents[2]
DOCTOR = str(ROOT / "pages" / "10_doctor.py")
File = tuple[str, bytes, str]


def npy(x: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, x)
    return buffer.getvalue()


def file(name: str, x: np.ndarray) -> File:
    return name, npy(x), "application/octet-stream"


@pytest.fixture
def page() -> AppTest:
    """Open the doctor where files are given."""
    page = AppTest.from_file(DOCTOR, default_timeout=60).run()
    cast(Any, page.get_by_key("given")).set_value("a file").run()
    return page


def upload(visited: Visit, path: Path) -> None:
    visited.page.locator("input[type=file]").set_input_files(path)
    visited.settle()


def texts(page: AppTest) -> str:
    return "\n".join(each.value for each in page.text)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are read, in order, as they are read."""
    names: list[str] = []

    def counted(data: bytes, name: str) -> object:
        names.append(name)
        return read_isolated(data, name)

    monkeypatch.setattr(doctor, "read_isolated", counted)
    return names


def test_a_file_is_read_once_and_not_again_with_each_rerun(page: AppTest, read: list[str]) -> None:
    batch = np.array([[1.0, 2.0, 0.0], [4.0, 0.0, 0.0]], dtype="float32")
    page.file_uploader(key="files").set_value([file("batch.npy", batch), ("bad.npy", b"no", "")]).run()
    assert read == ["batch.npy", "bad.npy"]
    assert "⚠" in texts(page)
    page.toggle(key="file_batch_first").set_value(False).run()
    page.run()
    assert read == ["batch.npy", "bad.npy"]  # what cannot be read is not tried again either
    page.file_uploader(key="files").set_value([file("batch.npy", batch)]).run()
    assert read == ["batch.npy", "bad.npy", "batch.npy"]  # another file of the same name


def test_more_than_four_files_are_refused_and_four_are_read(page: AppTest, read: list[str]) -> None:
    some = [file(f"{i}.npy", np.ones((2, 3), "float32")) for i in range(given.MAX_FILES + 1)]
    page.file_uploader(key="files").set_value(some).run()
    assert "At most 4 files of 32 MB each: a larger one turns red and is not read." in texts(page)
    assert "⚠ Expected at most 4 files, got 5. Fix: remove 1 of them." in texts(page)
    assert read == []
    page.file_uploader(key="files").set_value(some[1:]).run()
    assert "⚠" not in texts(page)
    assert read == ["1.npy", "2.npy", "3.npy", "4.npy"]


def test_a_file_that_ends_the_process_that_reads_it_is_said_in_place(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def too_little(data: bytes, name: str) -> object:
        with pytest.raises(PackvizError) as refusal:
            read_isolated(data, name, memory=150 * 2**20)  # torch alone exceeds it: where it breaks, differs
        refused.append(refusal.value.sentence)
        raise refusal.value

    monkeypatch.setattr(doctor, "read_isolated", too_little)
    buffer = io.BytesIO()
    torch.save(torch.zeros(3), buffer)
    page.file_uploader(key="files").set_value([("x.pt", buffer.getvalue(), "")]).run()
    (sentence,) = refused
    assert f"⚠ {sentence}" in texts(page)
    assert sentence.startswith("Expected ")
    assert "Fix this first; then the batch is checked." in texts(page)


def test_a_file_over_the_limit_is_refused_and_one_of_more_than_two_megabytes_is_read(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    (tmp_path / "large.npy").write_bytes(npy(np.zeros(33 * 2**18, "float32")))
    torch.save(nn.LSTM(300, 256).state_dict(), tmp_path / "lstm.pt")
    assert (tmp_path / "lstm.pt").stat().st_size > 2 * 2**20
    with visit(browser, address, path="doctor", size=PROJECTOR) as visited:
        visited.main.get_by_text("a file", exact=True).click()
        upload(visited, tmp_path / "large.npy")
        expect(visited.main.get_by_text("32.0MB or smaller")).to_be_visible()
        upload(visited, tmp_path / "lstm.pt")
        expect(visited.main.get_by_text("LSTM(300, 256, batch_first=True)")).to_be_visible(timeout=60_000)
        assert visited.main.get_by_text("⚠").count() == 0
