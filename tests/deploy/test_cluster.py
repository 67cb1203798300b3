"""A class on two replicas behind the balancer, with Redis and a worker; one replica is killed during the vote."""

import asyncio
import gzip
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, aclosing, closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from phone_pages import OWN, Room
from playwright.sync_api import Browser, Page, expect
from servers import ROOT, Server, a_worker, server
from tabs import tab
from work_cases import until

from bench.phones import Phone
from bench.servers import free_port, healthy
from ui.server.head import needed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PHONES = 50
ROOMS = 3  # that one address may open
AGAIN = 0.5  # seconds until a phone tries again, as the server tells it to
LONG = 60_000  # ms that anything in a browser may take on a busy machine
LESSON = {"sequences": "1 2 3\n4 5\n6 7 8 9", "cell": "lstm", "hidden_size": 3}
PROGRESS = re.compile(r"^(\d+) of 432$")
PLAYER = '[data-testid="packviz-player"]'


@dataclass
class Cluster:
    """The balancer's address, and the replicas by the names in its cookie."""

    address: str
    replicas: dict[str, Server]


@pytest.fixture(scope="module")
def cluster(haproxy: Path, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder, port = tmp_path_factory.mktemp("cluster"), free_port()
    environment = {
        "REDIS_URL": redis_url.removesuffix("/0") + "/2",  # where no other test ends what seems unwanted
        "PACKVIZ_ROOMS": str(ROOMS),
        "FORWARDED_ALLOW_IPS": "*",  # as in all files of deploy/
    }
    with ExitStack() as running, ThreadPoolExecutor(2) as both:
        running.enter_context(a_worker(environment["REDIS_URL"]))
        contexts = {name: server(folder / name, environment) for name in ("one", "two")}
        for each in contexts.values():
            running.push(each)
        replicas = dict(zip(contexts, both.map(lambda each: each.__enter__(), contexts.values()), strict=True))
        places = {name.upper(): each.address.removeprefix("http://") for name, each in replicas.items()}
        balancer = subprocess.Popen(
            [haproxy, "-db", "-f", ROOT / "deploy" / "haproxy.cfg"],
            env={**os.environ, **places, "BIND": f"127.0.0.1:{port}"},
            stderr=subprocess.DEVNULL,
        )
        running.callback(balancer.wait, 30)
        running.callback(balancer.kill)
        address = f"http://127.0.0.1:{port}"
        until(lambda: healthy(address))
        yield Cluster(address, replicas)


class Follower(Phone):
    """A phone that votes until it is acknowledged, and notes when and on which replica its channel was opened."""

    def __init__(self, address: str, code: str) -> None:
        super().__init__(address, code)
        self.replicas: list[tuple[str, float]] = []
        self.acknowledged: int | None = None

    async def vote_later(self, number: int) -> None:
        await asyncio.sleep(2 * number / PHONES)
        while self.acknowledged is None:
            with suppress(OSError, TimeoutError):
                if (await self.vote(1, number % 2)).status == 200:
                    self.acknowledged = number % 2
                    return
            await asyncio.sleep(AGAIN)

    async def follow(self) -> None:
        while True:
            with suppress(
                OSError, TimeoutError, ValueError, KeyError
            ):  # a replica that is gone, and what a balancer says
                await self.look()
                path = f"{self.path}/events?token={self.token}&since=0"
                async with aclosing(self.channel.listen(path)) as revisions:
                    await anext(revisions)
                    self.replicas.append((self.channel.cookies["packviz"], time.monotonic()))
                    async for _ in revisions:
                        pass
            await asyncio.sleep(AGAIN)


@dataclass
class Story:
    """The state before a replica was killed, the time, and the state afterwards.

    before: what the lesson showed.
    """

    phones: list[Follower]
    room: Room
    killed: float
    lesson: Page
    before: dict[str, Any]
    training: Page
    trained: int


@pytest.fixture(scope="module")
def story(cluster: Cluster, browser: Browser) -> Iterator[Story]:
    """Kill the replica `one` while two browsers are on it, and while a class votes."""
    with ExitStack() as open_pages:
        lesson, training = (open_pages.enter_context(_on_the_first(browser, cluster.address)) for _ in range(2))
        training.goto(f"{cluster.address}/training")
        training.get_by_role("button", name=re.compile("^Train 36 models")).click(timeout=LONG)
        trained = _trained(training)
        lesson.goto(f"{cluster.address}/running?{urlencode(LESSON)}")
        lesson.locator(PLAYER).wait_for(timeout=LONG)
        lesson.locator(PLAYER).focus()
        for _ in range(3):
            lesson.keyboard.press("ArrowRight")
        expect(lesson.locator(PLAYER)).to_have_attribute("data-step", "4", timeout=LONG)
        expect(lesson).to_have_url(re.compile("step=4"), timeout=LONG)
        before = _seen(lesson)
        room = Room(cluster.address, OWN)
        room.act("next", "open")
        with ThreadPoolExecutor(1) as pool:  # the browser has a loop in this thread
            phones, killed = pool.submit(lambda: asyncio.run(_class(cluster, room.code))).result()
        yield Story(phones, room, killed, lesson, before, training, trained)


@contextmanager
def _on_the_first(browser: Browser, address: str) -> Iterator[Page]:
    """Open a page whose cookie keeps it on the replica `one`."""
    with tab(browser, (1280, 720), locale="en-GB") as taken:
        taken.page.context.add_cookies([{"name": "packviz", "value": "one", "url": address}])
        yield taken.page


def _seen(page: Page) -> dict[str, Any]:
    """Return the address of a lesson, and what its player shows."""
    player = page.locator(PLAYER)
    return {"url": page.url, **{name: player.get_attribute(f"data-{name}") for name in ("step", "stage")}}


def _trained(page: Page) -> int:
    """Wait for the first epochs, and return how many are done."""
    told = page.get_by_text(PROGRESS).first
    told.wait_for(timeout=LONG)
    found = PROGRESS.match(told.inner_text())
    assert found is not None
    return int(found[1])


async def _class(cluster: Cluster, code: str) -> tuple[list[Follower], float]:
    """Let a class join and vote, and kill the replica `one` when a third have voted; return the phones, and when."""
    phones = [Follower(cluster.address, code) for _ in range(PHONES)]
    await asyncio.gather(*(phone.join() for phone in phones))
    following = [asyncio.create_task(phone.follow()) for phone in phones]
    async with asyncio.timeout(60):
        while not all(phone.replicas for phone in phones):
            await asyncio.sleep(0.05)
        voting = [asyncio.create_task(phone.vote_later(i)) for i, phone in enumerate(phones)]
        while sum(phone.acknowledged is not None for phone in phones) < PHONES / 3:
            await asyncio.sleep(0.01)
        cluster.replicas["one"].process.kill()
        killed = time.monotonic()
        await asyncio.gather(*voting)
        while any(phone.replicas[-1][0] == "one" for phone in phones):
            await asyncio.sleep(0.05)
    for each in following:
        each.cancel()
    for phone in phones:
        phone.close()
    return phones, killed


def test_no_acknowledged_vote_is_lost_with_a_replica(story: Story) -> None:
    first = [phone.replicas[0][0] for phone in story.phones]
    assert min(first.count("one"), first.count("two")) >= PHONES / 4
    seen = story.room.seen
    assert (seen["phase"], seen["joined"], seen["voted"]) == ("vote", PHONES, PHONES)
    for phone in story.phones:
        assert story.room.seen_by(phone.token)["mine"] == phone.acknowledged


def test_phones_of_a_killed_replica_reconnect_within_5_seconds(story: Story) -> None:
    moved = [phone for phone in story.phones if phone.replicas[0][0] == "one"]
    for phone in moved:
        replica, back = next((name, at) for name, at in phone.replicas if at > story.killed)
        assert replica == "two"
        assert back - story.killed <= 5
    assert all(len(phone.replicas) == 1 for phone in story.phones if phone not in moved)  # the others noticed nothing


def test_an_open_lesson_returns_to_its_page_batch_settings_and_step(story: Story) -> None:
    page = story.lesson
    page.wait_for_selector('[data-test-connection-state="CONNECTED"]', state="attached", timeout=LONG)
    page.wait_for_selector('[data-test-script-state="notRunning"]', state="attached", timeout=LONG)
    assert _seen(page) == story.before
    page.locator(PLAYER).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(PLAYER)).to_have_attribute("data-step", "5", timeout=LONG)


def test_a_training_survives_the_replica_that_started_it(story: Story) -> None:
    page = story.training
    page.wait_for_selector('[data-test-connection-state="CONNECTED"]', state="attached", timeout=LONG)
    before = max(story.trained, _trained(page))
    until(lambda: _trained(page) > before)  # then the other replica has drawn it, and knows its button
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped after")).to_be_visible(timeout=LONG)


def test_a_replica_that_is_slow_for_some_seconds_loses_nobody(story: Story, cluster: Cluster) -> None:
    process, phone = cluster.replicas["two"].process, story.phones[0]
    with ThreadPoolExecutor(1) as asking:
        process.send_signal(signal.SIGSTOP)
        answer = asking.submit(story.room.seen_by, phone.token)
        time.sleep(4.5)  # more than two checks of one second
        process.send_signal(signal.SIGCONT)
    assert answer.result()["mine"] == phone.acknowledged


def test_clients_behind_a_balancer_are_counted_separately(cluster: Cluster) -> None:
    there, balancer = cluster.replicas["two"].address, cluster.address

    def opens(client: str, to: str, said: str) -> int:
        """Open a room from an address of this machine; return the status."""
        line = HTTPConnection(to.removeprefix("http://"), source_address=(client, 0), timeout=30)
        with closing(line):
            line.request("POST", "/api/rooms", b"{}", {"Cookie": "packviz=two", "X-Forwarded-For": said})
            return line.getresponse().status

    assert [opens("127.0.0.2", balancer, f"192.0.2.{i}") for i in range(ROOMS + 1)] == [200] * ROOMS + [429]
    assert opens("127.0.0.3", balancer, "127.0.0.2") == 200
    assert opens("127.0.0.4", there, "127.0.0.2") == 429  # a balancer on another machine is believed, too
    assert opens("127.0.0.4", there, "192.0.2.1") == 200


def test_the_balancer_caches_files_and_hides_the_metrics(cluster: Cluster) -> None:
    file = Request(f"{cluster.address}/{needed()[1]}", headers={"Accept-Encoding": "gzip"})
    for _ in range(2):
        with urlopen(file) as answer:
            assert b"function" in gzip.decompress(answer.read())
            assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Age"] is not None  # the second time it came from the balancer itself
    with pytest.raises(HTTPError, match="404"):
        urlopen(f"{cluster.address}/metrics")
