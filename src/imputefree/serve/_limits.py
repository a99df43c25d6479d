"""How much a request may ask for, and how many may ask at a time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from ._refusals import RequestError

Answer = TypeVar("Answer")
MOST_WORKERS = 4


@dataclass(frozen=True)
class Limits:
    """What one request may ask for.

    rows : rows of a table, or steps of all series together
    bytes : size of the body
    seconds : time for the body to arrive, and again for the answer to be found
    waiting : requests that are read, wait or run at a time
    """

    rows: int = 10_000
    bytes: int = 4_000_000
    seconds: float = 10.0
    waiting: int = 64


async def read_body(request: Request, limits: Limits) -> bytes:
    """The body, or a refusal before more than `limits.bytes` of it are held."""
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said[:20]) > limits.bytes:
        raise _too_large(limits)
    try:
        async with asyncio.timeout(limits.seconds):
            return await _read(request, limits)
    except TimeoutError:
        raise RequestError(
            408,
            None,
            f"the body had not arrived after {limits.seconds:g} seconds",
            "A body must arrive within the server's --timeout",
            "Send it again, or send fewer rows at a time",
            {"Connection": "close"},
        ) from None
    except ClientDisconnect:
        raise RequestError(
            400, None, "the body broke off", "A body must be whole", "Send it again"
        ) from None


async def _read(request: Request, limits: Limits) -> bytes:
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > limits.bytes:
            raise _too_large(limits)
        pieces.append(piece)
    return b"".join(pieces)


def _too_large(limits: Limits) -> RequestError:
    return RequestError(
        413,
        None,
        f"the body is larger than {limits.bytes:,} bytes",
        f"A body has at most {limits.bytes:,} bytes (the server's --max-bytes)",
        "Send fewer rows at a time",
        {"Connection": "close"},  # what is left of the body is not read
    )


class Gate:
    """Runs work in a few threads, and turns requests away while too many are inside.

    A call that takes too long is answered, but keeps its place until its thread is free again:
    else slow requests could pile up behind the answers.
    """

    def __init__(self, limits: Limits, workers: int | None = None) -> None:
        self.limits, self.inside = limits, 0
        workers = workers or min(MOST_WORKERS, os.cpu_count() or 1)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="predict")

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        """A place for one request, from its body to its answer."""
        if self.inside >= self.limits.waiting:
            raise RequestError(
                503,
                None,
                f"{self.inside} requests are being answered already",
                f"At most {self.limits.waiting} may wait at a time",
                "Send it again in a second",
                {"Retry-After": "1"},
            )
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    async def run(self, work: Callable[..., Answer], *given: Any) -> Answer:
        """work(*given) in a thread, within the limit of time."""
        future = self._threads.submit(work, *given)
        try:
            return await asyncio.wait_for(
                asyncio.shield(asyncio.wrap_future(future)), self.limits.seconds
            )
        except TimeoutError:
            if not future.cancel():  # it runs
                self.inside += 1
                loop = asyncio.get_running_loop()
                future.add_done_callback(lambda _: _call_soon(loop, self._left))
            raise RequestError(
                504,
                None,
                f"the answer took longer than {self.limits.seconds:g} seconds",
                "An answer must be found within the server's --timeout",
                "Send fewer rows, or shorter series, at a time",
            ) from None

    def _left(self) -> None:
        self.inside -= 1

    def close(self) -> None:
        """Let threads end; what still waits is not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
