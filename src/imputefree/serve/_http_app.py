"""The HTTP application: authorisation, routes, and the headers of every answer."""

from __future__ import annotations

import hmac
import json
import logging
import re
import traceback
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response, Security
from fastapi.security import HTTPBearer
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from ._limits import Gate, Limits, RequestError, read_body
from ._model_schema import ROWS, Schema
from ._served import Failure, Health, Served

log = logging.getLogger(__name__)
OPEN = ("/", "/health")  # paths that say nothing about the model, like the files of the page
PAGE = Path(__file__).parent / "page"
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
) -> FastAPI:
    """Make an ASGI application that answers with this model; see `Guard` for token and hosts."""
    limits = limits or Limits()
    served, gate = Served(model, limits), Gate(limits)
    schema = served.schema

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        gate.close()

    app = FastAPI(
        title=f"imputefree: {schema.target or schema.task}",
        version=__version__,
        description="Any value may be missing: send null, or leave the field out. `notes` names"
        " values that training never saw.",
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan,
    )
    app.add_middleware(Guard, token=token, hosts=hosts)
    app.add_exception_handler(HTTPException, _no_such_path)
    bearer = [Security(HTTPBearer(auto_error=False, scheme_name="token"))] if token else []

    def documented(*statuses: int) -> dict[str, Any]:
        refusals = (400, *statuses, 500, *([401] if token else []))
        return {
            "responses": {status: {"model": Failure} for status in refusals},
            "dependencies": bearer,
        }

    async def answer(request: Request, work: Callable[..., Any], *args: Any) -> Response:
        async with gate.enter():
            _check_content_type(request)
            body = await read_body(request, limits)
            return AsciiResponse(await gate.run(work, body, *args))

    posted = documented(408, 413, 415, 422, 503, 504)
    row, batch = served.reader.row_type, served.reader.batch_type
    examples = {
        "one": {"summary": "One row", "value": schema.example},
        "batch": {"summary": "Several rows", "value": {ROWS: [schema.example] * 2}},
    }

    @app.post(
        "/predict",
        summary="Predict one row or several",
        response_model=served.predictions_type,
        openapi_extra=_body(row | batch, examples=examples),
        **posted,
    )
    async def predict(request: Request) -> Response:
        return await answer(request, served.predict)

    @app.post(
        "/explain",
        summary="Explain the prediction for one row, and say what to measure next",
        response_model=served.explanation_type,
        openapi_extra=_body(row, example=schema.example),
        **posted,
    )
    async def explain(request: Request, of: Of = None) -> Response:
        return await answer(request, served.explain, of)

    described = schema.model_dump()

    @app.get("/schema", name="schema", summary="Columns", response_model=Schema, **documented())
    async def get_schema() -> Response:
        return AsciiResponse(described)

    @app.get(
        "/health",
        summary="Whether the server runs",
        response_model=Health,
        **documented() | {"dependencies": []},
    )
    async def health() -> Response:
        return AsciiResponse({"status": "ok"})

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return FileResponse(PAGE / "index.html")

    app.mount("/page", StaticFiles(directory=PAGE))
    definitions = TypeAdapter(row | batch).json_schema(ref_template=REFERENCE)["$defs"]
    app.openapi()["components"]["schemas"] |= definitions  # FastAPI keeps this document
    return app


Of = Annotated[
    str | None,
    Query(
        description="The class whose probability is explained; by default the second of two, or"
        " the most probable."
    ),
]
REFERENCE = "#/components/schemas/{model}"


def _body(kind: Any, **examples: Any) -> dict[str, Any]:
    """A request body of this type, for the OpenAPI document."""
    described = TypeAdapter(kind).json_schema(ref_template=REFERENCE)
    described.pop("$defs", None)
    if "properties" in described:  # a single type is not written as a reference
        described = {"$ref": REFERENCE.format(model=described["title"])}
    content = {"application/json": {"schema": described, **examples}}
    return {"requestBody": {"required": True, "content": content}}


def _check_content_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "identity").lower()
    header = "Content-Encoding" if kind == "application/json" else "Content-Type"
    if kind != "application/json" or encoding != "identity":
        value = encoding if kind == "application/json" else kind
        raise RequestError(
            415,
            header,
            f"the {header} of the body is {value[:80] or 'missing'}",
            "A body is plain application/json",
            "Send the header Content-Type: application/json",
        )


def refusal(error: RequestError) -> Response:
    """The answer to a request that is refused."""
    return AsciiResponse(error.body(), error.status, error.headers)


async def _no_such_path(request: Request, error: Any) -> Response:
    path, status = request.url.path[:100], error.status_code
    facts = {404: f"there is nothing at {path}", 405: f"{path} does not take {request.method[:20]}"}
    return refusal(
        RequestError(
            status,
            None,
            facts.get(status, str(error.detail)),
            "POST is for /predict and /explain; GET for /, /schema, /health and /openapi.json",
            "Correct the path or the method",
            error.headers,
        )
    )


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
            text, place = " ".join(str(error).split()), f"{last.filename}:{last.lineno}"
            log.error("imputefree: request failed (%s: %s, %s)", type(error).__name__, text, place)
            if not started:
                failure = RequestError(
                    500,
                    None,
                    "the server could not answer",
                    "This is a fault of the server, not of the request",
                    "Report it, with the line that the server logged",
                )
                await refusal(failure)(scope, receive, send_with_headers)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        if self.hosts is not None:
            host = headers.get(b"host", b"").decode("latin-1").lower()
            if host_name(host) not in self.hosts:
                raise RequestError(
                    400,
                    "Host",
                    "the request was sent to a host name that is not this server's",
                    "Without a token the server answers only to the names of this machine",
                    "Use the address that `imputefree serve` printed, or serve with a token",
                )
        if self.token is None or scope["path"] in OPEN or scope["path"].startswith("/page/"):
            return
        kind, _, token = headers.get(b"authorization", b"").partition(b" ")
        # As bytes: compare_digest refuses strings beyond ASCII.
        if kind.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self.token):
            raise RequestError(
                401,
                "Authorization",
                "the bearer token is missing or wrong",
                "This server answers only with its token",
                "Send the header Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )


def host_name(host: str) -> str | None:
    """The name in a Host header, without the port; None if it is malformed.

    >>> host_name("localhost:8000"), host_name("[::1]:8000"), host_name("[::1].evil")
    ('localhost', '[::1]', None)
    """
    match = re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*)(:\d*)?", host)
    return match and match[1]
