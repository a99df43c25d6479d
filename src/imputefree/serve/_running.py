"""Run an application: listen, and shut down cleanly."""

from __future__ import annotations

import ipaddress
import signal
import socket
from typing import Any

import uvicorn

from ..errors import ParameterError

BACKLOG = 2048  # connections that wait, as many as uvicorn lets
GRACE = 2.0  # seconds that a shutdown waits beyond the time limit of a request


def listen(host: str, port: int) -> socket.socket:
    """A socket at host and port (0: any free port); connections wait until the server runs."""
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        fact = f"--host is {host!r}, which is not an address of this machine"
        rule = "It is a host name or an address such as 127.0.0.1"
        raise ParameterError(fact, rule, "Leave it out, or correct it") from None
    try:
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()  # :: takes IPv4 too
        return socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        fact = f"cannot listen at {host} port {port} ({(error.strerror or str(error)).lower()})"
        rule = "The port must be free, and the host an address of this machine"
        raise ParameterError(fact, rule, "Choose another --port (0: any) or --host") from None


def is_loopback(bound: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def address_of(bound: socket.socket) -> str:
    """The address for a browser."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(app: Any, bound: socket.socket, seconds: float) -> None:
    """Serve until SIGTERM or Ctrl-C; running requests are answered first."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=int(seconds + GRACE) + 1,
    )
    server = uvicorn.Server(config)
    # uvicorn restores these at the end and raises the signal again, which then does nothing more.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)
    server.run(sockets=[bound])
