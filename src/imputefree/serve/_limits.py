"""How a request is refused, how much it may ask for, and how many may run at a time."""

from __future__ import annotations

import asyncio
import os
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
    seconds : time for the body to arrive, and again for the answer to be computed
    waiting : requests that are read, wait or run at a time
    """

    rows: int = 10_000
    bytes: int = 4_000_000
    seconds: float = 10.0
    waiting: int = 64


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


class Gate:
    """Runs work in a few threads, and refuses requests while too many are inside.

    A request that takes too long is answered, but keeps its place until its thread is free again:
    otherwise slow requests could pile up behind the answers.
    """

    def __init__(self, limits: Limits, workers: int | None = None) -> None:
        self.limits, self.inside = limits, 0
        workers = workers or min(MOST_WORKERS, os.cpu_count() or 1)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="predict")

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        """A place for one request, from its body to its answer."""
        if self.inside >= self.limits.waiting:
            fact = f"{self.inside} requests are being answered already, as many as may wait"
            headers = {"Retry-After": "1"}
            raise RequestError(503, fact, "", "Send it again in a second", headers=headers)
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    async def run(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """Call work(*args) in a thread, within the time limit."""
        future = self._threads.submit(work, *args)
        answer = asyncio.wrap_future(future)
        try:
            return await asyncio.wait_for(asyncio.shield(answer), self.limits.seconds)
        except TimeoutError:
            if not future.cancel():  # it is running
                self.inside += 1
                answer.add_done_callback(self._leave)
            fact = f"the answer took longer than the server's --timeout ({self.limits.seconds:g} s)"
            remedy = "Send fewer rows, or shorter series, at a time"
            raise RequestError(504, fact, "", remedy) from None

    def _leave(self, late: asyncio.Future[Any]) -> None:
        self.inside -= 1
        late.cancelled() or late.exception()  # nobody else looks at it

    def close(self) -> None:
        """Let threads end; waiting work is not started."""
        self._threads.shutdown(wait=False, cancel_futures=True)
