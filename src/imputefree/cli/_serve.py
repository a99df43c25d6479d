"""`imputefree serve MODEL`: a model behind HTTP, with a page to try it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ParameterError

TOKEN = "IMPUTEFREE_TOKEN"


def serve_command(
    model: Annotated[Path, typer.Argument(help="A model that `imputefree fit` or `save` wrote.")],
    host: Annotated[
        str, typer.Option(help="Address to listen at; other machines reach 0.0.0.0.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")
    ] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(help=f"File with the token that requests must carry; else {TOKEN}."),
    ] = None,
    open: Annotated[
        bool, typer.Option("--open", help="Let other machines ask without a token.")
    ] = False,
    max_rows: Annotated[
        int, typer.Option(min=1, help="Rows (or steps of series) that a request may have.")
    ] = 10_000,
    max_bytes: Annotated[
        int, typer.Option(min=100, help="Size that a request's body may have.")
    ] = 4_000_000,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds that an answer may take.")
    ] = 10.0,
) -> None:
    """Serve predictions and explanations over HTTP, and a page to try them at /.

    Prints its address and runs until Ctrl-C or SIGTERM. GET /schema says what a row looks like,
    POST /predict and /explain take one; GET /openapi.json describes everything.
    """
    lacking = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if lacking:
        raise ParameterError(
            f"{' and '.join(lacking)} cannot be imported",
            "Serving needs the extra 'serve'",
            "Run pip install 'imputefree[serve]'",
        )
    import torch

    from ..serve import Limits, address_of, build_app, is_loopback, listen, run
    from ..workflow import load_model

    torch.set_num_threads(1)  # requests run side by side instead
    token = read_token(token_file)
    loaded = load_model(model)
    bound = listen(host, port)
    local = is_loopback(bound)
    if not local and token is None and not open:
        bound.close()
        raise ParameterError(
            f"--host is {host!r} and there is no token",
            "Whoever reaches the address could then ask the model",
            f"Pass --token-file or set {TOKEN}, or pass --open to let everybody ask",
        )
    names = {"localhost", "127.0.0.1", "[::1]", host.lower()} if local and token is None else None
    limits = Limits(rows=max_rows, bytes=max_bytes, seconds=timeout)
    app = build_app(loaded, limits, token, names)
    run(
        app,
        bound,
        timeout,
        lambda: typer.echo(f"Serving {model.name} at {address_of(bound)} (stop: Ctrl-C)"),
    )
    typer.echo("Stopped.", err=True)


def read_token(path: Path | None) -> str | None:
    """The token of the file, or of the environment; None where there is neither."""
    if path is None:
        found, where = os.environ.get(TOKEN), TOKEN
        if found is None:
            return None
    else:
        where = str(path)
        try:
            found = path.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise ParameterError(
                f"{path} cannot be read ({getattr(error, 'strerror', None) or 'it is no text'})",
                "--token-file is a text file that holds the token",
                "Correct the path",
            ) from None
    found = found.strip()
    if not found or not all("!" <= letter <= "~" for letter in found):
        raise ParameterError(
            f"the token of {where} is empty or holds spaces or letters beyond ASCII",
            "A token goes into a header: one word of ASCII letters, digits and marks",
            "Write one, for example with `python -c 'import secrets; print(secrets.token_hex())'`",
        )
    return found
