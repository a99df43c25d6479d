"""Serve a model over HTTP: predictions, explanations, its schema, and a page to try it."""

from ._answering import Served
from ._http_app import address_of, build_app, is_loopback, listen, run
from ._limits import Limits

__all__ = ["Limits", "Served", "address_of", "build_app", "is_loopback", "listen", "run"]
