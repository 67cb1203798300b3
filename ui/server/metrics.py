"""The server's metrics, for Prometheus at /metrics, if PACKVIZ_METRICS is 1.

They are for the operator of the server: the balancer in deploy/ does not pass /metrics on.
"""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import Response
from starlette.routing import Route
from streamlit.runtime import Runtime
from streamlit.runtime.stats import ACTIVE_SESSIONS_FAMILY, GaugeStat

from classroom.rooms import rooms
from ui.parts.progress import backend

VOTE = "/api/rooms/{code}/vote"

_registry = CollectorRegistry()
_of = ("route", "status")
_requests = Histogram("packviz_request_seconds", "Requests to the classroom", _of, registry=_registry)
_late = Histogram(
    "packviz_loop_late_seconds",
    "How late the event loop ran what was due: for so long it answered nobody",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
    registry=_registry,
)
_votes = Counter("packviz_votes", "Votes that this server has stored", registry=_registry)
ProcessCollector(registry=_registry)


class _Now(Collector):
    """Values that are counted when they are requested."""

    def collect(self) -> Iterable[Metric]:
        """Yield the gauges."""
        found = Runtime.instance().stats_mgr.get_stats([ACTIVE_SESSIONS_FAMILY])[ACTIVE_SESSIONS_FAMILY]
        visitors = sum(each.value for each in found if isinstance(each, GaugeStat))
        here = rooms.all()
        yield GaugeMetricFamily("packviz_visitors", "Browsers with an open page", visitors)
        yield GaugeMetricFamily("packviz_rooms", "Rooms in use", len(here))
        yield GaugeMetricFamily("packviz_phones", "Open push channels", sum(len(each.watchers) for each in here))
        jobs = GaugeMetricFamily("packviz_jobs", "Long work that is not over", labels=["state"])
        for state, number in backend().counts().items():
            jobs.add_metric([state], number)
        yield jobs


def route() -> Route:
    """Return the route."""
    _registry.register(_Now())
    return Route("/metrics", lambda _: Response(generate_latest(_registry), media_type="text/plain; version=0.0.4"))


def late(seconds: float) -> None:
    """Count a look at the event loop, which came so late."""
    _late.observe(seconds)


def took(name: str, status: int, seconds: float) -> None:
    """Count a request. name: of its route. status: of the answer, by HTTP. seconds: until the answer began."""
    _requests.labels(name, status).observe(seconds)
    if (name, status) == (VOTE, 200):
        _votes.inc()
