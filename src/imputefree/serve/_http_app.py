"""The HTTP application: authorisation, routes, the headers of every answer; and how it runs."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
import re
import signal
import socket
import traceback
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .. import __version__
from .._printable import printable
from ..errors import ParameterError
from ._answering import Served
from ._limits import Gate, Limits, Places, RequestError, client_of, read_body
from ._model_schema import ROWS, STEPS, Schema

log = logging.getLogger(__name__)
OPEN = ("/", "/health")  # paths that say nothing about the model, like the files of the page
HERE = Path(__file__).parent
JSON, FILE = "application/json", "application/octet-stream"  # types of bodies
BACKLOG = 2048  # connections that wait, as many as uvicorn lets
LAST_PORT = 65_535
GRACE = 2.0  # seconds that a shutdown waits beyond the time limit of a request
HEADERS = {
    # The page needs its own files and this server, nothing else.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class AsciiResponse(JSONResponse):
    """JSON in ASCII: lone surrogates, which JSON strings may hold, have no UTF-8."""

    def render(self, content: Any) -> bytes:
        """The bytes of the body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def build_app(
    model: Any,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Iterable[str] | None = None,
    rank: Callable[[Any], Any] | None = None,
) -> Starlette:
    """Make an ASGI application that answers with this model.

    See `Guard` for token and hosts, `Served` for rank.
    """
    limits = limits or Limits()
    served, gate = Served(model, limits, rank), Gate(limits)
    schema, document = served.schema.model_dump(), describe_api(served, token)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        gate.close()

    async def answer(
        request: Request, work: Callable[..., Any], *args: Any, kind: str = JSON
    ) -> Response:
        client = client_of(request.scope)
        async with gate.enter(client):
            _check_content_type(request, kind)
            body = await read_body(request, limits)
            return AsciiResponse(await gate.run(client, work, body, *args))

    async def predict(request: Request) -> Response:
        return await answer(request, served.predict)

    async def explain(request: Request) -> Response:
        return await answer(request, served.explain, request.query_params.get("of"))

    async def read(request: Request) -> Response:
        name = request.query_params.get("name", "table.csv")
        sheet = request.query_params.get("sheet") or None
        return await answer(request, served.read, name, sheet, kind=FILE)

    def fixed(content: dict[str, Any]) -> Callable[[Request], Any]:
        async def endpoint(_: Request) -> Response:
            return AsciiResponse(content)

        return endpoint

    return Starlette(
        routes=[
            Route("/predict", predict, methods=["POST"]),
            Route("/explain", explain, methods=["POST"]),
            Route("/read", read, methods=["POST"]),
            Route("/schema", fixed(schema)),
            Route("/health", fixed({"status": "ok"})),
            Route("/openapi.json", fixed(document)),
            Route("/", lambda _: FileResponse(HERE / "page" / "index.html")),
            Mount("/page", StaticFiles(directory=HERE / "page")),
        ],
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
        exception_handlers={HTTPException: _no_such_path},
        lifespan=lifespan,
    )


def describe_api(served: Served, token: str | None) -> dict[str, Any]:
    """The OpenAPI document: openapi.json, with what depends on the model."""
    document = json.loads((HERE / "openapi.json").read_text(encoding="utf-8"))
    schema, reader = served.schema, served.reader
    document["info"] |= {
        "title": f"imputefree: {schema.target or schema.task}",
        "version": __version__,
        "x-limits": schema.limits,
    }
    paths = ("/predict", "/explain", "/read")
    predict, explain, read = (document["paths"][path]["post"] for path in paths)
    content = predict["requestBody"]["content"]["application/json"]
    content["examples"]["one"]["value"] = schema.example
    content["examples"]["batch"]["value"] = {ROWS: [schema.example] * 2}
    explain["requestBody"]["content"]["application/json"]["example"] = schema.example

    rows, answer = TypeAdapter(reader.row_type | reader.batch_type), TypeAdapter(Schema)
    types: list[Any] = [("rows", "validation", rows), ("schema", "serialization", answer)]
    _, described = TypeAdapter.json_schemas(types, ref_template="#/components/schemas/{model}")
    parts = document["components"]["schemas"]
    parts |= described["$defs"] | {"Label": {"enum": schema.classes or [None]}}
    parts["Prediction"] = _describe_prediction(served)
    if token is not None:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for operation in (predict, explain, read, document["paths"]["/schema"]["get"]):
            operation["security"] = [{"token": []}]
            operation["responses"]["401"] = operation["responses"]["400"]
    return document


def _describe_prediction(served: Served) -> dict[str, Any]:
    """The type of one prediction: of a row or series, or of all steps of a series."""
    schema = served.schema
    fields: dict[str, Any] = {"prediction": {"type": "number"}}
    label: dict[str, Any] = {"$ref": "#/components/schemas/Label"}
    number: dict[str, Any] = {"type": ["number", "null"]}
    if schema.classes:
        shares = {"type": "object", "additionalProperties": {"type": "number"}}
        fields = {"prediction": label, "probability": shares}
    if served.conformal is not None:
        within = {"coverage": {"type": "number"}, "low": number, "high": number}
        if schema.classes:
            within = {"coverage": {"type": "number"}, "set": {"type": "array", "items": label}}
        fields["within"] = _object(within)
    if schema.series is not None and schema.series.per_step:
        return _object({STEPS: {"type": "array", "items": _object(fields)}})
    return _object(fields)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """The type of an object that has all of these properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _check_content_type(request: Request, kind: str) -> None:
    """Bodies have one type, which no form of another page can send without being asked about."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "identity").lower()
    for header, value in (("Content-Type", content_type), ("Content-Encoding", encoding)):
        if value not in (kind, "identity"):
            fact = f"the {header} of the body is {value[:80] or 'missing'}"
            remedy = f"Send the header Content-Type: {kind}"
            raise RequestError(415, fact, f"A body is plain {kind}", remedy, header)


def refusal(error: RequestError) -> Response:
    """The answer to a request that is refused."""
    return AsciiResponse(error.body(), error.status, error.headers)


async def _no_such_path(request: Request, error: Any) -> Response:
    path, status = request.url.path[:100], error.status_code
    facts = {404: f"there is nothing at {path}", 405: f"{path} does not take {request.method[:20]}"}
    fact, remedy = facts.get(status, str(error.detail)), "Correct the path or the method"
    rule = "POST is for /predict, /explain and /read; GET for /, /schema, /health and /openapi.json"
    return refusal(RequestError(status, fact, rule, remedy, headers=error.headers))


class Guard:
    """Checks the token and the host name, adds headers, and hides the internals of failures.

    token : what a request must carry as `Authorization: Bearer …`; None for no check
    hosts : names by which the server may be called; None for no check. On loopback and without a
        token, a page from elsewhere could point its own name here (DNS rebinding) and read the
        answers; then its name is in `Host`.
    """

    def __init__(
        self, app: ASGIApp, token: str | None = None, hosts: Iterable[str] | None = None
    ) -> None:
        self.app = app
        self.token = None if token is None else token.encode()
        self.hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *more]}
            await send(message)

        try:
            self._check(scope)
            await self.app(scope, receive, send_with_headers)
        except RequestError as error:
            await refusal(error)(scope, receive, send_with_headers)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            text, place = printable(" ".join(str(error).split())), f"{last.filename}:{last.lineno}"
            log.error("imputefree: request failed (%s: %s, %s)", type(error).__name__, text, place)
            if not started:
                fact, rule = "the server could not answer", "This is not a fault of the request"
                failure = RequestError(500, fact, rule, "Report it, with the line that was logged")
                await refusal(failure)(scope, receive, send_with_headers)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        if self.hosts is not None:
            host_headers = [value for name, value in scope["headers"] if name == b"host"]
            host = b"".join(host_headers).decode("latin-1").lower()
            if len(host_headers) != 1 or host_name(host) not in self.hosts:
                fact = "the request was sent to a host name that is not this server's"
                rule = "Without a token the server answers only to the names of this machine"
                remedy = "Use the address that `imputefree serve` printed, or serve with a token"
                raise RequestError(400, fact, rule, remedy, "Host")
        if self.token is None or scope["path"] in OPEN or scope["path"].startswith("/page/"):
            return
        kind, _, token = headers.get(b"authorization", b"").partition(b" ")
        # As bytes: compare_digest refuses strings beyond ASCII.
        if kind.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self.token):
            fact, rule = "the bearer token is missing or wrong", "Requests must carry the token"
            remedy, header = "Send the header Authorization: Bearer TOKEN", "Authorization"
            raise RequestError(401, fact, rule, remedy, header, {"WWW-Authenticate": "Bearer"})


def host_name(host: str) -> str | None:
    """The name in a Host header, without the port; None if it is malformed.

    >>> host_name("localhost:8000"), host_name("[::1]:8000"), host_name("[::1].evil")
    ('localhost', '[::1]', None)
    """
    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?", host, re.ASCII)
    return match[1] if match and int(match[2] or 0) <= LAST_PORT else None


# ---- running
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
        bound = socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        fact = f"cannot listen at {host} port {port} ({(error.strerror or str(error)).lower()})"
        rule = "The port must be free, and the host an address of this machine"
        raise ParameterError(fact, rule, "Choose another --port (0: any) or --host") from None
    # Connections inherit it. Without it the body of an answer waits until the client has confirmed
    # its head, which clients put off by 40 ms.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


def is_loopback(bound: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def address_of(bound: socket.socket) -> str:
    """The address for a browser."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class PromptClients(H11Protocol):
    """Closes connections of clients that hold too many, or are slow.

    A request must have a complete head after some seconds, and its answer be taken within as many.
    uvicorn would wait forever.
    """

    seconds: float
    places: Places
    _place: str | None = None
    _head: asyncio.TimerHandle | None = None
    _taken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(transport)
        client = client_of({"client": self.client})
        if self.places.take(client):
            self._place = client
            self._wait()
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """A part of a request has arrived."""
        super().data_received(data)
        begun = self.cycle is not None and not self.cycle.response_complete
        if begun and self._head is not None:
            self._head.cancel()
            self._head = None
        elif not begun and self._head is None:
            self._wait()

    def pause_writing(self) -> None:
        """The client does not take its answer at once."""
        super().pause_writing()
        self._taken = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It has taken most of it."""
        super().resume_writing()
        if self._taken is not None:
            self._taken.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left."""
        super().connection_lost(exc)
        for timer in (self._head, self._taken):
            if timer is not None:
                timer.cancel()
        if self._place is not None:
            self.places.leave(self._place)
            self._place = None

    def _wait(self) -> None:
        self._head = self.loop.call_later(self.seconds, self.transport.close)


def run(app: Any, bound: socket.socket, limits: Limits) -> None:
    """Serve until SIGTERM or Ctrl-C; running requests are answered first."""
    shared = {"seconds": limits.seconds, "places": Places(limits.connections)}
    config = uvicorn.Config(
        app,
        http=type("Clients", (PromptClients,), shared),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=int(limits.seconds + GRACE) + 1,
    )
    server = uvicorn.Server(config)
    # uvicorn restores these at the end and raises the signal again, which then does nothing more.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)
    server.run(sockets=[bound])
