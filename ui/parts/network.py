"""The address under which other machines reach this one."""

import socket
from urllib.parse import urlsplit

import streamlit as st

_LOCAL = ("localhost", "127.0.0.1", "::1")


def is_local(url: str) -> bool:
    """Return whether only this machine can open an address."""
    return (urlsplit(url).hostname or "") in _LOCAL


def for_others(url: str) -> str:
    """Return an address as others can open it: with this machine's address in its network, if it has one."""
    here = urlsplit(url)
    if not is_local(url) or not (host := _own_address()):
        return url
    return here._replace(netloc=f"{host}:{here.port}" if here.port else host).geturl()


@st.cache_resource(show_spinner=False, ttl=60)
def _own_address() -> str:
    """Return this machine's address in its network; "" if there is none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
        try:
            there.connect(("192.0.2.1", 9))  # an address for documentation: no packet leaves for a datagram socket
            return str(there.getsockname()[0])
        except OSError:
            return ""
