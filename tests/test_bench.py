"""The bench: that its parts are there and its lines are honest. What they measure is for `make bench`."""

import asyncio
from contextlib import suppress
from math import nan
from pathlib import Path

import pytest

from bench import phones
from bench.__main__ import main
from bench.report import Line


@pytest.mark.slow
def test_a_part_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "nothing"]) == 1
    told = capsys.readouterr()
    files = Path(__file__).parent.rglob("*.py")
    lines = sum(len(path.read_bytes().splitlines()) for path in files)
    (said,) = [line for line in told.out.splitlines() if "lines of Python in tests/" in line]
    assert f" {lines:,} " in said
    assert told.err.endswith("Could not be measured: nothing.\n")


@pytest.mark.parametrize(
    ("measured", "target", "verdict"),
    [
        (1.35, {"at_most": 1.35}, "met"),
        (1.36, {"at_most": 1.35}, "missed"),
        (55.0, {"at_least": 55}, "met"),
        (54.9, {"at_least": 55}, "missed"),
        (nan, {"at_most": 1.0}, "missed"),
        (nan, {"at_least": 1.0}, "missed"),
        (3.0, {}, ""),
    ],
)
def test_a_missed_target_is_called_missed(measured: float, target: dict[str, float], verdict: str) -> None:
    line = Line("first paint", measured, "median of 9", **target)
    assert line.verdict == verdict
    assert ("missed" in str(line)) == (verdict == "missed")
    assert str(line).startswith("first paint")
    assert str(line).endswith("median of 9")


def test_an_answer_that_comes_too_late_is_not_taken_for_that_of_a_later_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(phones, "PATIENCE", 0.2)

    ended = asyncio.Semaphore(0)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                path = (await reader.readuntil(b"\r\n\r\n")).split()[1]
                await asyncio.sleep(0.3 if path == b"/late" else 0)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(path), path))
        writer.close()
        ended.release()

    async def lesson() -> None:
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        line = phones.Connection(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with pytest.raises(TimeoutError):
            await line.ask("GET", "/late")
        assert (await line.ask("GET", "/next")).body == b"/next"
        line.close()
        for _ in range(2):
            await ended.acquire()
        server.close()

    asyncio.run(lesson())
