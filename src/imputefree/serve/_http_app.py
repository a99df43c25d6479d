"""The application: which path answers what."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from ._access import Guard, Plain, refusal
from ._limits import Gate, Limits, read_body
from ._refusals import RequestError
from ._schema import describe, openapi
from ._served import Served

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def build_app(
    model: Any,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Iterable[str] | None = None,
) -> FastAPI:
    """An ASGI application that answers with this model; see `Guard` for token and hosts."""
    limits = limits or Limits()
    served, gate = Served(model, limits), Gate(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        gate.close()

    # Its pages of documentation would load scripts from elsewhere.
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.add_middleware(Guard, token=token, hosts=hosts)

    @app.exception_handler(RequestError)
    async def refused(_: Request, error: RequestError) -> Response:
        return refusal(error)

    @app.exception_handler(HTTPException)
    async def missed(request: Request, error: HTTPException) -> Response:
        return refusal(_missed(request, error))

    async def answer(request: Request, work: Callable[..., Any], *more: Any) -> Response:
        async with gate.enter():
            _check_type(request)
            body = await read_body(request, limits)
            return Plain(await gate.run(work, body, *more))

    @app.post("/predict")
    async def predict(request: Request) -> Response:
        return await answer(request, served.predict)

    @app.post("/explain")
    async def explain(request: Request) -> Response:
        return await answer(request, served.explain, request.query_params.get("of"))

    described = describe(served.inputs, limits)
    document = openapi(served.inputs, limits, token is not None)

    @app.get("/schema")
    async def schema() -> Response:
        return Plain(described)

    @app.get("/openapi.json")
    async def openapi_document() -> Response:
        return Plain(document)

    @app.get("/health")
    async def health() -> Response:
        return Plain({"status": "ok"})

    for one in files(__package__).joinpath("page").iterdir():
        kind = KINDS.get(PurePath(one.name).suffix)
        if kind is not None:
            path = "/" if one.name == "index.html" else f"/page/{one.name}"
            app.get(path)(_file(one.read_bytes(), f"{kind}; charset=utf-8"))
    return app


def _file(content: bytes, kind: str) -> Callable[[], Any]:
    async def file() -> Response:
        return Response(content, media_type=kind)

    return file


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    packed = request.headers.get("content-encoding", "identity").lower()
    if kind != "application/json" or packed != "identity":
        what = f"packed as {packed[:40]}" if kind == "application/json" else kind[:80] or "not said"
        raise RequestError(
            415,
            "Content-Encoding" if kind == "application/json" else "Content-Type",
            f"the body's type is {what}",
            "A body is plain application/json",
            "Send the header Content-Type: application/json",
        )


def _missed(request: Request, error: HTTPException) -> RequestError:
    path = request.url.path[:100]
    if error.status_code == 405:
        return RequestError(
            405,
            None,
            f"{path} does not take {request.method[:20]}",
            "POST is for /predict and /explain, GET for the rest",
            "GET /openapi.json says what there is",
            error.headers,
        )
    return RequestError(
        error.status_code,
        None,
        f"there is nothing at {path}" if error.status_code == 404 else str(error.detail),
        "The paths are /, /predict, /explain, /schema, /health and /openapi.json",
        "Correct the path",
        error.headers,
    )
