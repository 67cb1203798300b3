"""Start the app: `python -m ui.server`, in the folder of app.py.

`streamlit run app.py` serves the same app, but gives uvicorn no settings: connections that block the server stay open.
"""

import errno
import os
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import suppress

import uvicorn
from streamlit import config

from ui.server.connections import GOODBYE, Messages, Requests

PORTS = range(8501, 8601)  # the first free one is taken, unless one is given
_STARTUP_FAILED = 3  # exit status, as uvicorn's own


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the app until it is stopped, with the options in `arguments` (those of the command line if None)."""
    parser = ArgumentParser("python -m ui.server", description="Start packviz in the browser.")
    parser.add_argument("--port", type=int, help="the app's port; without one, the first free one from 8501")
    parser.add_argument("--address", default="", help="where it can be reached; without one, from everywhere")
    parser.add_argument("--headless", action="store_true", help="do not open a browser")
    options = parser.parse_args(arguments)
    serve(options.port, options.address, headless=options.headless)


def serve(port: int | None = None, address: str = "", *, headless: bool = False) -> None:
    """Serve the app of the current folder until it is stopped, and open it in a browser if there is a screen.

    port: the first free one of PORTS if None. headless: do not open a browser.
    """
    with listen(PORTS if port is None else [port], address) as listener, suppress(KeyboardInterrupt):
        config.set_option("server.port", listener.getsockname()[1])
        config.set_option("server.headless", headless or config.get_option("server.headless"))
        server = uvicorn.Server(_settings())
        server.run([listener])
        if not server.started:
            sys.exit(_STARTUP_FAILED)


def _settings() -> uvicorn.Config:
    """Return the settings of the server, some of them Streamlit's."""
    patience = config.get_option("server.websocketPingInterval")
    return uvicorn.Config(
        "app:app",
        http=Requests,
        ws=Messages,
        ws_max_size=config.get_option("server.maxMessageSize") * 2**20,
        ws_ping_interval=patience,
        ws_ping_timeout=patience,
        ws_per_message_deflate=config.get_option("server.enableWebsocketCompression"),
        ssl_certfile=config.get_option("server.sslCertFile"),
        ssl_keyfile=config.get_option("server.sslKeyFile"),
        lifespan="on",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GOODBYE,
    )


def listen(ports: Sequence[int], address: str = "") -> socket.socket:
    """Return a listening socket on the first of these ports that is free.

    It names its protocol, so that asyncio sends small answers at once (TCP_NODELAY): 1.5 ms each instead of 45.
    """
    both = not address and socket.has_dualstack_ipv6()  # IPv4 and IPv6
    family = socket.AF_INET6 if both or ":" in address else socket.AF_INET
    for port in ports:
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if both:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        try:
            listener.bind((address, port))
        except OSError as problem:
            listener.close()
            if problem.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
        else:
            listener.listen(2048)
            return listener
    taken = f"Port {ports[0]} is" if len(ports) == 1 else f"The ports {ports[0]} to {ports[-1]} are"
    sys.exit(f"{taken} in use. Stop the program that uses it, or choose another one: --port 8700")


if __name__ == "__main__":
    main()
