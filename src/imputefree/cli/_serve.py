"""`imputefree serve MODEL`: a model behind HTTP, with a page to try it."""

from __future__ import annotations

import os
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..errors import OutsideRangeWarning, ParameterError, require_extra
from ._explain import read_first
from ._next import background_option, costs_option, read_costs
from ._options import FILE, POSITIVE, Command, model_argument, option
from ._printing import echo

TOKEN = "IMPUTEFREE_TOKEN"
PORT, SECONDS = click.IntRange(0, 65535), click.FloatRange(0.1, 3600)


@click.command("serve", cls=Command)
@model_argument
@option("--host", default="127.0.0.1", help="Address; 0.0.0.0 lets other machines connect.")
@option("--port", type=PORT, default=8000, help="Port; 0 picks a free one.")
@option("--token-file", type=FILE, help=f"Token that requests must carry; default: {TOKEN}.")
@option("--open", is_flag=True, help="Let other machines in without a token.")
@option("--max-rows", "rows", type=POSITIVE, default=10_000, help="Rows (steps) per request.")
@option(
    "--max-bytes", "bytes", type=click.IntRange(100), default=4_000_000, help="Bytes per request."
)
@option(
    "--timeout",
    "seconds",
    type=SECONDS,
    default=10.0,
    help="Seconds each for headers, body, answer, and receiving the answer.",
)
@background_option()
@costs_option
def serve_command(
    model: Path,
    host: str,
    port: int,
    token_file: Path | None,
    open: bool,
    background: Path | None,
    costs: tuple[str, ...],
    **limits: Any,
) -> None:
    """Serve predictions and explanations over HTTP, and a page to try them at /.

    Prints its address and runs until Ctrl-C or SIGTERM. GET /schema says what a row looks like,
    POST /predict and /explain take one; GET /openapi.json describes everything.

    Clients share it: of 64 concurrent requests and 512 connections, each client may hold as many as
    are still free, and they take turns.

    With --background, measurements are ranked by their gain per unit of cost, as by
    `imputefree next`.
    """
    require_extra("serve", "starlette", "pydantic", "uvicorn")
    import torch

    from ..serve import Limits, address_of, build_app, is_loopback, listen, run
    from ..workflow import load_model

    torch.set_num_threads(1)  # requests run side by side instead
    warnings.simplefilter("ignore", OutsideRangeWarning)  # the notes of an answer say it
    token = read_token(token_file)
    loaded = load_model(model)
    rank = ranking(loaded, background, read_costs(costs))
    bound = listen(host, port)
    local = is_loopback(bound)
    if not local and token is None and not open:
        bound.close()
        rule = "Anyone who can reach the address could then use the model"
        remedy = f"Pass --token-file or set {TOKEN}, or pass --open to let anyone in"
        raise ParameterError(f"--host is {host!r} and there is no token", rule, remedy)
    names = {"localhost", "127.0.0.1", "[::1]", host.lower()} if local and token is None else None
    per_request = Limits(**limits)
    app = build_app(loaded, per_request, token, names, rank)
    echo(f"Serving {model.name} at {address_of(bound)} (stop: Ctrl-C)")
    run(app, bound, per_request)
    echo("Stopped.", err=True)


def ranking(model: Any, background: Path | None, costs: dict[str, float]) -> Any:
    """What ranks measurements, fitted to background rows and tried once; None without them."""
    if background is None:
        if costs:
            rule = "Gains per unit of cost need rows that say which values are plausible"
            raise ParameterError("--costs needs --background", rule, "Name a file of rows")
        return None
    from ..estimators import read_inputs
    from ..inspection import PlausibleValues, measure_next, read_rows
    from ..workflow import is_of_series

    known: Any = read_first(model, background, float("inf"))[1]
    if is_of_series(model):
        known = read_inputs(model, known)
    plausible = PlausibleValues(known)
    rank = partial(measure_next, model, background=plausible, costs=costs)
    # Refuses costs of unknown columns before anything listens, and learns what is usual.
    rank(read_rows(known).take([0]).X)
    return rank


def read_token(path: Path | None) -> str | None:
    """The token from the file, or else from the environment; None if there is neither."""
    try:
        text = os.environ.get(TOKEN) if path is None else path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        rule, remedy = "--token-file is a text file that holds the token", "Correct the path"
        raise ParameterError(f"{path} cannot be read ({reason})", rule, remedy) from None
    if text is None:
        return None
    token = text.strip()
    if not token or not all("!" <= letter <= "~" for letter in token):
        raise ParameterError(
            f"the token of {path or TOKEN} is empty, or holds spaces or non-ASCII characters",
            "A token goes into a header: one word of ASCII letters, digits and punctuation",
            "Write one, for example with `python -c 'import secrets; print(secrets.token_hex())'`",
        )
    return token
