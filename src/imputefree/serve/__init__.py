"""Serve a model over HTTP: predictions, explanations, its schema, and a page to try it."""

from ._http_app import build_app
from ._limits import Limits
from ._running import address_of, is_loopback, listen, run

__all__ = ["Limits", "address_of", "build_app", "is_loopback", "listen", "run"]
