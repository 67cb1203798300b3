"""Limits: what may ask here, and how often one address may.

A class is one address, perhaps a whole school is, so the limits are far above what classes need. The counts are kept in
the store: in Redis for all replicas together, else in the memory of each process. An address is never stored with a
vote, and is forgotten when its time is over, in memory with the next count.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal
from urllib.parse import urlsplit

from classroom.state import RefusedError
from classroom.store import Store

Counted = Literal["rooms", "joins", "guesses"]

WITHIN = 600  # seconds in which requests are counted
_MOST: Mapping[Counted, int] = {"rooms": 100, "joins": 5000, "guesses": 5000}
_SETTINGS: Mapping[Counted, str] = {
    "rooms": "PACKVIZ_ROOMS",
    "joins": "PACKVIZ_JOINS",
    "guesses": "PACKVIZ_GUESSES",
}  # environment variables that replace these limits
_REFUSALS: Mapping[Counted, str] = {
    "rooms": "{most} rooms were opened from your address just now. Try again in ten minutes.",
    "joins": "{most} phones have joined from your address just now. Try again in ten minutes.",
    "guesses": "Too many wrong codes came from your address just now. Try again in ten minutes.",
}


async def count(store: Store, what: Counted, address: str | None) -> None:
    """Count a request of an address; raises RefusedError if it has made too many. None: an address that is unknown."""
    if address is not None and await store.count(f"{what}:{_network(address)}", WITHIN) > _most(what):
        raise RefusedError(429, _REFUSALS[what].format(most=_most(what)))


def check_sender(headers: Mapping[str, str]) -> None:
    """Check that a request is JSON and comes from a page of this server, or from a program that is not a browser.

    A page elsewhere can send a visitor's browser here, but not with this content type, and its browser says so in
    Origin or Sec-Fetch-Site. Raises RefusedError. headers: by lower-case names.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    hosts = {headers.get("host"), headers.get("x-forwarded-host")}
    own = site in ("same-origin", "none") if site is not None else origin is None or _host(origin) in hosts
    if not own:
        raise RefusedError(403, "This request comes from a page elsewhere. Only the pages of this server may send it.")
    kind = headers.get("content-type")
    if (kind or "application/json").partition(";")[0].strip().lower() != "application/json" or (origin and not kind):
        raise RefusedError(415, "The request must have the content type application/json.")


def _host(origin: str) -> str:
    """Return the host, and the port if there is one, of an origin; "" if it has none: it may be anything."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _most(what: Counted) -> int:
    return int(os.environ.get(_SETTINGS[what]) or _MOST[what])


def _network(address: str) -> str:
    """Return what one sender can choose from: its address, or all that share the first 64 bits of one of IPv6.

    A socket for both protocols writes an address of IPv4 as ::ffff:1.2.3.4.
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        return str(known.ipv4_mapped or ip_network((address, 64), strict=False))
    return address
