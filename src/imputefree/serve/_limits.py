"""How a request is refused, how much it may ask for, and how clients share the server."""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from ..errors import ImputefreeError

Answer = TypeVar("Answer")
MOST_WORKERS = 4


class RequestError(ImputefreeError):
    """A request that is refused with this status; `field` names the part that is wrong, if any.

    >>> RequestError(422, "age holds a list", "It must be a number", "Send 31", "age").body()
    {'error': {'field': 'age', 'fact': 'age holds a list', 'rule': 'It must be a number', \
'remedy': 'Send 31'}}
    """

    def __init__(
        self,
        status: int,
        fact: str,
        rule: str = "",
        remedy: str = "",
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(fact, rule, remedy)
        self.status, self.field, self.headers = status, field, dict(headers or {})

    def body(self) -> dict[str, Any]:
        """The error as plain JSON."""
        parts = {"fact": self.fact, "rule": self.rule, "remedy": self.remedy}
        return {"error": {"field": self.field, **parts}}


@dataclass(frozen=True)
class Limits:
    """What one request may ask for.

    rows : rows of a table, or steps of all series together
    bytes : size of the body
    seconds : time for the headers to arrive, for the body, for the answer to be computed, and for
        the client to take it
    waiting : requests that are read, wait or run at a time; see `Places` for the share of a client
    connections : open at a time, shared alike
    """

    rows: int = 10_000
    bytes: int = 4_000_000
    seconds: float = 10.0
    waiting: int = 64
    connections: int = 512


async def read_body(request: Request, limits: Limits) -> bytes:
    """The body; refused before more than `limits.bytes` of it are held in memory."""
    close = {"Connection": "close"}  # the rest of the body is not read
    too_large = RequestError(
        413,
        f"the body is larger than {limits.bytes:,} bytes",
        "Bodies may not exceed the server's --max-bytes",
        "Send fewer rows at a time",
        headers=close,
    )
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limits.bytes:
        raise too_large
    pieces, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > limits.bytes:
                    raise too_large
                pieces.append(piece)
    except TimeoutError:
        fact = f"the body had not arrived after {limits.seconds:g} seconds"
        rule, remedy = "It must arrive within the server's --timeout", "Send fewer rows at a time"
        raise RequestError(408, fact, rule, remedy, headers=close) from None
    except ClientDisconnect:
        raise RequestError(400, "the body is incomplete", "", "Send it again") from None
    return b"".join(pieces)


def client_of(scope: Mapping[str, Any]) -> str:
    """Who sent a request: its address; of IPv6 the network, as a client has all of its addresses.

    >>> client_of({"client": ("10.0.0.7", 4711)}), client_of({"client": ("2001:db8::7:1", 4711)})
    ('10.0.0.7', '2001:db8::/64')
    """
    address = (scope.get("client") or ("",))[0]
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return str(address)
    if known.version == 4:
        return str(known)
    mapped = known.ipv4_mapped
    return str(mapped or ipaddress.ip_network((known, 64), strict=False))


class Places:
    """A number of places that clients share: each may hold as many as are still free.

    So one client gets half of them, a second a quarter, and there is always one for a newcomer
    until many clients are inside.

    >>> places = Places(8)
    >>> [places.take(client) for client in "aaaaabbbc"]
    [True, True, True, True, False, True, True, False, True]
    """

    def __init__(self, count: int) -> None:
        self.count, self.held = count, Counter[str]()

    @property
    def inside(self) -> int:
        """How many are taken."""
        return self.held.total()

    def take(self, client: str) -> bool:
        """Take a place, if this client may."""
        if self.held[client] >= self.count - self.inside:
            return False
        self.held[client] += 1
        return True

    def leave(self, client: str) -> None:
        """Give a place back."""
        self.held[client] -= 1
        if not self.held[client]:
            del self.held[client]


class Gate:
    """Runs work in a few threads, for clients in turn, and refuses requests beyond a fair share.

    A request that takes too long is answered, but keeps its place until its thread is free again:
    otherwise slow requests could pile up behind the answers. There is one thread more than a single
    client may use, so that others never wait for its slow requests alone.
    """

    def __init__(self, limits: Limits, workers: int | None = None) -> None:
        self.limits, self.places = limits, Places(limits.waiting)
        self.workers = workers or min(MOST_WORKERS, os.cpu_count() or 1)
        self._threads = ThreadPoolExecutor(self.workers + 1, thread_name_prefix="predict")
        self._running = Counter[str]()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # the next client first

    @asynccontextmanager
    async def enter(self, client: str) -> AsyncIterator[None]:
        """A place for one request, from its body to its answer."""
        if not self.places.take(client):
            inside = self.places.inside
            status, fact = 503, f"{inside} requests are being answered already, as many as may wait"
            if inside < self.places.count:
                held = self.places.held[client]
                status, fact = 429, f"{held} requests of this client are being answered already"
            rule, remedy = "Clients share the server", "Send it again in a second"
            raise RequestError(status, fact, rule, remedy, headers={"Retry-After": "1"})
        try:
            yield
        finally:
            self.places.leave(client)

    async def run(self, client: str, work: Callable[..., Answer], *args: Any) -> Answer:
        """Call work(*args) in a thread, within the time limit."""
        answer: asyncio.Future[Answer] | None = None
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self._turn(client)
                answer = asyncio.wrap_future(self._threads.submit(work, *args))
                answer.add_done_callback(lambda _: self._end(client))
                return await asyncio.shield(answer)
        except TimeoutError:
            if answer is not None and not answer.done():
                self.places.held[client] += 1
                answer.add_done_callback(lambda late: self._leave(client, late))
            fact = f"the answer took longer than the server's --timeout ({self.limits.seconds:g} s)"
            remedy = "Send fewer rows, or shorter series, at a time"
            raise RequestError(504, fact, "", remedy) from None

    async def _turn(self, client: str) -> None:
        """Wait for a thread; clients take turns."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        self._next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._end(client)
            raise

    def _next(self) -> None:
        """Let those run who may."""
        for client in list(self._waiting):
            if self._running.total() > self.workers:
                return
            turns = self._waiting[client]
            while turns and turns[0].cancelled():
                turns.popleft()
            if turns and self._running[client] < self.workers:
                self._running[client] += 1
                turns.popleft().set_result(None)
                self._waiting[client] = self._waiting.pop(client)  # to the end
            if not turns:
                del self._waiting[client]

    def _end(self, client: str) -> None:
        self._running -= Counter([client])  # nothing is kept of clients that have left
        self._next()

    def _leave(self, client: str, late: asyncio.Future[Any]) -> None:
        self.places.leave(client)
        late.cancelled() or late.exception()  # nobody else looks at it

    def close(self) -> None:
        """Let threads end; waiting work is not started."""
        self._threads.shutdown(wait=False, cancel_futures=True)
