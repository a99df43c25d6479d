"""Who may ask, and what every answer carries; no failure gets past it with its inside showing."""

from __future__ import annotations

import hmac
import json
import sys
import traceback
from collections.abc import Iterable
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ._refusals import RequestError

OPEN = ("/", "/health")  # they tell nothing of the model, nor do the page's files
HEADERS = {
    # The page needs its own files and this server, nothing else.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Plain(JSONResponse):
    """JSON in ASCII: half of a surrogate pair, which JSON texts may hold, has no UTF-8."""

    def render(self, content: Any) -> bytes:
        """The bytes of the body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def refusal(error: RequestError) -> Plain:
    """The answer to a request that gets none."""
    return Plain(error.body(), error.status, error.headers)


class Guard:
    """Asks for the token and the host's name, adds headers, and answers for what fails.

    token : what a request must carry as `Authorization: Bearer …`; None asks for nothing
    hosts : names by which the server may be called. On loopback and without a token, a page from
        elsewhere could have its own name point here (DNS rebinding) and read the answers; then its
        name stands in `Host`. None asks for nothing.
    """

    def __init__(
        self, app: ASGIApp, token: str | None = None, hosts: Iterable[str] | None = None
    ) -> None:
        self.app = app
        self.token = None if token is None else token.encode()
        self.hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def send_on(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                own = [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        try:
            self._check(scope)
            await self.app(scope, receive, send_on)
        except RequestError as error:
            await refusal(error)(scope, receive, send_on)
        except Exception as error:
            print(f"imputefree: {_where(error)}", file=sys.stderr, flush=True)
            if not begun:
                await refusal(_internal())(scope, receive, send_on)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        if self.hosts is not None:
            called = headers.get(b"host", b"").decode("latin-1").lower()
            if _name(called) not in self.hosts:
                raise RequestError(
                    400,
                    "Host",
                    "the request was sent to another name than this server's",
                    "Without a token the server answers to the names of this machine alone",
                    "Use the address that `imputefree serve` printed, or serve with a token",
                )
        if self.token is None or scope["path"] in OPEN or scope["path"].startswith("/page/"):
            return
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        # Bytes: compare_digest refuses texts beyond ASCII.
        if kind.lower() != b"bearer" or not hmac.compare_digest(given.strip(), self.token):
            raise RequestError(
                401,
                "Authorization",
                "the bearer token is missing or wrong",
                "This server answers only with its token",
                "Send the header Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )


def _name(host: str) -> str:
    """The name without the port; an IPv6 address keeps its brackets.

    >>> _name("localhost:8000"), _name("[::1]:8000"), _name("127.0.0.1")
    ('localhost', '[::1]', '127.0.0.1')
    """
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _internal() -> RequestError:
    return RequestError(
        500,
        None,
        "the server could not answer",
        "This is a fault of the server, not of the request",
        "Report it, with the line that the server wrote on its stderr",
    )


def _where(error: Exception) -> str:
    """A failure in one line, for the server's own log."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())
    return f"request failed ({type(error).__name__}: {text}, {last.filename}:{last.lineno})"
