"""Say whether the app's port is free, and the way out when it is not: `python -m ui.port 8501`."""

import errno
import socket
import sys

__all__ = ["free_port_after", "problem_with"]


def problem_with(port: str) -> str | None:
    """Return one line that says why the app cannot start on `port` and what to type instead, or None."""
    if not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535:
        return f"PORT={port} is not a port: a whole number from 1 to 65535, for example make run PORT=8502"
    number = int(port)
    refusal = _refusal(number)
    if refusal is None:
        return None
    reason = "is taken by another program" if refusal == errno.EADDRINUSE else "may not be used here"
    return f"Port {number} {reason}. Start packviz on a free one: make run PORT={free_port_after(number)}"


def free_port_after(port: int) -> int:
    """Return the first free port above `port`, from 1024 on."""
    return next(candidate for candidate in range(max(port, 1023) + 1, 65536) if _refusal(candidate) is None)


def _refusal(port: int) -> int | None:
    """Return the error number with which the system refuses `port`, or None if it is free."""
    with socket.socket() as probe:
        probe.settimeout(0.2)
        if probe.connect_ex(("127.0.0.1", port)) == 0:  # someone answers, on whatever address they listen
            return errno.EADDRINUSE
    try:
        socket.create_server(("", port)).close()
    except OSError as refusal:
        return refusal.errno
    return None


if __name__ == "__main__":
    sys.exit(problem_with(sys.argv[1]))
