"""From an application to a server that listens, says where, and stops when asked."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from ..errors import ParameterError

STOPPING = 2.0  # seconds beyond a request's own limit until a stop no longer waits


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to host and port (0: any free one), or an error that says why not."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise ParameterError(
            f"--host is {host!r}, which is no address of this machine",
            "It is a name or a number such as 127.0.0.1",
            "Leave it out, or correct it",
        ) from None
    bound = socket.socket(family, kind, proto)
    try:
        if os.name == "posix":  # else a port stays taken for a minute after a stop
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        reason = (error.strerror or str(error)).lower()
        raise ParameterError(
            f"{host} port {port} cannot be listened at ({reason})",
            "A port serves one program, and its host is an address of this machine",
            "Choose another --port (0 takes a free one) or --host",
        ) from None
    return bound


def is_loopback(bound: socket.socket) -> bool:
    """Whether only programs of this machine can reach it."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def address_of(bound: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Says when it listens, and takes a signal to stop for a wish, not for a failure."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn's own would raise the signal once more at the end."""
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, self.handle_exit) for one in signals}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def run(app: Any, bound: socket.socket, seconds: float, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; requests that run are answered first."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=int(seconds + STOPPING) + 1,
    )
    server = _Server(config)
    server.ready = ready
    server.run(sockets=[bound])
